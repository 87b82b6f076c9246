"""Resolved links: the target of a URL in a post."""

from __future__ import annotations

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
