"""Search for readers: the dialog, the page, and that the right equation is among the first results."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from blogsmith.site.search.page_record import split_terms
from blogsmith.site.search.page_text import read_sections
from blogsmith.site.search.pagefind import is_installed
from tests.site_files import build, printed, put

from . import tools
from .accessibility import Looks, faults
from .conftest import Served
from .firefox import Firefox
from .reader import DESKTOP, PAPER, PHONE, WITHOUT_SCRIPTS, Look, Reader
from .server import served

QUERIES = Path(__file__).parent / "search_queries.txt"
FEWEST = 36
"""Minimum number of the forty queries whose equation must be among the first three results."""
MOST_BYTES = 25_000
"""Limit on the gzip size of the index of 2,000 formulas."""
MOST_BYTES_OF_A_QUERY = 60_000
"""Limit on the gzip size of all files of the index that a search for one word loads."""
POST = "/posts/three-masks/"
# The search module, loaded as pages do it.
INDEX = """
const { search, parts } = document.querySelector("[data-search]").dataset;
const [, words, formulas] = parts.split(" ").map((part) => new URL(part, location.href));
const code = await import(words);
const index = new code.SearchIndex(search, [formulas]);
await index.loadFormulas();
"""
RESULTS = """
return [...document.querySelectorAll("[role=option]")].map(option => ({
  text: option.innerText, href: option.getAttribute("href"),
  html: option.innerHTML, selected: option.getAttribute("aria-selected")}));
"""
STATUS = "return document.querySelector('.search-count')?.textContent ?? ''"
# Includes the excerpts in sight, which arrive a moment later.
IS_ANSWERED = """
const { bottom } = document.querySelector(".search-dialog, .search-page").getBoundingClientRect();
const isInSight = (one) => one.getBoundingClientRect().bottom < Math.min(bottom, innerHeight);
const excerpts = [...document.querySelectorAll(".search-excerpt, .search-formula")].filter(isInSight);
return document.querySelector(".search-count")?.textContent && excerpts.every(one => one.hasChildNodes());
"""
EVIL = '</script><img src=x onerror="document.title=name">'


def ask_index(reader: Reader, body: str, *arguments: object) -> object:
    """Return the result of an async function body that has the module as `code` and the index as `index`."""
    return reader.ask(f"return (async (...arguments) => {{ {INDEX} {body} }})(...arguments)", *arguments)


def queries() -> list[tuple[str, list[str]]]:
    lines = [line for line in QUERIES.read_text().splitlines() if line and not line.startswith("#")]
    pairs = (line.split(" → ") for line in lines)
    return [(text, wanted.split()) for text, wanted in pairs]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build a site under a path, with a hostile title and languages without spaces between words."""
    root = put(
        tmp_path_factory.mktemp("search"),
        {
            "blogsmith.yaml": "title: Small\nsearch: true\nmath: {macros: {\\norm: '\\lVert #1 \\rVert'}}\n",
            "content/evil.md": f"---\ntitle: '{EVIL}'\n---\nA wombat, `{EVIL}`.\n",
            "content/norm.md": "---\ntitle: Norms\n---\n## Two\n\n"
            "$$\\norm{x}_2 \\le \\norm{x}_1$$ {#eq:norms}\n",
            "content/code.md": "---\ntitle: Code\n---\n```python\ndef quokka(naïve):\n    pass\n```\n",
            "content/zh.md": "---\ntitle: 注意力机制\nlang: zh\n---\n机制很简单。\n",
        },
    )
    report = build(root)
    assert report.ok, printed(report)
    with served(root / "public") as origin:
        yield Served(root / "public", origin)


def open_dialog(reader: Reader) -> None:
    reader.wait_for(lambda: reader.ask("return document.readyState === 'complete'"))
    reader.press("/")
    reader.wait_for(lambda: reader.ask("return !!document.querySelector('dialog[open] input:focus')"))


