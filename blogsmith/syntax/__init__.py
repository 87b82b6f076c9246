"""Parsing of Markdown to tokens: the markdown-it instance and our own rules, one construct per file."""
