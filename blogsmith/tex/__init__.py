"""TeX formulas: read, guarded, expanded, converted to MathML. `convert.convert_formula` is the door."""
