"""E-books: pages of the site → one EPUB 3 file."""
