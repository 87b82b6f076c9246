"""Tests of fixes: the fix of one diagnostic is applied to a broken site, and the site is checked again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.cli.fixing import plan_changes, write_change
from blogsmith.project.report import BuildReport
from blogsmith.project.trust.consent import trust
from tests.site_files import SiteText, build, write_site_files

REVEALING = frozenset({"div-unknown", "ref-kind", "shortcode-open", "shortcode-unknown", "yaml-syntax"})
"""Codes of content that is not read. A fix reveals errors in it that were not visible before."""


@dataclass(frozen=True, slots=True)
class FixTrial:
    """The result of one fix."""

    found: Diagnostic
    before: BuildReport
    after: BuildReport

    @property
    def problem(self) -> str:
        """Return the problem of the fix; empty if there is none."""
        before, after = map(_counts, (self.before, self.after))
        kind = (self.found.code, self.found.message)
        if after[self.found.path, *kind] >= before[self.found.path, *kind]:
            return "the finding is still there"
        known = Counter((one.code, one.severity) for one in self.before.diagnostics)
        new = Counter((one.code, one.severity) for one in self.after.diagnostics) - known
        more = [code for code, severity in new if severity == "error" and self.found.code not in REVEALING]
        return f"new errors: {', '.join(sorted(more))}" if more else ""


def _counts(report: BuildReport) -> Counter[tuple[str, str, str]]:
    return Counter((one.path, one.code, one.message) for one in report.diagnostics)


def trials(site: SiteText, wanted: dict[str, None] | None = None) -> Iterator[FixTrial]:
    """Yield every fix of a site, each applied to the original site.

    wanted: codes to try; the first fix of each is tried and the code removed. None: all fixes.
    """
    with TemporaryDirectory() as folder:
        before = check_text(site, Path(folder).resolve())
    for found in before.diagnostics:
        if found.fix and (wanted is None or wanted.pop(found.code, "") is None):
            yield _trial(site, found, before)


def check_text(site: SiteText, root: Path, *, apply: Diagnostic | None = None) -> BuildReport:
    """Create and check a site with the fix of one diagnostic applied; AssertionError if it does not fit."""
    write_site_files(site, root)
    if apply:
        changes = plan_changes(root, [apply], proposals=True)
        assert changes and all(write_change(root, change) for change in changes), "it does not fit"
    with patch.dict(os.environ, {"XDG_STATE_HOME": str(root / ".state")}):
        if site.trusted:
            trust(root)
        return build(root, write=False)


def _trial(site: SiteText, found: Diagnostic, before: BuildReport) -> FixTrial:
    with TemporaryDirectory() as folder:
        return FixTrial(found, before, check_text(site, Path(folder).resolve(), apply=found))
