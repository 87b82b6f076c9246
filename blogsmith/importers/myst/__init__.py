"""MyST: Jupyter Book 1 (`_toc.yml`), Jupyter Book 2 and mystmd (`myst.yml`), Sphinx with myst-parser, and the
dialect of d2lbook (`config.ini`).

Two steps a page: `walker` translates blocks, above all fences of directives, and notes the labels it meets.
After all pages, `inline` translates what is in lines, since a reference needs to know what it points to.
"""
