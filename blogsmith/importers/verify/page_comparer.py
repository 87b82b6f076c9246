"""One page of an import, compared with its source: by this process, or by one of several."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...base.patterns import lazy_pattern
from ...base.timeout import TookTooLong
from ...site.frame import Rendered
from ..model import Difference, ImportedPage, PageCheck
from ..page_limit import page_limit
from ..source_files import read_text
from ..systems import load_system
from ..text.data import load_data, split_front
from ..text.segments import Lines
from .compare import losses
from .facts import Facts
from .html_facts import facts_of_html
from .published_pages import published_losses
from .source_values import front_losses, old_leaves, read_old_front
from .values import ValueIndex

_ADDRESS = lazy_pattern(r'\b(src|srcset|href)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What is known of a page before it is compared."""

    page: ImportedPage
    html: str | None
    """Of the new page, as `page_html` gives it; None: there is none."""
    address_losses: tuple[Difference, ...] = ()
    """Its old address, if nothing answers there."""
    published: Facts | None = None
    """Content of the page that the old system made; None: there is none."""
    errors: int = 0
    """Found by a build; so are the warnings."""
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class PageComparer:
    """Compares the pages of one import. Picklable."""

    system: str
    """One of `systems.NAMES`."""
    old_root: Path
    new_root: Path
    settings: Mapping[str, Any]
    """Of the new site, as they are written."""
    base_url: str
    """Of the new site; so is the title."""
    title: str

    def compare(self, request: PageRequest) -> PageCheck:
        """Return what is wrong with a page, and what it lost."""
        page = request.page
        try:
            with page_limit():
                return self._with_front(self._compare(request), page)
        except (TookTooLong, RecursionError):
            lost = Difference("page", "takes too long to be compared", page.source)
            return PageCheck(str(page.path), page.source, {}, (lost,))

    def _compare(self, request: PageRequest) -> PageCheck:
        page, system = request.page, load_system(self.system)
        lines = Lines(page.original, page.first_line)
        before = facts_of_html(system.render(page.original, page))
        after = facts_of_html(request.html) if request.html is not None else Facts()
        removed = "\n\n".join(notice.removed for notice in page.notices if notice.removed)
        allowed = facts_of_html(system.render(removed, page)) if removed else Facts()
        home = self.base_url.partition("//")[2].rstrip("/").casefold()
        differences = [*losses(page.source, before, after, allowed, lines, home), *request.address_losses]
        if request.published is not None:
            differences += published_losses(page, request.published, after, allowed, self.title)
        return PageCheck(
            str(page.path), page.source, before.sizes, tuple(differences), request.errors, request.warnings
        )

    def _with_front(self, check: PageCheck, page: ImportedPage) -> PageCheck:
        """Return the check of a page with what its front matter lost, both read from the files."""
        written = read_old_front(self.old_root / page.source)
        new = split_front(read_text(self.new_root / page.path) or "")
        index = ValueIndex([load_data(new.head, new.form), self.settings], [new.body])
        old = old_leaves(page, written or {})
        lost = front_losses(page, old, index)
        differences = (*check.differences, *lost)
        return replace(check, differences=differences, values=len(old), is_front_read=written is not None)


def page_html(rendered: Rendered, base_path: str) -> str:
    """Return content, title and summary of a page: what was in its body may be part of its head now."""
    body = rendered.body
    originals = {f"{base_path}/{one.path}": one.source for one in body.variants}
    html = _with_originals(body.html, originals) if originals else body.html
    return f"<h1>{body.title_html}</h1><div>{body.description_html}</div>{html}"


def _with_originals(html: str, originals: Mapping[str, str]) -> str:
    """The text with pictures in place of their smaller copies."""

    def original(found: re.Match[str]) -> str:
        first = found[2].split(" ", 1)[0].rstrip(",")
        return f'{found[1]}="{originals[first]}"' if first in originals else found[0]

    return _ADDRESS.sub(original, html)
