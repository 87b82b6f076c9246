"""Which files of a theme a page is made from: those that are looked for while it is rendered, found or not.

A template that is imported is run once for many pages, see `PaidTemplate`; what it looked for then counts for
each page that imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import local

STATIC = "static/"
"""Before the names of files whose addresses templates ask for."""
EVERY = "*"
"""In place of a name: what was asked depends on which files there are at all."""


class TemplateLoads(local):
    """Names of templates and other files, noted while somebody watches; each thread renders its own pages."""

    def __init__(self) -> None:
        self._names: set[str] | None = None

    def note(self, name: str) -> None:
        """A template is looked for."""
        if self._names is not None:
            self._names.add(name)

    def note_all(self, names: Iterable[str]) -> None:
        """Several are."""
        if self._names is not None:
            self._names.update(names)

    @contextmanager
    def watch(self) -> Iterator[set[str]]:
        """The names of templates that are looked for from now on to the end of the context."""
        outer, names = self._names, set[str]()
        self._names = names
        try:
            yield names
        finally:
            self._names = outer
            self.note_all(names)
