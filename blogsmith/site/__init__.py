"""Pages and their relations: URLs, lists, links, feeds, search, e-books and preview images."""
