"""Commands that use a built site: check links, measure page sizes, write a book, publish."""
