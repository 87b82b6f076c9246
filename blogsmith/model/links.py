"""What an address in a post leads to, once it is resolved."""

from __future__ import annotations

from msgspec import Struct

from ..base.diagnostics.fixes import Fix
from ..base.diagnostics.model import Place, Reporter


class LinkTarget(Struct, frozen=True):
    """What an address in a post leads to."""

    url: str
    """As printed, base path applied."""
    problem: str = ""
    """Why there is nothing there; empty if there is."""
    hint: str = ""
    code: str = "link-missing"
    page: str = ""
    """Source path of the page; empty if it leads to none."""
    written: str = ""
    """The part of the address that is wrong, as written."""
    meant: str = ""
    """What to write for that; empty where nobody knows."""

    def fix(self, reporter: Reporter, place: Place | None) -> Fix | None:
        """What to change in the text in which the address stands at a place."""
        # the text of a link may be its address
        return reporter.substitute(place, self.written, self.meant or None, behind="(<\"'= :[,")

    @property
    def local_url(self) -> str:
        """`url` if nothing of it runs or loads from another host, else empty."""
        return "" if ":" in self.url.split("/", 1)[0] or self.url.startswith("//") else self.url
