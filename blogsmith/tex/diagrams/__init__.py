r"""Commutative diagrams: `tikzcd`, `\xymatrix` and `CD` are read to one record, laid out, and drawn as SVG.

Lengths are in em of the formula, y points down. Labels stay MathML of the formula; only arrows are SVG.
"""
