"""YAML as blogsmith accepts it: values, positions, and a diagnostic for everything else."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Diagnostic, Place, Reporter
from blogsmith.base.schema import yaml_loader as loader
from tests.rows import each_row


def load(text: str, first_line: int = 1) -> tuple[loader.Located | None, list[Diagnostic]]:
    """Return the data and the diagnostics of a string."""
    reporter = Reporter("x.yaml", [""] * (first_line - 1) + text.split("\n"))
    return loader.load(text, reporter, first_line=first_line), reporter.diagnostics


def value_of(text: str) -> Any:
    """Return the data of a string without errors."""
    located, diagnostics = load(text)
    assert diagnostics == []
    assert located is not None
    return located.value


def faults(text: str) -> list[str]:
    """Return each diagnostic as `code line:column+length message`."""
    return [
        f"{d.code} {d.place.line}:{d.place.column}+{d.place.length} {d.message}"
        for d in load(text)[1]
        if d.place is not None
    ]


@each_row(
    ("text", "expected"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("Null", None),
        ("010", 10),
        ("0o17", 15),
        ("0xfF", 255),
        ("-12", -12),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-1.", -1.0),
        ("-.INF", -math.inf),
        ("12:30:45", "12:30:45"),
        ("2026-03-14", "2026-03-14"),
        ("'010'", "010"),
        ('"true"', "true"),
        ("123456789012345678", 123456789012345678),
        ("0b1", "0b1"),
        ("1.2.3", "1.2.3"),
        ("=", "="),
    ],
)
def test_scalars_follow_the_core_schema(text: str, expected: object) -> None:
    value = value_of(f"a: {text}\n")["a"]
    assert (value, type(value)) == (expected, type(expected))


def test_not_a_number() -> None:
    assert math.isnan(value_of("a: .nan")["a"])


@each_row(
    ("text", "expected"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("---\na: 1\n...\n", {"a": 1}),
        ("a:\nb: {c: [1, x]}\n", {"a": None, "b": {"c": [1, "x"]}}),
        ("a: |\n  x\n   y\nb: >-\n  p\n  q\n", {"a": "x\n y\n", "b": "p q"}),
        ("1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("? a\n: b\n", {"a": "b"}),
        (r"a: '\frac{1}{2}'", {"a": r"\frac{1}{2}"}),
        (r'a: "x\ny \\alpha \u00e9"', {"a": "x\ny \\alpha é"}),
        ("a: 'Euler · “π”: 😀'", {"a": "Euler · “π”: 😀"}),
    ],
)
def test_structures(text: str, expected: object) -> None:
    assert value_of(text) == expected


def test_places_count_from_the_first_line_in_characters() -> None:
    text = "é: 😀 x\nlist:\n  - one\n  - {k: 'v w'}\nn: 1.10\nblock: |\n  text\n"
    located, _ = load(text, first_line=2)
    assert located is not None
    assert located.places[("é",)] == Place(2, 4, 3)
    assert located.key_places[("list",)] == Place(3, 1, 4)
    assert located.places[("list",)] == Place(4, 3, 5)
    assert located.places[("list", 0)] == Place(4, 5, 3)
    assert located.places[("list", 1, "k")] == Place(5, 9, 5)
    assert located.key_places[("list", 1, "k")] == Place(5, 6, 1)
    assert located.places[("block",)] == Place(7, 8, 1)
    assert located.places[()] == Place(2, 1, 6)
    assert located.texts == {("n",): "1.10"}


@each_row(
    ("text", "expected"),
    [
        ("a: &x 1", ['yaml-feature 1:4+2 YAML anchor "&x" is not allowed']),
        ("a: 1\nb: [*x, 2]", ['yaml-feature 2:5+2 YAML alias "*x" is not allowed']),
        ("a: !!python/object:x y", ['yaml-feature 1:4+17 tag "!!python/object:x" is not allowed']),
        ("a: !x {b: 1}", ['yaml-feature 1:4+2 tag "!x" is not allowed']),
        ("<<: {a: 1}", ['yaml-feature 1:1+2 merge keys "<<" are not allowed']),
        ("a: 1\n---\nb: 2", ["yaml-feature 2:1+3 a second YAML document is not allowed"]),
        ("%YAML 1.2\n---\na: 1", ["yaml-feature 1:1+5 YAML directives are not allowed"]),
        ("t: {{x}}", ["yaml-feature 1:5+1 a key must be a string"]),
        ("? [a]\n: b", ["yaml-feature 1:3+1 a key must be a string"]),
        ("{: b}", ["yaml-syntax 1:2+1 missing key before the colon"]),
        (": b", ["yaml-syntax 1:1+1 missing key before the colon"]),
        ("?\n: b", ["yaml-feature 1:2+1 missing key before the colon"]),
        ("a: 1234567890123456789", ["yaml-feature 1:4+19 a number may have at most 18 digits"]),
        ("a: 1\nb: 2\na: 3\n", ['yaml-duplicate-key 3:1+1 duplicate key "a" (first defined on line 1)']),
        ("a: \x00b", ["yaml-syntax 1:4+1 character U+0000 is not allowed in YAML"]),
        ("a: x\u2028y", ["yaml-syntax 1:5+1 character U+2028 is not allowed in YAML"]),
        ("a: \ud800", ["yaml-syntax 1:4+1 character U+D800 is not allowed in YAML"]),
        ("\ta: 1", ["yaml-syntax 1:1+1 tabs are not allowed in the indentation of YAML"]),
        ("a: 1\n\tb: 2", ["yaml-syntax 2:1+1 tabs are not allowed in the indentation of YAML"]),
        ("title: Attention: a tour", ['yaml-syntax 1:8+17 a value that contains ": " needs quotes']),
        ("a: 1\n b: 2", ["yaml-syntax 2:2+1 this line is indented too far"]),
        ("a: @x", ['yaml-syntax 1:4+1 a value cannot start with "@"']),
        ("a: **bold**", ['yaml-syntax 1:4+1 a value cannot start with "*"']),
        ("a: ]", ['yaml-syntax 1:4+1 a value cannot start with "]"']),
        ("a: 'x\nb: 2", ["yaml-syntax 1:4+1 missing closing single quote"]),
        ("a: 'it's'", ["yaml-syntax 1:8+2 unexpected text after the closing quote"]),
        ("a: [x] y", ['yaml-syntax 1:8+1 unexpected text after the closing "]"']),
        ("a: [1, 2\nb: 3", ['yaml-syntax 1:4+1 missing closing "]" or comma in the list']),
        ("a: {b: 1", ['yaml-syntax 1:4+1 missing closing "}" or comma in the mapping']),
        ("a: 1\nb\nc: 2", ["yaml-syntax 2:1+1 invalid line: expected `key: value`"]),
        ("- a\nb: 1", ["yaml-syntax 2:1+4 invalid indentation: this line does not fit the lines above"]),
        (r'a: "\q"', [r'yaml-syntax 1:5+2 unknown escape "\q" in double quotes']),
        ("a: | x", ['yaml-syntax 1:6+1 unexpected text after "|"']),
        (r'a: "$\frac12$"', [r'yaml-escape 1:6+2 "\f" in double quotes is a control character']),
        (r'a: "$\theta$"', [r'yaml-escape 1:6+2 "\t" in double quotes is a tab']),
        (r'a: "\u0000"', [r'yaml-escape 1:5+2 "\u" in double quotes is a control character']),
        ("a: &x 1\na: 2\nb: @", [
            'yaml-feature 1:4+2 YAML anchor "&x" is not allowed',
            'yaml-duplicate-key 2:1+1 duplicate key "a" (first defined on line 1)',
            'yaml-syntax 3:4+1 a value cannot start with "@"',
        ]),
    ],
)  # fmt: skip
def test_everything_else_is_reported_at_its_place(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("title: Attention: a tour", 'write `title: "Attention: a tour"`'),
        ('- x: The "a": b', "write `x: 'The \"a\": b'`"),
        ('x: it\'s "a": b', "put the value in quotes"),
    ],
)
def test_the_hint_shows_the_quoted_value(text: str, hint: str) -> None:
    assert [d.hint for d in load(text)[1]] == [hint]


def test_a_lost_tex_command_in_double_quotes_is_only_a_warning_when_it_may_be_meant() -> None:
    assert [d.severity for d in load(r'a: "$\theta$ \frac"')[1]] == ["warning", "error"]


@each_row(
    ("text", "kept"),
    [
        ("a: 1\nb: [1, 2\n", {"a": 1}),
        ("a: 1\na: {b: [3]}\nc: 4\n", {"a": 1, "c": 4}),
        ("a: *x\nb: 2\n", {"b": 2}),
        ("[a]: 1\nb: 2\n", {"b": 2}),
        ("a: 1\n---\nb: 2", {"a": 1}),
        ("a: {{ x }}\nb: 2\n", {"b": 2}),
        ("a: !x [1]\nb: !y 2\n", {"b": "2"}),
    ],
)
def test_a_mistake_leaves_the_rest(text: str, kept: object) -> None:
    located, diagnostics = load(text)
    assert diagnostics
    assert located is not None and located.value == kept


ALIAS_BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 10))


@each_row(
    ("text", "code"),
    [
        (ALIAS_BOMB, "yaml-feature"),
        ("a: &a [*a]", "yaml-feature"),
        ("[" * 5000, "yaml-feature"),
        ("- " * 5000, "yaml-feature"),
        ("{a: " * 5000, "yaml-feature"),
        ("? " * 5000, "yaml-feature"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(300)), "yaml-feature"),
        ("a: " + "1" * 60_000, "yaml-feature"),
        ("a: 1\n" * 12_000, "yaml-duplicate-key"),
        ("a: &x 1\n" * 8000, "yaml-feature"),
        ("a: '" + "x" * 60_000, "yaml-syntax"),
        ("x" * 1_000_000, "yaml-feature"),
        ("\x00" * 60_000, "yaml-syntax"),
    ],
    ids=range(13),
)
def test_hostile_texts_end_in_few_diagnostics(text: str, code: str) -> None:
    _, diagnostics = load(text)
    assert code in {d.code for d in diagnostics}
    assert len(diagnostics) <= loader.MAX_REPORTS + 1
    assert all(d.place is not None for d in diagnostics)


PIECES = st.sampled_from(
    [*"ab:-[]{},?&*!|>%@`'\"\\#~<\n\t \x00\r\x85é😀", ": ", "\n  ", "- ", "---\n", "1e", "\\u"]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_raises_and_every_place_exists(text: str) -> None:
    lines = text.split("\n")
    located, diagnostics = load(text)
    assert located is not None
    places = (
        [d.place for d in diagnostics] + list(located.places.values()) + list(located.key_places.values())
    )
    for place in places:
        assert place is not None and 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@given(st.lists(PIECES, max_size=40).map("".join))
def test_the_python_parser_does_not_raise_either(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        located, _ = load(text)
    assert located is not None


@pytest.mark.parametrize(
    "text",
    ["title: Attention: a tour", "a: [1,2\nb: 3", "a: 'x", "a: @x", r'a: "\q"', "a: 1\nb\nc: 2", "a: **b**"],
)
def test_both_parsers_say_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = load(text)[1]
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert load(text)[1] == fast
