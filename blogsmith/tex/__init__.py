"""TeX formulas: parsed, limited, expanded, and converted to MathML by `convert.convert_formula`."""
