"""blogsmith: a static-site generator for posts with mathematics and code."""

from .base.version import __version__

__all__ = ["__version__"]
