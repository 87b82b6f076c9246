"""`freeze: true`: a result is kept although its code changes, but the page and `--strict` say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from tests.run_sites import STALE, page, records, site
from tests.site_files import build

FROZEN = ExecutionOptions(frozen=True)
KEPT = "#| label: slow\n#| freeze: true\n#| session: slow\nprint(40 + 2)"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = site(tmp_path, a=KEPT)
    assert build(root, execution=STALE, strict=True).ok
    assert "Out of date" not in page(root)
    return root


def test_a_kept_result_of_other_code_is_out_of_date(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    post = root / "content/posts/a.md"
    post.write_text(post.read_text().replace("40 + 2", "40 + 3"))
    before = records(root)
    trust(root)
    report = build(root)
    (found,) = report.diagnostics
    assert (found.code, found.severity) == ("cell-stale", "warning")
    assert found.message == 'an old result is shown for cell "slow": its code has changed'
    assert found.hint == "remove `freeze: true`, and run `blogsmith execute`"
    assert (report.ok, report.executed_cells, records(root)) == (True, 0, before)
    assert "42" in page(root) and "Out of date: its code has changed." in page(root)
    assert build(root, execution=FROZEN).ok
    assert not build(root, execution=FROZEN, strict=True).ok
    assert main(["freeze", "explain", "--site", str(root)]) == 0
    assert "slow: fresh\n    out of date: its code has changed\n" in capsys.readouterr().out


def test_a_comment_or_an_option_of_the_display_does_not_matter(root: Path) -> None:
    post = root / "content/posts/a.md"
    post.write_text(post.read_text().replace("print", "#| echo: false\n# a remark\nprint"))
    assert build(root, execution=FROZEN, strict=True).ok


def test_code_before_it_matters(root: Path) -> None:
    post = root / "content/posts/a.md"
    post.write_text(
        post.read_text().replace("```{python}", "```{python}\n#| session: slow\nx = 1\n```\n\n```{python}", 1)
    )
    (found,) = (one for one in build(root).diagnostics if "slow" in one.message)
    assert found.message == 'an old result is shown for cell "slow": cell 1 before it is new'
