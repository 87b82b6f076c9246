"""Cells in a Jupyter kernel: a process of ours stands between, which speaks as the worker does."""
