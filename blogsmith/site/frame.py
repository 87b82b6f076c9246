"""Inputs that the views of all pages share: rendered documents, and data of the site."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Container, Mapping
from typing import TypeAlias
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from ..config.languages import version_config, version_url_prefix
from ..config.schema import Config
from ..languages.language import ENGLISH, Language
from ..model.documents import Body, Document
from ..model.pictures import ImageVariant
from ..model.profiles import Portrait

TermNames: TypeAlias = Mapping[str, Mapping[str, str]]
"""Maps `tags` or `categories` to a mapping from slug to display name."""
OLDEST = dt.datetime.min.replace(tzinfo=dt.UTC)
"""Sort date of undated pages."""


class RenderedDocument(Struct, frozen=True):
    """A document with its rendered body and its position in the site."""

    document: Document
    body: Body
    url: str
    """Site path, without base path."""
    kind: str
    """`home`, `section`, `post` or `page`."""
    section: str
    """Name of the section, such as `posts` or `docs/guide`; empty for pages outside of sections."""
    edition: str = ""
    """Language version of the page, a key of `languages`; empty for the site's own language."""


class UnpublishedPost(Struct, frozen=True):
    """A post that is not built, with the data that a series list shows."""

    title: str
    series: str
    part: int | None
    edition: str = ""
    """Language version, a key of `languages`; empty for the site's own language."""


class ViewContext(Struct, frozen=True):
    """Data shared by the views of all pages of a language version."""

    config: Config
    """Settings with the values of this language version."""
    with_base: Callable[[str], str]
    """Function from site path to URL with base path."""
    image: Callable[[str, Document], str]
    """Function that resolves the front matter key `image` to a URL."""
    layouts: Container[str] = ()
    """Valid values of the front matter key `template`."""
    term_names: Mapping[str, TermNames] = field(default_factory=dict)
    """Display names of terms, by language version."""
    portraits: Mapping[str, Portrait] = field(default_factory=dict)
    """Path of a portrait in the settings → portrait."""
    copies: tuple[ImageVariant, ...] = ()
    """Smaller copies of portraits."""
    git_date: Callable[[Document], dt.datetime | None] = lambda document: None
    """Function that returns the date of the last commit for pages that request it; it returns None for other
    pages."""
    language: Language = ENGLISH
    """Language of the pages that blogsmith generates."""
    edition: str = ""
    """Language version, a key of `languages`; empty for the site's own language."""
    root: str = ""
    """Prefix of all site paths of the language version, such as `/de`."""
    find_language: Callable[[str], Language] = lambda tag: ENGLISH
    """Function from BCP 47 tag to language."""
    settings: Config | None = None
    """Settings of the whole site; None if they equal `config`."""

    def for_language(self, edition: str) -> ViewContext:
        """Return the context for another language version."""
        if edition == self.edition:
            return self
        whole = self.settings or self.config
        config = version_config(edition, whole)
        return replace(
            self,
            config=config,
            language=self.find_language(config.lang),
            edition=edition,
            root=version_url_prefix(edition, whole),
            settings=whole,
        )

    def printed_url(self, path: str) -> str:
        """Return a path of this language version as URL with base path: `/blog/de/archive/` for
        `/archive/`."""
        return self.with_base(self.root + path)

    def local_path(self, url: str) -> str:
        """Return the path within the language version of a URL with base path.

        The inverse of `printed_url`.
        """
        return url.removeprefix(self.config.base_path).removeprefix(self.root)


def canonical(config: Config, url: str) -> str:
    """Return the absolute URL of a site path, or an empty string without `base_url`. Non-ASCII characters are
    escaped, as the sitemap protocol and feed readers require."""
    return config.base_url.rstrip("/") + quote(url) if config.base_url else ""


def host_url(config: Config) -> str:
    """Return `https://example.org` for a `base_url` of `https://example.org/blog`. URLs in pages already
    contain the `/blog`."""
    scheme, mark, rest = config.base_url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if mark else ""
