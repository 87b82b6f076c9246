"""The front matter of a post: splitting, types, and every error at its position."""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.config.schema import Config
from blogsmith.model.cells import PageExecution
from blogsmith.model.courses import Series
from blogsmith.model.documents import Document, FrontMatter, PageMath, Reference, Source
from blogsmith.read.front_matter import read_document
from tests.rows import each_row

VIENNA = Config(timezone="Europe/Vienna")
ZONE = ZoneInfo("Europe/Vienna")


def read(text: str, path: str = "content/posts/a.md") -> tuple[Document, tuple[Diagnostic, ...]]:
    """Return the document of a file."""
    return read_document(Source(PurePosixPath(path), text, ""), VIENNA)


def head(lines: str) -> FrontMatter:
    """Return the front matter made of these valid lines."""
    document, diagnostics = read(f"---\n{lines}\n---\n")
    assert diagnostics == ()
    return document.front


def faults(lines: str) -> list[str]:
    """Return each diagnostic of these lines as `code line:column message`, relative to the file."""
    _, diagnostics = read(f"---\n{lines}\n---\n")
    return [
        f"{d.code} {d.place.line}:{d.place.column} {d.message}" if d.place else d.code for d in diagnostics
    ]


@each_row(
    ("text", "title", "body", "first_line"),
    [
        ("", "", "", 1),
        ("just text\n", "", "just text\n", 1),
        ("---\ntitle: x\n---\nbody\n", "x", "body\n", 4),
        ("---\ntitle: x\n...\n\nbody", "x", "\nbody", 4),
        ("---  \ntitle: x\n--- \n", "x", "", 4),
        ("---\n---\nb", "", "b", 3),
        ("---\ntitle: x\n---", "x", "", 4),
        ("\n---\ntitle x\n---\n", "", "\n---\ntitle x\n---\n", 1),
        ("\n---\nb: of a sentence\n\n---\n", "", "\n---\nb: of a sentence\n\n---\n", 1),
        ("---\n\na thematic break\n", "", "---\n\na thematic break\n", 1),
        ("--- x\n---\n", "", "--- x\n---\n", 1),
        ("---\ntitle: x\n---\n---\n", "x", "---\n", 4),
        ("---\ntitle: |\n  a\n  ---\n---\nb", "a ---", "b", 6),
    ],
)
def test_head_and_body(text: str, title: str, body: str, first_line: int) -> None:
    document, diagnostics = read(text)
    assert diagnostics == ()
    assert (document.front.title, document.body, document.first_line) == (title, body, first_line)


@each_row(
    ("text", "title", "body", "messages"),
    [
        ("---\ntitle: x\n\nbody\n", "x", "\nbody\n", ["missing end of front matter"]),
        ("---\ntitle: x", "x", "", ["missing end of front matter"]),
        ("+++\ntitle = 'x'\n\nb", "x", "\nb", ["missing end of front matter"]),
        ("---\njust words\n---\nb", "", "b", ["front matter must be `key: value` lines"]),
        ("---\n- a\n---\nb", "", "b", ["front matter must be `key: value` lines"]),
        ("---\ntitle: x\ntags: [a\n---\nb", "x", "b", ['missing closing "]" or comma in the list']),
    ],
)
def test_a_broken_head_still_gives_a_document(text: str, title: str, body: str, messages: list[str]) -> None:
    document, diagnostics = read(text)
    assert [d.message for d in diagnostics] == messages
    assert (document.front.title, document.body) == (title, body)


