"""The process that runs the plugins of a site: it receives the covered code, and answers calls of hooks."""
