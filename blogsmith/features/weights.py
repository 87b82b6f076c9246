"""`blogsmith check --budget`: compare the size of each published page with the limits in the settings.

Each page is rendered, and the files that it loads are looked up in the site; nothing is written. Text files
count with their gzip size, as servers send them. All fonts in the stylesheets count, although a browser loads
a font only if the page uses one of its characters.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import join, normpath
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.html_tags import StartTag, find_visible, parse_start_tag
from ..base.patterns import lazy_pattern
from ..build.snapshot import SiteSnapshot
from ..config.schema import Config
from ..model.execution_values import parse_size
from ..model.template_views import PageView
from ..model.units import format_size
from ..project.focus import is_within
from ..project.report import BuildLog
from ..site.section_rules import rule_section

# The files that a browser loads for a page before the reader acts, according to HTML, stylesheets and
# modules. If a browser can choose among several files, such as sizes of an image, the largest one counts.
# Videos load after a click, so they do not count. Requests of scripts at run time are unknown.


Kind = Literal["styles", "scripts", "fonts", "pictures"]

_TAG = lazy_pattern(r"<(?:/picture|(?:embed|iframe|img|link|object|picture|script|source|video)(?=[\s>]))")
_RELATIONS: dict[str, Kind] = {"stylesheet": "styles", "modulepreload": "scripts", "icon": "pictures"}
_PRELOADS: dict[str, Kind] = {"font": "fonts", "style": "styles", "script": "scripts", "image": "pictures"}
_IN_SHEET = lazy_pattern(r"@import\s+[\"']([^\"']+)[\"']|url\(\s*[\"']?([^\"')\s]+)")
_IMPORT = lazy_pattern(r"^\s*(?:import|export)\b[^;\"'()]*?[\"']([^\"'\n]+)[\"']", re.MULTILINE)
_FONTS = (".woff2", ".woff", ".ttf", ".otf")


class Resource(Struct, frozen=True):
    """A file that a page loads, or several alternatives from which a browser chooses one."""

    kind: Kind
    choices: tuple[str, ...]
    """URLs as written in the page."""


def find_page_resources(html: str) -> Iterator[Resource]:
    """Yield the resources that the HTML of a page names, in order, possibly with duplicates."""
    sources, is_picture = list[tuple[str, ...]](), False
    for found in find_visible(_TAG, html):
        tag = parse_start_tag(html, found.start())
        if tag is None or tag.name == "picture":
            is_picture, sources = tag is not None, []
        elif tag.name == "source":
            if is_picture and tag.get("srcset"):
                sources.append(_candidates(tag.get("srcset")))
        elif tag.name == "img":
            # a browser chooses the first format that it supports
            choices = sources[0] if sources else _candidates(tag.get("srcset")) or (tag.get("src"),)
            yield Resource("pictures", choices)
        else:
            yield from _tag_resources(tag)


def _tag_resources(tag: StartTag) -> Iterator[Resource]:
    if tag.name == "link":
        words = tag.get("rel").lower().split()
        kinds = [_RELATIONS[word] for word in words if word in _RELATIONS]
        kind = _PRELOADS.get(tag.get("as")) if "preload" in words else next(iter(kinds), None)
        if kind and tag.get("href"):
            yield Resource(kind, (tag.get("href"),))
    elif tag.name == "script":
        if tag.get("src"):
            yield Resource("scripts", (tag.get("src"),))
    elif tag.name == "video":
        if tag.get("poster"):
            yield Resource("pictures", (tag.get("poster"),))
    elif address := tag.get("data" if tag.name == "object" else "src"):
        yield Resource("pictures", (address,))


def _candidates(srcset: str) -> tuple[str, ...]:
    return tuple(part.split()[0] for part in srcset.split(", ") if part.strip())


def find_file_resources(kind: Kind, text: str) -> Iterator[Resource]:
    """Yield the resources that a stylesheet or a module names."""
    if kind == "styles":
        for found in _IN_SHEET.finditer(text):
            address = found[1] or found[2]
            if found[1]:
                yield Resource("styles", (address,))
            elif not address.startswith("data:"):
                is_font = urlsplit(address).path.lower().endswith(_FONTS)
                yield Resource("fonts" if is_font else "pictures", (address,))
    elif kind == "scripts":
        for found in _IMPORT.finditer(text):
            yield Resource("scripts", (found[1],))


def local_path(address: str, base: str) -> str:
    """Resolve a URL relative to the file at `base`. Return the path, or an empty string if it is on another
    host."""
    parts = urlsplit(address.strip())
    if parts.scheme or parts.netloc or not parts.path:
        return ""
    return normpath(join(base.rpartition("/")[0] or "/", unquote(parts.path)))


def remote_host(address: str) -> str:
    """Return the host of a URL, or an empty string if it is on the site's own host."""
    parts = urlsplit(address.strip())
    return parts.netloc.lower() if parts.scheme in ("", "http", "https") else ""


