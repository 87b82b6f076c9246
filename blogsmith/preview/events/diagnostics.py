"""What is wrong with the site, as pages of the preview are told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...base.diagnostics.format import format_diagnostic, printable
from ...base.diagnostics.levels import NO_LEVELS
from ...base.diagnostics.listing import choose_first
from ...base.diagnostics.model import Diagnostic
from ...build.snapshot import SiteSnapshot
from ...project.report import BuildLog, no_progress
from ..pages.urls import address

MOST = 100
"""Problems that a page is told in full."""


def all_problems(
    present: SiteSnapshot | None, broken: Sequence[Diagnostic], others: Iterable[Diagnostic]
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong, each once and sorted, silenced warnings left out.

    broken: why there is no site as it should be now. others: what templates and running cells came to.
    """
    log = BuildLog(no_progress, present.config.diagnostics.as_levels if present else NO_LEVELS)
    log.add(broken)
    if present:
        log.add(present.shared)
        for own in present.own.values():
            log.add(own)
    log.add(others)
    return log.report()


def problems_event(
    found: Sequence[Diagnostic], new: Sequence[Diagnostic], present: SiteSnapshot | None
) -> Mapping[str, object]:
    """The event, errors first. new: those that were not there before."""
    first = choose_first(found, MOST, lambda one: one.severity)
    fresh = set(new)
    return {
        "kind": "problems",
        "errors": sum(one.severity == "error" for one in found),
        "warnings": sum(one.severity == "warning" for one in found),
        "items": [_item(one, one in fresh, present) for one in first],
    }


def _item(found: Diagnostic, is_new: bool, present: SiteSnapshot | None) -> Mapping[str, object]:
    place = found.place
    where = f"{found.path}:{place.line}:{place.column}" if place else found.path
    item = present.rendered.get(found.path) if present else None
    pages = [address(present.config.base_path + item.url)] if present and item else []
    return {
        "severity": found.severity,
        "code": found.code,
        "where": printable(where),
        "path": found.path,
        "line": place.line if place else 1,
        "column": place.column if place else 1,
        "message": printable(found.message),
        "text": format_diagnostic(found, color=False),
        "pages": pages,
        "new": is_new,
    }
