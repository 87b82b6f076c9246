"""Code annotations, tabs, changed lines and sweeps: by mouse and keyboard, without scripts, and printed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from blogsmith.config.load import CONFIG_NAME
from tests.run_sites import STALE
from tests.site_files import build, printed, put

from . import tools
from .accessibility import faults, faults_in_looks
from .conftest import Served
from .firefox import Firefox
from .reader import DESKTOP, PAPER, PHONE, WITHOUT_SCRIPTS, Reader
from .server import served

POST = """\
---
title: Teaching
date: 2026-01-01
---

```python {-2,+3}
x = 1  # (1)
y = 2
y = 3  # (2)
```

1. The **first** note.
2. The second note.

<div class="tabs">
<div data-label="Python">in Python</div>
<div data-label="R">in R</div>
</div>

Between.

=== "C"

    in C

=== "R"

    again in R

```python {#lst-x} cap="A listing"
x = 1
```

{@lst-x}

```python
#| layout: side
#| sweep: {n: [1, 2, 3], word: [a, b]}
#| sweep-default: [2, a]
print(word * n)
```
"""
PLAIN = """\
---
title: Plain
date: 2026-01-02
---

Text.

=== "A"

    a

=== "B"

    b
"""
SCHOLARLY = """\
---
title: Scholarly
date: 2026-01-03
citable: true
bibliography: refs.bib
csl: nature
---

Cited [@one; @two; @three].

