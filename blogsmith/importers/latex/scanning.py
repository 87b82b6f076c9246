r"""Groups, formulas and code in LaTeX, found by the rules of TeX. Every `$` outside of code begins or ends a
formula."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Literal, NamedTuple

from ...api.importing import DISPLAY_ENVIRONMENTS, LATEX_FORMULAS, lazy_pattern, name_set
from .source import CODE

_BRACE = lazy_pattern(r"\\.|[{}]", 16)
_BRACKET = lazy_pattern(r"\\.|[{}\[\]]", 16)
MAX_GROUP = 200_000
"""Maximum length of an argument in characters."""
_MAX_INLINE = 10_000
DRAWINGS = name_set("tikzpicture circuitikz feynman pspicture picture forest")
_DISPLAYS = frozenset(DISPLAY_ENVIRONMENTS) | name_set("dmath dmath* darray")
_OPENING = lazy_pattern(
    r"\\begin\s*\{(?P<name>[A-Za-z]+\*?)\}|\\verb\*?(?P<sign>[^A-Za-z*\s])|(?P<url>\\(?:url|href|path"
    r"|nolinkurl)\s*\{)"
    rf"|\\(?P<quantity>{'|'.join(sorted(LATEX_FORMULAS))})(?=[\[{{])"
    r"|(?P<math>\$\$|\$|\\\(|\\\[)|\\[\s\S]"
)
_DOLLAR = lazy_pattern(r"\\[\s\S]|[{}$]|\n[ \t]*\n")
ALGORITHMS = name_set("algorithm algorithm* algorithmic algorithmic*")
SpanKind = Literal["inline", "display", "environment", "code", "drawing", "url", "algorithm"]


class TexSpan(NamedTuple):
    """A range of a text that is not prose."""

    kind: SpanKind
    start: int
    end: int
    inner: int
    """Offset where the content starts."""
    inner_end: int
    name: str
    r"""Name of the environment; `verb` for `\verb`; empty for others."""


def group_end(text: str, start: int, pattern_end: int | None = None) -> int:
    """Return the index after the brace that closes the brace at `start`. Return -1 if there is no brace at
    `start`, or if it is not closed. pattern_end: where the search ends."""
    if not text.startswith("{", start):
        return -1
    depth = 0
    limit = min(len(text), start + MAX_GROUP) if pattern_end is None else pattern_end
    for found in _BRACE.finditer(text, start, limit):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return -1


def option_end(text: str, start: int) -> int:
    """Return the index after the bracket that closes the bracket at `start`. Return -1 if there is no bracket
    at `start`, or if it is not closed."""
    if not text.startswith("[", start):
        return -1
    depth = nested = 0
    for found in _BRACKET.finditer(text, start, min(len(text), start + 4000)):
        nested += {"{": 1, "}": -1}.get(found[0], 0)
        if nested < 0:
            return -1
        if nested == 0:
            depth += {"[": 1, "]": -1}.get(found[0], 0)
            if depth == 0:
                return found.end()
    return -1


def groups_end(text: str, position: int) -> int:
    """Return the index after all options and groups that start at `position` without spaces between them."""
    while (after := max(option_end(text, position), group_end(text, position))) > 0:
        position = after
    return position


def skip_space(text: str, start: int) -> int:
    """Return the index of the next character after spaces and at most one line end. Before a blank line,
    return `start`."""
    position, lines = start, 0
    while position < len(text) and text[position].isspace():
        lines += text[position] == "\n"
        if lines > 1:
            return start
        position += 1
    return position


def find_spans(text: str, *, finds_algorithms: bool = False) -> Iterator[TexSpan]:
    """Yield formulas, code, drawings and URLs in order. finds_algorithms: whether to yield also each
    algorithm as one span, without the formulas in it."""
    position, missing = 0, set[str]()
    while found := _OPENING.search(text, position):
        position = found.end()
        name = found["name"] or ""
        if name not in ALGORITHMS or finds_algorithms:
            span = _read_span(text, found.start(), name, found["sign"], found["math"], missing)
        else:
            span = None
        if found["url"]:
            end = group_end(text, found.end() - 1)
            span = TexSpan("url", found.start(), end, found.end(), end - 1, "") if end > 0 else None
        if found["quantity"]:
            end = groups_end(text, found.end())
            is_closed = end > found.end()
            span = TexSpan("inline", found.start(), end, found.start(), end, "") if is_closed else None
        if span is not None:
            yield span
            position = span.end


def _read_span(
    text: str, start: int, name: str, sign: str | None, math: str | None, missing: set[str]
) -> TexSpan | None:
    if sign:
        at = text.find(sign, text.index(sign, start) + 1)
        line = text.find("\n", start)
        return TexSpan("code", start, at + 1, start, at, "verb") if at >= 0 and not 0 <= line < at else None
    if math:
        return _read_formula(text, start, math)
    kinds: tuple[tuple[SpanKind, Container[str]], ...] = (
        ("code", CODE),
        ("drawing", DRAWINGS),
        ("algorithm", ALGORITHMS),
        ("environment", _DISPLAYS),
    )
    kind = next((kind for kind, names in kinds if name in names), None)
    if kind is None:
        return None
    ending = f"\\end{{{name}}}"
    inner = text.index("}", start) + 1
    at = -1 if ending in missing else text.find(ending, inner)
    if at < 0:
        missing.add(ending)
        return None
    return TexSpan(kind, start, at + len(ending), inner, at, name)


def _read_formula(text: str, start: int, opening: str) -> TexSpan | None:
    inner = start + len(opening)
    if opening[0] == "\\":
        closing = "\\)" if opening == "\\(" else "\\]"
        at = text.find(closing, inner, inner + MAX_GROUP)
        while at > 0 and text[at - 1] == "\\" and text[at - 2] != "\\":
            at = text.find(closing, at + 1, inner + MAX_GROUP)
        kind: SpanKind = "inline" if opening == "\\(" else "display"
        return TexSpan(kind, start, at + 2, inner, at, "") if at >= 0 else None
    depth = 0
    limit = inner + (_MAX_INLINE if opening == "$" else MAX_GROUP)
    for found in _DOLLAR.finditer(text, inner, min(len(text), limit)):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth < 0:
                return None
        elif found[0][0] == "\n":
            if opening == "$":
                return None
        elif found[0] == "$" and depth == 0:
            if opening == "$":
                return TexSpan("inline", start, found.end(), inner, found.start(), "")
            if text.startswith("$$", found.start()):
                return TexSpan("display", start, found.start() + 2, inner, found.start(), "")
    return None
