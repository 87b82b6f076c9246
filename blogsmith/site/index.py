"""Index of the site: pages, anchors, labels, files, and the resolution of links.

Links are written as in a post: relative to the Markdown file (`other.md#id`, `fig.png`) or from the site
root (`/posts/other/`, `/img/fig.png`). Nothing here reads from disk.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from msgspec import Struct

from ..base.diagnostics.model import confirm_typo, did_you_mean, format_suggestion, nearest
from ..base.storage.file_names import LINKED_ENDS
from ..model.documents import Document
from ..model.links import LinkTarget, LinkTitle, TitlePart
from ..model.remote_images import RemoteImages
from ..syntax.references.labels import Label
from .permalinks import HTML, links_url

if TYPE_CHECKING:
    from ..syntax.parser import Parsed

CONTENT = PurePosixPath("content")
NOTHING_COPIED = RemoteImages()
EXTERNAL = ("http://", "https://", "mailto:", "tel:")


class PageEntry(Struct, frozen=True):
    """Data of a page that other pages need in addition to its URL."""

    title: str
    """Title of the page as plain text."""
    ids: frozenset[str]
    """All anchors of the page."""
    labels: Mapping[str, Label]
    titles: Mapping[str, tuple[TitlePart, ...]] = {}
    """Id of a heading → its title; an empty string → the title of the page."""
    macros: Mapping[str, str] = {}
    """TeX macros in the front matter of the page."""


class SiteIndex(Struct, frozen=True):
    """The whole site by source path and by URL. Immutable, because it is created once per build."""

    base_path: str
    urls: Mapping[str, str]
    """Source path → site path without base path (`/posts/a/`), published pages only."""
    entries: Mapping[str, PageEntry]
    """Source path of a published page → its entry. An entry may be created when it is first requested."""
    unpublished: Mapping[str, str]
    """Source path of a draft, or of a post dated in the future → site path that it would have."""
    generated: frozenset[str]
    """Site paths of pages without a source, such as lists and tags."""
    files: Mapping[str, str]
    """Path of an asset under the site root → its site path."""
    file_by_url: Mapping[str, str]
    """Site path → path of the asset under the site root, the inverse of `files`."""
    by_url: Mapping[str, str]
    """Site path of a page → its source path. Includes unpublished pages, unless a published page has the same
    URL."""
    by_slug: Mapping[str, str]
    """Last part of a page's URL → source path, for `{@slug#eq-x}`. Pages in the site's own language come
    first."""
    remote: RemoteImages = RemoteImages()
    editions: Mapping[str, str] = {}
    """Source path → key of `languages`, for pages that are not in the site's own language."""
    translations: Mapping[str, Mapping[str, str]] = {}
    """Source path of a page with translations → language version → source path."""

    def with_base(self, url: str) -> str:
        """Return a site path with the base path."""
        return self.base_path + url

    def has_page(self, path: str) -> bool:
        """Return whether `path` is the source of a page, published or not."""
        return path in self.urls or path in self.unpublished

    def page_labels(self, slug: str, document: Document) -> Mapping[str, Label] | None:
        """Return the labels of the post that `slug` means in `document`, or None if there is none."""
        path = self.find_by_slug(slug, document)
        return self.entries[path].labels if path else None

    def page_url(self, slug: str, document: Document) -> str:
        """Return the URL with base path of the post that `slug` means in `document`; empty if no post
        matches."""
        path = self.find_by_slug(slug, document)
        return self.with_base(self.urls[path]) if path else ""

    def link_title(self, path: str, anchor: str) -> Label | LinkTitle:
        """Return the text of a link to an anchor of the page at source path `path`, if the author wrote none.
        anchor: empty for the title of the page. The result is an empty title if the anchor has none."""
        if path not in self.urls:
            return LinkTitle()
        entry = self.entries[path]
        label = entry.labels.get(anchor) if anchor else None
        if label and not (label.is_heading_text and anchor in entry.titles):
            return label
        return LinkTitle(entry.titles.get(anchor, ()), entry.macros)

    def nearest_slug(self, slug: str) -> str | None:
        """Return the existing slug that is most similar to `slug`, or None."""
        return nearest(slug, sorted(self.by_slug))

    def slug_hint(self, slug: str) -> str:
        """Return a hint about a slug that belongs to no published post."""
        waiting = next(
            (path for path, url in self.unpublished.items() if _last_segment(url) == _last_segment(slug)), ""
        )
        if waiting:
            return f"remove `draft: true` or the date in the future from {waiting}"
        return did_you_mean(slug, sorted(self.by_slug)) or "write the slug of the post before the `#`"

    def translated_path(self, document: Document, path: str) -> str:
        """Return the source path of the translation of the page at `path` in the language of `document`, or
        `path` if there is none. From a page to its own translations, links are not changed, so `path` is
        returned."""
        own = str(document.path)
        group = self.translations.get(path, {})
        return path if own in group.values() else group.get(self.editions.get(own, ""), path)

    def find_by_slug(self, slug: str, document: Document) -> str:
        """Return the source path of the page that `slug` means in `document`; empty if there is none."""
        return self.translated_path(document, self.by_slug.get(_last_segment(slug), ""))

    def find_linked(self, written: str, document: Document) -> tuple[str, str]:
        """Return (source path of the page or path of the file, anchor) for the target of a link. Both are
        empty if the link resolves to nothing."""
        address, _, anchor = written.partition("#")
        if not address:
            return str(document.path), anchor
        found = resolve_link(self, written, document)
        if not found.url or (found.problem and found.code == "link-missing"):
            return "", ""
        site_path = found.url.partition("#")[0].partition("?")[0].removeprefix(self.base_path)
        page = self.by_url.get(site_path)
        if page is None and address.endswith(LINKED_ENDS):
            near = posixpath.normpath(str(document.path.parent / address))
            page = near if near in self.urls else None
        return (page or self.file_by_url.get(site_path, ""), anchor)