@each_row(
    ("lines", "field", "expected"),
    [
        ("title: 'A: b · c'", "title", "A: b · c"),
        ("title: 1984", "title", "1984"),
        ("title: 1.10", "title", "1.10"),
        ("title: No", "title", "No"),
        ("title:", "title", ""),
        ("description: >\n  one\n  two\n", "description", "one two"),
        ("tags: [b, a, b, 2026]", "tags", ("b", "a", "2026")),
        ("tags: b, a c,,b", "tags", ("b", "a c")),
        ("tags: []", "tags", ()),
        ("category: x", "categories", ("x",)),
        ("categories:\n- x\n- y, z", "categories", ("x", "y, z")),
        ("layout: wide", "template", "wide"),
        ("author: Vaswani, A.", "authors", ("Vaswani, A.",)),
        ("authors: [A, {name: B}, {family: C, given: D}]", "authors", ("A", "B", "C, D")),
        ("author: {family: C}", "authors", ("C",)),
        ("series: S", "series", Series("S")),
        ("series: S\npart: 2", "series", Series("S", 2)),
        ("series: {name: S, part: 3}", "series", Series("S", 3)),
        ("series: {name: S}\npart: 2", "series", Series("S", 2)),
        ("draft: true", "draft", True),
        ("toc: false", "toc", False),
        ("reading_time: false", "reading_time", False),
        ("listing: false", "listing", False),
        ("comments: true", "comments", True),
        ("comments: mastodon.example/@a/1", "comments", "https://mastodon.example/@a/1"),
        ("numbering: false", "numbering", False),
        ("status: wip", "status", "wip"),
        ("lang: pt-BR", "lang", "pt-BR"),
        ("aliases: /old/", "aliases", ("/old/",)),
        ("aliases: [/a/, /b.html]", "aliases", ("/a/", "/b.html")),
        ("math: true", "math", PageMath()),
        ("math: {numbering: none}", "math", PageMath(numbering="none")),
        ("math:\n  macros:\n    \\R: \\mathbb{R}", "math", PageMath({"\\R": "\\mathbb{R}"})),
        ("math: {macros: {\\one: 1}}", "math", PageMath({"\\one": "1"})),
        ("execute: all", "execution", PageExecution(mode="all")),
        ("execute: {mode: marked}", "execution", PageExecution(mode="marked")),
        ("uses_math: true\nuses_code: false", "extra", {}),
        ("cover: {a: [1, no]}\ndata: 1", "extra", {"cover": {"a": [1, "no"]}, "data": 1}),
        ("date: 2026-03-14", "date", dt.datetime(2026, 3, 14, tzinfo=ZONE)),
        ("date: 2026-3-4 9:05", "date", dt.datetime(2026, 3, 4, 9, 5, tzinfo=ZONE)),
        ("date: 2026-03-14T09:30:15.5Z", "date", dt.datetime(2026, 3, 14, 9, 30, 15, tzinfo=dt.UTC)),
        (
            "date: 2026-03-14 09:30:00 +0530",
            "date",
            dt.datetime(2026, 3, 14, 9, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))),
        ),
        ("date: '2026-03-14'", "date", dt.datetime(2026, 3, 14, tzinfo=ZONE)),
        ("updated: 0001-01-01", "updated", dt.datetime(1, 1, 1, tzinfo=ZONE)),
        ("updated: 9999-12-31 23:59:59", "updated", dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=ZONE)),
        ("date: 2026-03-29 02:30", "date", dt.datetime(2026, 3, 29, 2, 30, tzinfo=ZONE)),
    ],
)  # fmt: skip
def test_values(lines: str, field: str, expected: object) -> None:
    found = getattr(head(lines), field)
    assert found == expected
    if isinstance(expected, dt.datetime):
        assert found.utcoffset() == expected.utcoffset()


@each_row(
    ("entry", "expected"),
    [
        ("{id: a, title: T, author: [{family: V, given: A}, X], issued: {date-parts: [[2017, 6]]}, "
         "container-title: J, DOI: 10.1000/x}",
         Reference("a", "T", ("V, A", "X"), "2017", "J", "https://doi.org/10.1000/x")),
        ("{key: a, title: 1984, authors: A B and C D, year: 2017, url: 'https://x.org/', note: n}",
         Reference("a", "1984", ("A B", "C D"), "2017", "", "https://x.org/", "n")),
        ("{id: a, author: {literal: The Group}, date: 2017-06-12, publisher: P, volume: 3}",
         Reference("a", "", ("The Group",), "2017", "P", volume="3")),
        ("{id: a, container: NeurIPS 2022, publisher: P}", Reference("a", venue="NeurIPS 2022")),
        ("{id: a, issued: 2017a, DOI: 'https://doi.org/10.1000/x'}",
         Reference("a", "", (), "2017a", "", "https://doi.org/10.1000/x")),
    ],
)  # fmt: skip
def test_references_in_csl_and_in_short(entry: str, expected: Reference) -> None:
    (found,) = head(f"references:\n- {entry}").references
    assert found.place == Place(3, 3, len(entry))
    assert {name: getattr(found, name) for name in found.__slots__ if name != "place"} == {
        name: getattr(expected, name) for name in expected.__slots__ if name != "place"
    }


