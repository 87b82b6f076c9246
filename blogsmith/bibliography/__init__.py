"""Bibliographies. Reads `.bib` and CSL-JSON files as publications that pages cite, and writes publications as
BibTeX."""
