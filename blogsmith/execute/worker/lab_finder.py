"""Makes `blogsmith.lab` importable in a Python without blogsmith.

The finder provides two packages: `blogsmith`, here without modules of its own, and `blogsmith.lab` from the
blogsmith that runs the cells. Neither the rest of blogsmith nor anything installed with it becomes
importable. The finder is the last one. So a `blogsmith` that is installed for the cells, or that belongs to
the site, takes precedence.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_OLDEST = (3, 10)


class LabFinder:
    """Meta path finder for two packages. folder: folder of the package blogsmith."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of `blogsmith` or `blogsmith.lab`, None for any other module."""
        if name == "blogsmith":
            return _package_spec(name, self._folder, searched=False)
        if name != "blogsmith.lab":
            return None
        if sys.version_info < _OLDEST:
            found = ".".join(map(str, sys.version_info[:3]))
            raise ImportError(f"blogsmith.lab needs Python {_OLDEST[0]}.{_OLDEST[1]} or later, not {found}")
        return _package_spec(name, f"{self._folder}/lab", searched=True)


def _package_spec(name: str, folder: str, *, searched: bool) -> ModuleSpec | None:
    """Return the spec of the package in `folder`. searched: whether modules in its folder can be imported."""
    from importlib.util import spec_from_file_location

    spec = spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])
    if spec and not searched:
        # importlib adds the folder to an empty list, so the list is emptied afterwards
        spec.submodule_search_locations = []
    return spec


def install(folder: str) -> None:
    """Add the finder after all other finders. folder: folder of the package blogsmith."""
    sys.meta_path.append(LabFinder(folder))
