"""The preview in the browser: the parts of a page that an update changes, and those that it preserves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from threading import Event

import pytest

from tests.preview_client import soon

from .live_page import PATH, THEME, Tab, document, lined, paragraphs
from .live_stand_in import live_site
from .reader import PATIENCE_S, Reader

FIXED = (
    "<style>body { margin: 0 } p, figure { height: 40px; margin: 0 } p:nth-of-type(5) { color: red }</style>"
)
SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{0}"><rect width="9" height="9"/></svg>'
CODE = '<figure class="code"><pre><code><span class="line">x = {}\n</span></code></pre></figure>'
DISPLAY = '<div class="math-display"><math display="block" alttext="{0}"><mi>{0}</mi></math></div>'
COMPARE = (
    '<figure class="image-compare"><img src="/a.svg" alt="Before" width="9" height="9">'
    '<img src="/a.svg" alt="After" width="9" height="9">'
    '<input type="range" class="compare-slider" min="0" max="100" value="50" aria-label="Compare"></figure>'
)
ASKED_TO_OPEN = 2
"""Number of requests of a page until it can be updated: by the browser, and by the preview's script."""
IS_AS_LOADED = """
const loaded = new DOMParser().parseFromString(arguments[0], "text/html");
return document.querySelector("main").isEqualNode(loaded.querySelector("main"));
"""


@pytest.fixture
def tab(reader: Reader) -> Iterator[Tab]:
    """Open a tab, and assert at the end that nothing went wrong."""
    with live_site() as (site, server):
        tab = Tab(site, server, reader)
        yield tab
        assert reader.problems() == []
        reader.tell("Page.navigate", url="about:blank")


def test_text_is_changed_in_place(tab: Tab) -> None:
    tab.open(lined(paragraphs(3)))
    tab.ask("window.nodes = [...document.querySelectorAll('p')]")
    tab.edit(lined([*paragraphs(1), "<p>Another text.</p>", *paragraphs(3)[2:]]))
    assert tab.ask("return document.querySelectorAll('p')[1].textContent") == "Another text."
    assert tab.ask("return [...document.querySelectorAll('p')].every((p, i) => p === nodes[i])")
    assert tab.is_same


