"""TeX formulas: read, guarded, expanded, converted to MathML. The entry point is `convert.convert_formula`."""
