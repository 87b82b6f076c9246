"""Versions of packages now, next to those a result was recorded with."""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Iterable, Mapping

from ..base.diagnostics.extras import DISTRIBUTION
from ..base.diagnostics.model import Diagnostic, Reporter
from ..base.patterns import lazy_pattern
from ..execute.probe.requirements import has_device
from ..freeze.staleness import needed_names, version_changes
from .status import PageStatus

_VERSION = lazy_pattern(r"^Version: *(\S+)", re.MULTILINE)


def recorded_packages(pages: Iterable[PageStatus]) -> frozenset[str]:
    """Import names of all packages that recorded cells used or needed, and `cuda`."""
    sessions = [s for page in pages if page.record for s in page.record.sessions.values()]
    used = {name for session in sessions for name in session.origin.machine.packages}
    return frozenset(used.union(*(needed_names(cell) for session in sessions for cell in session.cells)))


def device_versions(names: Iterable[str]) -> Mapping[str, str]:
    """`cuda` if it is among `names` and there is a device; it has no version that results depend on."""
    return {"cuda": ""} if "cuda" in names and has_device() else {}


def installed_versions(names: Collection[str]) -> Mapping[str, str]:
    """Import name → version in the Python that runs blogsmith, nothing imported; others are not there.

    A distribution is looked for under the import name only: mapping all of them takes longer than a build.
    """
    from importlib import metadata  # slow, and few builds ask for versions

    found = {"python": platform.python_version()}
    for name in names:
        try:
            ours = DISTRIBUTION if name == "blogsmith" else name
            text = metadata.distribution(ours).read_text("METADATA") or ""
        except metadata.PackageNotFoundError:
            continue
        # `metadata.version` parses all of it as a mail, which takes longer than to judge a page
        version = _VERSION.search(text)
        if version:
            found[name] = version[1]
    return {**found, **device_versions(names)}


def version_notes(page: PageStatus, versions: Mapping[str, str]) -> tuple[str, ...]:
    """Every difference of versions, in words; what a Jupyter kernel has is not known before it runs."""
    if page.record is None or page.cells.engine == "jupyter":
        return ()
    return tuple(map(str, version_changes(page.record, versions)))


def version_warning(page: PageStatus, versions: Mapping[str, str]) -> list[Diagnostic]:
    """A warning at the first cell if results were recorded with versions that may give others.

    A patch level is none of those: `--strict-env` and `freeze explain` know it.
    """
    if page.record is None or page.cells.engine == "jupyter":
        return []
    changed = [str(change) for change in version_changes(page.record, versions) if not change.is_patch]
    if not changed:
        return []
    reporter = Reporter(str(page.cells.path), page.lines)
    cells = [cell for cell in page.cells.cells if cell.runs]
    place = cells[0].place if cells else page.cells.values[0].origin.place(0)
    hint = "blogsmith build --strict-env runs the cells again"
    reporter.warn("cell-versions", f"recorded with other versions: {', '.join(changed)}", place, hint)
    return reporter.diagnostics
