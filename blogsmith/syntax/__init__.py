"""Markdown → tokens: the markdown-it instance and our own rules, one construct per file."""
