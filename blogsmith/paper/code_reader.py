"""Reader of the code and output on a page. It returns them as lines of coloured fragments."""

from __future__ import annotations

from collections.abc import Iterator

from ..api.books import lazy_pattern
from . import document as d
from .elements import HtmlElement

_FIRST = lazy_pattern(r"--first-line:\s*(\d{1,6})")
_CHANGES = {"del": ("gd", "-"), "ins": ("gi", "+")}
"""Name of the element around a changed line → class of the line, and the character that marks it."""


def read_code(element: HtmlElement) -> tuple[d.Block, ...]:
    """Return the code in a figure as a block, followed by the other blocks of the figure, such as a fold."""
    title = next(element.find(".code-title"), None)
    first = _FIRST.search(element.get("style"))
    found: list[d.Block] = []
    for code in element.find("pre"):
        lines = list(code.find(".line"))
        content = tuple(tuple(_line(line)) for line in lines) if lines else _split(code)
        marked = tuple(number for number, line in enumerate(lines) if "hl" in line.classes)
        name = title.text.strip() if title else ""
        is_numbered = "numbered" in element.classes
        found.append(d.PaperCode(content, name, "code", is_numbered, marked, int(first[1]) if first else 1))
    return tuple(found)


def read_output(element: HtmlElement) -> d.PaperCode:
    """Return the text of a `pre` as code."""
    is_error = "output-error" in element.classes or "output-stderr" in element.classes
    is_output = "output" in element.classes or element.name == "pre"
    return d.PaperCode(_split(element), "", "error" if is_error else "output" if is_output else "code")


def _line(line: HtmlElement) -> Iterator[tuple[str, str]]:
    if line.name in _CHANGES:
        yield _CHANGES[line.name]
    for kind, text in _fragments(line, ""):
        if text := text.rstrip("\n"):
            yield kind, text


def _fragments(element: HtmlElement, kind: str) -> Iterator[tuple[str, str]]:
    for child in element.children:
        if isinstance(child, str):
            yield kind, child
        elif child.get("data-mark"):
            yield "code-mark", f" ({child.get('data-mark')})"
        else:
            yield from _fragments(child, child.classes[0] if child.classes else kind)


def _split(element: HtmlElement) -> tuple[tuple[tuple[str, str], ...], ...]:
    text = "".join(text for _, text in _fragments(element, ""))
    return tuple((("", line),) if line else () for line in text.rstrip("\n").split("\n"))
