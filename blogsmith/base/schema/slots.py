"""Slots: a value that an author wrote, with its location and a way to report errors in it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from msgspec import Struct

from ..diagnostics.fixes import Fix
from ..diagnostics.model import Place, Reporter
from .yaml_loader import MAX_REPORTS, Located, YamlPath


class LocatedMapping(Struct, frozen=True):
    """A mapping that is being read, with the reporter and the codes for its errors."""

    located: Located
    reporter: Reporter
    code: str
    """Diagnostic code of an invalid value."""
    key_code: str = ""
    """Diagnostic code of an unknown key; empty: the value of `code` is used."""
    is_bounded: bool = True
    """Whether to stop reporting after `MAX_REPORTS` diagnostics, because nobody would fix more of them one by
    one."""

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached and no more errors are reported."""
        return self.is_bounded and len(self.reporter.diagnostics) >= MAX_REPORTS

    def root(self) -> Slot:
        """Return the slot whose value is the mapping itself."""
        return Slot(self, (), self.located.value)


class Slot(NamedTuple):
    """A value or key in a mapping, with its location."""

    mapping: LocatedMapping
    path: YamlPath
    value: Any
    """The value, or None if there is none. If the slot is a key, this is the key's name."""
    is_key: bool = False

    @property
    def name(self) -> str:
        """Name in messages: the key, or `entry 2 of tags`."""
        last = self.path[-1] if self.path else ""
        return last if isinstance(last, str) else f"entry {last + 1} of {self.path[-2]}"

    @property
    def quoted_name(self) -> str:
        """Name in messages, with the key in double quotes: `"title"`, or `entry 2 of "tags"`."""
        last = self.path[-1] if self.path else ""
        return f'"{last}"' if isinstance(last, str) else f'entry {last + 1} of "{self.path[-2]}"'

    @property
    def place(self) -> Place | None:
        located = self.mapping.located
        return (located.key_places if self.is_key else located.places).get(self.path)

    @property
    def folder(self) -> PurePosixPath:
        """Folder of the file, relative to the site root."""
        return PurePosixPath(self.mapping.reporter.path).parent

    @property
    def spelling(self) -> str | None:
        """Number or boolean as the author spells it; None for other values."""
        return self.mapping.located.texts.get(self.path)

    def child(self, step: str | int) -> Slot:
        """Return the slot of the value under a key or index. Its value is None if the key is missing."""
        found = self.value.get(step) if isinstance(self.value, dict) else self.value[step]
        return Slot(self.mapping, (*self.path, step), found)

    def key(self, key: str) -> Slot:
        return Slot(self.mapping, (*self.path, key), key, is_key=True)

    def entry(self, text: str) -> Slot:
        """Return the slot of the list entry equal to `text`, or this slot if there is none."""
        is_entry = isinstance(self.value, list) and text in self.value
        return self.child(self.value.index(text)) if is_entry else self

    def report(self, message: str, hint: str = "", *, code: str = "", fix: Fix | None = None) -> Any:
        """Report an error. Return None, so that a reader can write `return slot.report(…)`."""
        if not self.mapping.is_full:
            self.mapping.reporter.error(code or self.mapping.code, message, self.place, hint, fix)

    def warn(self, code: str, message: str, hint: str = "", fix: Fix | None = None) -> None:
        self.mapping.reporter.warn(code, message, self.place, hint, fix)

    @property
    def siblings(self) -> Container[str]:
        """Keys of the mapping that contains this slot's key."""
        found = self.mapping.located.value
        for step in self.path[:-1]:
            found = found[step]
        return found if isinstance(found, Mapping) else ()

    def correct(self, near: str | None, old: str = "") -> Fix | None:
        """Return a fix that replaces a misspelled value or key, or the part `old` of it, by the similar name
        `near`. Return None if the author may mean another name."""
        return self.mapping.reporter.correct(self.place, old or self.spelling or str(self.value), near)

    def rewrite(self, new: str | None, old: str = "", *, is_safe: bool = False) -> Fix | None:
        """Return a fix that replaces the value or key, or the part `old` of it, by `new`. Return None if
        `new` is None."""
        written = old or self.spelling or str(self.value)
        return self.mapping.reporter.substitute(self.place, written, new, is_safe=is_safe)
