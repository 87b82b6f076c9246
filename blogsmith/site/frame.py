"""What all views are made from: rendered documents, and the site around them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Container, Mapping
from urllib.parse import quote

from msgspec import Struct, field

from ..config.schema import Config
from ..languages.language import ENGLISH, Language
from ..model.documents import Body, Document

OLDEST = dt.datetime.min.replace(tzinfo=dt.UTC)
"""Where undated pages stand in time."""


class Rendered(Struct, frozen=True):
    """A document with everything made of it."""

    document: Document
    body: Body
    url: str
    """Site path without base path."""
    kind: str
    """`home`, `section`, `post`, `page`."""
    section: str
    """Name of the section, `posts` or `docs/guide`; empty for pages outside."""


class Unpublished(Struct, frozen=True):
    """A post that is not built, as far as a series list names it."""

    title: str
    series: str
    part: int | None


class Frame(Struct, frozen=True):
    """What the views of all pages share."""

    config: Config
    with_base: Callable[[str], str]
    """Site path → as printed."""
    image: Callable[[str, Document], str]
    """Front matter's `image` → its URL."""
    layouts: Container[str] = ()
    """Names that front matter's `template` may have."""
    term_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """`tags` or `categories` → slug → the name that is printed."""
    git_date: Callable[[Document], dt.datetime | None] = lambda document: None
    """When the last commit changed a page that asks for it."""
    language: Language = ENGLISH
    """Of the site: pages that blogsmith makes by itself are in it."""


def canonical(config: Config, url: str) -> str:
    """The absolute address of a site path; empty if the site does not know where it lives.

    In ASCII, as the sitemap protocol and feed readers ask for it.
    """
    return config.base_url.rstrip("/") + quote(url) if config.base_url else ""
