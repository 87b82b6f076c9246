"""Words of formulas, for uses without MathML or where it is not read: names of headings and links, feeds,
books."""
