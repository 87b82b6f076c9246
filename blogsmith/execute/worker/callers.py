"""Finds out who called an observed function: the author's code, an installed package, an import, or Python
itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

AUTHOR, PACKAGE, IMPORT, STANDARD, OWN = "author", "package", "import", "standard", "own"
"""Kinds of files that contain code. `OWN`: files of the worker itself."""
_PYTHON = (STANDARD, IMPORT)
_HERE = os.path.dirname(os.path.abspath(__file__)) + "/"  # noqa: PTH100, PTH120 - pathlib costs 5 ms
_PACKAGES = ("/site-packages/", "/dist-packages/")
_IMPORTERS = ("/importlib/", "/pkgutil.py", "/linecache.py", "/inspect.py", "/traceback.py")
"""Paths of Python's modules that inspect files for their own purposes."""


class Callers:
    """Determines whose code made a call, from the call stack. is_of_site: returns whether a file belongs to
    the site."""

    def __init__(self, is_of_site: Callable[[str], bool]) -> None:
        self._is_of_site = is_of_site
        library = "/lib/python{}.{}/".format(*sys.version_info)
        self._libraries = (sys.prefix + library, sys.base_prefix + library)
        self._lab = f"{os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))}/lab/"  # noqa: PTH120
        self._kinds: dict[str, str] = {}

    def kind_of(self, file: str) -> str:
        """Return the kind of a file. file: name of the file as in `co_filename`."""
        kind = self._kinds.get(file)
        if kind is None:
            kind = self._kinds[file] = self._find_kind(file)
        return kind

    def is_author(self, frame: FrameType | None, through: frozenset[str] = frozenset()) -> bool:
        """Return whether the author's code made a call. through: names of Python's modules that may have
        passed the call on."""
        return self.nearest(frame, through) == AUTHOR

    def nearest(self, frame: FrameType | None, through: frozenset[str]) -> str:
        """Return the kind of the innermost caller. Frames of watched calls, and of Python's modules in
        `through`, are skipped."""
        while frame is not None:
            file = frame.f_code.co_filename
            kind = self.kind_of(file)
            if not _is_watched_call(frame, kind) and not (kind in _PYTHON and module_name(file) in through):
                return kind
            frame = frame.f_back
        return STANDARD

    def origin(self, frame: FrameType | None) -> str:
        """Return who is responsible for a call.

        `AUTHOR`: the author's code, perhaps through Python's modules. `PACKAGE`: a package that the author's
        code has called. `IMPORT`: an import, whatever it executes. `OWN`: the worker.
        """
        found = ""
        while frame is not None:
            kind = self.kind_of(frame.f_code.co_filename)
            if kind in (IMPORT, AUTHOR):
                return IMPORT if kind == IMPORT else found or AUTHOR
            if kind == OWN and not _is_watched_call(frame, kind):
                return found or OWN
            if kind == PACKAGE:
                found = PACKAGE
            frame = frame.f_back
        return found or STANDARD

    def _find_kind(self, file: str) -> str:
        if file.startswith("<"):
            if file.startswith("<frozen importlib"):
                return IMPORT
            if file.startswith("<frozen "):
                return STANDARD
            return PACKAGE if file.startswith("<__array_function__") else AUTHOR
        if file.startswith(_HERE):
            return OWN
        if file.startswith(self._lab):
            # the lab measures times for the author
            return AUTHOR
        if file.startswith(self._libraries) and not any(part in file for part in _PACKAGES):
            return IMPORT if any(part in file for part in _IMPORTERS) else STANDARD
        if self._is_of_site(file):
            return AUTHOR
        return PACKAGE if any(part in file for part in _PACKAGES) else AUTHOR


def _is_watched_call(frame: FrameType, kind: str) -> bool:
    """Return whether a frame is a call of one of the replacements that `watched_calls.py` installs."""
    return kind == OWN and frame.f_code.co_name == "__call__"


def module_name(file: str) -> str:
    """Return `os` for `<frozen os>` and for `/usr/lib/python3.11/os.py`."""
    if file.startswith("<frozen "):
        return file[8:-1]
    folder, _, name = file.rpartition("/")
    stem = name.rpartition(".")[0]
    # pathlib is a folder since Python 3.13
    is_package = stem == "__init__" or folder.endswith("/pathlib")
    return folder.rpartition("/")[2] if is_package else stem
