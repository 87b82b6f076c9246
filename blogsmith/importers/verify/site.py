"""The imported site as a build would make it, compared with its source page by page.

The site is made as the preview makes it: page by page, whatever is wrong with some of them, and without
running anything. Nothing is written.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ...base.diagnostics.model import Diagnostic
from ...build.incremental import IncrementalPipeline, UpdateRequest
from ...build.snapshot import SiteSnapshot
from ...project.report import BuildOptions, ExecutionOptions, Progress
from ..model import Difference, ImportedPage, PageCheck, SiteImport
from ..page_processes import ONE_PROCESS, Workers, map_pages
from ..source_files import read_text
from ..text.loose_yaml import load_mapping
from .facts import Facts
from .page_comparer import PageComparer, PageRequest, page_html
from .published_pages import PublishedCheck, check_published, published_facts
from .source_values import NewValues, settings_losses
from .values import ValueIndex, leaves

_BUILD_S = 60.0
"""How long one page may take to be made."""


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """What a build says of an imported site, and what of its source it lacks."""

    pages: tuple[PageCheck, ...]
    diagnostics: tuple[Diagnostic, ...]
    """Of the whole site, sorted as a build prints them."""
    published: PublishedCheck | None = None
    """How the pages of the old system were compared; None where they are not given."""
    settings: tuple[Difference, ...] = ()
    """Settings of the old site that are lost."""
    setting_count: int = 0
    """Values of the old settings that were compared."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All losses that no notice names."""
        return (*self.settings, *(difference for page in self.pages for difference in page.differences))

    @property
    def unread(self) -> tuple[str, ...]:
        """Files whose front matter could not be read, and so not be compared."""
        return tuple(page.source for page in self.pages if not page.is_front_read)

    @property
    def errors(self) -> int:
        """Errors of a build."""
        return sum(found.severity == "error" for found in self.diagnostics)


def check_site(
    site: SiteImport,
    root: Path,
    now: dt.datetime,
    progress: Progress,
    *,
    against: Path | None = None,
    workers: Workers = ONE_PROCESS,
) -> SiteCheck:
    """Make the site at `root`, and compare it with what it was imported from.

    against: folder of pages that the old system made, to compare with too. SiteError if its settings cannot
    be read.
    """
    snapshot = _make_site(root, now, progress, len(site.pages), workers)
    own = {path: found for path, found in snapshot.own.items() if found}
    new_settings = _settings_of(root)
    addresses = [page.address for page in site.pages if page.address and not page.front.get("draft")]
    published = published_facts(against, addresses, workers) if against else {}
    base_url, title = snapshot.config.base_url, snapshot.config.title
    comparer = PageComparer(site.system, site.root, root, new_settings, base_url, title)
    requests = (_request(page, snapshot, own, published) for page in site.pages)
    checks = list[PageCheck]()
    for check in map_pages(comparer.compare, requests, len(site.pages), workers):
        progress("compare", len(checks), len(site.pages))
        checks.append(check)
    every = [diagnostic for found in own.values() for diagnostic in found] + list(snapshot.shared)
    unique = dict.fromkeys(every)
    base = snapshot.config.base_path
    answers = frozenset(unquote(each).removeprefix(base) for each in snapshot.table)
    compared = check_published(against, published, addresses, answers) if against else None
    new = site_values(site, new_settings)
    settings = [each for old in site.old_settings for each in settings_losses(old, new, site.all_notices)]
    count = sum(len(list(leaves(old.values))) for old in site.old_settings)
    return SiteCheck(tuple(checks), tuple(unique), compared, tuple(settings), count)


def site_values(site: SiteImport, settings: Mapping[str, Any]) -> NewValues:
    """Return the values of a new site."""
    fronts, texts = [page.front for page in site.pages], [page.text for page in site.pages]
    return NewValues(ValueIndex([settings]), ValueIndex([settings, *fronts], texts))


def _settings_of(root: Path) -> dict[str, Any]:
    return load_mapping(read_text(root / "blogsmith.yaml") or "")


def _make_site(
    root: Path, now: dt.datetime, progress: Progress, pages: int, workers: Workers
) -> SiteSnapshot:
    execution = ExecutionOptions(jobs=workers.count)
    options = BuildOptions(
        now=now, drafts=True, future=True, write=False, execution=execution, start_method=workers.method
    )
    line = IncrementalPipeline(root, options, lambda: now, limit_s=_BUILD_S, uses_processes=True)
    last: deque[SiteSnapshot | None] = deque(maxlen=1)
    for done, step in enumerate(line.update_all(None, UpdateRequest())):
        progress("build", min(done, pages), pages)
        last.append(step)
    (site,) = last
    assert site is not None, "the last step gives the site"
    return site


def _request(
    page: ImportedPage,
    snapshot: SiteSnapshot,
    own: Mapping[str, tuple[Diagnostic, ...]],
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
    """Return the old address of a page if nothing answers there."""
    address = unquote(page.address)
    if not address:
        return ()
    base = snapshot.config.base_path
    known = {f"{base}{address}", f"{base}{quote(address)}", f"{base}{address.rstrip('/')}/"}
    answers = known & snapshot.table.keys()
    return () if answers else (Difference("addresses", page.address, page.source),)
