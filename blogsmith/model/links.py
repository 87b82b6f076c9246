"""Resolved links: the target of a URL in a post."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from ..base.diagnostics.fixes import Fix
from ..base.diagnostics.model import Place, Reporter


class LinkTarget(Struct, frozen=True):
    """The target of a URL in a post."""

    url: str
    """URL as printed, with the base path."""
    problem: str = ""
    """Reason why the target does not exist; empty if it exists."""
    hint: str = ""
    code: str = "link-missing"
    page: str = ""
    """Source path of the target page; empty if the target is not a page."""
    written: str = ""
    """The part of the URL that is wrong, as written."""
    correction: str = ""
    """Replacement for `written`; empty if none is known."""

    def fix(self, reporter: Reporter, place: Place | None) -> Fix | None:
        """Return a fix that replaces the wrong part of the URL at or after `place`; None if no correction is
        known."""
        # `[url](url)`: the same string may also be the text of the link
        return reporter.substitute(place, self.written, self.correction or None, preceded_by="(<\"'= :[,")

    @property
    def local_url(self) -> str:
        """`url`, or an empty string if it would run a script or load something from another host."""
        return "" if ":" in self.url.split("/", 1)[0] or self.url.startswith("//") else self.url


class TitlePart(Struct, frozen=True, array_like=True):
    """A part of the title of a page or section."""

    kind: Literal["text", "code", "math"]
    content: str
    """Plain text, code, or TeX without delimiters."""


class LinkTitle(Struct, frozen=True):
    """The title of a page or section, printed by a link without text of its own."""

    parts: tuple[TitlePart, ...] = ()
    """Parts of the title, in order; empty if the target has no title."""
    macros: Mapping[str, str] = MappingProxyType({})
    """TeX macros of the target's page, in addition to those of the site."""
