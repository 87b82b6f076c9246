"""Reading and writing of case files, the specification of the syntax: title, source, HTML.

A case is a title line, then source and expectation between lines with a single dot. Neither part may contain
this line; `format_cases` rejects it. A source may start with settings of the site between `=== config` and
`===`, and with results of its cells between `=== results` and `===`; `split_config` and `split_results`
remove them. Files named `tex-*` specify the conversion of formulas, so they show the content of `<math>`.
The others specify the position and labels of formulas, so there the content is folded to `…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases"

CONFIG = "plugins: [emoji_callouts, hf_space]\n"
"""Default settings of the site."""

_CONFIG = re.compile(r"=== config\n(.*?)^===\n", re.DOTALL | re.MULTILINE)
_RESULTS = re.compile(r"=== results\n(.*?)^===\n", re.DOTALL | re.MULTILINE)
_MATH = re.compile(r'(<math\b(?:[^>"]|"[^"]*")*>)(.*?)(</math>)', re.DOTALL)
_ALTTEXT = re.compile(r' (?:alttext|data-tex)="[^"]*"')
_TABLE_PART = re.compile(r"(?=<mtr\b)|(?<=</mtr>)(?=</mtable>)")
_ROW_MARK = re.compile(r'<mtr id="[^"]*">|<mtext class="eq-number">[^<]*</mtext>|<mrow class="eq-number">')


@dataclass(frozen=True, slots=True)
class Case:
    """An example of the syntax."""

    file: str
    """Name of the case file without `.md`."""
    line: int
    """Line number of the title, from 1."""
    title: str
    source: str
    r"""Content of the post, lines joined by \n, without a final newline."""
    expected: str
    """HTML in the form of `shown_html`, then one line `! code line:column` for each diagnostic."""

    @property
    def shows_mathml(self) -> bool:
        """Return whether the case shows the content of `<math>`."""
        return self.file.startswith("tex-")

    @property
    def id(self) -> str:
        """Return `file:line-title`, the name of the test."""
        return f"{self.file}:{self.line}-{self.title}"


def parse_cases(text: str, file: str) -> list[Case]:
    """Parse the cases of a file, in order. ValueError if the form is invalid."""
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
    """Return the indices of the three dots after the title at index `title`."""
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
    """Return the content of a case file; inverse of `parse_cases`."""
    return "\n".join(_format(case) for case in cases)


def _format(case: Case) -> str:
    if "." in case.source.split("\n") or "." in case.expected.split("\n"):
        raise ValueError(f"{case.id}: a line with a single dot cannot stand in a case")
    expected = [case.expected] if case.expected else []
    return "\n".join([case.title, ".", case.source, ".", *expected, ".", ""])


def split_config(source: str) -> tuple[str, str]:
    """Split a source into (settings, post). Results stay at the start of the post."""
    found = _CONFIG.match(source)
    return (found[1], source[found.end() :]) if found else (CONFIG, source)


def split_results(post: str) -> tuple[str, str]:
    """Split a post without settings into (JSON of results, post). The JSON may be empty."""
    found = _RESULTS.match(post)
    return (found[1], post[found.end() :]) if found else ("", post)


def case_files() -> list[Path]:
    """Return every case file, sorted by name."""
    return sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def read_cases(path: Path) -> list[Case]:
    """Return the cases of the file at `path`."""
    return parse_cases(path.read_text(encoding="utf-8"), path.stem)


def all_cases() -> list[Case]:
    """Return the cases of all files."""
    return [case for path in case_files() for case in read_cases(path)]


def shown_html(html: str, *, mathml: bool) -> str:
    """Return `html` as shown in a case. mathml: with the content of `<math>`, one line per row of a table."""
    if not mathml:
        return fold_math(html)
    return _MATH.sub(lambda math: _ALTTEXT.sub("", math[1]) + _TABLE_PART.sub("\n", math[2]) + math[3], html)


def fold_math(html: str) -> str:
    """Replace the content of every `<math>` in `html` by `…` and its numbered rows."""
    return _MATH.sub(lambda math: math[1] + _fold(math[2]) + math[3], html)


def _fold(inside: str) -> str:
    return "…" + "".join(f"{mark}…" for mark in _ROW_MARK.findall(inside))
