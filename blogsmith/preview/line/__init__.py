"""The line with a memory: the site as it is now, made anew only where something has changed."""
