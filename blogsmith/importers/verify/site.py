"""Compares the built import with its source, page by page, in one or several processes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ...api.importing import (
    Diagnostic,
    PageTimeout,
    Progress,
    RenderedDocument,
    SiteSnapshot,
    lazy_pattern,
)
from ..model import Difference, ImportedPage, PageCheck, SiteImport, SourcePart
from ..page_work import ONE_PROCESS, Workers, map_pages, page_limit
from ..repair import FORMULA_CODES, BuiltImport
from ..source_files import read_text
from ..systems import load_system
from ..text.data import load_data, load_mapping, split_front_matter
from ..text.segments import LineFinder
from .facts import Facts, losses, read_facts
from .published_pages import PublishedCheck, check_published, published_facts, published_losses
from .values import NewValues, ValueIndex, front_losses, leaves, old_leaves, read_old_front, settings_losses

_ADDRESS = lazy_pattern(r'\b(src|srcset|href)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Input for the comparison of a page."""

    page: ImportedPage
    html: str | None
    """HTML of the new page from `page_html`; None if there is no page."""
    address_losses: tuple[Difference, ...] = ()
    """Its old URL, as a loss, if the new site has no page there; otherwise empty."""
    published: Facts | None = None
    """Content of the page that the old system published; None if there is none."""
    errors: int = 0
    """Number of errors that the build reported for the page; `warnings` is the number of warnings."""
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class PageComparer:
    """Compares the pages of one import. Picklable."""

    system: str
    """Name of the old system, from `systems.system_names`."""
    old_root: Path
    new_root: Path
    settings: Mapping[str, Any]
    """Settings of the new site, as written."""
    base_url: str
    """Base URL of the new site; `title` is its title."""
    title: str

    def compare(self, request: PageRequest) -> PageCheck:
        """Return the errors and losses of a page."""
        page = request.page
        try:
            with page_limit():
                return self._with_front(self._compare(request), page)
        except (PageTimeout, RecursionError):
            lost = Difference("page", "takes too long to compare", page.source)
            return PageCheck(str(page.path), page.source, {}, (lost,))

    def _compare(self, request: PageRequest) -> PageCheck:
        page, system = request.page, load_system(self.system)
        lines = LineFinder(page.original, page.first_line)
        before = read_facts(system.render(page.original, page))
        after = read_facts(request.html) if request.html is not None else Facts()
        removed = "\n\n".join(notice.removed for notice in page.notices if notice.removed)
        allowed = read_facts(system.render(removed, page)) if removed else Facts()
        home = self.base_url.partition("//")[2].rstrip("/").casefold()
        differences = [*losses(page.source, before, after, allowed, lines, home), *request.address_losses]
        differences = [_locate(each, page.parts) for each in differences]
        if request.published is not None:
            differences += published_losses(page, request.published, after, allowed, self.title)
        return PageCheck(
            str(page.path), page.source, before.sizes, tuple(differences), request.errors, request.warnings
        )

    def _with_front(self, check: PageCheck, page: ImportedPage) -> PageCheck:
        """Add the losses in front matter to a check. Old and new front matter are read from their files."""
        written = read_old_front(self.old_root / page.source)
        new = split_front_matter(read_text(self.new_root / page.path) or "")
        index = ValueIndex([load_data(new.front_matter, new.form), self.settings], [new.body])
        old = old_leaves(page, written or {})
        lost = front_losses(page, old, index)
        differences = (*check.differences, *lost)
        return replace(check, differences=differences, values=len(old), is_front_read=written is not None)


def _locate(found: Difference, parts: Sequence[SourcePart]) -> Difference:
    """Return a difference with the file and line of its part, for pages that come from several files."""
    part = next((one for one in reversed(parts) if one.line <= found.line), None)
    return replace(found, source=part.source, line=part.first + found.line - part.line) if part else found


def page_html(rendered: RenderedDocument, base_path: str) -> str:
    """Return title, summary and content as HTML, because an import may move text between them."""
    body = rendered.body
    originals = {f"{base_path}/{one.path}": one.source for one in body.variants}
    html = _restore_image_urls(body.html, originals) if originals else body.html
    return f"<h1>{body.title_html}</h1><div>{body.description_html}</div>{html}"


