"""Jupyter notebooks, imported from a folder of `.ipynb` files or from a single file.

`notebook` parses a file. `markdown` converts its cells to Markdown with code cells. `outputs` converts stored
outputs to records that are marked as imported, because no cell is run. `page` assembles a page.
"""
