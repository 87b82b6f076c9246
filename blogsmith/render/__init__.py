"""Tokens → HTML: Markdown, code, images and templates of one page."""
