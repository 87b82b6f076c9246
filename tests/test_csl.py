"""Citation styles: results for sixty publications compared with citeproc-js, and invalid styles.

`expected.json` was made by `tests/citations/make_expected.py`. A row below explains each difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from blogsmith.base.patterns import lazy_pattern
from blogsmith.bibliography.citation_styles import BUNDLED_STYLES, read_bundled_style
from blogsmith.bibliography.csl.processor import CslProcessor
from blogsmith.bibliography.csl.style_tree import StyleError
from blogsmith.render.citations.csl_style import CslEncoder
from tests.citations.make_expected import FOLDER, works
from tests.rows import each_row
from tests.site_files import build, printed, put_bare

EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
_NUMBER = lazy_pattern(r"^(?:\[\d+\]|\d+\.) ?")
_WITHIN_WORD = "a protected letter inside of a word: citeproc-js takes what follows it for a word of its own"
_DASHES = "each entry is also shown alone, on a card, where a dash would name nobody"
ENTRIES = MappingProxyType(
    {
        ("chicago", "clark1981"): _WITHIN_WORD,
        ("chicago", "owens2018"): _WITHIN_WORD,
        ("mla", "clark1981"): _WITHIN_WORD,
        ("mla", "owens2018"): _WITHIN_WORD,
        ("mla", "abara2011b"): _DASHES,
        ("mla", "tran2012b"): _DASHES,
    }
)
"""Entries that differ, with the reason."""
CITES = MappingProxyType(
    {("chicago", "evans2006"): "the other Evans is an editor, whom no citation names: one name is enough"}
)
COLLAPSED = ("ieee", "nature", "acm")
"""Styles with numeric citations."""


def processor(style: str, text: CslEncoder) -> CslProcessor:
    """Return a processor of a style with all publications."""
    encoded = [
        replace(work, variables={name: text.encode(value) for name, value in work.variables.items()})
        for work in works()
    ]
    return CslProcessor(read_bundled_style(style), "en", encoded)


@pytest.mark.parametrize("style", BUNDLED_STYLES)
def test_the_list_is_that_of_citeproc_js(style: str) -> None:
    text = CslEncoder()
    made, expected = processor(style, text), EXPECTED[style]
    assert len(made.keys) >= 60
    assert list(made.keys) == expected["order"]
    entries = {key: " ".join(text.plain_text(made.entry(key)).split()) for key in made.keys}
    wanted = expected["entries"]
    different = {key for key in wanted if _NUMBER.sub("", entries[key]) != _NUMBER.sub("", wanted[key])}
    assert different == {key for name, key in ENTRIES if name == style}


@pytest.mark.parametrize("style", [style for style in BUNDLED_STYLES if style not in COLLAPSED])
def test_citations_are_those_of_citeproc_js(style: str) -> None:
    text = CslEncoder()
    made = processor(style, text)
    cited = {key: text.plain_text(made.cluster([(key, "", "", "")])) for key in made.keys}
    different = {key for key, wanted in EXPECTED[style]["cites"].items() if cited[key] != wanted}
    assert different == {key for name, key in CITES if name == style}


@pytest.mark.parametrize("style", COLLAPSED)
def test_citations_by_number_count(style: str) -> None:
    text = CslEncoder()
    made = processor(style, text)
    numbers = [text.plain_text(made.cluster([(key, "", "", "")])).strip("[]") for key in made.keys]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


@pytest.mark.parametrize(
    ("style", "written", "printed"),
    [
        ("nature", "1 2 3", "1–3"),
        ("nature", "4 2 1 3 7 9 8", "1–4,7–9"),
        ("nature", "1 2", "1,2"),
        ("acm", "1 2 3:5 4 5 6", "[1, 2, 3:5, 4–6]"),
        ("acm", "1 see:2 3", "[1, see 2, 3]"),
        ("ieee", "1 2 3", "[1], [2], [3]"),
    ],
)
def test_numbers_in_a_row_are_drawn_together(style: str, written: str, printed: str) -> None:
    text = CslEncoder()
    made = processor(style, text)
    items = []
    for word in written.split():
        before, _, place = word.partition(":")
        prefix, number, locator = (before, place, "") if before == "see" else ("", before, place)
        items.append((made.keys[int(number) - 1], prefix, "page" if locator else "", locator))
    assert text.plain_text(made.cluster(items)) == printed


@pytest.mark.parametrize(
    ("style", "keys", "printed"),
    [
        ("apa", "abara2011 clark1981 abara2011b", "(Abara, 2011a, 2011b; Clark, 1981)"),
        ("chicago", "abara2011b clark1981 abara2011", "(Abara 2011b, 2011a; Clark 1981)"),
    ],
)
def test_works_of_one_author_are_drawn_together(style: str, keys: str, printed: str) -> None:
    text = CslEncoder()
    made = processor(style, text)
    assert text.plain_text(made.cluster([(key, "", "", "") for key in keys.split()])) == printed
    apart = text.plain_text(made.cluster([(key, "", "page", "3") for key in keys.split()]))
    assert apart.count("3") == 3
    assert apart.count("Abara") == 2


HEAD = '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">'
LOOP = (
    f'{HEAD}<macro name="a"><text macro="b"/><text macro="b"/></macro>'
    '<macro name="b"><text macro="a"/></macro>'
    '<citation><layout><text macro="a"/></layout></citation>'
    '<bibliography><layout><text macro="a"/></layout></bibliography></style>'
)


@each_row(
    ("text", "told"),
    [
        ("<style", "invalid XML"),
        ("<locale/>", "the file is not a citation style"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><style/>', "is not allowed in a style"),
        (f"{HEAD}<citation><layout/></citation></style>", "missing element <bibliography>"),
        (
            f'{HEAD}<info><link href="http://x/styles/apa" rel="independent-parent"/></info></style>',
            'only refers to another one: use the file of "apa"',
        ),
        (LOOP, "call each other endlessly"),
        ("<a>" * 5000 + "</a>" * 5000, "nested too deeply"),
    ],
)
def test_styles_that_cannot_be_used(text: str, told: str) -> None:
    with pytest.raises(StyleError, match=told):
        made = CslProcessor(text, "en", works())
        made.entry(made.keys[0])


def test_a_style_of_the_site(tmp_path: Path) -> None:
    style = (
        f'{HEAD}<citation><layout prefix="{{" suffix="}}">'
        '<names variable="author"><name form="short"/></names>'
        '</layout></citation><bibliography><layout suffix="&lt;script&gt;"><text variable="title" '
        'font-style="italic"/></layout></bibliography></style>'
    )
    files = {
        "blogsmith.yaml": "title: T\ncsl: own.csl\nbibliography: refs.bib\n",
        "own.csl": style,
        "refs.bib": "@book{k, title={On $n^2$}, author={Doe, Jo}}\n",
        "content/posts/a.md": "---\ntitle: A\n---\n[@k]\n",
    }
    root = put_bare(tmp_path, files)
    report = build(root)
    assert report.ok, printed(report)
    html = (root / "public/posts/a/index.html").read_text()
    assert '{<a href="#ref-k" id="cite-k" role="doc-biblioref">Doe</a>}' in html
    assert "<i>On <math" in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


@pytest.mark.parametrize(("language", "word"), [("de", "und"), ("fr", "et"), ("ja", "と"), ("xx", "and")])
def test_terms_are_those_of_the_language(language: str, word: str) -> None:
    made = CslProcessor(read_bundled_style("acm"), language, works())
    assert f" {word} " in made.entry("nakamura2016")
