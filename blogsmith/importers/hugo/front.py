"""Front matter of Hugo → ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.slugs import alias_problem
from ...model.units import name_set
from ..model import FrontKeys, Notice
from ..text.front_values import list_of, one_line, texts_in
from .source import HugoDocument, date_in, date_text

_TEXTS = ("title", "subtitle")
_UNSEARCHED = ("searchhidden", "exclude_search", "excludesearch")
KEYS = FrontKeys(
    name_set(
        "title subtitle description summary date publishdate pubdate published lastmod modified updated "
        "slug url aliases alias tags categories category tag series series_order seriesorder author "
        "author.name authors authors.name draft expirydate unpublishdate build build.render build.list "
        "_build headless toc showtoc comments menu menus lang image cover images featured_image "
        "featuredimage thumbnail banner resources searchhidden exclude_search excludesearch"
    ),
    name_set(
        "resources menu menus build _build type markup weight tocopen hidesummary hidemeta "
        "showbreadcrumbs showreadingtime outputs showpostnavlinks showwordcount sharebuttons "
        "showsharebuttons socialshare cascade disableshare robotsnoindex canonicalurl editpost linktitle "
        "sitemap commentable featured hideheader hidefooter placeholder iscjklanguage translationkey prev "
        "next sidebar breadcrumbs disablehljs css javascript js highlight format noindex libraries"
    ),
)


def page_front(document: HugoDocument) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """The front matter of a page, in our keys and order, and what of it means something else."""
    front, source = document.front, document.path.as_posix()
    found: dict[str, Any] = {key: text for key in _TEXTS if (text := one_line(front.get(key)))}
    if description := one_line(front.get("description")) or one_line(front.get("summary")):
        found["description"] = description
    notices = list(_dates(front, found, source))
    for key, others in (("categories", ("category",)), ("tags", ("tag",))):
        if names := texts_in(front.get(key) or front.get(others[0])):
            found[key] = names
    if series := texts_in(front.get("series")):
        order = front.get("series_order", front.get("seriesorder"))
        found["series"] = (
            {"name": series[0], "part": order} if isinstance(order, int) and order > 0 else series[0]
        )
    if authors := _authors(front):
        found["authors"] = authors
    toc = front.get("toc", front.get("showtoc"))
    if isinstance(toc, bool):
        found["toc"] = toc
    # as PaperMod, Docsy and Hextra call it
    if any(front.get(key) is True for key in _UNSEARCHED):
        found["search"] = False
    if isinstance(front.get("comments"), bool):
        found["comments"] = front["comments"]
    if lang := one_line(front.get("lang")) or document.tag:
        found["lang"] = lang
    notices += _draft(front, found, source)
    aliases = _aliases(front, document)
    if fit := [alias for alias in aliases if not alias_problem(alias)]:
        found["aliases"] = fit
    hint = "readers who come by it find the page for missing addresses"
    notices += [
        Notice("changed", f"no page can stand at {alias}", source, hint=hint)
        for alias in aliases
        if alias not in fit
    ]
    return found, tuple(notices)


def _dates(front: Mapping[str, Any], found: dict[str, Any], source: str) -> Iterator[Notice]:
    date = front.get("date")
    published = front.get("publishdate") or front.get("pubdate") or front.get("published")
    first, release = date_in(date), date_in(published)
    shown = published if release and not first else date
    if first and release and release > first:
        found["publish_date"] = date_text(published)
    if expiry := date_text(front.get("expirydate") or front.get("unpublishdate")):
        found["expiry_date"] = expiry
    updated = front.get("lastmod") or front.get("modified") or front.get("updated")
    for key, value in (("date", shown), ("updated", updated)):
        if text := date_text(value):
            found[key] = text
        elif value and not isinstance(value, bool):
            yield Notice("mistake", f'"{key}" is no date: "{value}"', source)


def _draft(front: Mapping[str, Any], found: dict[str, Any], source: str) -> Iterator[Notice]:
    """What keeps a page from readers makes it a draft: nothing hidden is published by an import."""
    build = front.get("build") or front.get("_build")
    renders = build.get("render", "always") if isinstance(build, Mapping) else "always"
    reasons = {
        "headless": front.get("headless") is True,
        "build.render": renders in (False, "never", "link"),
    }
    if front.get("draft") is True or str(front.get("draft")).casefold() == "true":
        found["draft"] = True
    if isinstance(build, Mapping) and build.get("list") in (False, "never"):
        found["unlisted"] = True
    for name, holds in reasons.items():
        if holds:
            found["draft"] = True
            hint = "take draft: true out if it shall be seen"
            yield Notice("changed", f"{name} is not known here: the page is a draft", source, hint=hint)


def _authors(front: Mapping[str, Any]) -> list[str]:
    written = front.get("authors") or front.get("author")
    every = list_of(written)
    names = [each.get("name") if isinstance(each, Mapping) else each for each in every]
    return [text for name in names if (text := one_line(name)) and text != "admin"]


def _aliases(front: Mapping[str, Any], document: HugoDocument) -> list[str]:
    """Old addresses; those without a slash in front are relative to that of the page."""
    folder = document.address.rstrip("/").rpartition("/")[0]
    start = f"/{document.language}" if document.language else ""
    found = []
    for alias in texts_in(front.get("aliases") or front.get("alias")):
        address = f"{start}{alias}" if alias.startswith("/") else f"{folder}/{alias}"
        if address.strip("/") and not _same(address, document.address):
            found.append(address)
    return list({address.strip("/").casefold(): address for address in reversed(found)}.values())[::-1]


def _same(first: str, second: str) -> bool:
    return first.strip("/").casefold() == second.strip("/").casefold()


def image_candidates(front: Mapping[str, Any]) -> Iterator[str]:
    """Addresses of the page's picture, the likeliest first."""
    cover = front.get("cover")
    written = [
        cover.get("image") if isinstance(cover, Mapping) else cover,
        *(front.get(key) for key in ("image", "featured_image", "featuredimage", "thumbnail", "banner")),
        *texts_in(front.get("images")),
        *_named_resources(front.get("resources")),
    ]
    for each in written:
        address = each.get("filename") or each.get("src") if isinstance(each, Mapping) else each
        if isinstance(address, str) and address.strip():
            yield address.strip()


def _named_resources(resources: Any) -> Iterator[str]:
    """Files that `resources` names as a page's picture, as themes want it."""
    for each in resources if isinstance(resources, list) else ():
        if isinstance(each, Mapping) and each.get("name") in (
            "featured-image",
            "featured",
            "cover",
            "header",
        ):
            yield str(each.get("src") or "")
