"""`blogsmith check --budget`: what each page weighs as it would be published, held against the settings.

Each page is made, and the files that it loads are looked up among those of the site; nothing is written.
Texts count as packed with gzip, as servers send them. The fonts that its sheets name all count, although a
browser leaves out those that a page has no sign of.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct, field

from ..base.diagnostics.model import Diagnostic, SiteError
from ..config.schema import Config
from ..model.execution_values import parse_size
from ..model.template_views import PageView
from ..model.units import format_size
from ..project.focus import is_within
from ..project.report import BuildLog
from ..site.section_rules import section_of
from .page_resources import Kind, Resource, host_of, local_path, resources_in, resources_of
from .snapshot import SiteSnapshot

_KINDS: tuple[Kind, ...] = ("styles", "scripts", "fonts", "pictures")
_PACKED = frozenset((".css", ".js", ".mjs", ".svg", ".json", ".html", ".txt", ".xml"))
_MOST_READ = 20_000_000
_LINES = 10
"""Pages in the table."""
_NAMES: Mapping[str, str] = {"page": "the HTML", "total": "the page with all that it loads"}


class FileWeight(Struct, frozen=True):
    """What one file weighs."""

    path: str
    bytes: int
    packed: int
    """As servers send it."""


class PageWeight(Struct):
    """What a page loads."""

    url: str
    path: str
    """Of the source; empty for a page that blogsmith makes."""
    html: FileWeight
    files: dict[str, tuple[Kind, FileWeight]] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    remote: int = 0
    """Files of other hosts; what they weigh is not known."""

    def packed(self, name: str) -> int:
        """Bytes of one kind, of the HTML (`page`), or of all (`total`)."""
        if name == "page":
            return self.html.packed
        kinds = _KINDS if name == "total" else (name,)
        return sum(file.packed for kind, file in self.files.values() if kind in kinds) + (
            self.html.packed if name == "total" else 0
        )

    @property
    def bytes(self) -> int:
        """All of it, nothing packed."""
        return self.html.bytes + sum(file.bytes for _, file in self.files.values())

    @property
    def requests(self) -> int:
        """Files that a browser may ask for."""
        return 1 + len(self.files) + self.remote

    def heaviest(self, name: str) -> str:
        """The largest file of a kind."""
        files = [file for kind, file in self.files.values() if name in (kind, "total")]
        largest = max(files, key=lambda file: (file.packed, file.path), default=None)
        return f"the largest is {largest.path}, {format_size(largest.packed)}" if largest else ""


def weigh_pages(site: SiteSnapshot, log: BuildLog, files: Sequence[str] = ()) -> str:
    """Weigh all pages; what is over the budget goes to the log. Gives a table of the heaviest.

    files: weigh only pages that are made from these files and folders.
    """
    scale = _Scale(site)
    views = [one.content for one in site.composition.files if isinstance(one.content, PageView)]
    asked = [view for view in views if not files or (view.path and is_within(view.path, files))]
    pages = []
    for view in log.iterate("budget", asked):
        try:
            pages.append(scale.weigh(view))
        except SiteError as error:
            log.add(error.diagnostics)
    limits = _Limits(site.config)
    for page in pages:
        log.add(_excesses(page, limits))
    pages.sort(key=lambda page: (-page.packed("total"), page.url))
    return format_table(pages[:_LINES], len(pages))


class _Scale:
    """Belongs to one look at a site: each file is weighed once."""

    def __init__(self, site: SiteSnapshot) -> None:
        self._site = site
        self._files: dict[str, tuple[FileWeight, tuple[Resource, ...]] | None] = {}

    def weigh(self, view: PageView) -> PageWeight:
        html = self._site.composition.page(view).html
        page = PageWeight(view.url, view.path, FileWeight(view.url, len(html), _packed(html)))
        for resource in resources_of(html.decode("utf-8", "replace")):
            self._add(page, resource, view.url)
        return page

    def _add(self, page: PageWeight, resource: Resource, base: str) -> None:
        hosts = [host for address in resource.choices if (host := host_of(address))]
        if hosts:
            page.hosts.update(hosts)
            page.remote += 1
            return
        paths = [path for address in resource.choices if (path := local_path(address, base))]
        known = [(found[0], path) for path in paths if (found := self._file(path, resource.kind))]
        if not known:
            return
        file, path = max(known, key=lambda one: (one[0].packed, one[1]))
        if path in page.files:
            return
        page.files[path] = (resource.kind, file)
        found = self._file(path, resource.kind)
        for inner in found[1] if found else ():
            self._add(page, inner, path)

    def _file(self, path: str, kind: Kind) -> tuple[FileWeight, tuple[Resource, ...]] | None:
        if path not in self._files:
            self._files[path] = self._weigh_file(path, kind)
        return self._files[path]

    def _weigh_file(self, path: str, kind: Kind) -> tuple[FileWeight, tuple[Resource, ...]] | None:
        planned = self._site.table.get(path)
        if planned is None or isinstance(planned.content, PageView):
            return None
        content, is_text = planned.content, Path(path).suffix.lower() in _PACKED
        if isinstance(content, Path):
            size = content.stat().st_size
            if not is_text or size > _MOST_READ:
                return FileWeight(path, size, size), ()
            content = content.read_bytes
        data = content()
        inner = tuple(resources_in(kind, data.decode("utf-8", "replace"))) if is_text else ()
        return FileWeight(path, len(data), _packed(data) if is_text else len(data)), inner


def _packed(data: bytes) -> int:
    # most servers pack with level 5 or 6
    return len(gzip.compress(data, 6, mtime=0))


class _Limits:
    """The budget of the site, and those of its sections."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sections = {name.strip("/"): own for name, own in config.budget.sections.items()}

    def of(self, page: PageWeight, name: str) -> tuple[Any, str]:
        """What a page may have of something, and the setting that says so."""
        path = PurePosixPath(page.path)
        section = section_of(path, self._sections, self._config) if page.path and self._sections else ""
        own = getattr(self._sections[section], name) if section else None
        if own is not None:
            return own, f"budget.sections.{section}.{name}"
        return getattr(self._config.budget, name), f"budget.{name}"