def _restore_image_urls(html: str, originals: Mapping[str, str]) -> str:
    """Replace URLs of smaller copies of images with those of the originals."""

    def original(found: re.Match[str]) -> str:
        first = found[2].split(" ", 1)[0].rstrip(",")
        return f'{found[1]}="{originals[first]}"' if first in originals else found[0]

    return _ADDRESS.sub(original, html)


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """Diagnostics and losses of an imported site."""

    pages: tuple[PageCheck, ...]
    diagnostics: tuple[Diagnostic, ...]
    """Diagnostics of the whole site, sorted as a build prints them."""
    published: PublishedCheck | None = None
    """Comparison with the pages that the old system published; None if they are not given."""
    settings: tuple[Difference, ...] = ()
    """Lost settings of the old site."""
    setting_count: int = 0
    """Number of compared values in the old settings."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return all losses that no notice explains."""
        return (*self.settings, *(difference for page in self.pages for difference in page.differences))

    @property
    def unreadable_files(self) -> tuple[str, ...]:
        """Return the files whose front matter could not be read and compared."""
        return tuple(page.source for page in self.pages if not page.is_front_read)

    @property
    def formula_errors(self) -> int:
        """Return the number of errors in formulas, which are shown as TeX."""
        return sum(found.code in FORMULA_CODES for found in self.diagnostics)

    @property
    def unknown_commands(self) -> Counter[str]:
        """Count the unknown commands of formulas, by name."""
        places = (
            (found.source_line, found.place) for found in self.diagnostics if found.code == "math-command"
        )
        return Counter(
            line[place.column - 1 : place.column - 1 + place.length] for line, place in places if place
        )

    @property
    def errors(self) -> int:
        """Return the number of errors."""
        return sum(found.severity == "error" for found in self.diagnostics)


def check_site(
    built: BuiltImport,
    progress: Progress,
    *,
    against: Path | None = None,
    workers: Workers = ONE_PROCESS,
) -> SiteCheck:
    """Compare an imported site with its source.

    against: folder with pages that the old system published, for an additional comparison.
    """
    site, snapshot = built.site, built.snapshot
    root = snapshot.context.root
    own = dict[str, list[Diagnostic]]()
    for found in built.diagnostics:
        own.setdefault(found.path, []).append(found)
    new_settings = load_mapping(read_text(root / "blogsmith.yaml") or "")
    addresses = [page.address for page in site.pages if page.address and not page.front.get("draft")]
    published = published_facts(against, addresses, workers) if against else {}
    base_url, title = snapshot.config.base_url, snapshot.config.title
    comparer = PageComparer(site.system, site.root, root, new_settings, base_url, title)
    requests = (_request(page, snapshot, own, published) for page in site.pages)
    checks = list[PageCheck]()
    for check in map_pages(comparer.compare, requests, len(site.pages), workers):
        progress("compare", len(checks), len(site.pages))
        checks.append(check)
    base = snapshot.config.base_path
    answers = frozenset(unquote(each).removeprefix(base) for each in snapshot.files_by_url)
    compared = check_published(against, published, addresses, answers) if against else None
    new = site_values(site, new_settings)
    settings = [each for old in site.old_settings for each in settings_losses(old, new, site.all_notices)]
    count = sum(len(list(leaves(old.values))) for old in site.old_settings)
    return SiteCheck(tuple(checks), built.diagnostics, compared, tuple(settings), count)


def site_values(site: SiteImport, settings: Mapping[str, Any]) -> NewValues:
    """Return the values of the new site."""
    fronts, texts = [page.front for page in site.pages], [page.text for page in site.pages]
    return NewValues(ValueIndex([settings]), ValueIndex([settings, *fronts], texts))


def _request(
    page: ImportedPage,
    snapshot: SiteSnapshot,
    own: Mapping[str, Sequence[Diagnostic]],
    published: Mapping[str, Facts],
) -> PageRequest:
    path = str(page.path)
    rendered, found = snapshot.rendered.get(path), own.get(path, ())
    errors = sum(each.severity == "error" for each in found)
    return PageRequest(
        page=page,
        html=page_html(rendered, snapshot.config.base_path) if rendered else None,
        address_losses=_address_losses(page, snapshot),
        published=published.get(page.address),
        errors=errors,
        warnings=len(found) - errors,
    )


def _address_losses(page: ImportedPage, snapshot: SiteSnapshot) -> tuple[Difference, ...]:
    """Return the old URL of a page, as a loss, if the new site has no page there."""
    address = unquote(page.address)
    if not address:
        return ()
    base = snapshot.config.base_path
    known = {f"{base}{address}", f"{base}{quote(address)}", f"{base}{address.rstrip('/')}/"}
    answers = known & snapshot.files_by_url.keys()
    return () if answers else (Difference("addresses", page.address, page.source),)