def search(reader: Reader, text: str) -> list[dict[str, str]]:
    """Type a text and return the results."""
    reader.press(Keys.CONTROL + "a")
    reader.ask("const count = document.querySelector('.search-count'); if (count) count.textContent = ''")
    # In one step, because otherwise there would be results for a part of it.
    reader.tell("Input.insertText", text=text)
    reader.wait_for(lambda: reader.ask(IS_ANSWERED))
    return _settled(reader)


def _settled(reader: Reader) -> list[dict[str, str]]:
    """Return the results when no more are added, because formulas may arrive after words."""
    found, before = reader.ask(RESULTS), None
    while found != before:
        reader.ask("return new Promise(done => setTimeout(done, 200))")
        found, before = reader.ask(RESULTS), found
    return list(found)


# search results


def test_forty_formulas(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST))
    wanted = queries()
    assert len(wanted) == 40
    body = """
    const found = {};
    for (const text of arguments[0]) found[text] = await index.findFormulas(text, 3);
    for (const [text, places] of Object.entries(found)) found[text] = places.map(({url}) => url);
    return found;
    """
    found = ask_index(reader, body, [text for text, _ in wanted])
    assert isinstance(found, dict)
    missed = {text: found[text] for text, urls in wanted if not set(urls) & set(found[text])}
    assert len(wanted) - len(missed) >= FEWEST, json.dumps(missed, indent=1, ensure_ascii=False)
    # The targets of results exist.
    for urls in found.values():
        for url in urls:
            page, _, anchor = url.partition("#")
            assert not anchor or f'id="{anchor}"' in own_site.text(page)


def test_formulas_are_read_alike_here_and_there(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST))
    sections = (part for page in own_site.pages() for part in read_sections(own_site.text(page)))
    formulas = {formula.tex: formula.tokens for part in sections for formula in part.formulas}
    body = """
    return [arguments[0].map(tex => index.formulas.tokens(tex, false)), [...index.formulas.codes.keys()]];
    """
    texts = [tex for tex in formulas if len(tex) < 500]
    found = ask_index(reader, body, texts)
    assert isinstance(found, list)
    read, tokens = found[0], frozenset(found[1])
    other = {
        tex: (formulas[tex], mine)
        for tex, mine in zip(texts, read, strict=True)
        # The index has no names for symbols that occur in only one formula.
        if formulas[tex] and tokens.issuperset(formulas[tex]) and list(formulas[tex]) != mine
    }
    assert other == {}


def test_terms_are_the_same_here_and_there(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST))
    texts = [
        *(
            "Naïve Sets, ΣΊΣΥΦΟΣ, Straße",
            "d_k scaled_dot(4096) 3.14",
            "注意力机制 PyTorch入門 字",
            "हिन्दी की भाषा।",
            "ไทย ຂ້ອຍ ខ្មែរ မြန်မာ။",
            "مُحَمَّد הַשָּׁלוֹם ꦲꦏ꧀ꦱꦫ",
            "İstanbul Donau\u00addampf می\u200cخواهم 葛\U000e0100城 1️⃣",
        ),
        *(part.text for page in own_site.pages() for part in read_sections(own_site.text(page))),
    ]
    found = ask_index(reader, "return arguments[0].map(code.terms)", texts)
    assert found == [split_terms(text) for text in texts]


def test_the_index_of_formulas_is_small(own_site: Served) -> None:
    file = own_site.folder / "search/formulas.json"
    # The site has over 2,000 formulas.
    assert len(gzip.compress(file.read_bytes(), 9)) <= MOST_BYTES


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("recorded results", "/docs/recorded-results/"),
        ("overflow softmax", "/posts/softmax-without-overflow/"),
        ("social card", "/docs/themes/"),
        ("zzyzx", ""),
    ],
)
def test_words(text: str, url: str, own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST))
    found = ask_index(
        reader, "return (await index.findWords(arguments[0])).slice(0, 3).map(({url}) => url)", text
    )
    assert isinstance(found, list)
    assert any(one.startswith(url) for one in found) if url else found == []


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("quok", "/code/"),
        ("QUOKKA(naive)", "/code/"),
        ("机制", "/zh/"),
        ("注意力", "/zh/"),
        ("wombat", "/evil/"),
        ("\\norm{y}_2", "/norm/#eq-norms"),
        ("||x||_2 <= ||x||_1", "/norm/#eq-norms"),
    ],
)
def test_code_prefixes_characters_and_macros(text: str, url: str, small: Served, reader: Reader) -> None:
    reader.open(small.url("/code/"))
    open_dialog(reader)
    results = search(reader, text)
    assert url in [result["href"] for result in results[:1]]


