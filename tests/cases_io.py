"""Reading and writing of case files: the specification of the syntax as title, source, HTML.

A case is a title line, then source and expectation between lines that hold a single dot. Neither
part may itself hold such a line; `format_cases` refuses. A source may begin with settings of the
site between `=== config` and `===`, and with what its cells came to between `=== results` and `===`;
`split_config` and `split_results` take them off. Files named `tex-*` say how a formula is
converted, so they show the inside of `<math>`; the others say where it stands and what labels it has, and
there the inside is folded to `…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases"

CONFIG = "plugins: [emoji_callouts, hf_space]\n"
"""Settings of the site where a case names none."""

_CONFIG = re.compile(r"=== config\n(.*?)^===\n", re.DOTALL | re.MULTILINE)
_RESULTS = re.compile(r"=== results\n(.*?)^===\n", re.DOTALL | re.MULTILINE)
_MATH = re.compile(r'(<math\b(?:[^>"]|"[^"]*")*>)(.*?)(</math>)', re.DOTALL)
_ALTTEXT = re.compile(r' (?:alttext|data-tex)="[^"]*"')
_TABLE_PART = re.compile(r"(?=<mtr\b)|(?<=</mtr>)(?=</mtable>)")
_ROW_MARK = re.compile(r'<mtr id="[^"]*">|<mtext class="eq-number">[^<]*</mtext>|<mrow class="eq-number">')


@dataclass(frozen=True, slots=True)
class Case:
    """One example of the syntax."""

    file: str
    """Name of the case file without `.md`."""
    line: int
    """1-based line of the title."""
    title: str
    source: str
    """The post's text, lines joined by \\n, without a final newline."""
    expected: str
    """HTML as `shown_html` has it, then one line `! code line:column` for each diagnostic."""

    @property
    def shows_mathml(self) -> bool:
        """Whether the case is about the inside of `<math>`."""
        return self.file.startswith("tex-")

    @property
    def id(self) -> str:
        """`file:line-title`, the name of the test."""
        return f"{self.file}:{self.line}-{self.title}"


def parse_cases(text: str, file: str) -> list[Case]:
    """The cases of a file's text, in order; ValueError where the form is broken."""
    lines = text.split("\n")
    cases, at = [], 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        dots = _dots(lines, at, file)
        source = "\n".join(lines[dots[0] + 1 : dots[1]])
        expected = "\n".join(lines[dots[1] + 1 : dots[2]])
        cases.append(Case(file, at + 1, lines[at], source, expected))
        at = dots[2] + 1
    return cases


def _dots(lines: Sequence[str], title: int, file: str) -> tuple[int, int, int]:
    """Indices of the three dots behind the title at index `title`."""
    found = [title + 1] if lines[title + 1 : title + 2] == ["."] else []
    while found and len(found) < 3:
        try:
            found.append(lines.index(".", found[-1] + 1))
        except ValueError:
            break
    if len(found) < 3:
        raise ValueError(f"{file}.md:{title + 1}: a case is title, dot, source, dot, HTML, dot")
    return found[0], found[1], found[2]


def format_cases(cases: Iterable[Case]) -> str:
    """The text of a case file; inverse of `parse_cases`."""
    return "\n".join(_format(case) for case in cases)


def _format(case: Case) -> str:
    if "." in case.source.split("\n") or "." in case.expected.split("\n"):
        raise ValueError(f"{case.id}: a line with a single dot cannot stand in a case")
    expected = [case.expected] if case.expected else []
    return "\n".join([case.title, ".", case.source, ".", *expected, ".", ""])


def split_config(source: str) -> tuple[str, str]:
    """(settings, post) of a case's source; results still stand before the post's first line."""
    found = _CONFIG.match(source)
    return (found[1], source[found.end() :]) if found else (CONFIG, source)


def split_results(post: str) -> tuple[str, str]:
    """(JSON of results, post) of a post without settings; the JSON is empty if the case has none."""
    found = _RESULTS.match(post)
    return (found[1], post[found.end() :]) if found else ("", post)


def case_files() -> list[Path]:
    """Every case file, sorted by name."""
    return sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def read_cases(path: Path) -> list[Case]:
    """The cases of the file at `path`."""
    return parse_cases(path.read_text(encoding="utf-8"), path.stem)


def all_cases() -> list[Case]:
    """The cases of every file."""
    return [case for path in case_files() for case in read_cases(path)]


def shown_html(html: str, *, mathml: bool) -> str:
    """`html` as a case shows it. mathml: with the inside of `<math>`, a line for each row of a table."""
    if not mathml:
        return fold_math(html)
    return _MATH.sub(lambda math: _ALTTEXT.sub("", math[1]) + _TABLE_PART.sub("\n", math[2]) + math[3], html)


def fold_math(html: str) -> str:
    """`html` with the inside of every `<math>` cut down to `…` and its numbered rows."""
    return _MATH.sub(lambda math: math[1] + _fold(math[2]) + math[3], html)


def _fold(inside: str) -> str:
    return "…" + "".join(f"{mark}…" for mark in _ROW_MARK.findall(inside))
