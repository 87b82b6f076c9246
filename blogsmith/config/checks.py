"""Settings of checks that run on request: links to other hosts, page sizes, front matter keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class ExternalLinks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `blogsmith check --links` checks links to other hosts."""

    ignore: tuple[str, ...] = ()
    """URLs that are not checked. `*` matches any characters: `https://example.org/*`."""
    timeout: float = 15.0
    """Time limit for an answer, in seconds."""
    pause: float = 1.0
    """Pause between two requests to the same host, in seconds."""
    hosts: int = 8
    """Hosts to query in parallel, with one connection each."""
    days: int = 7
    """Days before a working link is checked again. A broken link is checked again after one day."""
    private: bool = False
    """Also check hosts in private networks, if the site is trusted on this machine."""
    archive: Literal["suggest", "ask"] = "suggest"
    """For a dead link, `suggest` the Internet Archive, or `ask` it for the URL of its copy."""


class SectionBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits for the pages of one section, where they differ from the rest of the site."""

    page: str | None = None
    """Like `budget.page`. If a key of the section is omitted, the limit of the site applies."""
    styles: str | None = None
    """Like `budget.styles`."""
    scripts: str | None = None
    """Like `budget.scripts`."""
    fonts: str | None = None
    """Like `budget.fonts`."""
    pictures: str | None = None
    """Like `budget.pictures`."""
    total: str | None = None
    """Like `budget.total`."""
    requests: int | None = None
    """Like `budget.requests`."""
    hosts: int | None = None
    """Like `budget.hosts`."""


class PageBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Size limits for the initial load of a page, checked by `blogsmith check --budget`."""

    page: str = "150 kB"
    """Size of the HTML, compressed with gzip. For all sizes, an empty value means no limit."""
    styles: str = "60 kB"
    """Size of the stylesheets, compressed with gzip."""
    scripts: str = "60 kB"
    """Size of the scripts, compressed with gzip."""
    fonts: str = "300 kB"
    """Size of all fonts that the stylesheets name."""
    pictures: str = "2 MB"
    """Size of the images, each in the largest version that a browser may choose."""
    total: str = "2.5 MB"
    """Size of everything together."""
    requests: int = 60
    """Files that a browser may request, including the page."""
    hosts: int = 0
    """Other hosts that a browser contacts before the reader clicks."""
    sections: Mapping[str, SectionBudget] = {}
    """Different limits for a section, by its path: `photos: {pictures: 20 MB, total: 21 MB}`."""


class SectionRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules for the front matter of the pages in a section."""

    require: tuple[str, ...] = ()
    """Keys that every page must have."""
    allow: tuple[str, ...] = ()
    """Other keys that a page may have. Empty: any."""
    values: Mapping[str, tuple[str, ...]] = {}
    """Allowed values of a key, or of the items of its list: `tags: [attention, numerics]`."""
    types: Mapping[str, str] = {}
    """Type of a custom key: `text`, `number`, `boolean`, `date`, `list` or `mapping`."""
