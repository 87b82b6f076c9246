"""Bibliographies: `.bib` and CSL-JSON files → works that pages cite, and works as BibTeX."""
