"""`blogsmith math`: its output for people, and that no line ends its dialogue with a program."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.cli import math_jsonl
from blogsmith.cli.main import main
from blogsmith.cli.math_jsonl import MAX_LINE, answer_lines, make_answerer
from tests.rows import each_row, thinned
from tests.test_tex_hostile import REFUSED, SURVIVED

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a current folder that is not a site."""
    monkeypatch.chdir(tmp_path)


def type_in(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Let standard input contain `data`."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def test_a_formula_is_printed_as_mathml(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["math", "x^2"]) == 0
    out, err = capsys.readouterr()
    assert out == '<math alttext="x^2"><msup><mi>x</mi><mn>2</mn></msup></math>\n'
    assert err == ""


def test_a_display_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["math", "--display", "x"]) == 0
    assert 'display="block"' in capsys.readouterr().out


@pytest.mark.parametrize("name", ["R", "\\R", " \\R "])
def test_macros_may_be_named_with_and_without_backslash(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["math", "--macro", f"{name}=\\mathbb R", "--macro", "\\two=#1=#1", r"\R\two{y}"]) == 0
    assert "<mi>ℝ</mi><mi>y</mi><mo>=</mo><mi>y</mi>" in capsys.readouterr().out


def test_the_site_here_gives_its_macros(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "blogsmith.yaml").write_text("math:\n  macros: {'\\a': 'b', '\\c': 'd'}\n")
    assert main(["math", "--macro", "\\c=e", r"\a\c"]) == 0
    assert "<mi>b</mi><mi>e</mi>" in capsys.readouterr().out


def test_wrong_settings_are_told_and_the_others_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blogsmith.yaml").write_text("pagination: -1\nmath:\n  macros: {'\\a': 'b'}\n")
    assert main(["math", r"\a"]) == 0
    out, err = capsys.readouterr()
    assert "<mi>b</mi>" in out
    assert err.startswith('blogsmith.yaml:1:13: error: "pagination" must be 0 or more [config-value]\n')


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_read(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, "a\r\n+ ü\n".encode())
    assert main(["math", *arguments]) == 0
    assert "<mi>a</mi><mo>+</mo><mi>ü</mi>" in capsys.readouterr().out


def test_a_mistake_is_shown_at_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, b"a \\\\\n+ \\betaa\n")
    assert main(["math", "--display"]) == 1
    assert capsys.readouterr() == (
        "",
        'formula:2:3: error: unknown TeX command "\\betaa" [math-command]\n'
        "    2 | + \\betaa\n"
        "      |   ^^^^^^\n"
        "hint: did you mean `\\beta`?\n",
    )


