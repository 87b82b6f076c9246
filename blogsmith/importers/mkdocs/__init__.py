"""MkDocs, Material for MkDocs and Zensical: Python-Markdown with its extensions and those of PyMdown."""
