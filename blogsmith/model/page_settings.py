"""What a page's head says of formulas and citations; all else as the site says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class PageMath:
    """How formulas of the page are read and numbered."""

    macros: Mapping[str, str] = field(default_factory=dict)
    """Macro name with backslash → TeX, besides those of the site: `\\R: \\mathbb{R}`."""
    numbering: str = ""
    """Which display formulas get a number; else as the site says."""
    packages: tuple[str, ...] | None = None
    """LaTeX packages that change what commands mean: `physics`; else those of the site."""
    converter: str = ""
    """What typesets: a plugin, or `blogsmith`; else as the site says."""


@dataclass(frozen=True, slots=True)
class PageCitations:
    """How citations look on the page."""

    style: Literal["", "numeric", "author-year"] = ""
    """`[1]`, or `(Vaswani et al., 2017)`; else as the site says."""
