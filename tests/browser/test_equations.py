"""What a reader does with displays and references: links, cards, TeX to copy; also without scripts."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.site_files import SiteText, build, printed, write_site_files

from . import tools
from .conftest import ROOT, Served
from .reader import DARK, DESKTOP, PAPER, PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served
from .test_pages import faults

FIRST = r"""---
title: Two means
date: 2026-01-01
references:
  gauss: {authors: [C. F. Gauss], title: Disquisitiones, year: 1801, url: "https://example.org/"}
---

## Setting {#sec-setting}

Both are as in [@gauss], for $a > 0$ and $b > 0$. By \eqref{eq:mean} all is well.

$$\frac{a + b}{2} \ge \sqrt{ab}$$ {#eq:mean}

More is said in {@thm-main}, {@sec-setting}, \eqref{eq:two} and \eqref{eq:long}.

\begin{align}
(a + b)^2 &= a^2 + 2ab + b^2 \label{eq:one} \\
(a - b)^2 &= a^2 - 2ab + b^2 \notag \\
0 &\le \frac{(a - b)^2}{4} = \frac{(a + b)^2}{4} - ab
     = \Bigl(\frac{a + b}{2}\Bigr)^2 - \bigl(\sqrt{ab}\bigr)^2 \label{eq:two}
\end{align}

\begin{gather*}
f = 1 \\
g = 2
\end{gather*}

> [!THEOREM]- Means {#thm-main}
> The other one is
> $$\Bigl(\prod_{i=1}^n x_i\Bigr)^{1/n}$$
> and no greater.

$$
a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12} + a_{13} + a_{14} + a_{15}
$$ {#eq:long}

> [!REMARK]
> So
> $$c = \sqrt{ab}$$

- One:
  $$d = 1$$

| Sign | Display |
|------|---------|
| e    | $$e = 2$$ |
"""
SECOND = r"""---
title: Another post
date: 2026-01-02
---

The mean {@first#eq:mean}, its theorem {@first#thm-main} and a row {@first#eq:two} again.
"""
PLAIN = "---\ntitle: Plain\ndate: 2026-01-03\n---\n\nThe root $x$ of no weight.\n"
PAGES = {"first": FIRST, "second": SECOND, "plain": PLAIN}

GO = "document.querySelector(arguments[0]).focus()"
MIDDLE = """
const element = document.querySelector(arguments[0]);
element.scrollIntoView({block: "center", behavior: "instant"});
const {x, y, width, height} = element.getBoundingClientRect();
return {x: x + width / 2, y: y + height / 2};
"""
BOX = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
CARD = """
const card = document.querySelector(".preview:popover-open");
return card && {text: card.innerText, html: card.innerHTML, left: card.getBoundingClientRect().left,
  right: card.getBoundingClientRect().right, bottom: card.getBoundingClientRect().bottom};
"""
PLACES = """
return [...document.querySelectorAll(".math-display")].map(display => {
  const {x, y, width, height} = display.getBoundingClientRect();
  return [x, y + scrollY, width, height].map(Math.round);
});
"""
# painted pixels of the formula, not the whole line that `<math display="block">` takes
COVERED = """
const over = (one, other) => one.left < other.right && other.left < one.right
  && one.top < other.bottom && other.top < one.bottom;
return [...document.querySelectorAll(".copy-tex")].filter(button => [...button.parentElement
  .querySelectorAll("mi, mo, mn, .eq-number")].some(sign => over(
    button.getBoundingClientRect(), sign.getBoundingClientRect()))).length;
"""
SELECT = """
const [from, to] = [...arguments].map(selector => document.querySelector(selector));
const range = document.createRange();
range.setStart(from, 0);
range.setEnd(to, to.childNodes.length);
getSelection().removeAllRanges();
getSelection().addRange(range);
"""


def site(folder: Path, config: str = "") -> Path:
    """Build the posts of this file in `folder`; the output."""
    files = {f"content/posts/{name}.md": text.encode() for name, text in PAGES.items()}
    files["blogsmith.yaml"] = f"title: Cards\n{config}".encode()
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    return folder / "public"


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A site whose posts refer to each other."""
    output = site(tmp_path_factory.mktemp("cards"))
    with served(output) as origin:
        yield Served(output, origin)


@pytest.fixture
def first(cards: Served, reader: Reader) -> Reader:
    """A reader of the first post."""
    reader.open(cards.url("/posts/first/"))
    return reader


def point_at(reader: Reader, selector: str) -> None:
    """Move the pointer to the middle of an element."""
    move_to(reader, **reader.ask(MIDDLE, selector))


def move_to(reader: Reader, x: float, y: float) -> None:
    """Move the pointer as a hand does, in more than one step."""
    for step in (1, 0):
        reader.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)


def card(reader: Reader) -> dict[str, str]:
    """The card, once it is open."""
    found: dict[str, str] = reader.wait_for(lambda: reader.ask(CARD))
    return found


def gone(reader: Reader) -> bool:
    """Whether the card closes."""
    return bool(reader.wait_for(lambda: reader.ask(CARD) is None))


def clipboard(reader: Reader) -> str:
    """What a reader would paste, once there is something."""
    return str(reader.wait_for(lambda: reader.ask("return navigator.clipboard.readText()")))


def may_use_clipboard(reader: Reader) -> None:
    """Let the page write to an empty clipboard, and this test read it."""
    reader.tell("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    reader.ask("return navigator.clipboard.writeText('')")


class TestLinks:
    @pytest.mark.parametrize("link", ["a.eq-number", "a.xref"])
    def test_lead_to_the_equation_without_scripts(self, cards: Served, reader: Reader, link: str) -> None:
        reader.open(cards.url("/posts/first/"), WITHOUT_SCRIPTS)
        reader.find(f'{link}[href="#eq-mean"]').click()
        assert reader.ask("return location.hash") == "#eq-mean"
        assert reader.ask("return document.querySelector(':target').className") == "math-display"

    def test_lead_to_other_posts_without_scripts(self, cards: Served, reader: Reader) -> None:
        reader.open(cards.url("/posts/second/"), WITHOUT_SCRIPTS)
        reader.find('a.xref[href$="#eq-two"]').click()
        reader.wait_for(lambda: reader.ask("return location.pathname") == "/posts/first/")
        assert reader.ask("return document.querySelector(':target').localName") == "mtr"

    @pytest.mark.parametrize("look", [WITHOUT_SCRIPTS, PHONE], ids=["without scripts", "phone"])
    @pytest.mark.parametrize("row", ["eq-one", "eq-two"])
    def test_the_number_of_a_row_is_one(self, cards: Served, reader: Reader, look: Look, row: str) -> None:
        reader.open(cards.url("/posts/first/"), look)
        place = reader.ask(MIDDLE, f"#{row} .eq-number")
        for kind in ("mousePressed", "mouseReleased"):
            reader.tell("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        assert reader.ask("return location.hash") == f"#{row}"


class TestCopying:
    @pytest.mark.parametrize("by", ["pointer", "keyboard"])
    def test_the_button_gives_the_author_s_tex(self, first: Reader, by: str) -> None:
        may_use_clipboard(first)
        if by == "pointer":
            point_at(first, "#eq-mean")
            first.find("#eq-mean > .copy-tex").click()
        else:
            first.ask(GO, "#eq-mean > .copy-tex")
            first.press(Keys.ENTER)
        assert clipboard(first) == r"\frac{a + b}{2} \ge \sqrt{ab}"
        first.wait_for(lambda: first.find("[role=status]").text == "copied")
        first.wait_for(lambda: first.find("[role=status]").text == "")
        assert first.find("#eq-mean > .copy-tex").accessible_name == "copy LaTeX"

    def test_an_environment_is_copied_with_its_name(self, first: Reader) -> None:
        may_use_clipboard(first)
        first.ask("document.querySelector('.math-display:has(mtr) > .copy-tex').click()")
        copied = clipboard(first)
        assert copied.startswith(r"\begin{align}") and copied.endswith(r"\end{align}")

    @pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
    def test_the_button_neither_moves_nor_covers(self, cards: Served, reader: Reader, look: Look) -> None:
        places = []
        for scripts in (True, False):
            reader.open(cards.url("/posts/first/"), Look(look.width_px, scripts=scripts))
            reader.ask("document.querySelectorAll('details').forEach(details => { details.open = true })")
            places.append(reader.ask(PLACES))
            buttons = reader.ask("return document.querySelectorAll('.copy-tex').length")
            assert buttons == (len(places[0]) if scripts else 0)
            assert reader.ask(COVERED) == 0
        assert places[0] == places[1]

    @pytest.mark.parametrize(
        ("start", "end", "lines"),
        [
            (
                "p math mo",
                "#eq-mean msqrt mi",
                ["$a > 0$ and $b > 0$. By (1) all is well.", r"$$\frac{a + b}{2} \ge \sqrt{ab}$$"],
            ),
            ("#eq-mean mfrac", "#eq-mean msqrt", [r"$$\frac{a + b}{2} \ge \sqrt{ab}$$"]),
            (
                ".math-display:has(+ .callout) mo",
                "[data-kind=theorem] summary",
                [r"\begin{gather*}", r"f = 1 \\", "g = 2", r"\end{gather*}", "Theorem 1 (Means)"],
            ),
        ],
        ids=["parts of two", "part of one", "an environment"],
    )
    def test_a_selection_holds_tex(self, first: Reader, start: str, end: str, lines: list[str]) -> None:
        may_use_clipboard(first)
        first.ask(SELECT, start, end)
        first.tell(
            "Input.dispatchKeyEvent", type="rawKeyDown", key="c", code="KeyC", modifiers=2, commands=["copy"]
        )
        assert [line for line in clipboard(first).splitlines() if line] == lines

    def test_a_selection_without_formulas_is_the_browser_s(self, first: Reader) -> None:
        first.ask(SELECT, "h1", "h1")
        script = """
        const event = new ClipboardEvent("copy", {bubbles: true, cancelable: true});
        return document.dispatchEvent(event);
        """
        assert first.ask(script) is True

    def test_a_refusal_marks_the_formula(self, first: Reader) -> None:
        first.ask("navigator.clipboard.writeText = () => Promise.reject()")
        first.ask(GO, "#eq-mean > .copy-tex")
        first.press(Keys.ENTER)
        first.wait_for(lambda: first.find("[role=status]").text == "marked")
        assert first.ask("return getSelection().anchorNode.localName") == "math"


class TestCard:
    def test_opens_under_the_pointer_and_stays_there(self, first: Reader) -> None:
        point_at(first, 'a.xref[href="#eq-mean"]')
        assert card(first)["text"].strip().endswith("(1)")
        move_to(first, **first.ask(MIDDLE, ".preview"))
        first.ask("return new Promise(done => setTimeout(done, 400))")
        assert card(first)
        move_to(first, 2, 2)
        assert gone(first)

    def test_opens_with_the_focus_and_closes_with_escape(self, first: Reader) -> None:
        first.ask(GO, 'a[role="doc-biblioref"]')
        assert "Disquisitiones" in card(first)["text"]
        first.press(Keys.TAB)
        assert card(first)["text"].strip().endswith("(1)")
        assert first.find('a.xref[href="#eq-mean"]').get_attribute("aria-describedby") == "preview:card"
        first.press(Keys.ESCAPE)
        assert gone(first)
        assert first.find('a.xref[href="#eq-mean"]').get_attribute("aria-describedby") is None

    def test_closes_when_the_link_is_followed(self, first: Reader) -> None:
        first.ask(GO, 'a.xref[href="#eq-long"]')
        assert card(first)
        first.press(Keys.ENTER)
        assert gone(first)
        assert first.ask("return location.hash") == "#eq-long"

    @pytest.mark.parametrize(
        ("link", "text"),
        [("#eq-two", "(3)"), ("#thm-main", "and no greater"), ("#sec-setting", "Both are as in")],
    )
    def test_shows_what_the_link_leads_to(self, first: Reader, link: str, text: str) -> None:
        point_at(first, f'a.xref[href="{link}"]')
        shown = card(first)
        assert text in shown["text"]
        assert " id=" not in shown["html"] and " href=" not in shown["html"]
        assert first.ask("return document.querySelectorAll('.preview .copy-tex').length") == 0
        assert first.ask("return document.querySelectorAll('.preview .referenced').length") == (text == "(3)")

    def test_of_another_post_asks_for_it_once(self, cards: Served, reader: Reader) -> None:
        reader.open(cards.url("/posts/second/"))
        asked = []
        for name, text in {"eq-mean": "(1)", "thm-main": "and no greater", "eq-two": "(3)"}.items():
            point_at(reader, f'a.xref[href$="#{name}"]')
            assert text in card(reader)["text"]
            move_to(reader, 2, 2)
            assert gone(reader)
            asked += [url for url in reader.requests() if url == cards.url("/posts/first/")]
        assert len(asked) == 1

    def test_without_the_other_post_is_a_link(self, cards: Served, reader: Reader) -> None:
        reader.open(cards.url("/posts/second/"))
        reader.ask("window.fetch = () => { window.asked = true; return Promise.reject(new TypeError()); }")
        point_at(reader, "a.xref")
        reader.wait_for(lambda: reader.ask("return window.asked"))
        assert reader.ask(CARD) is None
        assert reader.problems() == []

    @pytest.mark.parametrize("look", [DESKTOP, DARK, PHONE], ids=["light", "dark", "phone"])
    def test_has_no_fault(self, cards: Served, reader: Reader, look: Look) -> None:
        axe = tools.file(tools.AXE).read_text("utf-8")
        reader.open(cards.url("/posts/first/"), look)
        for name in ("eq-mean", "eq-two", "eq-long", "thm-main"):
            reader.ask(GO, f'a.xref[href="#{name}"]')
            shown = card(reader)
            assert 0 <= float(shown["left"]) < float(shown["right"]) <= look.width_px
            assert faults(reader, axe) == []

    def test_a_wide_one_can_be_scrolled_by_keyboard(self, cards: Served, reader: Reader) -> None:
        reader.open(cards.url("/posts/first/"), PHONE)
        reader.ask(GO, 'a.xref[href="#eq-long"]')
        assert card(reader)
        reader.press(Keys.TAB)
        assert reader.ask("return document.activeElement.className") == "preview post-content"
        assert card(reader)
        reader.press(Keys.ESCAPE)
        assert gone(reader)
        assert reader.ask("return document.activeElement.hash") == "#eq-long"


def test_nothing_of_it_is_printed(cards: Served, reader: Reader) -> None:
    reader.open(cards.url("/posts/first/"), PAPER)
    reader.ask(GO, "a.xref")
    assert reader.ask("return document.querySelector('.copy-tex').checkVisibility()") is False
    assert reader.wait_for(lambda: reader.ask("return document.querySelector('.previewed') !== null"))
    assert reader.ask("return document.querySelector('.preview').checkVisibility()") is False


def test_each_page_has_the_scripts_it_uses(cards: Served, tmp_path: Path) -> None:
    def scripts(text: str) -> list[str]:
        return [name for name in ("copy.js", "preview.js") if name in text]

    found = {name: scripts(cards.text(f"/posts/{name}/")) for name in PAGES}
    assert found == {"first": ["copy.js", "preview.js"], "second": ["preview.js"], "plain": []}
    output = site(tmp_path, "theme_options: {copy: false, preview: false}\n")
    assert scripts((output / "posts" / "first" / "index.html").read_text("utf-8")) == []


@pytest.mark.parametrize("name", ["copy.js", "preview.js"])
def test_scripts_are_small(name: str) -> None:
    text = (ROOT / "themes" / "paper" / "static" / name).read_bytes()
    assert len(gzip.compress(text, 9, mtime=0)) <= 1536
