"""Papers in LaTeX. The source is one file, or the folder of an arXiv source. TeX is never run."""
