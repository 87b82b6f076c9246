"""What an address in a post leads to, once it is resolved."""

from __future__ import annotations

from msgspec import Struct


class LinkTarget(Struct, frozen=True):
    """What an address in a post leads to."""

    url: str
    """As printed, base path applied."""
    problem: str = ""
    """Why there is nothing there; empty if there is."""
    hint: str = ""
    code: str = "link-missing"
    title: str = ""
    """Of the page, for a link without a text of its own; empty if it leads to no page."""

    @property
    def local_url(self) -> str:
        """`url` if nothing of it runs or loads from another host, else empty."""
        return "" if ":" in self.url.split("/", 1)[0] or self.url.startswith("//") else self.url
