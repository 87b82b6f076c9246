"""MkDocs, Material for MkDocs and Zensical. Their pages are written in Python-Markdown with its extensions
and those of PyMdown."""
