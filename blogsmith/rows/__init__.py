"""Rows of the cache of a site, one module for each kind of row."""
