"""Theme files that a page depends on: those requested while it is rendered, whether they exist or not.

An imported template runs once for many pages (see `ChargedTemplate`). Its requests then count for each page
that imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import local

STATIC = "static/"
"""Prefix of the names of static files. Templates request the URLs of these files."""
ALL_FILES = "*"
"""Name for the list of all files. It is recorded if a result depends on the existence of any file."""


class TemplateLoads(local):
    """Names of files that templates request. They are recorded while `watch` is active, separately in each
    thread."""

    def __init__(self) -> None:
        self._names: set[str] | None = None

    def note(self, name: str) -> None:
        """Record that a template was requested."""
        if self._names is not None:
            self._names.add(name)

    def note_all(self, names: Iterable[str]) -> None:
        """Record that all these files were requested."""
        if self._names is not None:
            self._names.update(names)

    @contextmanager
    def watch(self) -> Iterator[set[str]]:
        """Yield a set that collects the names of files requested inside the block."""
        outer, names = self._names, set[str]()
        self._names = names
        try:
            yield names
        finally:
            self._names = outer
            self.note_all(names)