# the dialog


@pytest.fixture
def post(own_site: Served, reader: Reader) -> Reader:
    reader.open(own_site.url(POST))
    return reader


def test_nothing_is_loaded_before_use(post: Reader) -> None:
    assert not [url for url in post.requests() if "/search" in url and "search-key.js" not in url]
    open_dialog(post)
    names: set[str] = set()

    def are_there() -> bool:
        names.update(url.partition("?")[0].rpartition("/")[2] for url in post.requests())
        return {"search.js", "search-words.js", "index.json"} <= names

    post.wait_for(are_there)
    assert not any("terms" in name or "formulas" in name for name in names)
    assert not post.problems()


@pytest.mark.parametrize("key", ["/", Keys.CONTROL + "k", "link"])
def test_ways_to_open(key: str, post: Reader) -> None:
    post.wait_for(lambda: post.ask("return document.readyState === 'complete'"))
    if key == "link":
        post.find(".site-menu .search-link").click()
    else:
        post.press(key)
    post.wait_for(lambda: post.ask("return !!document.querySelector('dialog[open] input:focus')"))


def test_the_key_is_a_character_in_a_field(post: Reader) -> None:
    post.ask("document.querySelector('main').prepend(document.createElement('input'))")
    post.find("main input").click()
    post.press("/")
    assert post.ask("return document.querySelector('main input').value") == "/"
    assert not post.ask("return !!document.querySelector('dialog')")


def test_by_keyboard(post: Reader) -> None:
    post.ask("document.querySelector('.site-title').focus()")
    open_dialog(post)
    results = search(post, "softmax(QK^T/sqrt(d_k))")
    assert [result["selected"] for result in results[:2]] == ["true", "false"]
    assert post.ask(STATUS) == f"Results: {len(results)}"
    post.press(Keys.ARROW_DOWN)
    active = "return document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
    assert post.ask(f"{active}.getAttribute('href')") == results[1]["href"]
    post.press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert post.ask(f"{active}.getAttribute('href')") == results[-1]["href"]
    post.press(Keys.ESCAPE)
    post.wait_for(lambda: post.ask("return !document.querySelector('dialog[open]')"))
    assert post.ask("return document.activeElement.className") == "site-title"
    open_dialog(post)
    search(post, "eq masked")
    search(post, "QK^T/sqrt(d_k) + M")
    post.press(Keys.ENTER)
    # The equation is on this page.
    post.wait_for(
        lambda: post.ask("return location.hash === '#eq-masked' && !document.querySelector('dialog[open]')")
    )


def test_equations_are_shown_as_mathml(post: Reader) -> None:
    open_dialog(post)
    first = search(post, "P_j = exp(S_j - m')")[0]
    assert first["href"] == "/posts/attention-in-tiles/#eq-tile"
    assert first["html"].count("<math") == 1
    # Of three lines, only the one with the number.
    assert first["html"].count("<mtr") == 1
    assert "(2)" in first["text"]
    assert "\\exp" in first["html"].partition("search-spoken")[2]


def test_excerpts_have_marks_and_formulas(post: Reader) -> None:
    open_dialog(post)
    found = search(post, "softmax weights positive")
    assert any("<mark>" in result["html"] for result in found)
    assert any("<math" in result["html"] for result in found)
    # Neither TeX nor symbols without their structure.
    assert not any("\\frac" in result["text"] for result in found)


def test_results_of_one_page_stand_together(post: Reader) -> None:
    open_dialog(post)
    results = [result for result in search(post, "softmax") if "search-excerpt" in result["html"]]
    pages = [result["href"].partition("#")[0] for result in results]
    assert len(pages) > len(set(pages)), "no page has two"
    assert sum(one != other for one, other in pairwise(pages)) == len(set(pages)) - 1


