"""E-books, each one EPUB 3 file made from pages of the site."""
