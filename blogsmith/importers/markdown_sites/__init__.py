"""One importer for many systems whose pages are Markdown: Docusaurus, Astro, Hexo, Zola, Pelican and others.

`rows.py` is the table of these systems. To add one, add a row, an entry point in pyproject.toml and its name
to `systems._ORDER`.
"""
