"""Disk → sources and documents: finding the site's files, decoding them, and reading their heads."""