def _excesses(page: PageWeight, limits: _Limits) -> Iterator[Diagnostic]:
    for name in ("page", *_KINDS, "total"):
        written, setting = limits.of(page, name)
        limit, weight = parse_size(written), page.packed(name)
        if limit is not None and weight > limit:
            of_page = f"{_NAMES.get(name, f'the {name}')} of {page.url}"
            message = f"{of_page}: {format_size(weight)}, and {setting} is {format_size(limit)}"
            yield _excess(page, message, page.heaviest(name))
    for name, count in (("requests", page.requests), ("hosts", len(page.hosts))):
        limit, setting = limits.of(page, name)
        if count > limit:
            asks = "asks for {} files" if name == "requests" else "asks {} other hosts"
            message = f"{page.url} {asks.format(count)}, and {setting} is {limit}"
            yield _excess(page, message, ", ".join(sorted(page.hosts)[:5]) if name == "hosts" else "")


def _excess(page: PageWeight, message: str, hint: str) -> Diagnostic:
    return Diagnostic("budget", message, page.path, hint=hint, severity="warning")


def format_table(pages: list[PageWeight], total: int) -> str:
    """The heaviest pages, sizes as servers send them."""
    head = ("HTML", *_KINDS, "together", "unpacked", "files", "hosts", "page")
    rows = [
        (
            *(format_size(page.packed(name)) for name in ("page", *_KINDS, "total")),
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
    shown = f"the {len(pages)} heaviest of {total:,} pages" if total > len(pages) else "all pages"
    return "\n".join((f"budget: {shown}, sizes as servers send them", *lines))