def test_references_without_ids_are_listed_by_number() -> None:
    document, diagnostics = read("---\nreferences:\n- {title: X}\n- {id: '1', title: Y}\n- {title: Z}\n---\n")
    assert [(d.severity, d.message) for d in diagnostics] == [
        ("warning", '2 references have no "id" and cannot be cited')
    ]
    found = [(one.key, one.title, one.is_named) for one in document.front.references]
    assert found == [("2", "X", False), ("1", "Y", True), ("3", "Z", False)]


def test_a_field_that_nobody_knows_is_kept_and_told() -> None:
    document, (found,) = read("---\nreferences:\n- {id: a, tittle: X, volume: 3, isbn: 4}\n---\n")
    assert (found.severity, found.message) == ("warning", '"tittle" of a reference is not printed')
    assert (found.hint, document.front.references[0].extra) == (
        "did you mean `title`?", {"tittle": "X", "isbn": 4},
    )  # fmt: skip


@each_row(
    ("lines", "is_draft", "severities"),
    [
        ("published: true", False, []),
        ("published: false", True, []),
        ("published: no", True, []),
        ("published: 2024-01-02", False, []),
        ("published: perhaps", True, ["error"]),
        ("draft: yes", True, ["error"]),
        ("draft: no", False, ["error"]),
        ("draft: perhaps", True, ["error"]),
        ("draft: false\npublished: false", True, []),
        ("status: draft", True, ["warning"]),
        ("status: drafft", True, ["warning"]),
        ("Status: draft", True, ["warning", "warning"]),
        ("status: Private", False, ["error"]),
        ("status: privat", True, ["warning"]),
        ("status: hidden", False, ["error"]),
        ("status: wip", False, []),
        ("Draft: true", True, ["warning"]),
        ("publish: false", True, ["warning"]),
        ("publish: true", False, []),
        ("publish: no", True, ["warning"]),
        ("Publish: false", True, ["warning"]),
        ("render: false", True, ["warning"]),
        ("headless: true", True, ["warning"]),
        ("unpublished: true", True, ["warning"]),
        ("Published: false", True, []),
        ("draft: true\nhidden: true", True, []),
        ("draft: true\npassword: x", True, ["error"]),
        ("private: true", False, ["error"]),
        ("visibility: private", False, ["error"]),
        ("visibility: public", False, []),
        ("build: {render: never, list: never}", True, ["warning"]),
        ("_build: {list: never}", False, ["error"]),
        ("_build: {list: always}", False, []),
        ("permalink: false", True, ["warning"]),
    ],
)
def test_what_is_not_to_be_published(lines: str, is_draft: bool, severities: list[str]) -> None:
    """An unclear page is not published."""
    document, diagnostics = read(f"---\n{lines}\n---\n")
    assert (document.front.draft, [d.severity for d in diagnostics]) == (is_draft, severities)


