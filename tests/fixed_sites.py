"""Fixes tried out: a broken site, the fix of one finding applied to its file, and the site checked again."""

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
"""Codes of what is not read: once it is, mistakes in it are told that nobody could see before."""


@dataclass(frozen=True, slots=True)
class FixTrial:
    """What one fix came to."""

    found: Diagnostic
    before: BuildReport
    after: BuildReport

    @property
    def problem(self) -> str:
        """What speaks against the fix; empty if nothing does."""
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
    """Every fix of a site, tried by itself on the site as it was.

    wanted: codes of which the first fix is tried, which are taken out then; None: all fixes.
    """
    with TemporaryDirectory() as folder:
        before = check_text(site, Path(folder).resolve())
    for found in before.diagnostics:
        if found.fix and (wanted is None or wanted.pop(found.code, "") is None):
            yield _trial(site, found, before)


def check_text(site: SiteText, root: Path, *, apply: Diagnostic | None = None) -> BuildReport:
    """Lay a site out and check it, with the fix of one finding applied; AssertionError if it does not fit."""
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
