"""Probing the author's Python: its packages and CUDA device, and the needs of cells that it meets."""
