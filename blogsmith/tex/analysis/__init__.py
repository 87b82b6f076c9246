"""Analysis of formulas without typesetting: plain text, numbers, tags, expanded form."""
