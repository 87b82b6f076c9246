"""Bibliographies: `.bib` and CSL-JSON files → publications that pages cite, and these as BibTeX."""
