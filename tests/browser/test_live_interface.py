"""The interface of the preview: problems, running cells, links to the source, the connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .accessibility import faults_in_looks
from .live_page import PATH, SHADOW, UPDATED, Tab, document, lined, paragraphs, problem, problems
from .live_stand_in import CALM, LiveServer, live_site
from .reader import Reader
from .test_pages import axe

__all__ = ["axe"]

TABS = 8
HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
IS_OPEN = "return shadow.querySelector('dialog').open"
CELL = '<div class="cell" data-cell="{0}"><pre><code>print({0})</code></pre></div>'
LINES = "[...document.querySelectorAll('blogsmith-cell')].map(c => c.shadowRoot.querySelector('.cell'))"


@pytest.fixture
def tab(reader: Reader) -> Iterator[Tab]:
    """Open a tab, and assert at the end that nothing went wrong."""
    with live_site() as (site, server):
        tab = Tab(site, server, reader)
        yield tab
        assert reader.problems() == []
        reader.tell("Page.navigate", url="about:blank")


class TestProblems:
    def test_overlay_comes_and_goes(self, tab: Tab) -> None:
        tab.open("<p>The last good page</p>")
        tab.site.send(**problems(problem()))
        tab.wait_own(IS_OPEN)
        text = tab.own("return shadow.querySelector('dialog').innerText")
        for piece in (
            "1 error",
            "content/a.md:41:7",
            r'unknown TeX command "\sofmax"',
            "[math-command]",
            "^^^^^^^",
        ):
            assert piece in text
        assert "hint: did you mean `\\softmax`?" in text
        assert text.count("unknown TeX command") == 1, "what stands above the quotation is not repeated in it"
        assert tab.ask("return document.querySelector('p').checkVisibility()")
        assert tab.own("return shadow.querySelector('.errors').textContent") == "1 error"
        tab.site.send(**CALM)
        tab.wait_own("return !shadow.querySelector('dialog').open")
        assert not tab.own("return shadow.querySelector('.errors')")
        assert tab.is_same

    def test_to_go_it_asks_for_nothing(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        tab.site.send(**problems(problem()))
        tab.wait_own(IS_OPEN)
        # The tab gets only the event; it requests nothing before the overlay disappears.
        asked = len(tab.site.asked)
        tab.site.send(**CALM)
        tab.wait_own("return !shadow.querySelector('dialog').open")
        assert len(tab.site.asked) == asked

    def test_text_of_files_is_text(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        hostile = problem(where=HOSTILE, path=HOSTILE, message=HOSTILE, code=HOSTILE)
        hostile["text"] = f"{HOSTILE}: error\n{HOSTILE}"
        tab.site.send(**problems(hostile, {**hostile, "severity": "warning"}))
        tab.wait_own(IS_OPEN)
        assert tab.own("return shadow.querySelectorAll('script, img').length") == 0
        assert tab.own("return shadow.querySelector('dialog').textContent").count(HOSTILE) == 8
        assert not tab.ask("return window.hit")

    def test_it_takes_nothing_from_who_types(self, tab: Tab) -> None:
        tab.open('<p><input id="name"></p>')
        tab.reader.find("#name").click()
        tab.site.send(**problems(problem()))
        tab.wait_own(IS_OPEN)
        tab.reader.press("text")
        assert tab.ask("return document.getElementById('name').value") == "text"
        tab.reader.press(Keys.ESCAPE)
        assert not tab.own(IS_OPEN)
        assert tab.own("return shadow.querySelector('[role=alert]').textContent").startswith(
            "1 error. content/a.md"
        )

    def test_closed_it_stays_closed_until_something_is_new(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        tab.site.send(**problems(problem()))
        tab.wait_own(IS_OPEN)
        tab.own("[...shadow.querySelectorAll('dialog button')].find(b => b.textContent === 'Close').click()")
        assert not tab.own(IS_OPEN)
        tab.site.send(**problems(problem(new=False), problem(new=False, where="content/a.md:50:1")))
        tab.wait_own("return shadow.querySelector('.errors').textContent === '2 errors'")
        assert not tab.own(IS_OPEN)
        tab.own("shadow.querySelector('.errors').click()")
        assert tab.own(IS_OPEN)
        assert tab.own("return shadow.activeElement.textContent") == "Close"
        tab.reader.press(Keys.ESCAPE)
        assert tab.own("return shadow.activeElement.textContent") == "2 errors"
        tab.site.send(**problems(problem(new=False), problem(where="content/a.md:60:1")))
        tab.wait_own(IS_OPEN)

    def test_said_again_it_opens_nothing(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        tab.site.send(**problems(problem()))
        tab.wait_own(IS_OPEN)
        tab.reader.press(Keys.ESCAPE)
        with tab.site.away():
            tab.wait_own("return shadow.querySelector('.lost') !== null")
        tab.wait_own("return shadow.querySelector('.lost') === null")
        assert not tab.own(IS_OPEN)

    @pytest.mark.parametrize(
        ("pages", "opens"),
        [([PATH], True), ([], True), (["/posts/b/"], False)],
        ids=["this page", "site", "other"],
    )
    def test_what_was_wrong_before_the_page_came(self, tab: Tab, pages: list[str], opens: bool) -> None:
        tab.site.problems = problems(problem(pages=pages, new=False))
        tab.open("<p>Text</p>")
        tab.wait_own("return shadow.querySelector('.errors') !== null")
        assert tab.own(IS_OPEN) == opens

    def test_warnings_are_quiet(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        tab.site.send(**problems(problem(severity="warning")))
        tab.wait_own("return shadow.querySelector('.warnings')?.textContent === '1 warning'")
        assert not tab.own(IS_OPEN)
        tab.own("shadow.querySelector('.warnings').click()")
        assert "unknown TeX command" in tab.own("return shadow.querySelector('dialog').innerText")
        tab.site.send(**problems(problem(severity="warning", message="another")))
        tab.wait_own("return shadow.querySelector('dialog').innerText.includes('another')")
        tab.site.send(**CALM)
        tab.wait_own("return !shadow.querySelector('dialog').open && !shadow.querySelector('.warnings')")


class TestTabs:
    def test_many_share_one_connection(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        tab.site.send(**problems(problem(severity="warning")))
        tab.ask(f"window.tabs = Array.from({{length: {TABS - 1}}}, () => open({PATH!r}, '_blank'))")
        tab.wait("return tabs.every(w => w.performance.getEntriesByName('blogsmith:ready').length)")
        # Tabs that connect later receive the present state.
        warned = "w.document.querySelector('blogsmith-live').shadowRoot.querySelector('.warnings')"
        tab.wait(f"return tabs.every(w => {warned})")
        assert tab.site.streams() == 1
        assert tab.site.asked.count("/_blogsmith/events") == 1
        tab.edit("<p>New text</p>")
        tab.wait("return tabs.every(w => w.document.querySelector('p').textContent === 'New text')")
        tab.ask("tabs.forEach(w => w.close())")
        tab.wait("return tabs.every(w => w.closed)")

    def test_without_shared_workers(self, tab: Tab) -> None:
        hide = tab.reader.tell("Page.addScriptToEvaluateOnNewDocument", source="delete window.SharedWorker")
        try:
            tab.open("<p>Text</p>")
            tab.edit("<p>New text</p>")
            hidden = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
            tab.ask(f"{hidden % 'true'} document.dispatchEvent(new Event('visibilitychange'))")
            tab.site.wait_for_streams(0)
            tab.site.page(PATH, document("<p>Edited meanwhile</p>"))
            tab.ask(f"{hidden % 'false'} document.dispatchEvent(new Event('visibilitychange'))")
            tab.wait("return document.querySelector('p').textContent === 'Edited meanwhile'")
        finally:
            tab.reader.tell("Page.removeScriptToEvaluateOnNewDocument", **hide)
        assert tab.is_same

    def test_a_server_that_comes_back(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        port = tab.server.server_port
        tab.server.stop()
        tab.wait_own("return shadow.querySelector('.lost')?.textContent === 'Not connected'")
        tab.site.run = "second"
        tab.site.page(PATH, document("<p>Edited meanwhile</p>"))
        done = tab.ask(UPDATED)
        again = LiveServer(tab.site, port)
        try:
            tab.wait("return document.querySelector('p').textContent === 'Edited meanwhile'")
            assert tab.ask(UPDATED) > done
            assert tab.wait_own("return !shadow.querySelector('.lost')")
            # The actions it may request are those that the new server announced.
            tab.site.editor = "command"
            tab.edit("<p>Text</p>")
            tab.own("shadow.querySelector('.edit').click()")
            tab.reader.wait_for(lambda: tab.site.done)
            assert tab.is_same
            # Leave the page before the server stops again, because the browser logs each attempt.
            tab.reader.tell("Page.navigate", url="about:blank")
            tab.reader.problems()
        finally:
            again.stop()


class TestPlaces:
    BLOCKS = lined(["<p>First</p>", '<p id="second">Second <a href="/elsewhere/">link</a></p>'])

    def test_by_an_address(self, tab: Tab) -> None:
        tab.site.editor = "vscode://file/site/{path}:{line}:{column}"
        tab.site.page(PATH, "", "content/posts/a b#1.md")
        tab.site.sources[PATH] = "content/posts/a b#1.md"
        self._open(tab, "content/posts/a b#1.md")
        tab.ask("HTMLAnchorElement.prototype.click = function () { window.opened = this.href }")
        self._click_with_alt(tab)
        assert tab.ask("return opened") == "vscode://file/site/content/posts/a%20b%231.md:4:1"
        tab.site.send(**problems(problem()))
        link = tab.wait_own("return shadow.querySelector('a.place')?.href")
        assert link == "vscode://file/site/content/a.md:41:7"

    def test_by_a_command(self, tab: Tab) -> None:
        tab.site.editor = "command"
        self._open(tab)
        self._click_with_alt(tab)
        tab.reader.wait_for(lambda: tab.site.done)
        assert tab.site.done == [("edit", {"path": "content/a.md", "line": 4, "column": 1})]
        tab.site.send(**problems(problem()))
        tab.wait_own("return shadow.querySelector('button.place') !== null")
        tab.own("shadow.querySelector('button.place').click()")
        tab.reader.wait_for(lambda: len(tab.site.done) == 2)
        assert tab.site.done[1] == ("edit", {"path": "content/a.md", "line": 41, "column": 7})

    def test_by_hand(self, tab: Tab) -> None:
        self._open(tab)
        tab.reader.tell(
            "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
        )
        self._click_with_alt(tab)
        tab.wait_own("return shadow.querySelector('.said').textContent === 'Copied content/a.md:4'")
        assert tab.ask("return navigator.clipboard.readText()") == "content/a.md:4"

    @pytest.mark.parametrize(
        "template", ["javascript:hit({line})", "data:text/html,{path}", "not an address"]
    )
    def test_an_address_that_would_act_is_none(self, tab: Tab, template: str) -> None:
        tab.site.editor = template
        self._open(tab)
        self._click_with_alt(tab)
        tab.wait_own("return shadow.querySelector('.said').textContent.endsWith('content/a.md:4')")

    def test_the_block_below_the_pointer_has_an_outline(self, tab: Tab) -> None:
        self._open(tab)
        second = tab.reader.find("#second")
        keyboard = ActionChains(second.parent)
        keyboard.move_to_element_with_offset(second, 5, 0).perform()
        assert tab.own("return shadow.querySelector('.outline').hidden")
        keyboard.key_down(Keys.ALT).perform()
        tab.wait_own("return shadow.querySelector('.outline').innerText === 'content/a.md:4'")
        box = "return {0}.getBoundingClientRect().toJSON()"
        outline = tab.own(box.format("shadow.querySelector('.outline')"))
        assert outline == tab.ask(box.format("document.querySelector('#second')"))
        keyboard.key_up(Keys.ALT).perform()
        assert tab.own("return shadow.querySelector('.outline').hidden")

    def test_edit_opens_what_is_read(self, tab: Tab) -> None:
        tab.site.editor = "command"
        tab.open(lined(paragraphs(100)), "<style>p { height: 40px; margin: 0 }</style>")
        tab.ask("scrollTo({top: 1000, behavior: 'instant'})")
        tab.own("shadow.querySelector('.edit').click()")
        tab.reader.wait_for(lambda: tab.site.done)
        [(_, place)] = tab.site.done
        assert 0 <= tab.top(f"[data-line='{place['line']}']") < 40

    def test_pages_without_a_source(self, tab: Tab) -> None:
        self._open(tab, "")
        assert not tab.own("return shadow.querySelector('.edit')")
        tab.edit(f"{self.BLOCKS}\n<p>New</p>")
        assert not tab.own("return shadow.querySelector('.edit')")

    def _open(self, tab: Tab, source: str = "content/a.md") -> None:
        """Open the page, made from `source`."""
        body = document(self.BLOCKS)
        tab.site.page(PATH, body, source)
        tab.reader.open(tab.server.origin + PATH)
        tab.wait_until_ready()
        tab.ask("window.kept = true")

    def _click_with_alt(self, tab: Tab) -> None:
        second = tab.reader.find("#second a")
        ActionChains(second.parent).key_down(Keys.ALT).click(second).key_up(Keys.ALT).perform()
        assert tab.ask("return location.pathname") == PATH, "the link is not followed"


class TestCells:
    BLOCKS = lined([*paragraphs(2), CELL.format(1), CELL.format(2)])

    def test_output_as_it_comes(self, tab: Tab) -> None:
        tab.open(self.BLOCKS)
        for state in ("queued", "started"):
            self._tell(tab, cell=2, state=state)
        self._wait_for_line(tab, r"running \d+\.\d s")
        self._tell(tab, cell=2, state="output", text="step 1\rstep 2\n\x1b[31m50 %\x1b[0m\r\n<b>")
        tab.wait(f"return {LINES}.at(-1)?.querySelector('pre')?.textContent === 'step 2\\n50 %\\n<b>'")
        assert tab.ask("return document.querySelector('blogsmith-cell').parentElement.dataset.cell") == "2"
        assert "running" in tab.own("return shadow.querySelector('.running').textContent")

    def test_it_stays_while_the_page_changes_and_goes_with_the_results(self, tab: Tab) -> None:
        tab.open(self.BLOCKS)
        self._tell(tab, cell=2, state="started")
        self._tell(tab, cell=2, state="output", text="so far")
        tab.wait(f"return {LINES}.length")
        tab.ask("window.line = document.querySelector('blogsmith-cell')")
        tab.edit(lined([*paragraphs(5), CELL.format(1), CELL.format(2)]))
        assert tab.ask("return line.isConnected && line.parentElement.dataset.cell === '2'")
        self._tell(tab, cell=2, state="ended", seconds=0.12)
        self._wait_for_line(tab, r"ran in 0\.1 s")
        self._tell(tab, state="finished", done=1, total=1)
        tab.edit(lined([*paragraphs(5), CELL.format(1), f"{CELL.format(2)}<pre>so far</pre>"]))
        assert tab.ask(f"return {LINES}.length") == 0
        assert tab.is_same

    def test_it_goes_also_if_nothing_is_new(self, tab: Tab) -> None:
        tab.open(self.BLOCKS)
        self._tell(tab, cell=1, state="started")
        self._tell(tab, cell=1, state="ended", seconds=0.1)
        self._wait_for_line(tab, r"ran in 0\.1 s")
        self._tell(tab, state="finished")
        tab.wait(f"return {LINES}.length === 0")

    def test_stop(self, tab: Tab) -> None:
        tab.open(self.BLOCKS)
        self._tell(tab, cell=1, state="started", done=0, total=2)
        self._tell(tab, cell=2, state="queued", done=0, total=2)
        tab.wait_own(
            "return shadow.querySelector('.running')?.textContent.startsWith('running, 0 of 2 cells done')"
        )
        tab.ask(f"{LINES}[0].querySelector('button').click()")
        tab.reader.wait_for(lambda: tab.site.done)
        assert tab.site.done == [("stop", {"page": PATH})]
        self._tell(tab, state="stopped")
        self._wait_for_line(tab, "stopped")
        tab.wait_own("return !shadow.querySelector('.running')")
        tab.ask(
            f"[...{LINES}[0].querySelectorAll('button')].find(b => b.textContent === 'Run again').click()"
        )
        tab.reader.wait_for(lambda: len(tab.site.done) == 2)
        assert tab.site.done[1] == ("run", {"page": PATH})

    def test_what_is_wrong_stays_until_it_runs_again(self, tab: Tab) -> None:
        tab.open(self.BLOCKS)
        for cell, wrong in ((1, "NameError: x"), (2, None)):
            self._tell(tab, cell=cell, state="started")
            self._tell(tab, cell=cell, state="ended", seconds=0.1, problem=wrong)
        self._wait_for_line(tab, "NameError: x")
        tab.wait(f"return {LINES}.length === 2")
        self._tell(tab, state="finished")
        # The line of the other cell disappears.
        tab.wait(f"return {LINES}.length === 1")
        self._wait_for_line(tab, "NameError: x")
        self._tell(tab, cell=1, state="queued")
        self._wait_for_line(tab, "waiting to run")
        assert tab.ask(f"return {LINES}.length") == 1

    def test_long_output_is_cut(self, tab: Tab) -> None:
        tab.open(self.BLOCKS)
        self._tell(tab, cell=1, state="started")
        for _ in range(5):
            self._tell(tab, cell=1, state="output", text="x" * 40_000 + "\n")
        self._tell(tab, cell=1, state="output", text="the end")
        tab.wait(f"return {LINES}[0]?.querySelector('pre').textContent.endsWith('the end')")
        assert tab.ask(f"return {LINES}[0].querySelector('pre').textContent.length") <= 100_000

    def test_who_comes_later_sees_what_runs(self, tab: Tab) -> None:
        tab.site.running = [
            {"kind": "run", "page": PATH, "session": "main", "cell": 1, "state": "started"},
            {"kind": "run", "page": "/posts/b/", "session": "main", "cell": 1, "state": "started"},
        ]
        tab.open(self.BLOCKS)
        self._wait_for_line(tab, "running")
        self._tell(tab, cell=1, state="output", text="half")
        tab.ask(f"window.other = open({PATH!r}, '_blank')")
        line = "other.document.querySelector('blogsmith-cell')?.shadowRoot"
        tab.wait(f"return {line}?.querySelector('pre').textContent === 'half'")
        tab.ask("other.close()")
        tab.wait("return other.closed")

    def _tell(self, tab: Tab, **event: Any) -> None:
        tab.site.send(kind="run", page=PATH, session="main", **event)

    def _wait_for_line(self, tab: Tab, words: str) -> None:
        """Wait for a line of a running cell.

        words: regular expression that the line must match.
        """
        tab.wait(f"return {LINES}.some(line => line.innerText.match(arguments[0]))", words)


def test_axe_finds_nothing(tab: Tab, axe: str) -> None:
    style = "<style>html { color-scheme: light dark } body { color: CanvasText; background: Canvas }</style>"
    tab.open(TestCells.BLOCKS, style)
    tab.site.send(kind="run", page=PATH, session="main", cell=1, state="started", done=0, total=2)
    tab.site.send(
        kind="run", page=PATH, session="main", cell=1, state="output", text="a line of output\n" * 40
    )
    tab.site.send(kind="run", page=PATH, session="main", cell=2, state="ended", problem="NameError: x")
    tab.site.send(**problems(problem(), problem(severity="warning", text="x " * 500)))
    tab.wait_own(IS_OPEN)
    assert faults_in_looks(tab.reader, axe) == []
    tab.own("shadow.querySelector('dialog button').click()")
    assert faults_in_looks(tab.reader, axe) == []


def test_no_style_reaches_the_interface(tab: Tab) -> None:
    look = f"{SHADOW} return getComputedStyle(shadow.querySelector('.edit')).cssText"
    tab.open("<p>Text</p>")
    before = tab.ask(look)
    tab.edit(
        "<p>Text</p>", "<style>* { color: lime !important; font: 99px x !important; display: none }</style>"
    )
    assert tab.ask(look) == before
