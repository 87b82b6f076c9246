"""blogsmith: a static-site generator for posts with mathematics and code."""

__version__ = "0.1.0"