def test_input_that_is_no_text_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, b"a\n\xff")
    assert main(["math"]) == 1
    assert capsys.readouterr().err.startswith("formula:2:1: error: byte 0xff at byte offset 2 is not UTF-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jsonl", "x"], "reads formulas from standard input"),
        (["--macro", "x", "y"], 'invalid macro "x": expected \\NAME=TEX'),
        (["--macro", "\\a1=b", "y"], 'invalid macro "\\a1=b": expected'),
        (["--macro", "=b", "y"], 'invalid macro "=b": expected'),
        (["x", "y"], "unexpected extra argument"),
        (["--site", "nowhere", "x"], "does not exist"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["math", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_formula_may_begin_with_a_minus_sign(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["math", "--", "-\\varphi"]) == 0
    assert "<mi>φ</mi>" in capsys.readouterr().out


@pytest.mark.parametrize("name", thinned(sorted({*REFUSED, *SURVIVED}), every=4))
def test_hostile_formulas_are_no_bugs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tex = REFUSED[name][0] if name in REFUSED else SURVIVED[name]
    line = json.dumps({"id": name, "tex": tex, "display": True}).encode()
    answer = json.loads(make_answerer({})(line))
    assert answer.keys() & {"mathml", "kind"}
    type_in(monkeypatch, tex.encode("utf-8", "replace"))
    assert main(["math", "--display"]) == (0 if "mathml" in answer else 1) or "\0" in tex
    assert "Traceback" not in capsys.readouterr().err


def asked(*lines: object, **macros: str) -> list[Any]:
    """Return the answers to lines, given as bytes or as data for JSON."""
    data = b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )
    answers: list[bytes] = []
    answer_lines(
        io.BytesIO(data).read, answers.append, make_answerer({f"\\{name}": macros[name] for name in macros})
    )
    return [json.loads(answer) for answer in b"".join(answers).splitlines()]


def test_each_line_is_answered_in_its_turn() -> None:
    answers = asked(
        {"id": 2, "tex": "x"}, {"id": 1, "tex": "y", "display": True}, {"id": "three", "tex": "{"}
    )
    assert answers == [
        {"id": 2, "mathml": '<math alttext="x"><mi>x</mi></math>'},
        {"id": 1, "mathml": '<math display="block" alttext="y"><mi>y</mi></math>'},
        {
            "id": "three",
            "error": 'opening brace "{" is never closed',
            "kind": "math-brace",
            "offset": 0,
            "length": 1,
            "hint": "write `}` where it ends",
        },
    ]


def test_an_error_may_bring_a_hint() -> None:
    (answer,) = asked({"tex": r"α\alphaa"})
    assert (answer["offset"], answer["length"]) == (1, 7)
    assert answer["hint"] == "did you mean `\\alpha`?"


@each_row("number", [None, 0, -1.5, "x", "\ud800", [1, {"a": None}], {"deep": []}, True])
def test_an_id_comes_back_whatever_it_is(number: object) -> None:
    assert asked({"id": number, "tex": "x"})[0]["id"] == number


@pytest.mark.parametrize("macros", [{"RR": "\\mathbb{R}"}, {"\\RR": "\\mathbb{R}"}])
def test_macros_of_a_line_hold_for_that_line(macros: dict[str, str]) -> None:
    inside, outside = asked({"tex": r"\RR\S", "macros": macros}, {"tex": r"\RR\S"}, RR="r", S="s")
    assert "<mi>ℝ</mi><mi>s</mi>" in inside["mathml"]
    assert "<mi>r</mi><mi>s</mi>" in outside["mathml"]


WRONG = [
    (b"", "the line is not JSON: "),
    (b"{", "the line is not JSON: "),
    (b"\xff", "the line is not JSON: "),
    (b'{"id": NaN, "tex": "x"}', 'the line is not JSON: "NaN" is not valid JSON'),
    (b"[" * 100_000, "the line is not JSON: "),
    (b"null", "the line is not a JSON object"),
    (b'["x"]', "the line is not a JSON object"),
    (b'{"id": 1e999, "tex": "x"}', "the id cannot be written as JSON"),
    (b"x" * (MAX_LINE + 1), "the line has more than 4,000,000 bytes"),
    (b'{"display": true}', '"tex" must be a string'),
    (b'{"tex": 1}', '"tex" must be a string'),
    (b'{"tex": "x", "display": 1}', '"display" must be true or false'),
    (b'{"tex": "x", "macros": ["a"]}', '"macros" must be an object of strings'),
    (b'{"tex": "x", "macros": {"a": 1}}', '"macros" must be an object of strings'),
]


@each_row(("line", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_line_is_answered_and_the_next_one_too(line: bytes, message: str) -> None:
    wrong, right = asked(line, {"id": 1, "tex": "x"})
    assert wrong.keys() == {"id", "error"}
    assert wrong["id"] is None
    assert wrong["error"].startswith(message)
    assert "mathml" in right


def test_empty_keys_count_as_absent() -> None:
    (answer,) = asked({"id": None, "tex": "x", "display": None, "macros": None, "more": 1})
    assert answer["mathml"] == '<math alttext="x"><mi>x</mi></math>'


def test_a_bug_costs_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(tex: str, **_: object) -> None:
        raise RecursionError(tex)

    monkeypatch.setattr(math_jsonl, "convert_unnumbered", fails)
    first, second = asked({"id": 1, "tex": "x"}, {"id": 2, "tex": "y"})
    assert first == {"id": 1, "error": "blogsmith has a bug: RecursionError: x"}
    assert second["id"] == 2


_LINES = st.lists(
    st.one_of(
        st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
        st.fixed_dictionaries(
            {},
            optional={
                "id": st.one_of(st.none(), st.floats(), st.text(), st.integers()),
                "tex": st.one_of(
                    st.text(), st.sampled_from(["x", "\\frac{a}{b}", "\\foo", "{"]), st.integers()
                ),
                "display": st.one_of(st.booleans(), st.text()),
                "macros": st.dictionaries(st.text(), st.one_of(st.text(), st.integers())),
            },
        ).map(lambda line: json.dumps(line).encode()),
    ),
    max_size=5,
)


@given(_LINES, st.integers(1, 40))
def test_one_answer_to_every_line_however_it_comes(lines: list[bytes], size: int) -> None:
    whole, pieces = list[bytes](), list[bytes]()
    data = b"".join(line + b"\n" for line in lines)
    answer_lines(io.BytesIO(data).read, whole.append, make_answerer({}))
    stream = io.BytesIO(data)
    answer_lines(lambda _: stream.read(size), pieces.append, make_answerer({}))
    assert b"".join(whole) == b"".join(pieces)
    assert [set(json.loads(answer)) >= {"id"} for answer in b"".join(whole).splitlines()] == [True] * len(
        lines
    )


def test_the_last_line_needs_no_end() -> None:
    answers: list[bytes] = []
    answer_lines(io.BytesIO(b"one\ntwo").read, answers.append, lambda line: line + b"!")
    assert b"".join(answers) == b"one!two!"


def test_quick_answers_go_out_together_and_a_slow_one_at_once() -> None:
    answers: list[bytes] = []
    moments = iter((0.0, 0.001, 0.5, 0.5, 0.501, 0.502))
    lines = b"quick\nslow\nquick\nquick\n"
    answer_lines(io.BytesIO(lines).read, answers.append, lambda line: line + b"!", lambda: next(moments))
    assert answers == [b"quick!slow!", b"quick!quick!"]


def chunks_of_one_line() -> Iterator[bytes]:
    """Yield a line of 100 MB; only a part of it may be stored."""
    chunk = b"x" * (1 << 16)
    for _ in range(1600):
        yield chunk
    yield b"x\nshort\n"


def test_a_line_without_end_takes_no_memory() -> None:
    chunks, lengths = chunks_of_one_line(), list[int]()

    def answer(line: bytes) -> bytes:
        lengths.append(len(line))
        return b"."

    answer_lines(lambda _: next(chunks, b""), lambda _: None, answer)
    assert MAX_LINE < lengths[0] < MAX_LINE + 200_000
    assert lengths[1:] == [5]


def test_the_manual_shows_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    manual = (ROOT / "content" / "docs" / "command-line.md").read_text(encoding="utf-8")
    printed, questions, answers = re.findall(r"^```text\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL)[:3]
    assert main(["math", r"\frac{1}{2}"]) == 0
    assert printed == f"$ blogsmith math '\\frac{{1}}{{2}}'\n{capsys.readouterr().out}"
    assert asked(*questions.encode().splitlines()) == [json.loads(line) for line in answers.splitlines()]


def process(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Run the real command in a separate process."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "blogsmith", "math", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=settings)


def test_who_waits_for_an_answer_gets_it() -> None:
    with process("--jsonl", "--macro", "\\R=r", "--display") as running:
        assert running.stdin and running.stdout and running.stderr
        for number in range(3):
            running.stdin.write(b'{"id": %d, "tex": "\\\\R"}\n' % number)
            running.stdin.flush()
            answer = json.loads(running.stdout.readline())
            assert answer == {
                "id": number,
                "mathml": '<math display="block" alttext="\\R"><mi>r</mi></math>',
            }
        running.stdin.close()
        assert running.wait() == 0
        assert running.stderr.read() == b""


def test_a_reader_that_goes_away_is_no_error() -> None:
    with process("--jsonl") as running:
        assert running.stdin and running.stdout and running.stderr
        running.stdout.close()
        running.stdin.write(b'{"tex": "x"}\n' * 10)
        running.stdin.close()
        assert running.wait() == 0
        assert running.stderr.read() == b""


def test_a_terminal_without_the_signs_gets_references() -> None:
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with process("\\alpha", **plain) as running:
        out, _ = running.communicate()
    assert b"<mi>&#945;</mi>" in out


def test_starting_loads_neither_markdown_nor_templates() -> None:
    report = (
        "from blogsmith.cli.main import main; main(['math', 'x']); import sys;"
        "print(*sorted(set(sys.modules) & {'markdown_it', 'jinja2', 'pygments', 'PIL', 'yaml', 'rich'}))"
    )
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    out = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, env=settings).stdout
    assert out.splitlines()[1:] == [""]
