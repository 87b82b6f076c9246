"""The figures of our own posts: `python -m scripts.figures` draws them all again.

Every figure is a function without arguments that returns the text of an SVG file. The numbers come from
fixed seeds or from formulas, so the same files come out on every machine. `catalogue.py` says which figure
goes where.
"""
