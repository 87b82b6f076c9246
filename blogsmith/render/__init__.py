"""Rendering of tokens to HTML: Markdown, code, images and templates of one page."""
