"""The live preview: the site as it is now, served to this machine while it is written."""
