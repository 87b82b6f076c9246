"""The engine: first requests, then edited pages, then the whole site; and it survives failures."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.base.storage.changed_files import ChangedFiles
from blogsmith.build.incremental import IncrementalPipeline
from blogsmith.preview.cells.messages import CellWork, PageOutcome
from blogsmith.preview.events.publisher import EventPublisher
from blogsmith.preview.loop.event_loop import EventLoop, first_difference
from blogsmith.preview.loop.messages import CellsEnded, FilesSaved, PageSent, StopRequest
from blogsmith.preview.options import ServeOptions
from blogsmith.preview.pages.script_tag import ScriptTag
from blogsmith.preview.pages.site import ServedSite
from blogsmith.preview.services import request_cells
from blogsmith.watch.pending_changes import UnreportedChanges
from blogsmith.watch.watcher import FALLBACK_SCAN_S
from tests.preview_client import soon
from tests.preview_sites import options
from tests.rows import each_row
from tests.site_files import NOW

PATIENCE_S = 90.0


class NoRunner:
    """Runs nothing and records requests."""

    def __init__(self) -> None:
        self.works: list[CellWork] = []

    def wanted(self, work: CellWork) -> None:
        self.works.append(work)

    def current(self) -> list[Mapping[str, object]]:
        return []


@dataclass
class Preview:
    """An engine in a thread, and its messages."""

    root: Path
    engine: EventLoop
    shown: ServedSite
    events: list[Mapping[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    bugs: list[Exception] = field(default_factory=list)
    rests: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    runner: NoRunner = field(default_factory=NoRunner)

    def save(self, **files: str) -> None:
        """Write files (`_` for `/`, without `.md`), notify the engine, and wait until it is idle."""
        paths = []
        for name, text in files.items():
            path = self.root / (
                "blogsmith.yaml" if name == "config" else f"content/{name.replace('_', '/')}.md"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        self.tell(paths)

    def tell(self, paths: list[Path]) -> None:
        self.engine.send(FilesSaved(ChangedFiles(frozenset(paths)), time.monotonic()))
        assert self.rests.acquire(timeout=PATIENCE_S)

    def text(self, path: str) -> str:
        """Return the content at a path."""
        return self.engine.answer(path).body.decode()

    def of_kind(self, kind: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]


@contextmanager
def previewing(root: Path, *, is_sound: bool = True) -> Iterator[Preview]:
    """Yield an engine. is_sound: the site has no errors."""
    (root / "blogsmith.yaml").touch()
    line = IncrementalPipeline(root, options(), lambda: NOW)
    shown = ServedSite(line, ScriptTag("secret"))
    preview = Preview(root, None, shown)  # type: ignore[arg-type]
    news = EventPublisher(
        ServeOptions(options(), lambda: NOW),
        preview.events.append,
        preview.said.append,
        preview.runner.current,
        time.monotonic,
    )
    preview.engine = EventLoop(
        root,
        line,
        shown,
        news,
        clock=time.monotonic,
        request_cells=partial(request_cells, shown, news, preview.runner.wanted, options().execution),
        rested=preview.rests.release,
        report_bug=preview.bugs.append,
    )
    thread = threading.Thread(target=preview.engine.run)
    thread.start()
    try:
        assert not is_sound or preview.rests.acquire(timeout=PATIENCE_S)
        yield preview
    finally:
        preview.engine.send(StopRequest())
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@pytest.fixture
def preview(tmp_path: Path) -> Iterator[Preview]:
    write(tmp_path, "posts/a.md", "One.\n")
    write(tmp_path, "posts/b.md", "[a](a.md#one)\n")
    with previewing(tmp_path) as preview:
        yield preview


def write(root: Path, name: str, text: str) -> None:
    file = root / "content" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_an_edited_page_is_told_with_its_line(preview: Preview) -> None:
    version = preview.engine.version("/posts/a/")
    assert "One." in preview.text("/posts/a/")
    preview.save(posts_a="One.\n\nTwo.\n")
    told = preview.of_kind("pages")
    assert [list(event["pages"]) for event in told] == [["/posts/a/"]]
    assert told[0]["pages"]["/posts/a/"]["line"] == 2
    assert told[0]["pages"]["/posts/a/"]["version"] == preview.engine.version("/posts/a/") != version
    assert "Two." in preview.text("/posts/a/")


def test_a_file_that_comes_and_goes_before_anybody_tells_of_it(preview: Preview) -> None:
    write(preview.root, "posts/c.md", "Three.\n")
    preview.save(posts_a="Another.\n")
    assert preview.engine.answer("/posts/c/").status == 200, "the look at the site has found it"
    (preview.root / "content/posts/c.md").unlink()
    assert soon(lambda: preview.engine.answer("/posts/c/").status == 404, PATIENCE_S)


def test_a_file_that_goes_and_comes_before_anybody_tells_of_it(preview: Preview) -> None:
    (preview.root / "content/posts/b.md").unlink()
    preview.save(posts_a="Another.\n")
    assert preview.engine.answer("/posts/b/").status == 404
    write(preview.root, "posts/b.md", "Three.\n")
    assert soon(lambda: preview.engine.answer("/posts/b/").status == 200, PATIENCE_S)


def test_looks_for_what_nobody_tells_of_come_to_an_end() -> None:
    unreported = UnreportedChanges()
    unreported.note({"a": 1, "b": 1}, {"a": 2, "b": 2, "c": 1}, {"b"})
    waits = []
    while (wait_s := unreported.retry_s) is not None:
        waits.append(wait_s)
        unreported.note({"a": 2}, {"a": 2}, ())
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2] and sum(waits) > 2 * FALLBACK_SCAN_S
    unreported.note({}, {"a": 2, "b": 2}, ())
    unreported.report(["a"])
    assert unreported.retry_s == 0.2
    unreported.report(["b"])
    assert unreported.retry_s is None


def test_pages_that_nobody_looks_at_are_not_told(preview: Preview) -> None:
    preview.save(posts_a="Another.\n")
    assert preview.of_kind("pages") == []
    assert "Another." in preview.text("/posts/a/")


def test_a_page_of_the_last_preview_is_compared(preview: Preview) -> None:
    preview.engine.send(PageSent("/posts/b/", "of last time"))
    preview.save(posts_a="Another.\n")
    assert list(preview.of_kind("pages")[0]["pages"]) == ["/posts/b/"]


def test_a_mistake_keeps_the_last_good_page(preview: Preview) -> None:
    good = preview.text("/posts/a/")
    preview.save(posts_a="$\\wrong$\n")
    problems = preview.of_kind("problems")
    assert problems[-1]["errors"] == 2, "the formula, and the link of b.md that leads nowhere before it"
    wrong = next(item for item in problems[-1]["items"] if item["code"] == "math-command")
    assert wrong["where"] == "content/posts/a.md:1:2"
    assert wrong["pages"] == ["/posts/a/"]
    assert "^^^^^^" in wrong["text"]
    assert wrong["new"]
    assert preview.text("/posts/a/") == good
    preview.save(posts_a="## One\n")
    assert preview.of_kind("problems")[-1]["errors"] == 0
    assert "<h2" in preview.text("/posts/a/")


def test_wrong_settings_leave_the_site_as_it_was(preview: Preview) -> None:
    before = preview.text("/posts/a/")
    preview.engine.send(
        FilesSaved(ChangedFiles(frozenset([set_config(preview, "titel: x\n")])), time.monotonic())
    )
    until(lambda: "config-key" in codes(preview))
    assert preview.text("/posts/a/") == before
    preview.save(config="title: Renamed\n")
    assert "Renamed" in preview.text("/posts/a/")
    assert "config-key" not in codes(preview)


def test_settings_that_are_wrong_from_the_start(tmp_path: Path) -> None:
    (tmp_path / "blogsmith.yaml").write_text("titel: x\n")
    write(tmp_path, "posts/a.md", "One.\n")
    with previewing(tmp_path, is_sound=False) as preview:
        answer = preview.engine.answer("/posts/a/")
        assert answer.status == 503
        assert b"data-blogsmith" in answer.body
        until(lambda: codes(preview) == ["config-key"])
        preview.save(config="title: Mended\n")
        assert "Mended" in preview.text("/posts/a/")


def codes(preview: Preview) -> list[str]:
    """Return the codes of the last reported problems."""
    told = preview.of_kind("problems")
    return [item["code"] for item in told[-1]["items"]] if told else []


def set_config(preview: Preview, text: str) -> Path:
    file = preview.root / "blogsmith.yaml"
    file.write_text(text)
    return file


def until(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.005)


def test_a_new_post_stands_in_open_lists(preview: Preview) -> None:
    preview.text("/posts/")
    preview.save(posts_c="---\ntitle: Third\ndate: 2026-01-01\n---\nText.\n")
    assert list(preview.of_kind("pages")[-1]["pages"]) == ["/posts/"]
    assert "Third" in preview.text("/posts/")


def test_a_page_that_is_gone(preview: Preview) -> None:
    preview.text("/posts/b/")
    file = preview.root / "content/posts/b.md"
    file.unlink()
    preview.tell([file])
    assert preview.of_kind("pages")[-1]["pages"]["/posts/b/"]["version"] == ""
    assert preview.engine.answer("/posts/b/").status == 404
    assert preview.engine.version("/posts/b/") == ""


def test_addresses_of_folders_and_of_nothing(preview: Preview) -> None:
    assert preview.engine.answer("/posts/a").location == "/posts/a/"
    assert preview.engine.answer("/posts/a/index.html").status == 200
    assert preview.engine.answer("/nothing").status == 404
    assert preview.engine.answer("/robots.txt").type == "text/plain; charset=utf-8"


def test_style_sheets_are_told_before_pages(preview: Preview) -> None:
    file = preview.root / "static" / "own.css"
    file.parent.mkdir()
    file.write_text("p { color: red }\n")
    preview.tell([file])
    file.write_text("p { color: blue }\n")
    preview.tell([file])
    assert list(preview.of_kind("css")[-1]["files"]) == ["/own.css"]


def test_sheets_of_a_theme_are_told_as_what_they_are_joined_to(preview: Preview) -> None:
    theme = preview.root / "themes/mine"
    (theme / "static").mkdir(parents=True)
    (theme / "theme.yaml").write_text("extends: paper\nstyles: [own.css]\n", "utf-8")
    file = theme / "static" / "own.css"
    file.write_text("p { color: red }\n", "utf-8")
    preview.tell([theme, theme / "theme.yaml", file])
    preview.save(config="theme: mine\n")
    (sheet,) = re.findall(r'rel="stylesheet" href="(/assets/mine/posts-[^"]+)', preview.text("/posts/a/"))
    file.write_text("p { color: blue }\n", "utf-8")
    preview.tell([file])
    told = preview.of_kind("css")[-1]["files"]
    assert sheet in told and "/assets/mine/own.css" in told
    # a tab requests it by the old name before it has the new page
    body = preview.engine.answer(sheet).body
    assert b"p{color:blue}" in body and b"p{color:red}" not in body
    (again,) = re.findall(r'rel="stylesheet" href="(/assets/mine/posts-[^"]+)', preview.text("/posts/a/"))
    assert again != sheet


def test_images_are_told(preview: Preview) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"></svg>\n'
    file = preview.root / "content/posts/one.svg"
    file.write_text(svg)
    preview.tell([file])
    file.write_text(svg.replace("4", "8"))
    preview.tell([file])
    assert preview.of_kind("files")[-1]["files"] == ["/posts/one.svg"]


def test_what_cells_come_to_is_told(preview: Preview) -> None:
    found = preview.of_kind("problems")[-1]["items"][0] if preview.of_kind("problems") else None
    assert found is None or found["code"] == "link-anchor"
    outcome = PageOutcome("content/posts/a.md", "/posts/a/")
    preview.engine.send(CellsEnded(outcome))
    assert preview.rests.acquire(timeout=PATIENCE_S)
    assert preview.runner.works[-1].pages == ()


@pytest.mark.parametrize("saved", ["content/posts/a.md", "content/posts/data.csv", "data.csv"])
def test_whose_cells_have_finished(saved: str) -> None:
    told = ServeOptions(options(), lambda: NOW)
    published: list[Mapping[str, object]] = []
    said: list[str] = []
    news = EventPublisher(told, published.append, said.append, list, time.monotonic)
    a, b = PageOutcome("content/posts/a.md", "/posts/a/"), PageOutcome("content/posts/b.md", "/posts/b/")
    wrong = Diagnostic("cell-error", "it is wrong")
    news.on_outcome(replace(a, diagnostics=(wrong,)))
    news.on_outcome(replace(a, has_more=True))
    assert news.finished == set(), "it failed, and is run again"
    news.on_outcome(a)
    news.on_outcome(b)
    assert news.finished == {a.post, b.post}
    news.on_edit([saved])
    # any cell may read a file that is not a post
    assert news.finished == ({b.post} if saved == a.post else set())


def test_a_bug_ends_no_preview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "posts/a.md", "One.\n")
    with previewing(tmp_path) as preview:
        with monkeypatch.context() as patch:
            patch.setattr(preview.shown, "changed_pages", lambda: 1 / 0)
            preview.engine.send(FilesSaved(ChangedFiles(frozenset([tmp_path / "content/posts/a.md"])), 0.0))
            until(lambda: bool(preview.bugs))
        preview.save(posts_a="Two.\n")
        assert "Two." in preview.text("/posts/a/")
    assert {type(bug) for bug in preview.bugs} == {ZeroDivisionError}


def test_nobody_waits_for_an_engine_that_has_ended(tmp_path: Path) -> None:
    write(tmp_path, "posts/a.md", "One.\n")
    with previewing(tmp_path) as preview:
        engine = preview.engine
    answers: list[object] = []

    def ask() -> None:
        with pytest.raises(RuntimeError):
            answers.append(engine.answer("/posts/a/"))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@each_row(
    ("before", "after", "line"),
    [("a\nb\n", "a\nc\n", 2), ("a\n", "a\nb\n", 2), ("", "a", 1), ("a\nb", "a", 1), ("x", "x", 1)],
)
def test_first_difference(before: str, after: str, line: int) -> None:
    assert first_difference(before, after) == line


def test_a_tab_that_another_one_has_overtaken_is_told(preview: Preview) -> None:
    shown, path = preview.shown, "/posts/a/"
    shown.page_sent(path, "old")
    # a second tab sends a request after the new page is made and before the comparison
    shown.page_sent(path, shown.version(path))
    assert shown.changed_pages() == {path: shown.version(path)}
    assert shown.changed_pages() == {}


def test_a_tab_that_waits_for_a_page_is_told(preview: Preview) -> None:
    assert preview.engine.answer("/posts/c/").status == 404
    assert preview.engine.answer("/no-picture.png").status == 404
    assert preview.shown.open_pages() == ["/posts/c/"]
    preview.save(posts_c="New.\n")
    [told] = preview.of_kind("pages")
    assert list(told["pages"]) == ["/posts/c/"]


def test_wrong_settings_are_told_on_the_terminal_too(preview: Preview) -> None:
    preview.engine.send(
        FilesSaved(ChangedFiles(frozenset([set_config(preview, "titel: x")])), time.monotonic())
    )
    until(lambda: any("unknown key" in text for text in preview.said))


def test_files_of_the_last_theme_stay_for_tabs_that_still_load_them(preview: Preview) -> None:
    before, after = "/assets/paper/favicon.svg", "/assets/mine/favicon.svg"
    assert preview.engine.answer(before).status == 200
    theme = preview.root / "themes/mine"
    theme.mkdir(parents=True)
    (theme / "theme.yaml").write_text("name: mine\ndescription: Mine\nextends: paper\n", "utf-8")
    preview.tell([theme, theme / "theme.yaml"])
    preview.save(config="theme: mine\n")
    assert preview.engine.answer(before).file == preview.engine.answer(after).file
    assert preview.engine.answer("/assets/paper/nothing.css").status == 404
    preview.save(config="theme: paper\n")
    assert preview.engine.answer(before).status == preview.engine.answer(after).status == 200


def test_a_page_that_a_new_theme_cannot_make_keeps_its_style(preview: Preview) -> None:
    preview.save(a="---\ntitle: A\n---\nIt is $x$.\n")
    html = preview.text("/a/")
    theme = preview.root / "themes/mine"
    (theme / "partials").mkdir(parents=True)
    (theme / "theme.yaml").write_text("name: mine\ndescription: Mine\nextends: paper\n", "utf-8")
    (theme / "partials/head.html").write_text("{{ nowhere.here }}", "utf-8")
    preview.tell([theme])
    preview.save(config="theme: mine\n")
    assert preview.text("/a/") == html
    addresses = re.findall(r'(?:href|src)="(/assets/[^"?]+)', html)
    assert len(addresses) == 4, "icon, two fonts and the one style sheet"
    assert {preview.engine.answer(address).status for address in addresses} == {200}


def test_fonts_of_the_last_formulas_stay_for_tabs_that_still_load_them(preview: Preview) -> None:
    preview.save(a="---\ntitle: A\n---\nIt is $x$.\n")
    html = preview.text("/a/")
    fonts = re.findall(r'href="(/assets/paper/fonts/stix[^"]+)', html)
    assert fonts
    before = [preview.engine.answer(address) for address in fonts]
    preview.save(a="---\ntitle: A\n---\nIt is nothing.\n")
    assert fonts[0] not in preview.text("/a/")
    assert [preview.engine.answer(address) for address in fonts] == before
