"""Versions of installed packages, compared with those that results were recorded with."""

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
    """Return the import names of all packages that recorded cells used or needed, including `cuda`."""
    sessions = [s for page in pages if page.record for s in page.record.sessions.values()]
    used = {name for session in sessions for name in session.origin.machine.packages}
    return frozenset(used.union(*(needed_names(cell) for session in sessions for cell in session.cells)))


def device_versions(names: Iterable[str]) -> Mapping[str, str]:
    """Return a map with only `cuda`, if it is among `names` and there is a device; otherwise an empty one.
    The version is empty, because results do not depend on it."""
    return {"cuda": ""} if "cuda" in names and has_device() else {}


def installed_versions(names: Collection[str]) -> Mapping[str, str]:
    """Map import names to versions in the Python that runs blogsmith, without importing the packages.

    Packages that are not installed are left out. Only a distribution with the import name is found: to map
    all import names to distributions takes longer than a build.
    """
    from importlib import metadata  # slow, and few builds need versions

    found = {"python": platform.python_version()}
    for name in names:
        try:
            ours = DISTRIBUTION if name == "blogsmith" else name
            text = metadata.distribution(ours).read_text("METADATA") or ""
        except metadata.PackageNotFoundError:
            continue
        # `metadata.version` parses the whole file as an e-mail, which takes longer than judging a page.
        version = _VERSION.search(text)
        if version:
            found[name] = version[1]
    return {**found, **device_versions(names)}


def version_notes(page: PageStatus, versions: Mapping[str, str]) -> tuple[str, ...]:
    """Return a message for every difference of versions. For a Jupyter kernel there are none: its packages
    are unknown until it runs."""
    if page.record is None or page.cells.engine == "jupyter":
        return ()
    return tuple(map(str, version_changes(page.record, versions)))


def version_warning(page: PageStatus, versions: Mapping[str, str]) -> list[Diagnostic]:
    """Return a warning at the first cell if results were recorded with versions that may give other results.

    Differences in the patch level are ignored; `--strict-env` and `freeze explain` report them.
    """
    if page.record is None or page.cells.engine == "jupyter":
        return []
    changed = [str(change) for change in version_changes(page.record, versions) if not change.is_patch]
    if not changed:
        return []
    reporter = Reporter(str(page.cells.path), page.lines)
    cells = [cell for cell in page.cells.cells if cell.is_run]
    place = cells[0].place if cells else page.cells.values[0].origin.place(0)
    hint = "run `blogsmith build --strict-env` to run the cells again"
    reporter.warn("cell-versions", f"recorded with other versions: {', '.join(changed)}", place, hint)
    return reporter.diagnostics
