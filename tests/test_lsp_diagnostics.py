"""Diagnostics in editors while a site is written: unsaved content, other pages, settings, and timing."""

from __future__ import annotations

import gc
import time
import weakref
from pathlib import Path

import pytest

from blogsmith.base import timeout
from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.base.storage.changed_files import ChangedFiles
from blogsmith.base.timeout import has_alarm
from blogsmith.project.report import BuildOptions
from blogsmith.syntax import parser
from tests.lsp_desk import NOW, Desk

CONFIG = "title: Desk\n"
HEAD = "---\ntitle: One\ndate: 2026-01-02\n---\n\n"
ONE, TWO = "content/posts/one.md", "content/posts/two.md"
EQUATION = "$$\na = b \\label{eq:sum}\n$$\n"
FILES = {
    "blogsmith.yaml": CONFIG,
    ONE: HEAD + EQUATION,
    TWO: HEAD.replace("One", "Two") + "See {@one#eq-sum}.\n",
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, FILES)


def test_unsaved_text_is_what_counts(desk: Desk) -> None:
    desk.open(ONE)
    assert desk.codes(ONE) == []
    desk.write(ONE, HEAD + EQUATION + "\n$\\wrongly$\n")
    assert desk.found(ONE) == [("math-command", 9, 1, 9)]
    desk.write(ONE, HEAD + EQUATION)
    assert desk.codes(ONE) == []
    assert (desk.root / ONE).read_text(encoding="utf-8") == HEAD + EQUATION


def test_codes_link_to_the_manual_that_the_settings_name(tmp_path: Path) -> None:
    wrong = HEAD + "$\\wrongly$\n"
    desk = Desk(tmp_path / "one", {"blogsmith.yaml": CONFIG, ONE: wrong})
    desk.open(ONE)
    (found,) = desk.told[desk.uri(ONE)].diagnostics
    assert found.code_description is None
    named = f"{CONFIG}diagnostics: {{documentation: https://example.org/docs}}\n"
    desk = Desk(tmp_path / "two", {"blogsmith.yaml": named, ONE: wrong})
    desk.open(ONE)
    (found,) = desk.told[desk.uri(ONE)].diagnostics
    assert found.code_description is not None
    assert found.code_description.href == "https://example.org/docs/errors/#math-command"


def test_an_error_is_told_after_a_short_pause_and_not_before(desk: Desk) -> None:
    desk.open(ONE)
    desk.write(ONE, HEAD + "$\\wrongly$\n", rests=False)
    desk.wait(0.045)
    assert desk.codes(ONE) == []
    desk.write(ONE, HEAD + "$\\wrongly a$\n", rests=False)
    desk.wait(0.045)
    assert desk.codes(ONE) == []
    desk.wait(0.010)
    assert desk.codes(ONE) == ["math-command"]


def test_who_types_on_is_told_now_and_then(desk: Desk) -> None:
    desk.open(ONE)
    for number in range(12):
        desk.write(ONE, f"{HEAD}$\\wrongly$ {number}\n", rests=False)
        desk.wait(0.03)
    assert desk.codes(ONE) == ["math-command"]