_KINDS: tuple[Kind, ...] = ("styles", "scripts", "fonts", "pictures")
_TEXT_SUFFIXES = frozenset((".css", ".js", ".mjs", ".svg", ".json", ".html", ".txt", ".xml"))
_MAX_COMPRESSED_BYTES = 20_000_000
_LINES = 10
"""Maximum number of pages in the table of the largest pages."""
_NAMES: Mapping[str, str] = {
    "page": "the HTML",
    "pictures": "the images",
    "total": "the page with all its files",
}


class FileSize(Struct, frozen=True):
    """Size of one file in bytes."""

    path: str
    bytes: int
    compressed: int
    """Size in bytes as sent by servers, compressed if it is text."""


class PageSize(Struct):
    """The files that a page loads, with their sizes."""

    url: str
    path: str
    """Path of the source; empty for a generated page."""
    html: FileSize
    files: dict[str, tuple[Kind, FileSize]] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    remote: int = 0
    """Number of files on other hosts, whose sizes are unknown."""

    def compressed_bytes(self, name: str) -> int:
        """Return the compressed size in bytes of one kind of file, of the HTML (`page`), or of everything
        (`total`)."""
        if name == "page":
            return self.html.compressed
        kinds = _KINDS if name == "total" else (name,)
        return sum(file.compressed for kind, file in self.files.values() if kind in kinds) + (
            self.html.compressed if name == "total" else 0
        )

    @property
    def bytes(self) -> int:
        """Uncompressed size of the page and its files, in bytes."""
        return self.html.bytes + sum(file.bytes for _, file in self.files.values())

    @property
    def requests(self) -> int:
        """Number of files that a browser may request."""
        return 1 + len(self.files) + self.remote

    def largest_file_hint(self, name: str) -> str:
        """Return a hint that names the largest file of a kind."""
        files = [file for kind, file in self.files.values() if name in (kind, "total")]
        largest = max(files, key=lambda file: (file.compressed, file.path), default=None)
        return (
            f"reduce the largest file, {largest.path} ({format_size(largest.compressed)})" if largest else ""
        )


def measure_pages(site: SiteSnapshot, log: BuildLog, files: Sequence[str] = ()) -> str:
    """Measure all pages, and add a warning to the log for each limit that a page exceeds. Return a table of
    the largest pages. files: measure only pages made from these files and folders."""
    scale = _SizeMeter(site)
    views = [one.content for one in site.plan.files if isinstance(one.content, PageView)]
    asked = [view for view in views if not files or (view.path and is_within(view.path, files))]
    pages = []
    for view in log.iterate("budget", asked):
        try:
            pages.append(scale.measure(view))
        except SiteError as error:
            log.add(error.diagnostics)
    limits = _Limits(site.config)
    for page in pages:
        log.add(_excesses(page, limits))
    pages.sort(key=lambda page: (-page.compressed_bytes("total"), page.url))
    return format_table(pages[:_LINES], len(pages))