def _last_segment(address: str) -> str:
    """Return the last part of a URL or file name, which identifies a post in references."""
    return address.strip("/").removesuffix(".md").removesuffix(HTML).rpartition("/")[2]


def index_site(
    base_path: str,
    urls: Mapping[str, str],
    entries: Mapping[str, PageEntry],
    unpublished: Mapping[str, str],
    generated: Iterable[str],
    files: Mapping[str, str],
    remote: RemoteImages = NOTHING_COPIED,
    editions: Mapping[str, str] = MappingProxyType({}),
    translations: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> SiteIndex:
    """Build the index. urls, entries, unpublished, generated, editions, translations: as in `SiteIndex`.
    files: files to copy."""
    by_slug: dict[str, str] = {}
    for path, url in sorted(urls.items(), key=lambda item: (item[0] in editions, *item)):
        by_slug.setdefault(_last_segment(url), path)
    return SiteIndex(
        base_path=base_path,
        urls=urls,
        entries=entries,
        unpublished=unpublished,
        generated=frozenset(generated),
        files=files,
        file_by_url={url: path for path, url in files.items()},
        by_url={url: path for path, url in unpublished.items()} | {url: path for path, url in urls.items()},
        by_slug=by_slug,
        remote=remote,
        editions=editions,
        translations=translations,
    )


def page_entry(page: Parsed) -> PageEntry:
    """Return the entry of a parsed page, with the data that other pages need from this page."""
    from ..syntax.headings import heading_titles, title_parts
    from ..syntax.references.labels import anchors

    title = title_parts(page.title, page.page) or (TitlePart("text", page.title_text),)
    return PageEntry(
        page.title_text,
        anchors(page.tokens) | {page.title_id} - {""},
        page.labels,
        {**heading_titles(page.tokens, page.page), page.title_id: title, "": title},
        page.document.front.math.macros,
    )


def resolve_link(index: SiteIndex, written: str, document: Document) -> LinkTarget:
    """Resolve the link `written` in `document`. The result has a `problem` if the link is invalid."""
    if written.lower().startswith(EXTERNAL):
        return LinkTarget(written)
    if written.startswith("//") or ":" in written.split("/", 1)[0].split("#", 1)[0]:
        hint = "write `https://` for other sites, or a path for pages of this site"
        message, meant = f'"{written}" is not allowed in a link', f"https:{written}"
        return LinkTarget(
            "", message, hint, "link-scheme", written=written, correction=meant if written[:2] == "//" else ""
        )
    address, _, anchor = written.partition("#")
    address, _, query = address.partition("?")
    path = unquote(address)
    suffix = (f"?{query}" if query else "") + (f"#{anchor}" if anchor else "")
    if not path:
        return _same_page(index, document, written, unquote(anchor))
    source = _find_page(index, path, document)
    if source:
        source = _translated_target(index, source, path, unquote(anchor), document)
        return _page(index, source, written, suffix, unquote(anchor))
    file = find_file(index, path, document)
    if file:
        return LinkTarget(index.with_base(quote(index.files[file])) + suffix)
    return _missing_target(index, path, written, document)


def _translated_target(index: SiteIndex, source: str, path: str, anchor: str, document: Document) -> str:
    """Return the translation of `source` in the document's language, for a link to a source file.

    Return `source` if the translation lacks the anchor, or for a link by URL, which always means exactly that
    page.
    """
    other = index.translated_path(document, source) if path.endswith(LINKED_ENDS) else source
    is_there = other in index.urls and (not anchor or anchor in index.entries[other].ids)
    return other if is_there else source


def _same_page(index: SiteIndex, document: Document, written: str, anchor: str) -> LinkTarget:
    path = str(document.path)
    if not anchor or path not in index.urls or anchor in index.entries[path].ids:
        return LinkTarget(written)
    entry = index.entries[path]
    near = nearest(anchor, sorted(entry.ids))
    hint, meant = _anchor_hint(near), confirm_typo(anchor, near) and f"#{near}"
    message = f'anchor not found on this page: "#{anchor}"'
    return LinkTarget(written, message, hint, "link-anchor", written=written, correction=meant or "")


def _page(index: SiteIndex, source: str, written: str, suffix: str, anchor: str) -> LinkTarget:
    if source in index.unpublished:
        hint = "remove `draft: true` or the date in the future from its front matter, or remove the link"
        return LinkTarget(written, f'"{source}" is not published', hint, "link-unpublished")
    if source not in index.urls:
        return LinkTarget(index.with_base(source) + suffix)
    url = index.with_base(quote(index.urls[source])) + suffix
    # a page's entry is created late in a build, and most links need no entry
    if anchor and anchor not in (ids := index.entries[source].ids):
        near = nearest(anchor, sorted(ids))
        hint, meant = _anchor_hint(near), confirm_typo(anchor, near) and f"#{near}"
        message, old = f'anchor not found in "{source}": "#{anchor}"', written.removesuffix(f"#{anchor}")
        return LinkTarget(
            url, message, hint, "link-anchor", written=written, correction=f"{old}{meant}" if meant else ""
        )
    return LinkTarget(url, page=source)


def _anchor_hint(near: str | None) -> str:
    return (
        f"did you mean `#{near}`?"
        if near
        else "write the id of a heading, or give the target an id with `{#name}`"
    )


def _find_page(index: SiteIndex, path: str, document: Document) -> str:
    """Return the source path of the page, or the URL of a generated page; empty if there is none."""
    if path.endswith(LINKED_ENDS):
        found = _content_path(path, document)
        return found if index.has_page(found) else ""
    own = links_url(index.urls.get(str(document.path), "/"))
    url = posixpath.normpath(posixpath.join(own, path))
    for candidate in (f"{url}/" if url != "/" else "/", url):
        if candidate in index.by_url:
            return index.by_url[candidate]
        if candidate in index.generated:
            return candidate
    folder = _content_path(path, document)
    names = (f"{folder}/{name}" for name in ("index.md", "_index.md", "index.ipynb"))
    return next((name for name in names if index.has_page(name)), "")


def _content_path(path: str, document: Document) -> str:
    """Return `path`, as written in `document`, as a path from the site root."""
    start = CONTENT if path.startswith("/") else document.path.parent
    return posixpath.normpath(str(start / path.lstrip("/")))


def find_file(index: SiteIndex, path: str, document: Document) -> str:
    """Return the asset at `path`: next to the document, under `static/`, or by site path. Return an empty
    string if the asset does not exist."""
    candidates = [_content_path(path, document)]
    if path.startswith("/"):
        candidates.append(posixpath.normpath(f"static{path}"))
        candidates.append(index.file_by_url.get(path, ""))
    return next((c for c in candidates if c in index.files), "")


def find_moved(path: str, choices: Iterable[str]) -> str | None:
    """Return the path among `choices` that has the file name of `path`, if there is exactly one; otherwise
    None."""
    name = posixpath.basename(path)
    found = {choice for choice in choices if name and posixpath.basename(choice) == name}
    return found.pop() if len(found) == 1 else None


def missing_path_hint(path: str, document: Document) -> str:
    """Return the hint for a link or an image whose file does not exist. The hint names the path that was
    searched."""
    is_file = bool(posixpath.splitext(path)[1])
    if path.startswith("/"):
        place = f"{CONTENT}{path}" if path.endswith(".md") else f"static{path}"
        return f"add {f'`{place}`' if is_file else f'a page with the URL `{path}`'}, or correct the path"
    place = posixpath.normpath(posixpath.join(str(document.path.parent), path))
    if place.startswith("..") or not is_file:
        return "write a path relative to the Markdown file, or one that starts with `/`"
    return f"add `{place}`, or write a path relative to this file or one that starts with `/`"


def _missing_target(index: SiteIndex, path: str, written: str, document: Document) -> LinkTarget:
    if path.casefold().startswith("www."):
        hint, meant = f"write `https://{written}`", f"https://{written}"
        return LinkTarget(
            written, f'page or file not found: "{path}"', hint, written=written, correction=meant
        )
    if path.startswith("/"):
        choices = [*index.urls.values(), *index.generated, *index.files.values()]
    elif not posixpath.splitext(path)[1]:
        own = links_url(index.urls.get(str(document.path), "/"))
        choices = [f"{posixpath.relpath(url, own)}/" for url in (*index.urls.values(), *index.generated)]
    else:
        folder = str(document.path.parent)
        choices = [posixpath.relpath(p, folder) for p in (*index.urls, *index.files)]
    near = nearest(path, sorted(choices)) or find_moved(path, choices)
    hint = format_suggestion(near) or missing_path_hint(path, document)
    address = re.split("[?#]", written, maxsplit=1)[0]
    message = f'page or file not found: "{path}"'
    return LinkTarget(
        written, message, hint, written=address, correction=quote(confirm_typo(path, near) or "")
    )
