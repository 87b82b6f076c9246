"""What formulas are made of on a page: atoms, their spaces, letters, sizes, colours."""