class _SizeMeter:
    """Measures the files of one site, each of them once."""

    def __init__(self, site: SiteSnapshot) -> None:
        self._site = site
        self._files: dict[str, tuple[FileSize, tuple[Resource, ...]] | None] = {}

    def measure(self, view: PageView) -> PageSize:
        html = self._site.plan.page(view).html
        page = PageSize(view.url, view.path, FileSize(view.url, len(html), _compressed_size(html)))
        for resource in find_page_resources(html.decode("utf-8", "replace")):
            self._add(page, resource, view.url)
        return page

    def _add(self, page: PageSize, resource: Resource, base: str) -> None:
        hosts = [host for address in resource.choices if (host := remote_host(address))]
        if hosts:
            page.hosts.update(hosts)
            page.remote += 1
            return
        paths = [path for address in resource.choices if (path := local_path(address, base))]
        known = [(found[0], path) for path in paths if (found := self._file(path, resource.kind))]
        if not known:
            return
        file, path = max(known, key=lambda one: (one[0].compressed, one[1]))
        if path in page.files:
            return
        page.files[path] = (resource.kind, file)
        found = self._file(path, resource.kind)
        for inner in found[1] if found else ():
            self._add(page, inner, path)

    def _file(self, path: str, kind: Kind) -> tuple[FileSize, tuple[Resource, ...]] | None:
        if path not in self._files:
            self._files[path] = self._weigh_file(path, kind)
        return self._files[path]

    def _weigh_file(self, path: str, kind: Kind) -> tuple[FileSize, tuple[Resource, ...]] | None:
        planned = self._site.files_by_url.get(path)
        if planned is None or isinstance(planned.content, PageView):
            return None
        content, is_text = planned.content, Path(path).suffix.lower() in _TEXT_SUFFIXES
        if isinstance(content, Path):
            size = content.stat().st_size
            if not is_text or size > _MAX_COMPRESSED_BYTES:
                return FileSize(path, size, size), ()
            content = content.read_bytes
        data = content()
        inner = tuple(find_file_resources(kind, data.decode("utf-8", "replace"))) if is_text else ()
        return FileSize(path, len(data), _compressed_size(data) if is_text else len(data)), inner


def _compressed_size(data: bytes) -> int:
    # most servers use compression level 5 or 6
    return len(gzip.compress(data, 6, mtime=0))


class _Limits:
    """Size limits of the site and of its sections."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sections = {name.strip("/"): own for name, own in config.budget.sections.items()}

    def find(self, page: PageSize, name: str) -> tuple[Any, str]:
        """Return a limit for a page, and the name of the setting that defines it."""
        path = PurePosixPath(page.path)
        section = rule_section(path, self._sections, self._config) if page.path and self._sections else ""
        own = getattr(self._sections[section], name) if section else None
        if own is not None:
            return own, f"budget.sections.{section}.{name}"
        return getattr(self._config.budget, name), f"budget.{name}"


def _excesses(page: PageSize, limits: _Limits) -> Iterator[Diagnostic]:
    for name in ("page", *_KINDS, "total"):
        written, setting = limits.find(page, name)
        limit, weight = parse_size(written), page.compressed_bytes(name)
        if limit is not None and weight > limit:
            of_page = f'{_NAMES.get(name, f"the {name}")} of "{page.url}"'
            message = f'{of_page}: {format_size(weight)}, but "{setting}" allows {format_size(limit)}'
            yield _excess(page, message, page.largest_file_hint(name))
    for name, count in (("requests", page.requests), ("hosts", len(page.hosts))):
        limit, setting = limits.find(page, name)
        if count > limit:
            asks = "loads {} files" if name == "requests" else "loads files from {} other hosts"
            message = f'"{page.url}" {asks.format(count)}, but "{setting}" allows {limit}'
            yield _excess(
                page,
                message,
                f"load fewer files from {', '.join(sorted(page.hosts)[:5])}" if name == "hosts" else "",
            )


def _excess(page: PageSize, message: str, hint: str) -> Diagnostic:
    return Diagnostic("budget", message, page.path, hint=hint, severity="warning")


def format_table(pages: list[PageSize], total: int) -> str:
    """Return a table of the largest pages, with sizes as sent by servers."""
    head = ("HTML", "styles", "scripts", "fonts", "images", "total", "uncompressed", "files", "hosts", "page")
    rows = [
        (
            *(format_size(page.compressed_bytes(name)) for name in ("page", *_KINDS, "total")),
            format_size(page.bytes),
            str(page.requests),
            str(len(page.hosts)),
            page.url,
        )
        for page in pages
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join([cell.rjust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)] + [row[-1]])
        for row in (head, *rows)
    ]
    shown = f"the {len(pages)} largest of {total:,} pages" if total > len(pages) else "all pages"
    return "\n".join((f"budget: {shown}, sizes as sent by servers", *lines))
