"""Jupyter notebooks: a folder of `.ipynb` files, or a single file.

`notebook` reads a file of any version. `markdown` converts its cells to Markdown with code cells. `outputs`
converts their outputs to records that are marked as imported, never as run here. `page` assembles a page.
"""
