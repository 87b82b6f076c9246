"""The live preview with the real server, a real browser, and saved files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.preview_client import quiet_port
from tests.serve_process import Serving, cell, post, running, write

from .accessibility import faults
from .live_page import UPDATED
from .preview_tab import Tab
from .reader import Reader
from .test_pages import axe

__all__ = ["axe"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

TABS = 8
EDITOR = "import sys\nopen(sys.argv[1], 'w').write('|'.join(sys.argv[2:]))\n"
SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{0}"><rect width="9" height="9"/></svg>'
FOLD = "> [!NOTE]- More\n> Folded text.\n"
LINES = "[...document.querySelectorAll('blogsmith-cell')].map(c => c.shadowRoot.querySelector('.cell'))"
PLAIN = {"blogsmith.yaml": "title: Notes\ntheme_options: {stylesheets: [/own.css]}\nexecute: {jobs: 1}\n"}


def slow(name: str) -> str:
    """Return a cell that prints steps until there is a file with this name beside the post."""
    return cell(f"""import time
from pathlib import Path
for step in range(100_000):
    print('step', step, flush=True)
    time.sleep(0.02)
    if Path('{name}').exists():
        break
print('result', 6 * 7)""")


def long_post(word: str, *more: str, paragraphs: int = 60) -> str:
    """Return a long post with a word that changes at its beginning, and more text at its end."""
    return post("Long", "\n\n".join([f"The word is {word}.", FOLD, *texts(paragraphs), *more]))


def texts(count: int) -> list[str]:
    """Return `count` numbered paragraphs."""
    return [f"Paragraph {number} has a few words to say." for number in range(count)]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file where the author's editor records the files that it opens."""
    return tmp_path_factory.mktemp("editor") / "opened"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory, opened: Path) -> Iterator[Serving]:
    """Preview a trusted site with a page of each kind that is edited here."""
    root = tmp_path_factory.mktemp("previewed") / "site"
    files = {
        "content/posts/long.md": long_post("first"),
        "content/posts/other.md": post("Other", "Text. See [the long one](long.md)."),
        "content/posts/picture/index.md": post("Picture", "![A square](square.svg)"),
        "content/posts/picture/square.svg": SQUARE.format(20),
        "content/posts/cells/index.md": post("Cells", "Text."),
        "static/own.css": "h1 { color: rgb(1, 2, 3) }",
    }
    write(root, PLAIN | files)
    program = opened.with_name("editor.py")
    program.write_text(EDITOR)
    editor = f"{sys.executable} {program} {opened} {{file}} {{line}} {{column}}"
    with running(root, trusted=True, environ={"BLOGSMITH_EDITOR": editor}) as serving:
        serving.wait_until_whole()
        yield serving


@pytest.fixture
def tab(serving: Serving, reader: Reader) -> Iterator[Tab]:
    """Open a tab, and assert at the end that nothing went wrong and no other host received a request."""
    yield Tab(serving, reader)
    assert reader.foreign_requests() == []
    assert reader.problems() == []
    reader.tell("Page.navigate", url="about:blank")


