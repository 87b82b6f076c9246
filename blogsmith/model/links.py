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
    """Why the target does not exist; empty if it does."""
    hint: str = ""
    code: str = "link-missing"
    page: str = ""
    """Source path of the target page; empty if the target is not a page."""
    written: str = ""
    """The part of the URL that is wrong, as written."""
    correction: str = ""
    """Correction of `written`; empty if none is known."""

    def fix(self, reporter: Reporter, place: Place | None) -> Fix | None:
        """Return a fix for the wrong part of the URL at or after `place`, or None."""
        # the text of a link may be its URL
        return reporter.substitute(place, self.written, self.correction or None, preceded_by="(<\"'= :[,")

    @property
    def local_url(self) -> str:
        """`url`; empty if it runs a script or loads something from another host."""
        return "" if ":" in self.url.split("/", 1)[0] or self.url.startswith("//") else self.url


class TitlePart(Struct, frozen=True, array_like=True):
    """A part of the title of a page or section."""

    kind: Literal["text", "code", "math"]
    content: str
    """Plain text, code, or TeX without delimiters."""


class LinkTitle(Struct, frozen=True):
    """The title of a page or section, as a link without words prints it."""

    parts: tuple[TitlePart, ...] = ()
    """Empty if the target has no title."""
    macros: Mapping[str, str] = MappingProxyType({})
    """TeX macros of the target's page, in addition to those of the site."""
