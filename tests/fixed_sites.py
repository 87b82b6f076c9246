"""Fixes tried out: a broken site, the fix of one finding applied to its file, and the site checked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from blogsmith.diagnostics.model import Diagnostic
from blogsmith.project.fixed_files import plan_changes, write_change
from blogsmith.project.report import BuildReport
from tests.site_files import SiteText, build_text


@dataclass(frozen=True, slots=True)
class FixTrial:
    """What one fix came to."""

    found: Diagnostic
    is_applied: bool
    before: BuildReport
    after: BuildReport

    @property
    def problem(self) -> str:
        """What speaks against the fix; empty if nothing does."""
        if not self.is_applied:
            return "it does not fit the file"
        before, after = map(_counts, (self.before, self.after))
        kind = (self.found.code, self.found.message)
        if after[self.found.path, *kind] >= before[self.found.path, *kind]:
            return "the finding is still there"
        known = Counter((one.code, one.severity) for one in self.before.diagnostics)
        new = Counter((one.code, one.severity) for one in self.after.diagnostics) - known
        more = [code for code, severity in new if severity == "error"]
        return f"new errors: {', '.join(sorted(more))}" if more else ""


def _counts(report: BuildReport) -> Counter[tuple[str, str, str]]:
    return Counter((one.path, one.code, one.message) for one in report.diagnostics)


def trials(site: SiteText) -> Iterator[FixTrial]:
    """Every fix of a site, tried by itself."""
    with TemporaryDirectory() as folder:
        before = build_text(site, Path(folder).resolve())
    for found in before.diagnostics:
        if found.fix:
            yield _trial(site, found, before)


def _trial(site: SiteText, found: Diagnostic, before: BuildReport) -> FixTrial:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        # the files as they are, and none of what a build makes of them
        build_text(site, root)
        changes = plan_changes(root, [found], proposals=True)
        is_applied = bool(changes) and all(write_change(root, change) for change in changes)
        from tests.site_files import build

        return FixTrial(found, is_applied, before, build(root))
