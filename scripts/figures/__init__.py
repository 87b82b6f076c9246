"""The figures of our own posts. `python -m scripts.figures` draws all of them again.

Every figure is a function without arguments that returns the text of an SVG file. Numbers come from fixed
seeds or formulas, so every machine produces the same files. `catalogue.py` maps files to functions.
"""
