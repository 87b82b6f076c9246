"""MyST: books of Jupyter Book, mystmd, Sphinx with myst-parser, and d2lbook.

These are Jupyter Book 1 (`_toc.yml`), Jupyter Book 2 and mystmd (`myst.yml`), Sphinx (`conf.py`), and the
dialect of d2lbook (`config.ini`).

Each page takes two steps. `walker` translates blocks, mainly directives, and records labels. After all
pages, `inline` translates inline syntax, because a reference must know its target.
"""
