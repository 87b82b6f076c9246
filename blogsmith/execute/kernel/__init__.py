"""Cells in a Jupyter kernel, run by a bridge process that uses the worker's protocol."""
