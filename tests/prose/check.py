"""Find phrases of `terms.tsv` in docstrings, comments, messages and documents.

Usage: `python -m tests.prose.check [FILES...]`, by default all files. Prints every banned phrase, and with
FILES every odd one too. Code spans, formulas and fenced blocks are not prose.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "content/_index.md",
)
CODE_FOLDERS = ("blogsmith", "plugins", "themes", "scripts", "tests")
_CODE = re.compile(r"``[^`]*``|`[^`]*`|\$[^$\n]*\$|\([^()\s]*\)(?<=\))|<[^<>\n]*>")
_FRAGMENT = re.compile(r"(?:What|Of|As|Those|Who|Whose|That|Which|Than|Else)\b")
_NO_PROSE = re.compile(r"\(\?|\\[sdwbS]|\[\^|</?[a-z]")
"""Strings with these are patterns or HTML, not messages."""
_TOOLS = ("noqa", "type:", "pragma", "ruff", "fmt")
"""Comments that begin with these are for tools."""


@dataclass(frozen=True, slots=True)
class Term:
    """A row of `terms.tsv`."""

    is_banned: bool
    pattern: re.Pattern[str]
    suggestion: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A line of prose."""

    area: str
    """`docstrings`, `comments`, `messages`, `tests`, `manual` or the name of a document."""
    path: str
    line: int
    text: str
    starts_docstring: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A phrase in a passage."""

    passage: Passage
    phrase: str
    suggestion: str
    is_banned: bool

    def __str__(self) -> str:
        passage = self.passage
        return f"{passage.path}:{passage.line}: {self.phrase!r}: write {self.suggestion}: {passage.text[:90]}"


@cache
def terms() -> tuple[Term, ...]:
    """Return the rows of `terms.tsv`."""
    rows = (line.split("\t") for line in _table(HERE / "terms.tsv"))
    return tuple(Term(kind == "ban", re.compile(pattern, re.I), better) for kind, pattern, better in rows)


@cache
def exceptions() -> Mapping[tuple[str, str], str]:
    """Map (path, phrase) to the reason why the phrase is right there."""
    rows = (line.split("\t") for line in _table(HERE / "exceptions.tsv"))
    return {(path, phrase): reason for path, phrase, reason in rows}


def limits() -> Mapping[str, float]:
    """Map areas to the largest rate of odd phrases per 1,000 words."""
    rows = (line.split("\t") for line in _table(HERE / "limits.tsv"))
    return {area: float(rate) for area, rate in rows}


def _table(file: Path) -> list[str]:
    lines = [line for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return lines[1:]


def all_files() -> list[Path]:
    """Return the files with our prose, sorted."""
    code = [file for folder in CODE_FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    manual = [file for file in sorted((ROOT / "content/docs").rglob("*.md")) if "." not in file.stem]
    documents = [file for name in DOCUMENTS if (file := ROOT / name).is_file()]
    return [file for file in (*code, *manual, *documents) if "node_modules" not in file.parts]


def passages(file: Path) -> Iterator[Passage]:
    """Yield the prose of a file."""
    path = file.relative_to(ROOT).as_posix()
    text = file.read_text("utf-8")
    if file.suffix == ".py":
        yield from _python_passages(path, text)
    elif file.suffix == ".md":
        area = "manual" if path.startswith("content/docs/") else Path(path).stem.strip("_").lower()
        yield from (Passage(area, path, number, line) for number, line in _markdown_lines(text))


def _python_passages(path: str, text: str) -> Iterator[Passage]:
    is_test = path.startswith("tests/")
    docstrings: set[int] = set()
    quoted: list[ast.expr] = []
    # breadth first: a statement comes before its value
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add(id(node.value))
        if isinstance(node, ast.Constant | ast.JoinedStr):
            quoted.append(node)
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in docstrings:
            area = "tests" if is_test else "docstrings"
            for number, line in enumerate(node.value.splitlines()):
                yield Passage(area, path, node.lineno + number, line.strip(), number == 0)
        elif not is_test and _is_message(node.value):
            yield Passage("messages", path, node.lineno, " ".join(node.value.split()))
    for number, comment in _comments(text, quoted):
        words = comment.lstrip("#:! ").strip()
        if words and not words.startswith(_TOOLS):
            yield Passage("tests" if is_test else "comments", path, number, words)


def _comments(text: str, quoted: Iterable[ast.expr]) -> Iterator[tuple[int, str]]:
    """Yield line numbers and comments of Python code; faster than `tokenize` by a factor of five.

    quoted: its constants and f-strings; a `#` in them begins no comment, so a comment between the parts of
    one string is not found.
    """
    inside: dict[int, list[tuple[int, float]]] = {}
    for node in quoted:
        first, last, end = node.lineno, node.end_lineno or 0, node.end_col_offset or 0
        for number in range(first, last + 1):
            columns = (node.col_offset if number == first else 0, end if number == last else math.inf)
            inside.setdefault(number, []).append(columns)
    # columns of `ast` are those of UTF-8
    for number, line in enumerate(text.encode().splitlines(), 1):
        column = line.find(b"#")
        while column >= 0 and any(start <= column < end for start, end in inside.get(number, ())):
            column = line.find(b"#", column + 1)
        if column >= 0:
            yield number, line[column:].decode()


def _is_message(text: str) -> bool:
    has_words = len(text.split()) >= 3 and re.search(r"[a-z]{2,} [a-z]+", text)
    return bool(has_words) and not _NO_PROSE.search(text)


def _markdown_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield line numbers and lines of prose, without front matter, fences and generated examples."""
    lines = text.splitlines()
    start = 0
    if lines and lines[0] == "---":
        start = next((number + 1 for number, line in enumerate(lines[1:], 1) if line == "---"), 0)
    fence, is_live = "", False
    for number, line in enumerate(lines[start:], start + 1):
        if opening := re.match(r"\s*(`{3,}|~{3,})", line):
            if not fence:
                fence = opening[1]
            elif line.strip().startswith(fence):
                fence = ""
            continue
        if fence:
            continue
        is_live = (is_live or "<!-- live -->" in line) and "<!-- end live -->" not in line
        if not is_live and not line.lstrip().startswith("<") and line.strip():
            yield number, line.strip()


