"""Probes the author's Python: reports its packages, its CUDA device, and which needs of cells are met."""
