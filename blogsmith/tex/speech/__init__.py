"""Words of formulas, for uses that cannot read MathML: names of headings and links, feeds, books."""
