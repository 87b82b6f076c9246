"""The process that runs the plugins of a site: it receives the code that the user has consented to, and
answers calls of hooks."""
