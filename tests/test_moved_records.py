"""Records follow their post: a renamed or moved post keeps its results; `freeze prune` alone removes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from tests.run_sites import STALE, page, records, site
from tests.site_files import build

FROZEN = ExecutionOptions(frozen=True)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>'
IMAGE = f"#| fig-alt: A\nclass A:\n    def _repr_svg_(self): return {SVG!r}\nA()"
CELLS = f"#| label: a\nprint(41 + 1)\n\n{IMAGE}\n\n#| session: other\nprint(open('d.txt').read())"
POSTS = Path("content/posts")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a site with a bundle that reads a file beside it, and a page with only a value."""
    root = site(tmp_path, a=CELLS, b="```text\nx\n```\n{= 6 * 7 =}")
    (root / POSTS / "bundle").mkdir()
    shutil.move(root / POSTS / "a.md", root / POSTS / "bundle/index.md")
    (root / POSTS / "bundle/d.txt").write_text("7")
    assert build(root, execution=STALE).ok
    return root


def move(root: Path, old: str, new: str) -> None:
    (root / POSTS / new).parent.mkdir(exist_ok=True)
    shutil.move(root / POSTS / old, root / POSTS / new)


def expect_same_results(root: Path, name: str) -> None:
    html = page(root, name)
    assert all(text in html for text in ("42", "7", "<img"))
    assert "cell-pending" not in html and "Out of date" not in html


@pytest.mark.parametrize("new", ["moved", "year/moved"])
def test_a_moved_bundle_keeps_its_results(root: Path, new: str) -> None:
    move(root, "bundle", new)
    before = records(root)
    report = build(root, execution=FROZEN, strict=True)
    assert report.ok, report.diagnostics
    assert report.executed_cells == 0
    expect_same_results(root, new)
    assert records(root) == before, "a build that may not run writes nothing"
    (root / POSTS / new / "d.txt").write_text("8")
    assert not build(root, execution=FROZEN).ok, "the file beside the post is still followed"


def test_a_renamed_page_with_a_value_only(root: Path) -> None:
    move(root, "b.md", "c.md")
    assert build(root, execution=FROZEN, strict=True).ok
    assert "42" in page(root, "c")


def test_a_run_writes_the_record_to_the_new_folder_and_prune_removes_the_old_one(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    move(root, "bundle", "moved")
    old = records(root)
    trust(root)
    report = build(root)
    assert (report.ok, report.executed_cells) == (True, 0)
    new = {name: data for name, data in records(root).items() if "/moved/" in name}
    assert len(new) == 2
    assert old.items() <= records(root).items(), "nothing is removed"
    assert main(["freeze", "prune", "--site", str(root)]) == 0
    assert "_freeze/posts/bundle/index: no page with this path runs code" in capsys.readouterr().out
    assert {name: data for name, data in records(root).items() if "/moved/" in name} == new
    assert not (root / "_freeze/posts/bundle").exists()
    assert build(root, execution=FROZEN, strict=True).ok


def test_prune_keeps_the_results_of_a_renamed_post(root: Path) -> None:
    move(root, "bundle", "moved")
    assert main(["freeze", "prune", "--dry-run", "--site", str(root)]) == 0
    assert not (root / "_freeze/posts/moved").exists()
    assert main(["freeze", "prune", "--site", str(root)]) == 0
    assert not (root / "_freeze/posts/bundle").exists()
    assert build(root, execution=FROZEN, strict=True).ok


def test_prune_keeps_a_damaged_record_of_a_renamed_post(root: Path) -> None:
    move(root, "bundle", "moved")
    record = root / "_freeze/posts/bundle/index/outputs.json"
    edited = record.read_text().replace(r'"7\n"', r'"8\n"')
    assert edited != record.read_text()
    record.write_text(edited)
    assert main(["freeze", "prune", "--site", str(root)]) == 0
    assert record.exists() and not (root / "_freeze/posts/moved").exists()
    (found,) = [one for one in build(root, execution=FROZEN).diagnostics if one.code == "freeze-damaged"]
    assert found.path == "_freeze/posts/bundle/index/outputs.json"
    assert main(["freeze", "accept", str(root / POSTS / "moved"), "--site", str(root)]) == 0
    assert build(root, execution=FROZEN, strict=True).ok


def test_a_renamed_post_that_is_edited_keeps_what_is_still_valid(root: Path) -> None:
    move(root, "bundle", "moved")
    post = root / POSTS / "moved/index.md"
    post.write_text(post.read_text().replace("41 + 1", "41 + 2"))
    report = build(root, execution=FROZEN)
    (found,) = report.diagnostics
    assert (found.code, "its code has changed" in found.message) == ("freeze-stale", True)
    assert build(root, execution=STALE).executed_cells == 2, "the other session is kept"
    assert "43" in page(root, "moved")


def test_a_copy_and_another_post_do_not_take_a_record(root: Path) -> None:
    shutil.copytree(root / POSTS / "bundle", root / POSTS / "copy")
    (root / POSTS / "other.md").write_text("---\ntitle: O\n---\n```python\n#| eval: true\nprint(1)\n```\n")
    found = [one.path for one in build(root, execution=FROZEN).diagnostics if one.code == "freeze-stale"]
    assert found == ["content/posts/copy/index.md", "content/posts/other.md"]
    shutil.rmtree(root / POSTS / "bundle")
    found = [one.path for one in build(root, execution=FROZEN).diagnostics if one.code == "freeze-stale"]
    assert found == ["content/posts/other.md"]


def test_explain_names_the_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    move(root, "bundle", "moved")
    assert main(["freeze", "explain", "--site", str(root)]) == 0
    said = "its results are recorded in _freeze/posts/bundle/index, for an earlier path of the post"
    assert said in capsys.readouterr().out


def test_an_archive_contains_the_results_of_a_renamed_post(root: Path, tmp_path: Path) -> None:
    move(root, "bundle", "moved")
    archive = tmp_path / "results.tar.gz"
    assert main(["freeze", "pack", str(archive), "--site", str(root)]) == 0
    shutil.rmtree(root / "_freeze")
    assert main(["freeze", "unpack", str(archive), "--site", str(root)]) == 0
    assert build(root, execution=FROZEN, strict=True).ok
