"""Settings of what is looked at on request: links to other hosts, weights of pages, keys of front matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class ExternalLinks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `blogsmith check --links` asks for addresses at other hosts."""

    ignore: tuple[str, ...] = ()
    """Addresses that are not asked for; `*` stands for any text: `https://example.org/*`."""
    timeout: float = 15.0
    """Seconds that a host may take to answer."""
    pause: float = 1.0
    """Seconds between two questions to one host."""
    hosts: int = 8
    """Hosts that are asked at the same time, each over one connection at a time."""
    days: int = 7
    """Days for which a good answer counts; one that tells of a fault counts for one day."""
    private: bool = False
    """Ask machines of a private network too, on a site that is trusted on this machine."""
    archive: Literal["suggest", "ask"] = "suggest"
    """For a dead link, hint at the Internet Archive, or ask the archive which copy it has."""


class SectionBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What pages of a section may weigh, where that is something else than elsewhere."""

    page: str | None = None
    """As `budget.page`; what is left out, here and below, is as elsewhere."""
    styles: str | None = None
    """As `budget.styles`."""
    scripts: str | None = None
    """As `budget.scripts`."""
    fonts: str | None = None
    """As `budget.fonts`."""
    pictures: str | None = None
    """As `budget.pictures`."""
    total: str | None = None
    """As `budget.total`."""
    requests: int | None = None
    """As `budget.requests`."""
    hosts: int | None = None
    """As `budget.hosts`."""


class PageBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a page may weigh before a reader does anything; for `blogsmith check --budget`."""

    page: str = "150 kB"
    """Its HTML, packed as servers send it; empty, here and below: no limit."""
    styles: str = "60 kB"
    """Its style sheets, packed."""
    scripts: str = "60 kB"
    """Its scripts, packed."""
    fonts: str = "300 kB"
    """All fonts that its sheets name."""
    pictures: str = "2 MB"
    """Its pictures, each in the largest size that a browser may choose."""
    total: str = "2.5 MB"
    """All of it."""
    requests: int = 60
    """Files that a browser may ask for, the page among them."""
    hosts: int = 0
    """Other hosts that are asked before a click."""
    sections: Mapping[str, SectionBudget] = {}
    """Path of a section → what is something else for its pages: `photos: {pictures: 20 MB, total: 21 MB}`."""


class SectionRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the front matter of a section's pages holds."""

    require: tuple[str, ...] = ()
    """Keys that each page has."""
    allow: tuple[str, ...] = ()
    """Keys that a page may have besides; empty: any."""
    values: Mapping[str, tuple[str, ...]] = {}
    """Key → its values, or those of its list: `tags: [attention, numerics]`."""
    types: Mapping[str, str] = {}
    """Key of your own → `text`, `number`, `boolean`, `date`, `list` or `mapping`."""
