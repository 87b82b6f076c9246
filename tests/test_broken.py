"""Every error that authors can make, with the exact message: one small broken site per file.

`python -m tests.regen broken` rewrites the messages; read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.base.diagnostics.codes import CODES, FIXABLE
from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.base.diagnostics.report_formats import describe
from tests.site_files import SiteText, build_text, has_latex, printed, read_site_text

FOLDER = Path(__file__).parent / "broken"
FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_message(file: Path, tmp_path: Path) -> None:
    site = read_site_text(file)
    if site.latex and not has_latex():
        pytest.skip("latex or dvisvgm is not installed")
    report = build_text(site, tmp_path)
    assert printed(report) == site.expected, "rewrite with: python -m tests.regen broken"
    assert site.expected, "a broken site must say something"
    for diagnostic in report.diagnostics:
        check_place(diagnostic, site)
    assert report.ok is not any(d.severity == "error" for d in report.diagnostics)
    before = {name: data for name, data in site.files.items() if name.startswith("public/")}
    public = tmp_path / "public"
    after = {str(p.relative_to(tmp_path)): p.read_bytes() for p in public.rglob("*") if p.is_file()}
    assert report.ok or after == before, "nothing is written while there is an error"


def check_place(diagnostic: Diagnostic, site: SiteText) -> None:
    """Check that the caret is below characters of the quoted line."""
    place = diagnostic.place
    assert diagnostic.code in CODES
    if place and diagnostic.source_line:
        assert 1 <= place.column <= len(diagnostic.source_line) + 1
        # a password is removed
        shown = diagnostic.source_line.removesuffix("…")
        assert shown in site.files[diagnostic.path].decode("utf-8", "replace")
    check_range(diagnostic)
    assert diagnostic.fix is None or diagnostic.code in FIXABLE


def check_range(diagnostic: Diagnostic) -> None:
    """Check the range that programs get: it equals the caret, within its line; without a position it is the
    file.
    """
    found, place = describe(diagnostic)["range"], diagnostic.place
    if place is None:
        assert found is None
        return
    end = {"line": place.line, "column": diagnostic.end_column}
    assert found == {"start": {"line": place.line, "column": place.column}, "end": end}
    assert 1 <= place.column <= diagnostic.end_column
    if diagnostic.source_line:
        assert diagnostic.end_column <= len(diagnostic.source_line) + 1


def test_there_are_enough() -> None:
    assert len(FILES) >= 150
