"""The version of blogsmith. It is defined in the package itself; records of cells name this file."""

from __future__ import annotations

from .. import __version__

__all__ = ["__version__"]
