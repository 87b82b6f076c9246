"""The search of a site: what of pages can be found, and the index that browsers load when readers search."""
