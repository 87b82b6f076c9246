"""Jupyter notebooks: a folder of `.ipynb` files, or one of them.

`notebook` reads a file of any version, `markdown` gives its cells as Markdown with cells of code, `outputs`
what they gave as records that say they were never run here, and `page` puts a page together.
"""
