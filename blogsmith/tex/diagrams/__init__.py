r"""Commutative diagrams: `tikzcd`, `\xymatrix` and `CD` are parsed, laid out, and drawn as SVG.

Lengths are in em of the formula, and y points down. Labels stay MathML of the formula; only arrows are SVG.
"""
