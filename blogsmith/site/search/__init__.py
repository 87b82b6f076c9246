"""Search: the searchable content of pages, and the index that browsers load when readers search."""