@each_row(
    ("lines", "field", "expected"),
    [
        ("layout: [post]", "template", "post"),
        ("math: mathjax", "math", PageMath()),
        ("math: katex", "math", PageMath()),
        ("toc: [{name: A}]", "toc", None),
        ("toc: no", "toc", False),
        ("comments: disqus", "comments", None),
        ("description: [One., Two]", "description", "One. Two"),
        ("description: [softmax, kernels, heat]", "description", "softmax, kernels, heat"),
        ("series: [S]", "series", Series("S")),
        ("url: https://example.org/a.pdf", "permalink", ""),
        ("permalink: '{{ page.url }}'", "permalink", ""),
    ],
)
def test_values_of_other_generators_are_warned_of(lines: str, field: str, expected: object) -> None:
    document, diagnostics = read(f"---\n{lines}\n---\n")
    assert [d.severity for d in diagnostics] == ["warning"]
    assert getattr(document.front, field) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1998-06", (1998, 6, 1)),
        ("1998", (1998, 1, 1)),
        ("2024/3/7", (2024, 3, 7)),
        ("2024/03/07 10:00", (2024, 3, 7, 10)),
    ],
)
def test_dates_that_say_less(written: str, expected: tuple[int, ...]) -> None:
    assert head(f"date: {written}").date == dt.datetime(*expected, tzinfo=ZONE)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "+++\ntitle = 'A'\ndate = 2024-01-02\ntags = [\n  'x', # one\n  \"y\",\n]\n"
        "[math.macros]\n'\\R' = '\\mathbb{R}'\n[[own]]\nn = 1.10\n[[own]]\nn = 2\n+++\nb",
        '{"title": "A", "date": "2024-01-02",\n "tags": ["x", "y"], "math": {"macros":\n'
        ' {"\\\\R": "\\\\mathbb{R}"}}, "own": [{"n": 1.10}, {"n": 2}]}\nb',
    ],
)
def test_toml_and_json_are_read_as_yaml(text: str) -> None:
    document, diagnostics = read(text)
    front = document.front
    assert (diagnostics, document.body, document.first_line) == ((), "b", text.count("\n") + 1)
    assert (front.title, front.tags, front.date) == ("A", ("x", "y"), dt.datetime(2024, 1, 2, tzinfo=ZONE))
    assert (front.math.macros, front.extra) == ({"\\R": "\\mathbb{R}"}, {"own": [{"n": 1.1}, {"n": 2}]})
    for key, place in front.places.items():
        line = text.split("\n")[place.line - 1][place.column - 1 :]
        # the position of a table is its name
        assert line.startswith(("'A'", '"A"', "2024", '"2024', "[", "math", "{")), key


@each_row(
    "text", ["+++\n\nText", "{.class}\nText", "{% toc %}\n", '{"a": 1} is JSON', "{ a }", "+++ x\n+++\n"]
)
def test_what_only_looks_like_toml_or_json(text: str) -> None:
    document, diagnostics = read(text)
    assert (document.body, diagnostics) == (text, ())


@given(st.text(alphabet="+{}[]\"'=:,.\\#\n ab1-", max_size=60), st.sampled_from(["+++\n", '{"a":', '{"']))
def test_toml_and_json_never_raise(text: str, opening: str) -> None:
    read(f"{opening}{text}")
    read(f"+++\n{text}\n+++\n")


def test_references_as_a_mapping() -> None:
    found = head("references:\n  a: {title: T}\n  b:\n    title: U").references
    assert [(r.key, r.title, r.place) for r in found] == [
        ("a", "T", Place(3, 6, 10)),
        ("b", "U", Place(5, 5, 8)),
    ]