> [!LEMMA] Of $x$ {#lem-a}
> It holds.

> [!THEOREM] {#thm-b}
> By {@lem-a}.
"""
WORKS = """\
@article{one, author = {One, Ann}, title = {First}, journal = {Journal}, year = 2001}
@article{two, author = {Two, Bo}, title = {Second}, journal = {Journal}, year = 2002}
@book{three, author = {Three, Cy}, title = {Third}, publisher = {Press}, year = 2003}
"""
CITED = "return document.querySelector('cite.citation').innerText"
CITE_POST = """
const box = document.querySelector('.cite-post'), inside = box.querySelector('figure.code');
const before = inside.checkVisibility();
box.querySelector('summary').click();
return [before, inside.checkVisibility()];
"""
FOCUS = "document.querySelector(arguments[0]).focus()"
SEEN = """
const seen = [...document.querySelectorAll(arguments[0])].filter(element => element.checkVisibility());
return seen.map(element => element.innerText?.trim());
"""
CARD = """
const card = document.querySelector('.preview');
return card?.checkVisibility() && card.innerText.trim();
"""
BESIDE = """
const found = ['.cell-side > .code', '.cell-side > .sweep'].map(name => document.querySelector(name));
return found.map(element => element.getBoundingClientRect().toJSON());
"""
TABS = ".tab-body"
RUNS = ".sweep-run .output"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = put(
        tmp_path_factory.mktemp("teaching"),
        {
            CONFIG_NAME: "title: T\nbase_url: https://example.org\ntheorems: {used_in: true, map: true}\n",
            "refs.bib": WORKS,
            "content/publications.md": "---\ntitle: P\npublications: refs.bib\n---\n",
            "content/posts/c.md": SCHOLARLY,
            "content/posts/a.md": POST,
            "content/posts/b.md": PLAIN,
        },
    )
    report = build(root, output=root / "public", execution=STALE)
    assert report.ok, printed(report)
    with served(root / "public") as origin:
        yield Served(root / "public", origin)


@pytest.fixture
def page(site: Served, reader: Reader) -> Reader:
    reader.open(site.url("/posts/a/"))
    return reader


def test_nothing_stands_in_the_way(site: Served, reader: Reader) -> None:
    axe = tools.file(tools.AXE).read_text("utf-8")
    reader.open(site.url("/posts/a/"))
    assert faults_in_looks(reader, axe) == []
    reader.take_on(PAPER)
    assert faults(reader, axe) == []
    reader.open(site.url("/posts/a/"), WITHOUT_SCRIPTS)
    assert reader.problems() == []


def test_scripts_are_those_of_what_stands_there(site: Served) -> None:
    text = site.text("/posts/a/")
    assert all(name in text for name in ("tabs.js", "sweep.js", "/posts-"))
    # A single tab group needs no script, because no other group follows its choice.
    assert '<script type="module"' not in site.text("/posts/b/")


class TestTabs:
    def test_one_part_is_seen(self, page: Reader) -> None:
        assert page.ask(SEEN, TABS) == ["in Python", "in C"]

    def test_others_follow(self, page: Reader) -> None:
        page.find("label[for=tabs-1-2]").click()
        assert page.ask(SEEN, TABS) == ["in R", "again in R"]
        page.find("label[for=tabs-2-1]").click()
        assert page.ask(SEEN, TABS) == ["in R", "in C"]

    def test_by_keyboard(self, page: Reader) -> None:
        page.ask(FOCUS, "#tabs-1-1")
        page.press(Keys.ARROW_RIGHT)
        assert page.ask(SEEN, TABS) == ["in R", "again in R"]
        page.press(Keys.ARROW_LEFT)
        assert page.ask(SEEN, TABS) == ["in Python", "again in R"]
        assert page.find("#tabs-1-1").accessible_name == "Python"

    def test_a_link_into_a_part_shows_it(self, page: Reader) -> None:
        page.ask("document.querySelectorAll('.tab-body')[1].id = 'inside'; location.hash = '#inside'")
        page.wait_for(lambda: page.ask(SEEN, TABS) == ["in Python", "in R", "in C"])

    def test_the_place_stays(self, page: Reader) -> None:
        top = "return document.querySelector('label[for=tabs-2-2]').getBoundingClientRect().top"
        page.find("label[for=tabs-2-2]").click()
        before = page.ask(top)
        page.find("label[for=tabs-2-1]").click()
        assert abs(page.ask(top) - before) < 2

    def test_without_scripts_each_block_is_its_own(self, site: Served, reader: Reader) -> None:
        reader.open(site.url("/posts/a/"), WITHOUT_SCRIPTS)
        reader.find("label[for=tabs-1-2]").click()
        assert reader.ask(SEEN, TABS) == ["in R", "in C"]

    def test_on_paper_all_parts_are_there(self, site: Served, reader: Reader) -> None:
        reader.open(site.url("/posts/a/"), PAPER)
        assert reader.ask(SEEN, TABS) == ["in Python", "in R", "in C", "again in R"]
        assert reader.ask(SEEN, ".tab > label") == ["Python", "R", "C", "R"]

    def test_in_firefox(self, site: Served, fox: Firefox) -> None:
        fox.open(site.url("/posts/a/"))
        assert fox.ask(SEEN, TABS) == ["in Python", "in C"]
        fox.ask("document.querySelector('label[for=tabs-1-2]').click()")
        assert fox.ask(SEEN, TABS) == ["in R", "again in R"]


class TestCode:
    def test_what_is_copied(self, page: Reader) -> None:
        page.empty_clipboard()
        page.find("figure.code").click()
        page.find("figure.code .copy-button").click()
        assert page.wait_for(page.pasted) == "x = 1\ny = 3\n"

    def test_what_is_selected(self, page: Reader) -> None:
        page.ask("getSelection().selectAllChildren(document.querySelector('figure.code code'))")
        assert "y = 2" not in page.ask("return getSelection().toString()")

    def test_changes_are_said(self, page: Reader) -> None:
        roles = [page.find(f"figure.code {name}.line").aria_role for name in ("ins", "del")]
        assert roles == ["insertion", "deletion"]

    def test_a_mark_shows_its_note(self, page: Reader) -> None:
        page.press(Keys.TAB)
        page.ask(FOCUS, ".code-backref")
        page.ask("document.querySelector('#cnref-1-2').focus({focusVisible: true})")
        assert page.wait_for(lambda: page.ask(CARD)) == "The second note."

    def test_there_and_back(self, page: Reader) -> None:
        assert page.find("#cnref-1-1").accessible_name == "Note 1"
        page.ask(FOCUS, "#cnref-1-1")
        page.press(Keys.ENTER)
        page.wait_for(lambda: page.ask("return location.hash") == "#cn-1-1")
        page.find("#cn-1-1 .code-backref").click()
        page.wait_for(lambda: page.ask("return location.hash") == "#cnref-1-1")


class TestSweep:
    def test_the_default_is_seen(self, page: Reader) -> None:
        assert page.ask(SEEN, RUNS) == ["aa"]

    def test_by_keyboard(self, page: Reader) -> None:
        first, second = (f".sweep label:nth-of-type({n}) input" for n in (1, 2))
        page.ask(FOCUS, first)
        page.press(Keys.ARROW_RIGHT)
        assert page.ask(SEEN, RUNS) == ["aaa"]
        page.press(Keys.HOME)
        assert page.ask(SEEN, RUNS) == ["a"]
        page.ask(FOCUS, second)
        page.press(Keys.END)
        assert page.ask(SEEN, RUNS) == ["b"]
        assert page.ask(SEEN, ".sweep-controls span") == ["1", "b"]

    def test_what_is_said(self, page: Reader) -> None:
        slider = page.find(".sweep input")
        assert (slider.accessible_name, slider.aria_role) == ("n", "slider")
        page.ask(FOCUS, ".sweep input")
        page.press(Keys.END)
        assert slider.get_attribute("aria-valuetext") == "3"

    def test_without_scripts_each_run_is_a_fold(self, site: Served, reader: Reader) -> None:
        reader.open(site.url("/posts/a/"), WITHOUT_SCRIPTS)
        assert reader.ask(SEEN, ".sweep-run > summary") == [
            *("n = 1, word = a", "n = 1, word = b", "n = 2, word = a"),
            *("n = 2, word = b", "n = 3, word = a", "n = 3, word = b"),
        ]
        assert reader.ask(SEEN, RUNS) == ["aa"]
        assert reader.ask(SEEN, ".sweep-controls") == []
        reader.find(".sweep-run > summary").click()
        assert reader.ask(SEEN, RUNS) == ["a", "aa"]

    def test_on_paper_the_default_is_there(self, page: Reader) -> None:
        page.ask(FOCUS, ".sweep input")
        page.press(Keys.END)
        assert page.ask(SEEN, RUNS) == ["aaa"]
        page.take_on(PAPER)
        assert page.ask(SEEN, RUNS) == ["aa"]
        page.take_on(DESKTOP)

    def test_beside_the_code(self, page: Reader) -> None:
        code, runs = page.ask(BESIDE)
        assert runs["left"] >= code["right"] and abs(runs["top"] - code["top"]) < 12
        page.take_on(PHONE)
        code, runs = page.ask(BESIDE)
        assert runs["top"] >= code["bottom"]
        page.take_on(DESKTOP)

    def test_in_firefox(self, site: Served, fox: Firefox) -> None:
        fox.open(site.url("/posts/a/"))
        assert fox.ask(SEEN, RUNS) == ["aa"]
        move = (
            "const range = document.querySelector('.sweep input'); range.value = 2;"
            "range.dispatchEvent(new Event('input', {bubbles: true}));"
        )
        fox.ask(move)
        assert fox.ask(SEEN, RUNS) == ["aaa"]


class TestScholarly:
    @pytest.mark.parametrize("browser", ["chromium", "firefox"])
    def test_works_and_statements(self, site: Served, reader: Reader, fox: Firefox, browser: str) -> None:
        seen: Reader | Firefox = reader if browser == "chromium" else fox
        seen.open(site.url("/posts/c/"))
        assert seen.ask(CITED) == "1–3"
        assert seen.ask(CITE_POST) == [False, True]
        assert seen.ask(SEEN, ".used-in li") == []
        seen.ask("document.querySelector('.used-in summary').click()")
        assert [text.endswith("Theorem 1") for text in seen.ask(SEEN, ".used-in li")] == [True]
        seen.open(site.url("/map/"))
        assert len(seen.ask(SEEN, ".diagram rect")) == 2
        seen.open(site.url("/publications/#only-books"))
        assert len(seen.ask(SEEN, ".publications li")) == 1
