"""One importer for many systems whose pages are Markdown, such as Docusaurus, Astro, Hexo, Zola and Pelican.

`rows.py` is the table of these systems. To add one, add a row, an entry point in pyproject.toml and its name
to `systems._ORDER`.
"""
