"""Recorded results of cells: keys, the files under `_freeze/`, and whether they are still true."""
