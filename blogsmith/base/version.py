"""The version of blogsmith, which stands in the package itself: records of cells name that file."""

from __future__ import annotations

from .. import __version__

__all__ = ["__version__"]
