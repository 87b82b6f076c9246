"""TeX formulas: read, guarded, expanded, converted to MathML, by `convert.convert_formula`."""
