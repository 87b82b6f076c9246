"""Directives of code: what is shown, what is read from a file, and cells, which run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from ...base.patterns import lazy_pattern
from ..text.containers import dedent, fence, trim_blank_lines
from .directives import Directive
from .walker import Walker

_RANGE = lazy_pattern(r"\s*(\d*)\s*-?\s*(\d*)\s*")
_IPYTHON = lazy_pattern(r"\s*(?:%%?[A-Za-z]|![\w./]|\?\w|\w[\w.]*\?\s*$)")
_TAGS = {
    "hide-input": ("code-fold", "true"),
    "hide-cell": ("code-fold", "true"),
    "remove-input": ("echo", "false"),
    "remove-output": ("output", "false"),
    "hide-output": ("output", "true"),
    "remove-cell": ("include", "false"),
    "raises-exception": ("error", "true"),
    "skip-execution": ("eval", "false"),
    "remove-stderr": ("warning", "false"),
}
"""Tag of a cell → what says the same here."""
_PYTHON = frozenset(("", "python", "python3", "ipython", "ipython3", "py"))


def translate_code(walker: Walker, directive: Directive) -> list[str]:
    """`{code-block} language`, `{code}`, `{sourcecode}`."""
    return _listing(walker, directive, directive.argument, directive.body)


def translate_include_code(walker: Walker, directive: Directive) -> list[str]:
    """`{literalinclude} path`: the lines of the file it asks for."""
    content = walker.book.read(walker.resolve(directive.argument))
    if content is None:
        walker.notice("missing", f"file {directive.argument} is not there", directive.line)
        return [*walker.anchor(), *fence("text", directive.raw)]
    suffix = directive.argument.rpartition(".")[2].lower()
    language = directive.option("language", "lang", "code") or _LANGUAGES.get(suffix, suffix)
    return _listing(walker, directive, language, chosen_lines(content.split("\n"), directive))


_LANGUAGES = {
    "py": "python",
    "jl": "julia",
    "md": "markdown",
    "yml": "yaml",
    "sh": "bash",
    "js": "javascript",
}


def chosen_lines(lines: Sequence[str], directive: Directive) -> list[str]:
    """The lines of a file that an including directive asks for."""
    chosen = list(lines)
    for name, shift in (("start-after", 1), ("start-at", 0)):
        if mark := directive.option(name):
            chosen = chosen[next((n + shift for n, line in enumerate(chosen) if mark in line), 0) :]
    for name, shift in (("end-before", 0), ("end-at", 1)):
        if mark := directive.option(name):
            chosen = chosen[: next((n + shift for n, line in enumerate(chosen) if mark in line), len(chosen))]
    if written := directive.option("lines"):
        numbers = set(line_numbers(written, len(chosen)))
        chosen = [line for number, line in enumerate(chosen, 1) if number in numbers]
    start, end = (directive.option(name) for name in ("start-line", "end-line"))
    if re.fullmatch(r"-?\d+", start) or re.fullmatch(r"-?\d+", end):
        chosen = chosen[int(start or 0) : int(end) if end else None]
    if (width := directive.option("dedent")).isdecimal():
        chosen = dedent(chosen, int(width))
    return trim_blank_lines(chosen)


def line_numbers(text: str, count: int) -> Iterator[int]:
    """`1,3-5,8-` as numbers."""
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if found and part.strip():
            first = int(found[1] or 1)
            yield from range(first, int(found[2] or (count if "-" in part else first)) + 1)


def _listing(walker: Walker, directive: Directive, language: str, code: Iterable[str]) -> list[str]:
    name = directive.label
    anchor = walker.anchor()
    if name:
        walker.pending.append(name)
        anchor += walker.anchor()
    info = [language.strip() or "text"]
    if title := directive.option("caption", "filename"):
        info.append(f'title="{" ".join(title.split()).replace(chr(34), chr(39))}"')
    if marked := re.sub(r"[^\d,-]", "", directive.option("emphasize-lines")).strip(","):
        info.append(f"{{{marked}}}")
    start = directive.option("lineno-start", "number-lines")
    if {"linenos", "lineno-start", "number-lines"} & directive.options.keys():
        info.append("linenos" + (f" start={start}" if start.isdecimal() and start != "1" else ""))
    return [*anchor, *fence(" ".join(info), trim_blank_lines(list(code)))]


def translate_cell(walker: Walker, directive: Directive) -> list[str]:
    """`{code-cell} language`: a cell of ours, its tags as `#|` lines."""
    code = trim_blank_lines(directive.body)
    options = dict(_cell_options(walker, directive, code))
    language = directive.argument.strip().lower()
    head = "python" if language in _PYTHON else language.split()[0]
    # a fence in braces is a cell without options, too
    lines = [f"#| {key}: {value}" for key, value in options.items()]
    return [*walker.anchor(), *fence(f"{{{head}}}", [*lines, *code])]


def _cell_options(walker: Walker, directive: Directive, code: Sequence[str]) -> Iterator[tuple[str, str]]:
    tags = re.split(r"[\s,]+", directive.option("tags").strip("[] ").replace('"', "").replace("'", ""))
    for tag in tags:
        if tag in _TAGS and _TAGS[tag] != ("output", "true"):
            yield _TAGS[tag]
    command = next((line.strip() for line in code if _IPYTHON.match(line)), "")
    if command and "skip-execution" not in tags and "output" not in directive.options:
        word = command.split()[0]
        message = f"a cell with {word}, a command of IPython, is shown and not run"
        walker.notice("changed", message, directive.line, hint="write it in Python, and remove eval: false")
        yield "eval", "false"
    if caption := directive.option("caption"):
        label = directive.option("name", "label")
        if label:
            yield "label", walker.add_label("fig", label)
        yield "fig-cap", json.dumps(" ".join(caption.split()), ensure_ascii=False)
    elif label := directive.option("label", "name"):
        walker.pending.append(label)
    if alt := directive.option("alt"):
        yield "fig-alt", json.dumps(alt, ensure_ascii=False)
