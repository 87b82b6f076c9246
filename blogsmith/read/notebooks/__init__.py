"""Jupyter notebooks and Python files in the percent format, read as Markdown with code cells.

`notebook` parses a file of any version. `markdown` converts its cells, `outputs` their outputs. `page` makes
the text of a page, `percent` reads Python files. Importers use the first three.
"""
