"""Quarto: websites, blogs and books of `.qmd`, `.md` and `.ipynb` files.

`source` reads the files, `metadata`, `cells`, `blocks`, `figures`, `inlines`, `references` and `shortcodes`
each translate one kind of thing, and `page` puts a page together. What only decides the look of another
format is left out; other languages than Python stay as code that is shown.
"""