def test_a_result_leads_to_its_words(post: Reader) -> None:
    open_dialog(post)
    search(post, "softmax weights positive")
    leads = """
    const option = document.querySelector("[role=option]:has(mark)");
    addEventListener("click", event => event.preventDefault());
    option.click();
    return option.getAttribute("href");
    """
    assert re.search(r"#(?:[\w-]+)?:~:text=\w+(?:%20[\w%]+)+$", post.ask(leads))


def test_keys_before_the_field_are_kept_and_few_bytes_are_loaded(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST))
    reader.wait_for(lambda: reader.ask("return document.readyState === 'complete'"))
    reader.press("/softmax")
    reader.wait_for(lambda: reader.ask(IS_ANSWERED))
    assert reader.find(".search-field").get_attribute("value") == "softmax"
    results = _settled(reader)
    assert results[0]["href"].startswith("/posts/softmax-without-overflow/")
    assert any('class="search-code">' in result["html"] for result in results)
    assert not any("```" in result["text"] for result in results)
    urls = reader.ask("return performance.getEntriesByType('resource').map(({name}) => name)")
    loaded = {url.split("/search/")[1].partition("?")[0] for url in urls if "/search/" in url}
    sizes = [len(gzip.compress((own_site.folder / "search" / name).read_bytes())) for name in loaded]
    assert sum(sizes) < MOST_BYTES_OF_A_QUERY
    assert not any(url.endswith("/posts/softmax-without-overflow/") for url in urls)


def test_examples_find_something(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST))
    open_dialog(reader)
    buttons = "document.querySelectorAll('.search-examples button')"
    count = reader.wait_for(lambda: reader.ask(f"return {buttons}.length"))
    for number in range(count):
        reader.ask(f"{buttons}[arguments[0]].click()", number)
        reader.wait_for(lambda: reader.ask(STATUS).startswith("Results"))
        search(reader, "zzyzx")
    assert reader.ask("return document.querySelector('.search-examples').checkVisibility()")


def test_a_search_that_takes_long_says_so(small: Served, reader: Reader) -> None:
    reader.open(small.url("/norm/"))
    open_dialog(reader)
    reader.wait_for(
        lambda: reader.ask(
            "return performance.getEntriesByName(new URL('/search/index.json', location).href).length > 0"
        )
    )
    reader.tell("Network.enable")
    slow = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    reader.tell("Network.emulateNetworkConditions", latency=1500, **slow)
    try:
        reader.press("norm")
        reader.wait_for(lambda: reader.ask(STATUS) == "Loading …")
    finally:
        reader.tell("Network.emulateNetworkConditions", latency=0, **slow)
    reader.wait_for(lambda: reader.ask(STATUS).startswith("Results"))


@pytest.fixture(scope="module")
def looks(reader: Reader) -> Looks:
    """Return a checker of the page and its dialog in all looks."""
    return Looks(reader, tools.file(tools.AXE).read_text("utf-8"))


@pytest.mark.parametrize("text", ["softmax(QK^T/sqrt(d_k))", "recorded", "zzyzx"])
def test_accessible(text: str, looks: Looks, post: Reader) -> None:
    open_dialog(post)
    search(post, text)
    assert looks.faults() == []


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_dialog_fits(look: Look, own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url(POST), look)
    open_dialog(reader)
    search(reader, "recorded")
    box = "return document.querySelector('dialog').getBoundingClientRect().toJSON()"
    found = reader.ask(box)
    assert 0 <= found["left"] < found["right"] <= look.width_px
    assert not reader.problems()


def test_hostile_titles_are_text(small: Served, reader: Reader) -> None:
    reader.open(small.url("/norm/"))
    open_dialog(reader)
    (found,) = search(reader, "wombat")
    assert EVIL in found["text"]
    assert reader.ask("return document.querySelectorAll('dialog img, dialog script').length") == 0
    assert reader.ask("return document.title") != ""
    assert not reader.problems()


