"""What all views are made from: rendered documents, and the site around them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Container, Mapping
from typing import TypeAlias
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from ..config.languages import edition_config, edition_root
from ..config.schema import Config
from ..languages.language import ENGLISH, Language
from ..model.documents import Body, Document

TermNames: TypeAlias = Mapping[str, Mapping[str, str]]
"""`tags` or `categories` → slug → the name that is printed."""
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
    edition: str = ""
    """Language of `languages` that the page belongs to; empty for the site's own."""


class Unpublished(Struct, frozen=True):
    """A post that is not built, as far as a series list names it."""

    title: str
    series: str
    part: int | None
    edition: str = ""
    """As in `Rendered`."""


class Frame(Struct, frozen=True):
    """What the views of all pages of an edition share."""

    config: Config
    """As pages of the edition have the settings."""
    with_base: Callable[[str], str]
    """Site path → as printed."""
    image: Callable[[str, Document], str]
    """Front matter's `image` → its URL."""
    layouts: Container[str] = ()
    """Names that front matter's `template` may have."""
    term_names: Mapping[str, TermNames] = field(default_factory=dict)
    """Edition → its names of terms."""
    git_date: Callable[[Document], dt.datetime | None] = lambda document: None
    """When the last commit changed a page that asks for it."""
    language: Language = ENGLISH
    """Of the edition: pages that blogsmith makes by itself are in it."""
    edition: str = ""
    """As in `Rendered`."""
    root: str = ""
    """What stands before all site paths of the edition: `/de`."""
    find_language: Callable[[str], Language] = lambda tag: ENGLISH
    """BCP 47 tag → the words of pages."""
    settings: Config | None = None
    """Those of the whole site; None: as `config`."""

    def within(self, edition: str) -> Frame:
        """The frame of another edition."""
        if edition == self.edition:
            return self
        whole = self.settings or self.config
        config = edition_config(edition, whole)
        return replace(
            self,
            config=config,
            language=self.find_language(config.lang),
            edition=edition,
            root=edition_root(edition, whole),
            settings=whole,
        )

    def address(self, path: str) -> str:
        """A path of the edition as printed: `/blog/de/archive/` of `/archive/`."""
        return self.with_base(self.root + path)

    def path_of(self, url: str) -> str:
        """The path of the edition of an address as printed: the other way round."""
        return url.removeprefix(self.config.base_path).removeprefix(self.root)


def canonical(config: Config, url: str) -> str:
    """The absolute address of a site path; empty if the site does not know where it lives.

    In ASCII, as the sitemap protocol and feed readers ask for it.
    """
    return config.base_url.rstrip("/") + quote(url) if config.base_url else ""


def host_url(config: Config) -> str:
    """`https://example.org` of `https://example.org/blog`: addresses in pages carry the base path already."""
    scheme, mark, rest = config.base_url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if mark else ""
