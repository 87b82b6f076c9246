"""Records of front matter and settings: series, solutions of exercises, and changes of a post."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

NUMBERINGS: Mapping[bool | str, bool | str] = MappingProxyType(
    {True: True, False: False, "by part": "by part"}
)
"""Allowed values of `numbering`, each mapped to itself for a reader of keywords."""


class Change(Struct, frozen=True):
    """A change of a post after its first publication."""

    date: str
    """Day of the change: `2026-11-21`."""
    text: str
    """Description of the change in a sentence; may contain links and formulas."""


@dataclass(frozen=True, slots=True)
class Series:
    """Membership of a post in a series."""

    name: str
    part: int | None = None
    """1-based number of the part; None: parts are ordered by date."""


class Solutions(Struct, frozen=True):
    """Place and date of solutions of exercises. A field that is not set has the value of the series,
    otherwise of the site."""

    show: Literal["", "inline", "folded", "end", "none"] = ""
    """Place of solutions. `inline`: as written; `folded`: as written, folded; `end`: at the end of the page;
    `none`: left out."""
    after: str = ""
    """Date on which solutions are published, such as `2026-12-01`. Until then, the site does not contain
    their text."""


Numbering: TypeAlias = bool | Literal["by part"]
"""Whether headings have numbers. `by part`: all numbers of a post start with its part of the series."""


class SeriesRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings for the posts of one series. The front matter of a post takes precedence."""

    numbering: Numbering | None = None
    """Number headings in the posts of this series; overrides the setting `numbering`."""
    solutions: Solutions = Solutions()
    """Solutions in the posts of this series. Overrides the setting `solutions`."""