def test_on_paper_there_is_nothing_of_it(post: Reader) -> None:
    open_dialog(post)
    search(post, "softmax")
    post.take_on(PAPER)
    assert post.ask("return document.querySelector('dialog').checkVisibility()") is False


def test_an_index_that_does_not_come(small: Served, reader: Reader) -> None:
    reader.open(small.url("/norm/"))
    reader.tell("Network.enable")
    reader.tell("Network.setBlockedURLs", urls=["*/index.json"])
    try:
        open_dialog(reader)
        search(reader, "norm")
        assert reader.ask(STATUS) == "The index cannot be loaded."
    finally:
        reader.tell("Network.setBlockedURLs", urls=[])
    search(reader, "norms")
    assert reader.ask(STATUS) == "Results: 1"


# the page


def test_the_page_without_scripts(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/search/"), WITHOUT_SCRIPTS)
    links = reader.ask(
        "return [...document.querySelectorAll('.search-pages a')].map(a => a.getAttribute('href'))"
    )
    assert {"/posts/three-masks/", "/docs/text/", "/posts/attention-in-tiles/#the-identity"} <= set(links)
    assert not reader.ask("return document.querySelector('input')")


def test_the_page_filters_and_finds(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/search/"))
    reader.wait_for(lambda: reader.ask("return !!document.querySelector('input')"))
    reader.press("/")
    reader.wait_for(lambda: reader.ask("return document.activeElement.localName === 'input'"))
    results = search(reader, "tiles")
    assert results[0]["href"].startswith("/posts/attention-in-tiles/")
    shown = """
    const entries = [...document.querySelectorAll(".search-pages section > ul > li")];
    return entries.filter(e => e.checkVisibility()).map(e => e.querySelector("a").innerText);
    """
    assert reader.ask(shown) == ["Attention in tiles"]
    assert faults(reader, tools.file(tools.AXE).read_text("utf-8")) == []


def test_the_page_takes_a_query_from_its_address(own_site: Served, reader: Reader) -> None:
    reader.open(own_site.url("/search/?q=tiles"))
    assert reader.wait_for(lambda: reader.ask(STATUS)).startswith("Results")


def test_words_by_pagefind(tmp_path: Path, reader: Reader) -> None:
    if not is_installed():
        tools.missing("pagefind is not installed")
    files = {
        "blogsmith.yaml": "title: Big\nbase_url: https://example.org/b\nsearch: {engine: pagefind}\n",
        "content/one.md": "---\ntitle: One\n---\n## Part\n\nA quokka, $a + b$.\n",
        "content/two.md": "---\ntitle: Two\n---\nWombats.\n",
    }
    report = build(put(tmp_path, files), output=tmp_path / "served/b")
    assert report.ok, printed(report)
    with served(tmp_path / "served") as origin:
        reader.open(f"{origin}/b/two/")
        open_dialog(reader)
        (found,) = search(reader, "quok")
        assert (found["href"], "<mark>quokka</mark>" in found["html"]) == ("/b/one/#part", True)
        assert "<math" in found["html"]
        assert search(reader, "x + y = a + b")[0]["href"] == "/b/one/#part"
        assert not reader.problems()


# another browser


def test_in_firefox(own_site: Served, fox: Firefox) -> None:
    script = """
    const pause = () => new Promise(done => setTimeout(done, 30));
    const wait = async (condition) => { while (!condition()) await pause(); };
    return (async () => {
      document.querySelector(".site-menu .search-link").click();
      await wait(() => document.querySelector("dialog[open] input"));
      const field = document.querySelector("dialog input");
      field.value = arguments[0];
      field.dispatchEvent(new Event("input"));
      await wait(() => document.querySelector("[role=option] math"));
      return document.querySelector("[role=option]").getAttribute("href");
    })();
    """
    fox.open(own_site.url(POST))
    found = fox.ask(script, "QK^T/sqrt(d_k) + M")
    assert found == "/posts/three-masks/#eq-masked"