@pytest.mark.skipif(not has_alarm(), reason="this system has no alarms")
def test_a_page_that_takes_long_is_given_up_while_the_editor_waits(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.open(ONE)
    monkeypatch.setattr(timeout, "UNINTERRUPTED_S", 0.02)
    with monkeypatch.context() as patch:
        patch.setattr(parser, "parse_document", lambda *_: time.sleep(20))
        desk.is_urgent = True
        desk.write(ONE, HEAD + "$\\wrongly$\n", rests=False)
        desk.wait(0.5)
        # slow work must not block
        assert desk.session.parse(ONE) is None
    assert desk.codes(ONE) == []
    desk.is_urgent = False
    desk.rest()
    assert desk.codes(ONE) == ["math-command"]


@pytest.mark.skipif(not has_alarm(), reason="this system has no alarms")
def test_a_look_at_the_site_is_given_up_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.open(ONE)
    monkeypatch.setattr(timeout, "UNINTERRUPTED_S", 0.02)
    with monkeypatch.context() as patch:
        patch.setattr(parser, "parse_document", lambda *_: time.sleep(20))
        desk.is_urgent = True
        (desk.root / "content/posts/new.md").write_text(HEAD + "$\\wrongly$\n", encoding="utf-8")
        desk.session.handle_changes(ChangedFiles(frozenset({desk.root / "content/posts/new.md"})))
        desk.wait(0.5)
    desk.is_urgent = False
    desk.rest()
    assert desk.codes("content/posts/new.md") == ["math-command"]


def test_other_pages_are_told_of_when_nothing_happens(desk: Desk) -> None:
    desk.open(ONE)
    assert desk.codes(TWO) == []
    desk.write(ONE, HEAD + "Nothing is left.\n", rests=False)
    desk.wait(0.1)
    assert desk.codes(TWO) == []
    desk.rest()
    assert desk.codes(TWO) == ["ref-undefined"]
    desk.write(ONE, HEAD + EQUATION)
    assert desk.codes(TWO) == []


def test_a_file_that_is_not_saved_yet_is_a_page(desk: Desk) -> None:
    desk.open(ONE)
    desk.open("content/posts/three.md", HEAD.replace("One", "Three") + "See {@one#eq-sum} and $\\wrongly$.\n")
    assert desk.codes("content/posts/three.md") == ["math-command"]
    desk.write(ONE, HEAD + EQUATION + "\nSee [three](three.md).\n")
    assert desk.codes(ONE) == []
    desk.service.close(desk.uri("content/posts/three.md"))
    desk.rest()
    assert desk.codes("content/posts/three.md") == []
    assert desk.codes(ONE) == ["link-missing"]


def test_closing_without_saving_brings_back_what_is_on_disk(desk: Desk) -> None:
    desk.open(TWO)
    desk.open(ONE)
    desk.write(ONE, HEAD + "Nothing is left.\n")
    assert desk.codes(TWO) == ["ref-undefined"]
    desk.service.close(desk.uri(ONE))
    desk.rest()
    assert desk.codes(TWO) == []


def test_a_closed_site_needs_no_memory(desk: Desk) -> None:
    desk.open(ONE)
    session = weakref.ref(desk.session)
    desk.service.close(desk.uri(ONE))
    gc.collect()
    assert session() is None


def test_settings_are_checked_as_they_are_typed_and_a_broken_site_mends(desk: Desk) -> None:
    desk.open(ONE, HEAD + "$\\mine$\n")
    assert desk.codes(ONE) == ["math-command"]
    desk.open("blogsmith.yaml")
    desk.write("blogsmith.yaml", CONFIG + "titel: x\n")
    assert desk.found("blogsmith.yaml") == [("config-key", 1, 0, 5)]
    assert desk.codes(ONE) == ["math-command"]
    desk.write("blogsmith.yaml", CONFIG + "math:\n  macros:\n    \\mine: \\mathbb{R}\n")
    assert desk.codes("blogsmith.yaml") == []
    assert desk.codes(ONE) == []


def test_a_site_that_is_broken_from_the_start_says_so(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {**FILES, "blogsmith.yaml": "title: [\n"})
    desk.open(ONE)
    assert desk.codes("blogsmith.yaml") == ["yaml-syntax"]
    assert desk.completions(ONE, HEAD + "\\eqref{▮") == []
    (tmp_path / "blogsmith.yaml").write_text(CONFIG, encoding="utf-8")
    desk.service.handle_saved_files([desk.uri("blogsmith.yaml")])
    desk.rest()
    assert desk.codes("blogsmith.yaml") == []
    assert desk.completions(ONE, HEAD + EQUATION + "\\eqref{▮") == ["eq:sum"]


def test_files_that_change_on_disk_are_seen(desk: Desk) -> None:
    desk.open(ONE, HEAD + "![A cat](cat.svg)\n")
    assert desk.codes(ONE) == ["image-missing"]
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"></svg>'
    (desk.root / "content/posts/cat.svg").write_text(svg, encoding="utf-8")
    desk.service.handle_saved_files([desk.uri("content/posts/cat.svg")])
    desk.rest()
    assert desk.codes(ONE) == []


def test_files_outside_a_site_get_nothing(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "readme.md"
    desk.service.open_document(other.as_uri(), "$\\wrongly$", 1)
    desk.service.open_document("untitled:Untitled-1", "$\\wrongly$", 1)
    desk.rest()
    assert not desk.told
    assert not desk.service.sessions


def test_two_sites_are_two_sessions(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "content").mkdir()
    (other / "blogsmith.yaml").write_text(CONFIG, encoding="utf-8")
    desk.open(ONE)
    desk.service.open_document((other / "content/a.md").as_uri(), "$\\wrongly$", 1)
    desk.rest()
    assert [code.code for code in desk.told[(other / "content/a.md").as_uri()].diagnostics] == [
        "math-command"
    ]
    desk.service.close((other / "content/a.md").as_uri())
    assert list(desk.service.sessions) == [desk.root]


@pytest.mark.parametrize(
    ("encoding", "column", "end"), [("utf-8", 14, 22), ("utf-16", 9, 17), ("utf-32", 7, 15)]
)
def test_columns_are_counted_in_the_unit_of_the_editor(
    tmp_path: Path, encoding: str, column: int, end: int
) -> None:
    desk = Desk(tmp_path, FILES, encoding)
    desk.open(ONE, HEAD + "𝔄 é 𝔅 $\\wrongly$\n")
    assert desk.found(ONE) == [("math-command", 5, column, end)]


def test_carriage_returns_move_nothing(desk: Desk) -> None:
    desk.open(ONE, (HEAD + EQUATION + "\n$\\wrongly$\n").replace("\n", "\r\n"))
    assert desk.found(ONE) == [("math-command", 9, 1, 9)]


def test_nothing_runs_and_nothing_is_written(tmp_path: Path) -> None:
    cell = "```{python}\nimport pathlib\npathlib.Path('ran').write_text('x')\n```\n"
    desk = Desk(tmp_path, {**FILES, ONE: HEAD + cell})
    before = sorted(tmp_path.rglob("*"))
    desk.open(ONE)
    assert desk.codes(ONE) == ["cell-pending"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_plugin_of_a_site_that_is_not_trusted_is_not_loaded(tmp_path: Path) -> None:
    plugin = "import pathlib\npathlib.Path(__file__).with_name('ran').write_text('x')\n"
    desk = Desk(tmp_path, {**FILES, "blogsmith.yaml": "plugins: [mine]\n", "plugins/mine.py": plugin})
    desk.open(ONE)
    assert desk.codes("blogsmith.yaml") == ["plugin-untrusted"]
    assert not (tmp_path / "plugins/ran").exists()


def test_lints_of_check_are_told_of_open_pages(desk: Desk) -> None:
    desk.open(ONE, HEAD.replace("date:", "math: {macros: {\\v: x}}\ndate:") + "Text.\n")
    assert desk.codes(ONE) == ["macro-unused"]


def test_the_editor_is_told_what_check_tells(desk: Desk) -> None:
    """The same diagnostics as a check of the saved files, except for those about the site as a whole."""
    from blogsmith.build.site import build_site

    text = HEAD + "$\\wrongly$ and [gone](gone.md) and {@eq:none}.\n\n> [!NOTA]\n> x\n"
    (desk.root / ONE).write_text(text, encoding="utf-8")
    desk.open(ONE)
    report = build_site(desk.root, BuildOptions(now=NOW, write=False))
    mine = {one for found in desk.session._group_by_file().values() for one in found}
    assert {format_diagnostic(one, color=False) for one in mine} == {
        format_diagnostic(one, color=False) for one in report.diagnostics
    }


def test_what_moves_a_page_in_the_site_is_told_at_once(desk: Desk) -> None:
    desk.open(ONE)
    desk.write(ONE, HEAD.replace("date: 2026-01-02", "date: 2026-13-02") + EQUATION, rests=False)
    desk.wait(0.07)
    assert desk.codes(ONE) == ["date"]


def test_a_file_that_no_page_is_made_from_costs_nothing(desk: Desk) -> None:
    desk.open(ONE)
    desk.open("README.md", "$\\wrongly$")
    assert desk.session.due_s is None
    assert desk.codes("README.md") == []


def test_an_open_bibliography_counts_as_it_stands_there(tmp_path: Path) -> None:
    work = "@book{doe, title={Sums}, author={Doe, J.}, year=2001}\n"
    files = {**FILES, "blogsmith.yaml": "bibliography: works.bib\n", "works.bib": work}
    desk = Desk(tmp_path, {**files, ONE: HEAD + "See [@doe].\n"})
    desk.open(ONE)
    assert desk.codes(ONE) == []
    desk.open("works.bib")
    desk.write("works.bib", work.replace("doe", "roe"))
    assert desk.codes(ONE) == ["citation-key"]
    desk.write("works.bib", work)
    assert desk.codes(ONE) == []
