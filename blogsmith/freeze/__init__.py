"""Recorded results of cells: their keys, the files under `_freeze/`, and whether they are still valid."""
