"""The version of blogsmith. It is defined in `blogsmith/__init__.py`, because recorded results refer to that
file."""

from __future__ import annotations

from .. import __version__

__all__ = ["__version__"]
