"""One value that an author wrote: what it is, where it stands, and how a mistake in it is reported."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from msgspec import Struct

from ..diagnostics.fixes import Fix
from ..diagnostics.model import Place, Reporter
from .yaml_loader import MAX_REPORTS, Located, YamlPath


class LocatedMapping(Struct, frozen=True):
    """A mapping that is being read. Lives as long as that."""

    located: Located
    reporter: Reporter
    code: str
    """Of a wrong value."""
    key_code: str = ""
    """Of an unknown key; empty: as of a wrong value."""
    is_bounded: bool = True
    """Stop to report where nobody would mend all the mistakes one by one."""

    @property
    def is_full(self) -> bool:
        """Whether further mistakes are kept silent about."""
        return self.is_bounded and len(self.reporter.diagnostics) >= MAX_REPORTS

    def root(self) -> Slot:
        """The mapping itself."""
        return Slot(self, (), self.located.value)


class Slot(NamedTuple):
    """A value, or a key, with its place."""

    mapping: LocatedMapping
    path: YamlPath
    value: Any
    """None if there is nothing; of a key its text."""
    is_key: bool = False

    @property
    def name(self) -> str:
        """How messages call it: its key, or `entry 2 of tags`."""
        last = self.path[-1] if self.path else ""
        return last if isinstance(last, str) else f"entry {last + 1} of {self.path[-2]}"

    @property
    def place(self) -> Place | None:
        """Where it stands."""
        located = self.mapping.located
        return (located.key_places if self.is_key else located.places).get(self.path)

    @property
    def folder(self) -> PurePosixPath:
        """Folder of the file it stands in, relative to the site root."""
        return PurePosixPath(self.mapping.reporter.path).parent

    @property
    def spelling(self) -> str | None:
        """A number or boolean as the author spells it."""
        return self.mapping.located.texts.get(self.path)

    def at(self, step: str | int) -> Slot:
        """The value under a key or index; None in it if there is none."""
        found = self.value.get(step) if isinstance(self.value, dict) else self.value[step]
        return Slot(self.mapping, (*self.path, step), found)

    def key(self, key: str) -> Slot:
        """A key of the mapping."""
        return Slot(self.mapping, (*self.path, key), key, is_key=True)

    def entry(self, text: str) -> Slot:
        """The entry of the list that says `text`, else the whole."""
        is_entry = isinstance(self.value, list) and text in self.value
        return self.at(self.value.index(text)) if is_entry else self

    def wrong(self, message: str, hint: str = "", *, code: str = "", fix: Fix | None = None) -> Any:
        """Report it. Gives None, which a reader hands on: nothing that can be used."""
        if not self.mapping.is_full:
            self.mapping.reporter.error(code or self.mapping.code, message, self.place, hint, fix)

    def warn(self, code: str, message: str, hint: str = "", fix: Fix | None = None) -> None:
        """Warn of it."""
        self.mapping.reporter.warn(code, message, self.place, hint, fix)

    @property
    def siblings(self) -> Container[str]:
        """The keys of the mapping that a key stands in."""
        found = self.mapping.located.value
        for step in self.path[:-1]:
            found = found[step]
        return found if isinstance(found, Mapping) else ()

    def rewrite(self, new: str | None, old: str = "", *, is_safe: bool = False) -> Fix | None:
        """A fix that writes something else in place of the value, the key, or the part `old` of it."""
        written = old or self.spelling or str(self.value)
        return self.mapping.reporter.substitute(self.place, written, new, is_safe=is_safe)
