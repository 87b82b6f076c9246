"""Markdown of other systems as text: divided so that rewrites never touch code, and rewritten."""
