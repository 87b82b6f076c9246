"""Quarto websites, blogs and books, which consist of `.qmd`, `.md` and `.ipynb` files.

`source` reads the files. `metadata`, `cells`, `blocks`, `figures`, `inlines`, `references` and `shortcodes`
each translate one kind of element, and `page` assembles a page. Options that only style another output format
are left out. Cells in other languages than Python become code listings.
"""
