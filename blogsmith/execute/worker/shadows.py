"""Finds paths of missing files that, if they existed, would be imported instead of the modules that were
imported.

Python uses the first module that it finds for a name. It searches the folder of the post and the site root
before installed packages. So a result depends on the absence of files: `numpy.py` next to the post, `sums/`
next to `sums.py`. This module checks the site's modules, and the modules that they and cells import directly.
Imports between packages are not checked.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_BUILT_IN = ("built-in", "frozen")
_DEFINED = (type(lambda: 0), type(len), type)


class Shadows:
    """Files that could hide the modules of one session. name_of: converts the path of a file to its name
    relative to the site root; empty if it is ignored."""

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._known: set[str] = set()
        """Names of modules that were checked."""

    def absent(self, imported: Iterable[str], of_site: Iterable[str]) -> list[str]:
        """Return sorted paths, relative to the root and without `.py`, for which neither the file nor a
        package exists.

        imported: names that cells import. of_site: names of modules whose files belong to the site.
        """
        names = {*imported, *of_site}
        found: set[str] = set()
        for name in of_site:
            names.update(_list_safely(_module_origins(sys.modules.get(name))))
        new = names - self._known - {"__main__"}
        self._known |= new
        for name in new:
            found.update(_list_safely(self._earlier_modules(name)))
        return sorted(found)

    def _earlier_modules(self, name: str) -> Iterator[str]:
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "origin", None) in _BUILT_IN:
            return
        file = getattr(module, "__file__", None)
        file = os.path.abspath(file) if isinstance(file, str) else ""  # noqa: PTH100 - pathlib costs 5 ms
        parent, _, own = name.rpartition(".")
        places = getattr(sys.modules.get(parent), "__path__", ()) if parent else sys.path
        for place in places:
            stem = os.path.abspath(f"{place}/{own}")  # noqa: PTH100
            if file.startswith(f"{stem}/__init__."):
                return
            if file.startswith(f"{stem}."):
                yield from self._free(f"{stem}/__init__")
                return
            yield from self._free(stem)

    def _free(self, stem: str) -> Iterator[str]:
        name = self._name_of(f"{stem}.py")
        if name and not any(os.path.exists(f"{stem}{end}") for end in (".py", "/__init__.py")):  # noqa: PTH110
            yield name[: -len(".py")]


def _list_safely(found: Iterator[str]) -> list[str]:
    """Return all items; an empty list if iterating fails because a cell replaced a module with an object that
    lacks a module's attributes."""
    try:
        return list(found)
    except Exception:
        return []


def _module_origins(module: Any) -> Iterator[str]:
    """Yield the top-level names of the modules that define the values of a module."""
    for value in list(vars(module).values()) if isinstance(module, type(sys)) else ():
        source = value.__name__ if type(value) is type(sys) else None
        if type(value) in _DEFINED:
            source = value.__module__
        if isinstance(source, str):
            yield source.partition(".")[0]
