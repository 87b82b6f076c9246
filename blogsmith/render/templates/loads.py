"""Theme files that a page depends on: those requested while it is rendered, whether found or not.

An imported template is run once for many pages (see `ChargedTemplate`). Its requests then count for each page
that imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import local

STATIC = "static/"
"""Prefix for the names of files whose URLs templates request."""
ALL_FILES = "*"
"""Name that stands for the list of all files, if a result depends on the existence of files."""


class TemplateLoads(local):
    """Names of requested templates and other files, recorded during `watch`, separately in each thread."""

    def __init__(self) -> None:
        self._names: set[str] | None = None

    def note(self, name: str) -> None:
        """Record the request of a template."""
        if self._names is not None:
            self._names.add(name)

    def note_all(self, names: Iterable[str]) -> None:
        """Record several requests."""
        if self._names is not None:
            self._names.update(names)

    @contextmanager
    def watch(self) -> Iterator[set[str]]:
        """Record the names of templates requested inside the context."""
        outer, names = self._names, set[str]()
        self._names = names
        try:
            yield names
        finally:
            self._names = outer
            self.note_all(names)