@each_row(
    ("lines", "expected"),
    [
        ("tittle: x", ['front-matter-key 2:1 unknown key "tittle"']),
        ("Tags: x", ['front-matter-key 2:1 unknown key "Tags"']),
        ("title: true", ['front-matter-value 2:8 "title" must be a string']),
        ("title: [x]", [
            'front-matter-unknown 2:8 "title" must be a string; the entries of the list are joined'
        ]),
        ("draft: yes", ['front-matter-value 2:8 "draft" must be true or false']),
        ("tags: {a: b}", ['front-matter-value 2:7 "tags" must be a list of strings']),
        ("tags: [a, [b], ~]", [
            'front-matter-value 2:11 entry 2 of "tags" must be a string',
            'front-matter-value 2:16 entry 3 of "tags" must be a string',
        ]),
        ("category: {a: b}", ['front-matter-value 2:11 "category" must be a list of strings']),
        ("layout: a\ntemplate: b", ['front-matter-value 2:9 "layout" and "template" have the same meaning']),
        ("layout: ../a", [
            'front-matter-unknown 2:9 "layout" must be the name of a layout; "../a" has no effect'
        ]),
        ("lang: e_n", ['front-matter-value 2:7 invalid language tag "e_n"']),
        ("status: done", ['front-matter-unknown 2:9 "status" must be "wip"; "done" has no effect']),
        ("authors: [1, true]", ['front-matter-value 2:14 "authors" must be a name or a list of names']),
        ("author: {given: A}", ['front-matter-value 2:9 missing key "name", or "family" and "given"']),
        ("part: 0\nseries: x", ['front-matter-value 2:7 "part" must be a whole number of at least 1']),
        ("series: {part: 1}", ['front-matter-value 2:9 missing key "name" in "series"']),
        ("series: {name: x, prt: 1}", ['front-matter-value 2:19 unknown key "prt"']),
        ("math: 1", [
            'front-matter-unknown 2:7 "math" must be true, false, or a mapping; "1" has no effect'
        ]),
        ("math: {macros: {R: x}}", ['front-matter-value 2:17 invalid macro name "R"']),
        ("math: {macros: x}", ['front-matter-value 2:16 "macros" must be a mapping from names to TeX']),
        (
            "math: {numbering: some}",
            [
                "front-matter-value 2:19 "
                '"numbering" must be all, labelled, none, all by section or labelled by section'
            ],
        ),
        ("execute: yes", ['front-matter-value 2:10 "execute" must be off, marked or all']),
        ("execute: {mod: all}", ['front-matter-value 2:11 unknown key "mod"']),
        ("uses_math: maybe", [
                'front-matter-unknown 2:12 "uses_math" must be true or false; "maybe" has no effect'
            ]),
        ("references: x", [
            'front-matter-value 2:13 "references" must be a list of entries, or a mapping from key to entry'
        ]),
        ("references: [x, {title: y}, {id: 'a b'}]", [
            "front-matter-value 2:14 a reference must be a mapping such as `title: …`",
            'front-matter-value 2:29 invalid reference key "a b"',
            'front-matter-unknown 2:17 a reference has no "id" and cannot be cited',
        ]),
        ("references:\n- {id: a}\n- {id: a}", [
            'front-matter-value 4:3 duplicate reference "a" (first defined on line 3)'
        ]),
        ("references: [{id: a, url: 'javascript:x'}]", [
            'front-matter-value 2:27 invalid URL "javascript:x": expected http or https'
        ]),
        ("references: [{id: a, doi: x}]", ['front-matter-value 2:27 invalid DOI "x"']),
        ("references: [{id: a, issued: {x: 1}}]", [
            'front-matter-value 2:30 "issued" must be a year, or a mapping as in CSL'
        ]),
        ("date: 2026-02-30", ['date 2:7 invalid date "2026-02-30": this day or time does not exist']),
        ("date: 2026-02-03 25:00", [
            'date 2:7 invalid date "2026-02-03 25:00": this day or time does not exist'
        ]),
        ("date: 2026-02-03 10:00 +24:00", [
            'date 2:7 invalid date "2026-02-03 10:00 +24:00": this day or time does not exist'
        ]),
        ("date: 0000-01-01", ['date 2:7 invalid date "0000-01-01": this day or time does not exist']),
        ("date: 3 March 2026", ['date 2:7 invalid date "3 March 2026"']),
        ("updated: 2026-13", ['date 2:10 invalid date "2026-13": this day or time does not exist']),
        ("date: ٢٠٢٦-٠٢-٠٣", ['date 2:7 invalid date "٢٠٢٦-٠٢-٠٣"']),
        ("draft: 1\ntoc: 2\ndate: x\ntitel: y\nmath: {a: 1}", [
            'front-matter-value 2:8 "draft" must be true or false',
            'front-matter-unknown 3:6 "toc" must be true or false; "2" has no effect',
            'date 4:7 invalid date "x"',
            'front-matter-value 6:8 unknown key "a"',
            'front-matter-key 5:1 unknown key "titel"',
        ]),
    ],
)  # fmt: skip
def test_mistakes_are_reported_at_their_places(lines: str, expected: list[str]) -> None:
    assert faults(lines) == expected


