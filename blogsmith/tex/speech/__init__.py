"""Words of formulas, for places that have no reader of MathML: names of headings and links, feeds, books."""
