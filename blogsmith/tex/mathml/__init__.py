"""Building blocks of formulas on a page: atoms, spaces, letters, sizes, colours."""
