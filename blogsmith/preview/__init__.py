"""Live preview: the current state of the site, served to this machine while it is written."""
