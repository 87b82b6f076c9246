"""Typed access to a mapping of the front matter, with a report at the place of each wrong value.

Every reader takes a key, gives the value in its type, and the type's empty value if the key is
absent, empty or wrong. So one wrong value never hides another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..diagnostics.model import Place, Reporter, did_you_mean
from ..strict_yaml.loader import MAX_REPORTS, Located, YamlPath

_CODE = "front-matter-value"
_QUOTE = "put it in quotes"
_YAML_1_1: Mapping[str, str] = MappingProxyType(
    {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
)
"""Words of older YAML, and words in quotes → what is meant."""


@dataclass(frozen=True, slots=True)
class Fields:
    """One mapping. Lives as long as one head is read."""

    values: Mapping[str, Any]
    path: YamlPath
    """Where the mapping stands in the head."""
    located: Located
    reporter: Reporter

    def place(self, *path: str | int) -> Place | None:
        """Where the value at `path` below this mapping stands."""
        return self.located.places.get((*self.path, *path))

    def wrong_key(self, message: str, key: str, *, hint: str = "") -> None:
        """Report the key itself."""
        if len(self.reporter.diagnostics) < MAX_REPORTS:
            place = self.located.key_places.get((*self.path, key))
            self.reporter.error(_CODE, message, place, hint)

    def wrong(self, message: str, *path: str | int, hint: str = "", code: str = _CODE) -> None:
        """Report the value at `path` below this mapping."""
        if len(self.reporter.diagnostics) < MAX_REPORTS:
            self.reporter.error(code, message, self.place(*path), hint)

    def below(self, *path: str | int) -> Fields | None:
        """The mapping at `path`; None if there is another value."""
        value: Any = self.values
        for step in path:
            value = value[step]
        return (
            Fields(value, (*self.path, *path), self.located, self.reporter)
            if isinstance(value, dict)
            else None
        )

    def text(self, key: str) -> str:
        """A text on one line; a number as the author spells it."""
        value = self.values.get(key)
        text = self.as_text(value, key)
        if text is None and value is not None:
            self.wrong(f"{key} must be a text", key, hint=_QUOTE if isinstance(value, bool) else "")
        return text or ""

    def as_text(self, value: Any, *path: str | int) -> str | None:
        """The text or number at `path` on one line; None if it is something else."""
        if isinstance(value, str):
            return " ".join(line.strip() for line in value.splitlines()).strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self.located.texts.get((*self.path, *path), str(value))
        return None

    def flag(self, key: str) -> bool | None:
        """True, false, or None if the key is absent."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        meant = _YAML_1_1.get(str(value).casefold(), "")
        self.wrong(f"{key} must be true or false", key, hint=f"write {meant}" if meant else "")
        return None

    def choice(self, key: str, choices: Iterable[str]) -> str:
        """One of a few words."""
        known = tuple(choices)
        value = self.values.get(key)
        if value is None or value in known:
            return value or ""
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        self.wrong(f"{key} must be {_any_of(known)}", key, hint=hint)
        return ""

    def texts(self, key: str, *, separator: str = "") -> tuple[str, ...]:
        """A list of texts, each once; a single text is a list of one, or is cut at `separator`."""
        value = self.values.get(key)
        if isinstance(value, list):
            items = [self._item(key, index, item) for index, item in enumerate(value)]
        elif (text := self.as_text(value, key)) is not None:
            items = [part.strip() for part in text.split(separator)] if separator else [text]
        else:
            items = []
            if value is not None:
                self.wrong(f"{key} must be a list of texts", key)
        return tuple(dict.fromkeys(item for item in items if item))

    def _item(self, key: str, index: int, value: Any) -> str:
        text = self.as_text(value, key, index)
        if not text:
            hint = _QUOTE if isinstance(value, bool) else ""
            self.wrong(f"entry {index + 1} of {key} must be a text", key, index, hint=hint)
        return text or ""

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Report every key that is not one of `known`."""
        choices = tuple(known)
        for key in self.values:
            if key not in choices:
                hint = did_you_mean(key, choices) or f"known keys: {', '.join(choices)}"
                self.wrong_key(f'unknown key "{key}"', key, hint=hint)


def _any_of(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
