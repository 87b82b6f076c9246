"""Metadata in a page's `<head>` for programs: URL of its image, and JSON-LD. Layouts get it as `head`.

Without `base_url` a site does not know its own URL, so data that need an absolute URL are left out.
Vocabulary: schema.org.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ...model.social_cards import HEIGHT_PX, WIDTH_PX
from ...model.template_views import CitableView, PageAuthor, PageView, SiteView

_TYPES = {"post": "BlogPosting", "home": "WebSite"}


class HeadAssets(Struct, frozen=True):
    """Data that templates print in `<head>`."""

    image_url: str
    """Absolute URL of the page's image, otherwise of its social card. Empty if the page has neither, or the
    site has no `base_url`."""
    image_size: tuple[int, int] | None
    """Width and height of the image in pixels; None if not known."""
    json_ld: Mapping[str, Any]
    """Structured data for the filter `json`; empty for lists of pages."""
    faq_json_ld: Mapping[str, Any]
    """Questions and answers of the page for the filter `json`; empty if it has none."""
    styles: Mapping[str, str]
    """Group of pages → URL of its stylesheet."""
    scripts: tuple[str, ...]
    """URLs of the scripts that the theme has on every page."""
    bundles: Mapping[str, str]
    """Group of pages → URL of its bundled scripts."""


def page_head(
    page: PageView,
    site: SiteView,
    styles: Mapping[str, str],
    scripts: tuple[str, ...],
    bundles: Mapping[str, str],
) -> HeadAssets:
    """Return the `<head>` data of `page`. styles, scripts, bundles: as in `HeadAssets`."""
    image_url = _absolute(page.card or page.image, site)
    size = (WIDTH_PX, HEIGHT_PX) if page.card and not page.image else None
    return HeadAssets(
        image_url, size, _json_ld(page, site, image_url), _faq_json_ld(page), styles, scripts, bundles
    )


def _absolute(url: str, site: SiteView) -> str:
    """Return `url`, a path with the base path, as absolute URL; empty if `url` is empty or the site has no
    `base_url`."""
    if not url or url.startswith(("http://", "https://")):
        return url
    host = site.base_url.rstrip("/").removesuffix(site.base_path)
    return host + url if host else ""


def _json_ld(page: PageView, site: SiteView, image_url: str) -> Mapping[str, Any]:
    kind = _TYPES.get(page.kind)
    if kind is None:
        return {}
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "ScholarlyArticle" if page.citation and page.citation.bibtex else kind,
        "name" if kind == "WebSite" else "headline": page.title,
        "description": page.description,
        "url": page.canonical_url,
        "image": image_url,
        "inLanguage": page.lang,
    }
    if kind == "BlogPosting":
        data |= _posting(page, site)
    return {key: value for key, value in data.items() if value}


def _faq_json_ld(page: PageView) -> Mapping[str, Any]:
    if not page.faq:
        return {}
    questions = [
        {
            "@type": "Question",
            "name": entry.question,
            "acceptedAnswer": {"@type": "Answer", "text": entry.answer},
        }
        for entry in page.faq
    ]
    return {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": questions}


def _posting(page: PageView, site: SiteView) -> dict[str, Any]:
    return {
        "datePublished": _iso(page.date),
        "dateModified": _iso(page.updated),
        "author": [_person(author) for author in _authors(page)],
        "keywords": [tag.title for tag in page.tags],
        "isPartOf": {"@type": "Blog", "name": site.title},
        **_rights(page.citation),
    }


def _authors(page: PageView) -> tuple[PageAuthor, ...]:
    return page.citation.authors if page.citation else tuple(map(PageAuthor, page.authors))


def _person(author: PageAuthor) -> dict[str, str]:
    person = {"@type": "Person", "name": author.name}
    return {**person, "@id": f"https://orcid.org/{author.orcid}"} if author.orcid else person


def _rights(citation: CitableView | None) -> dict[str, Any]:
    if citation is None:
        return {}
    doi = f"https://doi.org/{citation.doi}" if citation.doi else ""
    rights = {"identifier": doi, "sameAs": doi, "license": citation.license_url or citation.license}
    return {name: value for name, value in rights.items() if value}


def _iso(value: dt.datetime | None) -> str:
    return value.isoformat(timespec="seconds") if value else ""
