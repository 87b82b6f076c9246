"""Files of the site that are not there, and that would be imported in place of what was, if they were.

Python takes the first module of a name that it finds, and looks in the folder of the post and in the root of
the site before it looks among installed packages. So a result depends on files that do not exist: `numpy.py`
beside the post, `sums/` beside `sums.py`. Looked at are modules of the site, and what they and cells import
themselves; a name that packages import among themselves is not.
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
    """What could hide the modules of one session.

    name_of: path of a file → its name from the root of the site; empty if it does not count.
    """

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._known: set[str] = set()
        """Names of modules that were looked at."""

    def absent(self, imported: Iterable[str], of_site: Iterable[str]) -> list[str]:
        """Paths from the root without `.py`, sorted: neither that file nor a package of the name is there.

        imported: names that cells import. of_site: names of modules whose files are the site's.
        """
        names = {*imported, *of_site}
        found: set[str] = set()
        for name in of_site:
            names.update(_list_safely(_names_in(sys.modules.get(name))))
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
    """All of it; nothing if a stand-in for a module, put there by a cell, is not what it stands for."""
    try:
        return list(found)
    except Exception:
        return []


def _names_in(module: Any) -> Iterator[str]:
    """Top-level names of the modules that the values of a module come from."""
    for value in list(vars(module).values()) if isinstance(module, type(sys)) else ():
        source = value.__name__ if type(value) is type(sys) else None
        if type(value) in _DEFINED:
            source = value.__module__
        if isinstance(source, str):
            yield source.partition(".")[0]