class TestText:
    def test_it_changes_in_place(self, tab: Tab) -> None:
        head, tail = [FOLD, *texts(40)], ["This stays as it is.", *texts(20)]
        before = {"content/posts/long.md": post("Long", "\n\n".join([*head, "Before.", *tail]))}
        tab.begin_with(before, "/posts/long/", "Before.")
        tab.open("/posts/long/")
        tab.ask("""
            document.querySelector("main details").open = true;
            const paragraphs = [...document.querySelectorAll("main p")];
            const kept = paragraphs.find(p => p.innerText.startsWith("This stays"));
            kept.scrollIntoView({block: "center", behavior: "instant"});
            getSelection().selectAllChildren(kept);
            document.querySelector(".site-footer a").focus({preventScroll: true});
            window.before = [scrollY, String(getSelection())];
        """)
        for word in ("second", "third"):
            tab.save(
                {"content/posts/long.md": post("Long", "\n\n".join([*head, f"The {word} word.", *tail]))}
            )
            tab.reads(f"The {word} word.")
        assert tab.ask("return [scrollY, String(getSelection())]") == tab.ask("return before")
        assert tab.ask("return before[0] > 300 && before[1] === 'This stays as it is.'")
        assert tab.ask("return document.activeElement.matches('.site-footer a')")
        assert tab.ask("return document.querySelector('main details').open")
        assert tab.is_same

    def test_an_edit_out_of_sight_is_scrolled_to(self, tab: Tab) -> None:
        before = {"content/posts/long.md": long_post("first", "The very end.")}
        tab.begin_with(before, "/posts/long/", "The very end.")
        tab.open("/posts/long/")
        assert tab.ask("return scrollY") == 0
        tab.save({"content/posts/long.md": long_post("first", "The very last end.")})
        tab.wait("""
            const paragraphs = [...document.querySelectorAll("main p")];
            const end = paragraphs.find(p => p.textContent.includes("very last"));
            const place = end?.getBoundingClientRect();
            return place && place.top > 0 && place.bottom < innerHeight;
        """)
        assert tab.is_same

    def test_pages_that_are_gone_to_and_back_to(self, tab: Tab) -> None:
        tab.open("/posts/other/")
        tab.reader.find("main a[href$='/posts/long/']").click()
        tab.wait("return location.pathname === '/posts/long/'")
        tab.is_ready()
        tab.save({"content/posts/long.md": long_post("fourth")})
        tab.reads("The word is fourth.")
        tab.save({"content/posts/other.md": post("Other", "Edited meanwhile. See [the long one](long.md).")})
        tab.ask("history.back()")
        tab.reads("Edited meanwhile.")
        tab.save({"content/posts/other.md": post("Other", "Edited again. See [the long one](long.md).")})
        tab.reads("Edited again.")
        tab.ask("history.forward()")
        tab.reads("The word is fourth.")
        tab.save({"content/posts/long.md": long_post("fifth")})
        tab.reads("The word is fifth.")

    def test_all_tabs(self, tab: Tab) -> None:
        tab.open("/posts/long/")
        paths = ["/posts/", "/", *["/posts/long/"] * (TABS - 3)]
        tab.ask("window.tabs = arguments[0].map(path => open(path, '_blank'))", paths)
        tab.wait("return tabs.every(w => w.performance.getEntriesByName('blogsmith:ready').length)")
        tab.ask("tabs.forEach(w => { w.kept = true })")
        word = "in every tab"
        new = {"content/posts/new.md": post("A new post", "New.")}
        tab.save({"content/posts/long.md": long_post(word), **new})
        reads = "w.document.querySelector('main').textContent.includes"
        tab.wait(f"return tabs.slice(2).every(w => {reads}(arguments[0]))", word)
        tab.wait(f"return tabs.slice(0, 2).every(w => {reads}('A new post'))")
        (tab.serving.root / "content/posts/new.md").unlink()
        tab.wait(f"return tabs.slice(0, 2).every(w => !{reads}('A new post'))")
        assert tab.ask("return tabs.every(w => w.kept)") and tab.is_same
        tab.ask("tabs.forEach(w => w.close())")
        tab.wait("return tabs.every(w => w.closed)")


class TestTheRestOfTheSite:
    def test_styles(self, tab: Tab) -> None:
        tab.open("/posts/long/")
        assert tab.ask("return getComputedStyle(document.querySelector('h1')).color") == "rgb(1, 2, 3)"
        tab.save({"static/own.css": "h1 { color: rgb(4, 5, 6) }"})
        tab.wait("return getComputedStyle(document.querySelector('h1')).color === 'rgb(4, 5, 6)'")
        # The old one is removed when the new one is loaded, a moment after it is visible.
        tab.wait("return document.querySelectorAll('link[href*=\"own.css\"]').length === 1")
        tab.save({"static/own.css": "h1 { color: rgb(1, 2, 3) }"})
        tab.wait("return getComputedStyle(document.querySelector('h1')).color === 'rgb(1, 2, 3)'")
        assert tab.is_same

    def test_a_style_sheet_of_the_theme(self, tab: Tab) -> None:
        theme = "name: mine\ndescription: Mine\nextends: paper\n"
        css = "themes/mine/static/mine.css"
        link = '<link rel="stylesheet" href="{{ asset(\'mine.css\') }}">\n'
        styles = '{% include "paper/partials/styles.html" %}\n' + link
        files = {
            "themes/mine/theme.yaml": theme,
            css: "h1 { opacity: 0.5 }",
            "themes/mine/partials/styles.html": styles,
        }
        tab.save(files)
        tab.save({"blogsmith.yaml": f"{PLAIN['blogsmith.yaml']}theme: mine\n"})
        tab.serves("/posts/long/", "mine.css")
        tab.open("/posts/long/")
        tab.wait("return getComputedStyle(document.querySelector('h1')).opacity === '0.5'")
        tab.ask("window.kept = true")
        tab.save({css: "h1 { opacity: 0.75 }"})
        tab.wait("return getComputedStyle(document.querySelector('h1')).opacity === '0.75'")
        assert tab.is_same
        tab.save(PLAIN)
        tab.wait("return getComputedStyle(document.querySelector('h1')).opacity === '1'")

    def test_a_template_and_the_settings(self, tab: Tab) -> None:
        tab.open("/posts/long/")
        tab.save({"partials/site_footer.html": '<footer class="site-footer"><p>My own</p></footer>'})
        tab.reads("My own", ".site-footer")
        (tab.serving.root / "partials/site_footer.html").unlink()
        tab.wait("return !document.querySelector('.site-footer').innerText.includes('My own')")
        tab.save({"blogsmith.yaml": PLAIN["blogsmith.yaml"].replace("Notes", "Other notes")})
        tab.reads("Other notes", "header")
        tab.wait("return document.title === 'Long · Other notes'")
        tab.save(PLAIN)
        tab.wait("return document.title === 'Long · Notes'")
        assert tab.is_same

    def test_an_image(self, tab: Tab) -> None:
        tab.open("/posts/picture/")
        width = "return document.querySelector('main img').naturalWidth"
        assert tab.wait(width) == 20
        tab.save({"content/posts/picture/square.svg": SQUARE.format(33)})
        tab.wait(f"{width} === 33")
        tab.wait("return document.querySelector('main img').width === 33")
        assert tab.is_same

    def test_a_post_that_goes_and_comes_back(self, tab: Tab) -> None:
        tab.save({"content/posts/short.md": post("Short", "It is there.")})
        tab.serves("/posts/short/", "200 ")
        tab.open("/posts/short/")
        (tab.serving.root / "content/posts/short.md").unlink()
        tab.wait_own("return shadow.querySelector('.gone') !== null")
        tab.reads("It is there.")
        tab.save({"content/posts/short.md": post("Short", "It is back.")})
        tab.reads("It is back.")
        assert not tab.own("return shadow.querySelector('.gone')")
        tab.reader.problems()  # The browser logs the 404.


