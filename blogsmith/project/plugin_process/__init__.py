"""The process that runs the plugins of a site. It receives the code that the user has consented to, and
answers calls of hooks."""
