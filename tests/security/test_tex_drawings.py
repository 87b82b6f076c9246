"""Row 49: drawings by LaTeX read and write no file outside, and start no program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run_sites import STALE, page, site
from tests.site_files import build, has_latex

pytestmark = pytest.mark.skipif(not has_latex(), reason="latex or dvisvgm is not installed")
LINE = "\\draw (0,0) -- (1,1);"
SECRET = "root of all secrets"


@pytest.mark.parametrize(
    ("code", "is_drawn"),
    [
        ("\\immediate\\write18{touch OUT}" + LINE, True),
        ("\\input{SECRET}", False),
        ('\\input{|"cat SECRET"}', False),
        ("\\newread\\f\\openin\\f=SECRET \\ifeof\\f " + LINE + "\\else \\undefined \\fi", True),
        ("\\newwrite\\f\\immediate\\openout\\f=OUT \\immediate\\write\\f{x}" + LINE, False),
        ("\\special{psfile=SECRET}\\special{header=SECRET}\\special{ps: (OUT) (w) file}" + LINE, True),
        ('\\special{pdffile=SECRET}\\special{" (OUT) (w) file}\\special{! (OUT) (w) file}' + LINE, True),
        ("\\special{dvisvgm:img 9 9 SECRET}" + LINE, True),
        ("\\font\\x=SECRET \\x a", False),
    ],
)
def test_row_49_no_file_outside(code: str, is_drawn: bool, tmp_path: Path) -> None:
    secret, out = tmp_path / "secret.txt", tmp_path / "written"
    secret.write_text(SECRET, "utf-8")
    code = code.replace("SECRET", str(secret)).replace("OUT", str(out))
    root = site(tmp_path / "site", a=f'```tikz {{alt="A line."}}\n{code}\n```')
    report = build(root, execution=STALE)
    assert report.ok is is_drawn
    assert not out.exists()
    assert not any(SECRET in one.message for one in report.diagnostics)
    for file in (root / "_freeze").rglob("*.*"):
        assert SECRET.encode() not in file.read_bytes()
    if is_drawn:
        assert "<svg role" in page(root) and str(secret) not in page(root)
