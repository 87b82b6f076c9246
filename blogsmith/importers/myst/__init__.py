"""MyST books, written for Jupyter Book, mystmd, Sphinx with myst-parser, or d2lbook.

The settings file shows the kind of book: Jupyter Book 1 (`_toc.yml`), Jupyter Book 2 and mystmd (`myst.yml`),
Sphinx (`conf.py`), d2lbook (`config.ini`). Each page is translated in two steps. `walker` translates blocks,
mainly directives, and records labels. When this is done for all pages, `inline` translates inline syntax,
because references need the labels.
"""