class TestProblems:
    def test_an_error_until_it_is_mended(self, tab: Tab) -> None:
        tab.open("/posts/other/")
        tab.save({"content/posts/other.md": post("Other", r"Text with $\sofmax$.")})
        text = tab.wait_own("const b = shadow.querySelector('dialog'); return b.open && b.innerText")
        for piece in ("1 error", "content/posts/other.md:6:12", r"\sofmax", "[math-command]", "^^^^^^^"):
            assert piece in text
        assert "Text with" not in tab.ask("return document.querySelector('main').innerText")
        tab.save({"content/posts/other.md": post("Other", "Mended text.")})
        tab.wait_own("return !shadow.querySelector('dialog').open")
        tab.reads("Mended text.")
        assert tab.is_same

    def test_a_warning_is_a_mark(self, tab: Tab) -> None:
        tab.open("/posts/other/")
        warned = post("Other", "Inline `a\u200b` to be warned of.")
        tab.save({"content/posts/other.md": warned})
        tab.wait_own("return shadow.querySelector('.warnings')?.textContent === '1 warning'")
        tab.reads("warned of.")
        assert not tab.own("return shadow.querySelector('dialog').open")
        tab.save({"content/posts/other.md": post("Other", "Mended text.")})
        tab.wait_own("return shadow.querySelector('.warnings') === null")

    def test_of_the_settings_on_every_page(self, tab: Tab) -> None:
        tab.open("/posts/long/")
        tab.save({"blogsmith.yaml": "titel: x\n"})
        tab.wait_own("return shadow.querySelector('dialog').innerText.includes('did you mean `title`?')")
        tab.save(PLAIN)
        tab.wait_own("return !shadow.querySelector('dialog').open")
        assert tab.is_same

    def test_to_the_editor(self, tab: Tab, opened: Path) -> None:
        tab.save({"content/posts/other.md": post("Other", "First.\n\nSecond [link](long.md).")})
        tab.serves("/posts/other/", "Second")
        tab.open("/posts/other/")
        link = tab.reader.find("main a[href$='/posts/long/']")
        ActionChains(link.parent).key_down(Keys.ALT).click(link).key_up(Keys.ALT).perform()
        file = tab.serving.root / "content/posts/other.md"
        tab.reader.wait_for(lambda: opened.is_file() and opened.read_text() == f"{file}|8|1")
        assert tab.ask("return location.pathname") == "/posts/other/"
        tab.save({"content/posts/other.md": post("Other", r"Text with $\sofmax$.")})
        tab.wait_own(
            "return shadow.querySelector('dialog').open && shadow.querySelector('button.place') !== null"
        )
        tab.own("shadow.querySelector('button.place').click()")
        tab.reader.wait_for(lambda: opened.read_text() == f"{file}|6|12")
        tab.save({"content/posts/other.md": post("Other", "Mended.")})
        tab.wait_own("return !shadow.querySelector('dialog').open")

    def test_accessible_with_an_error_and_a_warning(self, tab: Tab, axe: str) -> None:
        tab.open("/posts/long/")
        warned = post("Other", "Text with [a link](nowhere.md).\n\n" + r"$\sofmax$")
        tab.save({"content/posts/other.md": warned, "content/posts/unused.md": post("", "Text")})
        tab.wait_own("return shadow.querySelector('dialog').open")
        tab.reader.wait_for_fonts()
        assert faults(tab.reader, axe) == []
        tab.own("shadow.querySelector('dialog .head button').click()")
        assert faults(tab.reader, axe) == []
        (tab.serving.root / "content/posts/unused.md").unlink()
        tab.save({"content/posts/other.md": post("Other", "Mended.")})
        tab.wait_own("return !shadow.querySelector('.errors')")


