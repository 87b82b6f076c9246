"""The version of blogsmith, which is defined in the package itself. Records of cells name this file."""

from __future__ import annotations

from .. import __version__

__all__ = ["__version__"]