def findings(passage: Passage) -> Iterator[Finding]:
    """Yield the phrases of `terms.tsv` in a passage, without exceptions."""
    plain = _CODE.sub("X", passage.text)
    if passage.starts_docstring and (opening := _FRAGMENT.match(plain)):
        better = "a verb for a function, a noun for a class or a field"
        yield Finding(passage, opening[0], better, is_banned=True)
    for term in terms():
        for found in term.pattern.finditer(plain):
            phrase = found[0].strip()
            if (passage.path, phrase) not in exceptions():
                yield Finding(passage, phrase, term.suggestion, term.is_banned)


def rates(everything: Iterable[Passage], found: Iterable[Finding]) -> dict[str, float]:
    """Return odd phrases per 1,000 words, by area; `found` are the findings of all passages."""
    words: Counter[str] = Counter()
    for passage in everything:
        words[passage.area] += len(_CODE.sub("X", passage.text).split())
    odd = Counter(one.passage.area for one in found if not one.is_banned)
    return {area: 1000 * odd[area] / count for area, count in words.items()}


def main(arguments: Sequence[str]) -> int:
    """Print what is found; return 1 if a banned phrase is among it."""
    files = [Path(name).resolve() for name in arguments] if arguments else all_files()
    known = {*all_files()}
    found = [one for file in files if file in known for part in passages(file) for one in findings(part)]
    shown = [one for one in found if one.is_banned or arguments]
    for one in shown:
        print(one)
    return 1 if any(one.is_banned for one in shown) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