class TestWhatTheReaderDoes:
    def test_scroll_stays_at_what_is_read(self, tab: Tab) -> None:
        blocks = paragraphs(100)
        tab.open(lined(blocks), FIXED)
        tab.ask("scrollTo({top: 1234, behavior: 'instant'})")
        at = tab.top("p:nth-of-type(40)")
        tab.edit(lined(["<p>New above.</p>", *blocks[:5], *blocks[6:]]), FIXED)
        assert tab.top("p:nth-of-type(40)") == at, "one came, one went"
        tab.edit(lined(["<p>New above.</p>"] * 7 + blocks), FIXED)
        # The browser's own scroll anchoring, two frames later, has nothing left to do.
        tab.ask("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert tab.ask("return document.querySelectorAll('p')[46].getBoundingClientRect().top") == at
        assert tab.is_same

    def test_selection_in_text_that_stays(self, tab: Tab) -> None:
        blocks = paragraphs(20)
        tab.open(lined(blocks))
        tab.ask("getSelection().setBaseAndExtent(document.querySelectorAll('p')[7].firstChild, 3, "
                "document.querySelectorAll('p')[9].firstChild, 5)")  # fmt: skip
        selected = tab.ask("return String(getSelection())")
        tab.edit(lined(["<p>New.</p>", "<p>New, too.</p>", *blocks[:4], "<p>Changed.</p>", *blocks[5:]]))
        assert tab.ask("return String(getSelection())") == selected

    def test_focus_caret_and_typed_text(self, tab: Tab) -> None:
        field = '<p>Your <input id="name" value="name">, please.</p>'
        tab.open(lined([*paragraphs(2), field]))
        tab.ask(
            "const f = document.getElementById('name'); f.focus(); f.value = 'Ada L';"
            "f.setSelectionRange(2, 4)"
        )
        look = "const f = document.activeElement; return [f.id, f.value, f.selectionStart, f.selectionEnd]"
        tab.edit(lined([*paragraphs(3), field]))
        assert tab.ask(look) == ["name", "Ada L", 2, 4]
        tab.edit(lined([*paragraphs(3), field.replace("please", "if you like")]))
        assert tab.ask(look) == ["name", "Ada L", 2, 4]
        assert "if you like" in tab.ask("return document.body.textContent")

    def test_folds_stay_as_they_were_left(self, tab: Tab) -> None:
        fold = "<details><summary>More</summary><p>{}</p></details>"
        tab.open(lined([fold.format("One."), fold.format("Two.").replace("details", "details open", 1)]))
        tab.ask("for (const fold of document.querySelectorAll('details')) fold.open = !fold.open")
        tab.edit(lined([fold.format("1."), fold.format("2.").replace("details", "details open", 1)]))
        assert tab.ask("return [...document.querySelectorAll('details')].map(d => d.open)") == [True, False]
        assert tab.ask("return document.querySelector('details p').textContent") == "1."

    def test_a_frame_plays_on_and_a_popover_stays_open(self, tab: Tab) -> None:
        frame = '<figure><iframe src="about:blank" title="A talk"></iframe></figure>'
        note = '<div popover="manual" id="note">A note</div>'
        tab.open(lined([frame, note, *paragraphs(2)]))
        tab.ask("frames[0].playing = true; document.getElementById('note').showPopover()")
        tab.edit(lined(["<p>New.</p>", frame, note, *paragraphs(3)]))
        assert tab.ask("return frames[0].playing")
        assert tab.ask("return document.getElementById('note').matches(':popover-open')")


class TestEdits:
    def test_any_edit_gives_what_a_load_gives(self, tab: Tab) -> None:
        chance = random.Random(7)
        blocks = [_block(chance) for _ in range(30)]
        tab.open(lined(blocks))
        for _ in range(60):
            blocks = _edited(blocks, chance)
            tab.edit(lined(blocks))
            assert tab.ask(IS_AS_LOADED, document(lined(blocks)))
        assert tab.is_same

    def test_head_follows(self, tab: Tab) -> None:
        tab.open(
            "<p>Text</p>", '<meta name="description" content="Old">\n<link rel="canonical" href="/old/">'
        )
        metas = '<meta name="description" content="New">\n<meta name="author" content="Ada">'
        head = f'{metas}\n<link rel="next" href="/b/">'
        tab.site.edit(PATH, document("<p>Text</p>", head).replace("<title>A post", "<title>New title"))
        tab.wait("return document.title === 'New title'")
        assert tab.ask("return document.querySelector('[name=description]').content") == "New"
        assert tab.ask("return document.querySelector('[name=author]').content") == "Ada"
        assert tab.ask("return [...document.querySelectorAll('link[href]')].map(l => l.rel)") == [
            "icon",
            "next",
        ]
        assert tab.ask(
            "return document.querySelector('script[data-blogsmith]').dataset.version"
        ) == tab.site.version(PATH)
        assert tab.is_same

    def test_saves_while_the_page_is_loaded(self, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
        """One save arrives after the HTML of the first load, one after that of the reload that it causes."""
        send, sent = tab.site.body, [0]

        def send_and_save(path: str) -> bytes:
            body = send(path)
            if path == PATH:
                sent[0] += 1
                if sent[0] in (1, 3):
                    tab.site.page(PATH, document(f"<p>Edit {sent[0]}</p>"))
            return body

        monkeypatch.setattr(tab.site, "body", send_and_save)
        tab.open("<p>Text</p>")
        tab.wait("return document.querySelector('main').textContent.includes('Edit 3')")
        tab.edit("<p>Another edit</p>")
        tab.wait("return document.querySelector('main').textContent.includes('Another edit')")

    def test_a_page_that_is_never_the_same_twice(self, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
        send, sent = tab.site.body, [0]

        def send_another(path: str) -> bytes:
            if path == PATH:
                sent[0] += 1
                tab.site.page(PATH, document(f"<p>Edit {sent[0]}</p>"))
            return send(path)

        monkeypatch.setattr(tab.site, "body", send_another)
        tab.open("<p>Text</p>")
        tab.wait("return performance.getEntriesByName('blogsmith:ready').length")
        loads = sent[0]
        assert tab.ask("return new Promise(done => setTimeout(() => done(true), 300))")
        assert loads <= sent[0] <= 20, "it is not loaded for ever"

    def test_the_last_of_many_is_shown(self, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
        tab.open("<p>Text 0</p>")
        send, may_answer = tab.site.body, Event()

        def held(path: str) -> bytes:
            body = send(path)
            assert may_answer.wait(PATIENCE_S)
            return body

        monkeypatch.setattr(tab.site, "body", held)
        for number in range(1, 60):
            tab.site.edit(PATH, document(f"<p>Text {number}</p>"))
        tab.reader.wait_for(lambda: tab.site.asked.count(PATH) == ASKED_TO_OPEN + 1)
        may_answer.set()
        tab.wait("return document.querySelector('p').textContent === 'Text 59'")
        # The client may receive events of some edits only while the second response is on its way.
        asked = tab.site.asked.count(PATH) - ASKED_TO_OPEN
        assert asked < 10, "pages are asked for again while one is on its way"

    def test_other_pages_change_nothing(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        asked = len(tab.site.asked)
        tab.site.page("/posts/b/", document("<p>B</p>"))
        tab.site.edit("/posts/b/", document("<p>New</p>"))
        tab.edit("<p>Edited</p>")
        assert tab.site.asked[asked:] == [PATH]

    def test_an_edit_while_the_page_loads(self, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
        send = tab.site.body

        def edited_behind(path: str) -> bytes:
            body = send(path)
            if path == PATH:
                tab.site.page(PATH, document("<p>Edited</p>"))
            return body

        monkeypatch.setattr(tab.site, "body", edited_behind)
        tab.open("<p>Text</p>")
        tab.wait("return document.querySelector('p').textContent === 'Edited'")
        tab.wait_until_ready()
        tab.edit("<p>Edited again</p>")

    def test_what_was_missed_is_shown_although_the_first_answer_was_no_page(
        self, tab: Tab, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server without room for another connection responds like this."""
        send, sent = tab.site.body, [0]
        asked = tab.site.asked

        def refused_once(path: str) -> bytes:
            body = send(path)
            sent[0] += path == PATH
            if path == PATH and sent[0] == 1:
                tab.site.put(PATH, "Too many connections.", "text/plain")
            elif path == PATH and sent[0] == 2:
                assert soon(lambda: any("version" in one for one in asked), PATIENCE_S)
                # By then the page knows that it is out of date.
                Event().wait(0.5)
                tab.site.page(PATH, document("<p>Edited</p>"))
            return body

        monkeypatch.setattr(tab.site, "body", refused_once)
        tab.site.page(PATH, document("<p>Text</p>"))
        tab.reader.open(tab.server.origin + PATH)
        tab.wait("return document.querySelector('p').textContent === 'Edited'")
        tab.wait_until_ready()

    def test_a_page_that_is_gone_stays_and_says_so(self, tab: Tab) -> None:
        tab.open("<p>Text</p>")
        gone = tab.site.files.pop(PATH)
        tab.site.send(kind="pages", pages={PATH: {"version": "", "line": None}})
        assert "no longer exists" in tab.wait_own("return shadow.querySelector('.gone')?.textContent")
        assert tab.ask("return document.querySelector('p').textContent") == "Text"
        tab.reader.problems()  # The browser logs the 404.
        tab.site.files[PATH] = gone
        tab.edit("<p>Back</p>")
        assert not tab.own("return shadow.querySelector('.gone')")


def _block(chance: random.Random) -> str:
    word, number = chance.choice(["vector", "matrix", "field"]), chance.randrange(1000)
    return chance.choice(
        [
            f"<p>A {word} of <em>rank {number}</em> &amp; more.</p>",
            f"<p>The {word} <code>{number}</code>, <math alttext='x'><mi>x</mi><mn>{number}</mn></math>.</p>",
            f'<h2 id="{word}-{number}">On the {word}</h2>',
            f"<ul>\n<li>{word}</li>\n<li>Number {number}<ul><li>inside</li></ul></li>\n</ul>",
            f"<table><thead><tr><th>{word}</th></tr></thead><tbody><tr><td>{number}</td></tr></tbody></table>",
            CODE.format(number),
            DISPLAY.format(number),
            f"<details><summary>{word}</summary>\n<p>{number}</p>\n</details>",
            "<hr>",
        ]
    )


def _edited(blocks: list[str], chance: random.Random) -> list[str]:
    """Return the blocks after a few changes of any kind."""
    now = list(blocks)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(now))
        kind = chance.choice(["insert", "delete", "change", "change", "move", "twice"])
        if kind == "insert":
            now.insert(at, _block(chance))
        elif kind == "delete" and len(now) > 5:
            del now[at]
        elif kind == "change":
            now[at] = now[at].replace("a", "o", 1) if chance.random() < 0.5 else _block(chance)
        elif kind == "move":
            now.insert(chance.randrange(len(now)), now.pop(at))
        elif kind == "twice":
            now.insert(at, now[at])
    return now


class TestFiles:
    def test_style_changes_without_a_moment_of_none(self, tab: Tab) -> None:
        tab.site.put("/theme.css", "p { color: rgb(1, 2, 3) }")
        tab.open("<p>Text</p>", '<link rel="stylesheet" href="/theme.css?v=1">')
        tab.ask(
            "window.inks = new Set(); const look = () => { setTimeout(look);"
            "inks.add(getComputedStyle(document.querySelector('p')).color) }; look()"
        )
        tab.site.put("/theme.css", "p { color: rgb(4, 5, 6) }")
        tab.site.send(kind="css", files={"/theme.css": "2"})
        tab.wait("return inks.has('rgb(4, 5, 6)')")
        tab.wait("return document.querySelectorAll('link[rel=stylesheet]').length === 1")
        assert tab.ask("return [...inks]") == ["rgb(1, 2, 3)", "rgb(4, 5, 6)"]
        # The page with the new version causes no further change.
        tab.edit("<p>Text, too</p>", '<link rel="stylesheet" href="/theme.css?v=2">')
        assert tab.site.asked.count("/theme.css") == 2
        assert tab.is_same

    def test_a_version_that_cannot_be_loaded_is_passed_over(self, tab: Tab) -> None:
        links = "document.querySelectorAll('link[rel=stylesheet]')"
        styled = "return performance.getEntriesByName('blogsmith:styled').length"
        tab.site.put("/theme.css", "p { color: rgb(1, 2, 3) }")
        tab.open("<p>Text</p>", '<link rel="stylesheet" href="/theme.css?v=1">')
        tab.site.files.pop("/theme.css")
        tab.site.send(kind="css", files={"/theme.css": "2"})
        tab.wait(f"{styled} === 1")
        assert tab.ask("return getComputedStyle(document.querySelector('p')).color") == "rgb(1, 2, 3)"
        tab.site.put("/theme.css", "p { top: 1px }")
        tab.site.send(kind="css", files={"/theme.css": "3"})
        tab.wait(f"{styled} === 2")
        assert tab.ask(f"return [...{links}].map(l => l.getAttribute('href'))") == ["/theme.css?v=3"]
        assert tab.ask("return getComputedStyle(document.querySelector('p')).color") == "rgb(0, 0, 0)"
        assert "404" in "".join(tab.reader.problems())

    def test_a_page_that_names_a_new_version(self, tab: Tab) -> None:
        sheets = '<link rel="stylesheet" href="/theme.css?v={}">\n<link rel="stylesheet" href="/late.css">'
        tab.site.put("/theme.css", "p { color: rgb(1, 2, 3); top: 1px }")
        tab.site.put("/late.css", "p { top: 2px }")
        tab.open("<p>Text</p>", sheets.format(1))
        tab.site.put("/theme.css", "p { color: rgb(4, 5, 6); top: 1px }")
        tab.edit("<p>Text</p>", sheets.format(2))
        tab.wait("return getComputedStyle(document.querySelector('p')).color === 'rgb(4, 5, 6)'")
        assert tab.ask("return getComputedStyle(document.querySelector('p')).top") == "2px", "the order stays"
        assert tab.is_same

    def test_what_is_new_is_not_seen_without_its_style(self, tab: Tab) -> None:
        tab.site.put("/callouts.css", "aside { color: rgb(4, 5, 6) }")
        tab.open("<p>Text</p>")
        tab.ask(
            "new MutationObserver(() => { const made = document.querySelector('aside');"
            "if (made) window.ink ??= getComputedStyle(made).color })"
            ".observe(document.body, {childList: true, subtree: true})"
        )
        # The page waits at most a second for a style sheet. The test makes it wait longer, to avoid a race.
        tab.ask("const later = setTimeout; window.setTimeout = (act, ms) => later(act, 60 * ms)")
        tab.edit("<p>Text</p>\n<aside>Note</aside>", '<link rel="stylesheet" href="/callouts.css">')
        assert tab.ask("return window.ink") == "rgb(4, 5, 6)"
        tab.edit("<p>Text</p>")
        assert tab.ask("return document.querySelectorAll('link[rel=stylesheet]').length") == 0
        assert tab.is_same

    def test_a_picture_is_loaded_where_it_stands(self, tab: Tab) -> None:
        tab.site.put("/posts/a/fig.svg", SQUARE.format(10))
        picture = '<p><img src="fig.svg" alt="A square" srcset="/posts/a/fig.svg 1x, large.svg 2x"></p>'
        tab.open(picture)
        tab.wait("return document.querySelector('img').naturalWidth === 10")
        tab.site.put("/posts/a/fig.svg", SQUARE.format(20))
        tab.site.send(kind="files", files=["/posts/a/fig.svg"])
        tab.wait("return document.querySelector('img').naturalWidth === 20")
        # An image inserted later with the same URL is the new one.
        tab.edit(f"{picture}\n<p>Again <img src='/posts/a/fig.svg' alt='It'></p>")
        tab.wait("return document.querySelectorAll('img')[1].naturalWidth === 20")
        assert tab.is_same

    def test_a_new_script_loads_the_page_and_keeps_the_place(self, tab: Tab) -> None:
        tab.site.put("/new.js", "window.ran = true")
        blocks = [*paragraphs(50), "<details><summary>More</summary><p>Text</p></details>"]
        tab.open(lined(blocks), FIXED)
        tab.ask("document.querySelector('details').open = true; scrollTo({top: 777, behavior: 'instant'})")
        tab.site.edit(PATH, document(lined(blocks), f'{FIXED}<script src="/new.js"></script>'))
        tab.wait("return window.ran && !window.kept")
        tab.wait_until_ready()
        assert tab.ask("return [scrollY, document.querySelector('details').open]") == [777, True]

    def test_a_script_that_changed_loads_the_page(self, tab: Tab) -> None:
        tab.site.put("/a.js", "window.ran = (window.ran ?? 0) + 1")
        tab.open("<p>Text</p>", '<script type="module" src="/a.js"></script>')
        tab.edit("<p>Other text</p>", '<script type="module" src="/a.js"></script>')
        assert tab.is_same
        tab.site.send(kind="files", files=["/unknown.json", "/b.js"])
        tab.edit("<p>Text</p>", '<script type="module" src="/a.js"></script>')
        assert tab.is_same
        tab.site.send(kind="files", files=["/a.js"])
        tab.wait("return !window.kept && window.ran === 1")
        tab.wait_until_ready()

    @pytest.mark.parametrize("way", ["by a link", "back"])
    def test_who_goes_elsewhere_is_not_held_back_by_a_load(
        self, tab: Tab, monkeypatch: pytest.MonkeyPatch, way: str
    ) -> None:
        other, link = "/posts/b/", '<p><a href="/posts/b/">B</a></p>'
        tab.site.page(other, document("<p>B</p>"))
        tab.open(link)
        send, may_answer = tab.site.body, Event()
        here, goal = (PATH, other) if way == "by a link" else (other, PATH)
        if way == "back":
            tab.reader.find("main a").click()
            tab.wait(f"return location.pathname === '{other}'")
            tab.wait_until_ready()

        def held(path: str) -> bytes:
            assert path != goal or may_answer.wait(PATIENCE_S)
            return send(path)

        monkeypatch.setattr(tab.site, "body", held)
        go = "document.querySelector('main a').click()" if here == PATH else "history.back()"
        begun, asked = tab.site.asked.count(goal), tab.site.asked.count(here)
        tab.ask(f"setTimeout(() => {go}, 300)")
        # From now on the driver would wait for the page that is being loaded.
        assert soon(lambda: tab.site.asked.count(goal) > begun, PATIENCE_S)
        # A different script always needs a reload.
        tab.site.edit(here, document(f"{link}<p>Edited</p>", "<script>window.ran = true</script>"))
        assert soon(lambda: tab.site.asked.count(here) > asked, PATIENCE_S)
        soon(lambda: tab.site.asked.count(here) > asked + 1, within_s=0.5)
        may_answer.set()
        tab.wait(f"return location.pathname === '{goal}'")
        tab.wait_until_ready()


class TestScripts:
    def test_what_theme_scripts_did_stays(self, tab: Tab) -> None:
        head = '<script src="/switch.js"></script>' + "".join(
            f'<script type="module" src="/{name}.js"></script>' for name in ("copy", "compare")
        )
        for name in ("switch", "copy", "compare"):
            tab.site.put(f"/{name}.js", (THEME / f"{name}.js").read_text("utf-8"))
        tab.site.put("/a.svg", SQUARE.format(9))
        button = '<button type="button" class="theme-switch" aria-label="Switch"></button>'
        blocks = [button, *paragraphs(2), CODE.format(1), DISPLAY.format("y"), COMPARE]
        tab.open(lined(blocks), head)
        tab.ask(
            "document.querySelector('.theme-switch').click();"
            "const s = document.querySelector('.compare-slider'); s.value = 80;"
            "s.dispatchEvent(new Event('input'))"
        )
        look = (
            "const one = (name) => document.querySelectorAll(name).length;"
            "const f = document.querySelector('figure.image-compare');"
            "return [one('.copy-button'), one('.copy-tex'), one('.copy-status'), f.className,"
            "f.style.cssText, f.querySelector('input').value, document.documentElement.dataset.theme]"
        )
        before = tab.ask(look)
        assert before[:3] == [1, 1, 1]
        assert before[4:6] == ["--split: 80%;", "80"]
        tab.edit(
            lined([button, "<p>New</p>", *paragraphs(1), CODE.format(1), DISPLAY.format("y"), COMPARE]), head
        )
        assert tab.ask(look) == before
        # If a script added to a block, the server's part is updated and the script's part stays.
        tab.edit(lined([button, CODE.format(2), DISPLAY.format("z"), COMPARE.replace("Before", "Old")]), head)
        assert tab.ask(look) == before
        assert tab.ask("return document.querySelector('math').getAttribute('alttext')") == "z"
        assert tab.ask("return document.querySelector('code').textContent") == "x = 2\n"
        assert tab.ask("return document.querySelector('img').alt") == "Old"
        assert tab.is_same

    def test_scripts_are_told_of_what_is_new(self, tab: Tab) -> None:
        tab.site.put(
            "/mark.js",
            "const mark = () => document.querySelectorAll('.code').forEach(c => c.dataset.marked = 1);"
            "mark(); document.addEventListener('blogsmith:update', mark)",
        )
        head = '<script type="module" src="/mark.js"></script>'
        tab.open(lined([CODE.format(1)]), head)
        tab.edit(lined([CODE.format(1), CODE.format(2), "<p>Text</p>"]), head)
        assert tab.ask("return document.querySelectorAll('.code[data-marked]').length") == 2
        assert tab.is_same

    def test_for_scripts_that_do_not_listen_the_page_is_loaded(self, tab: Tab) -> None:
        tab.site.put("/mark.js", "document.querySelectorAll('.code').forEach(c => c.append('marked'))")
        head = '<script type="module" src="/mark.js"></script>'
        tab.open(lined([CODE.format(1)]), head)
        tab.edit(lined([CODE.format(1), "<p>Text needs no script.</p>"]), head)
        assert tab.is_same
        tab.site.edit(PATH, document(lined([CODE.format(1), CODE.format(2)]), head))
        tab.wait("return !window.kept && document.body.textContent.split('marked').length === 3")
        tab.wait_until_ready()

    def test_a_block_that_a_script_took_apart_is_made_anew(self, tab: Tab) -> None:
        tab.site.put(
            "/run.js",
            "const start = () => document.querySelectorAll('.runnable:not(.active)').forEach(box => {"
            "const bar = document.createElement('div'); bar.append(box.querySelector('button'));"
            "box.append(bar);"
            "box.classList.add('active'); box.dataset.code = box.querySelector('code').textContent });"
            "start(); document.addEventListener('blogsmith:update', start)",
        )
        head = '<script type="module" src="/run.js"></script>'
        block = '<div class="runnable"><pre><code>{}</code></pre><button type="button">Run</button></div>'
        tab.open(lined([block.format("one"), *paragraphs(1)]), head)
        tab.ask("window.box = document.querySelector('.runnable')")
        tab.edit(lined(["<p>New</p>", block.format("one")]), head)
        assert tab.ask("return box.isConnected && box.querySelector('div > button') !== null")
        tab.edit(lined(["<p>New</p>", block.format("two")]), head)
        assert tab.ask("return [box.isConnected, document.querySelector('.runnable').dataset.code]") == [
            False,
            "two",
        ]
        assert tab.is_same


class TestScrolling:
    @pytest.mark.parametrize(("line", "moves"), [(160, True), (161, True), (4, False)])
    def test_an_edit_out_of_sight_is_shown(self, tab: Tab, line: int, moves: bool) -> None:
        blocks = paragraphs(100)
        tab.open(lined(blocks), FIXED)
        number = line // 2 - 1
        edited = [*blocks[:number], "<p>Edited.</p>", *blocks[number + 1 :]]
        tab.edit(lined(edited), FIXED, line)
        assert (tab.ask("return scrollY") > 0) == moves
        assert 0 <= tab.top(f"p:nth-of-type({number + 1})") < 800

    def test_without_a_line_nothing_moves(self, tab: Tab) -> None:
        blocks = paragraphs(100)
        tab.open(lined(blocks), FIXED)
        tab.edit(lined([*blocks, "<p>New.</p>"]), FIXED)
        assert tab.ask("return scrollY") == 0

    def test_who_types_in_the_page_is_left_alone(self, tab: Tab) -> None:
        blocks = ['<p><input id="name"></p>', *paragraphs(100)]
        tab.open(lined(blocks), FIXED)
        tab.ask("document.getElementById('name').focus()")
        tab.edit(lined([*blocks, "<p>New.</p>"]), FIXED, 204)
        assert tab.ask("return scrollY") == 0