@each_row(
    ("lines", "severity", "hint"),
    [
        ("tittle: x", "warning", "did you mean `title`?"),
        ("Catgories: x", "warning", "did you mean `categories`?"),
        ("execute: {mod: all}", "error", "did you mean `mode`?"),
        ("execute: mark", "error", "did you mean `marked`?"),
        *(
            (f"execute: {word}", "error", "write `marked`, or `all` to run every Python fence")
            for word in ("true", "yes", "On", "{mode: 'true'}")
        ),
        ("layout: a\ntemplate: b", "error", "keep only `template`"),
    ],
)
def test_suggestions(lines: str, severity: str, hint: str) -> None:
    (found,) = read(f"---\n{lines}\n---\n")[1]
    assert (found.severity, found.hint) == (severity, hint)


@each_row("key", ["cover", "data", "subject", "rating", "weight", "summary", "tag_line"])
def test_honest_keys_of_a_theme_are_not_warned_of(key: str) -> None:
    assert head(f"{key}: 1").extra == {key: 1}


def test_places_stand_under_our_names() -> None:
    places = head("layout: wide\ntags:\n  - a\ntitle:\n").places
    assert places == {"template": Place(2, 9, 4), "tags": Place(4, 3, 3), "title": Place(5, 7, 1)}


@each_row(
    ("path", "lines", "expected"),
    [
        ("content/posts/2026-03-14-pi.md", "title: x", (2026, 3, 14)),
        ("content/posts/2026-03-14-pi/index.md", "title: x", (2026, 3, 14)),
        ("content/posts/2026-03-14-pi.md", "date: 2025-01-01", (2025, 1, 1)),
        ("content/posts/2026-02-30-pi.md", "title: x", None),
        ("content/2026-03-14-x/pi.md", "title: x", None),
        ("content/posts/2026-03-14.md", "title: x", None),
    ],
)
def test_a_file_name_may_give_the_date(path: str, lines: str, expected: tuple[int, ...] | None) -> None:
    date = read(f"---\n{lines}\n---\n", path)[0].front.date
    assert date == (dt.datetime(*expected, tzinfo=ZONE) if expected else None)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize("value", ["{{ ''.__class__.__mro__ }}", "{% raw %}", "<script>", "{{ config }}"])
def test_values_are_data(value: str) -> None:
    assert head(f"title: '{value.replace(chr(39), chr(39) * 2)}'").title == value


def test_thousands_of_unknown_keys_end_in_a_bounded_report() -> None:
    keys = [*(f"titl{'_' * n}" for n in range(100)), *(f"title{n}" for n in range(3900))]
    document, diagnostics = read("---\n" + "".join(f"{key}: 1\n" for key in keys) + "---\n")
    assert len(document.front.extra) == 4000
    assert 0 < len(diagnostics) <= 50


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        "x",
        "1",
        "true",
        "~",
        "[]",
        "[x, 1]",
        "[{}]",
        "{}",
        "{a: b}",
        "{name: [x]}",
        "[[1]]",
        "'2026-01-01'",
        "{id: {}}",
    ]
)
KEYS = (
    "title",
    "date",
    "tags",
    "authors",
    "series",
    "part",
    "math",
    "execute",
    "references",
    "aliases",
    "toc",
    "reading_time",
    "listing",
    "lang",
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6), VALUES)
def test_values_of_any_type_never_raise(values: dict[str, str], nested: str) -> None:
    lines = "".join(f"{key}: {value}\n" for key, value in values.items())
    _, diagnostics = read(f"---\n{lines}extra: {{macros: {nested}, references: [{nested}]}}\n---\n")
    assert all(d.place is not None for d in diagnostics)


@given(st.text(alphabet="-. \nax:[]{}'\"\\|>&*é", max_size=60))
def test_no_text_raises_and_no_line_is_lost(rest: str) -> None:
    text = f"---\n{rest}"
    document, _ = read(text)
    assert text.split("\n")[document.first_line - 1 :] == document.body.split("\n") or document.body == ""


@pytest.mark.parametrize(("value", "draft"), [("true", True), ("false", False), ("", False), ("maybe", True)])
def test_what_may_be_a_draft_is_not_published(value: str, draft: bool) -> None:
    """Its error may be lowered to a warning."""
    assert read(f"---\ndraft: {value}\n---\n")[0].front.draft is draft
