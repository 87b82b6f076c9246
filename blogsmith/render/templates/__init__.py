"""Themes: templates read from disk, compiled, sandboxed, with a budget for each page."""
