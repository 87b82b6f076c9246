"""What the author's Python has: packages and a CUDA device, and which needs of cells that meets."""
