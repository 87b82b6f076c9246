"""Books for reading devices: pages of the site → one EPUB 3 file."""
