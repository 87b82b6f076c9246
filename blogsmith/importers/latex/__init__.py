"""Papers in LaTeX: one file, or the folder of an arXiv source, without running TeX."""