class TestCells:
    FOLDER = "content/posts/cells/"
    FILE = f"{FOLDER}index.md"

    def test_progress_stop_and_results(self, tab: Tab) -> None:
        self._open(tab)
        tab.save({self.FILE: post("Cells", slow("first.txt"))})
        tab.wait(f"return {LINES}[0]?.innerText.includes('running')")
        tab.wait(f"return {LINES}[0].querySelector('pre').textContent.includes('step 3')")
        tab.wait_own("return shadow.querySelector('.running')?.innerText.includes('0 of 1')")
        tab.reads("result 25")  # The result before the edit.
        tab.ask(f"[...{LINES}[0].querySelectorAll('button')].find(b => b.textContent === 'Stop').click()")
        tab.wait(f"return {LINES}[0].innerText.includes('stopped')")
        assert tab.wait_own("return !shadow.querySelector('.running')")
        tab.save({f"{self.FOLDER}first.txt": "go"})
        tab.ask(
            f"[...{LINES}[0].querySelectorAll('button')].find(b => b.textContent === 'Run again').click()"
        )
        tab.reads("result 42")
        tab.wait(f"return {LINES}.length === 0")
        assert tab.is_same

    def test_prose_around_a_cell_that_runs(self, tab: Tab) -> None:
        self._open(tab)
        tab.save({self.FILE: post("Cells", slow("second.txt"))})
        tab.wait(f"return {LINES}[0]?.querySelector('pre').textContent.includes('step 1')")
        tab.ask(f"window.line = {LINES}[0]")
        tab.save({self.FILE: post("Cells", f"Prose before it.\n\n{slow('second.txt')}")})
        tab.reads("Prose before it.")
        # It is not cancelled: the same run continues in the same element.
        tab.wait(f"return {LINES}[0] === line && line.querySelector('pre').textContent.includes('step 9')")
        assert tab.ask("return line.querySelector('pre').textContent.match(/step 0\\b/g).length") == 1
        tab.save({f"{self.FOLDER}second.txt": "go"})
        tab.reads("result 42")
        tab.wait(f"return {LINES}.length === 0")
        assert tab.is_same

    def _open(self, tab: Tab) -> None:
        """Open the page with the result of another cell."""
        tab.save({self.FILE: post("Cells", cell("print('result', 5 * 5)"))})
        tab.serves("/posts/cells/", "result 25")
        tab.open("/posts/cells/")


def test_a_server_that_is_started_again(tmp_path: Path, reader: Reader) -> None:
    root, port = tmp_path / "site", f"--port={quiet_port()}"
    write(
        root,
        PLAIN | {"content/posts/a.md": post("First", "Some text."), "static/own.css": "p { color: red }"},
    )
    with running(root, port) as serving:
        tab = Tab(serving, reader)
        tab.open("/posts/a/")
        done = tab.ask(UPDATED)
    tab.wait_own("return shadow.querySelector('.lost') !== null")
    write(root, {"content/posts/a.md": post("First", "Edited meanwhile.")})
    with running(root, port) as serving:
        assert serving.port == tab.serving.port
        tab.reads("Edited meanwhile.")
        assert tab.ask(UPDATED) > done
        tab.wait_own("return !shadow.querySelector('.lost')")
        tab.save({"content/posts/a.md": post("First", "Edited again.")})
        tab.reads("Edited again.")
        reader.tell("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        tab.own("shadow.querySelector('.edit').click()")
        tab.wait_own("return shadow.querySelector('.said').textContent === 'Copied content/posts/a.md:6'")
        assert tab.is_same
        reader.tell("Page.navigate", url="about:blank")
    reader.problems()  # The browser logs each attempt.
