r"""`\begin{subequations} … \end{subequations}`: displays with one number, distinguished by letters.

The environment itself is removed, and the displays in it become blocks in one `<div>`. Text between them
becomes a paragraph. A `\label` outside the displays names the shared number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.model import Place
from ...base.patterns import lazy_pattern
from ..figures import parse_inline
from ..records import Math, Subequations, attach_record, get_record
from ..references.labels import normal_id
from ..state import PageState, get_page
from .delimiters import closing_delimiter, environment

_BEGIN = "\\begin{subequations}"
_END = "\\end{subequations}"
_LABEL = lazy_pattern(r"\\label\s*\{\s*([^{}]*?)\s*\}")
_SPACE = lazy_pattern(r"(?:\s|%[^\n]*(?:\n|$))+")
_STOP = lazy_pattern(r"%[^\n]*|(\\(?:begin|label)(?![A-Za-z]))|\\.", re.DOTALL)
r"""Matches `\begin` and `\label`, which may start a part. Comments and escapes match without a group, to be
skipped."""


def subequations(state: StateCore) -> None:
    """Replace each `subequations` environment by its content (core rule, after displays have
    become blocks)."""
    if not any(
        _BEGIN in get_record(token, Math).tex for token in state.tokens if token.type == "math_display"
    ):
        return
    result: list[Token] = []
    for token in state.tokens:
        inside = _inside_span(get_record(token, Math).tex) if token.type == "math_display" else None
        if inside is None:
            result.append(token)
        else:
            result += _Expansion(token, get_page(state.env), state.md).blocks(*inside)
    state.tokens = result


def _inside_span(tex: str) -> tuple[int, int] | None:
    """Return the range between the tags of the environment if `tex` contains nothing else; otherwise None."""
    if _BEGIN not in tex:
        return None
    start = tex.index(_BEGIN)
    found = environment(tex, start, len(tex))
    if found is None or tex[:start].strip() or tex[found.end :].strip():
        return None
    return start + len(_BEGIN), found.end - len(_END)


class _Part(Struct, frozen=True):
    """A range inside the environment."""

    kind: Literal["display", "label", "text"]
    start: int
    end: int


def _parts(tex: str, start: int, end: int) -> list[_Part]:
    """Return the parts of the environment: displays, labels and text. Return an empty list if the environment
    has no display, or if a display has no end."""
    parts: list[_Part] = []
    text = start
    for stop in _STOP.finditer(tex, start, end):
        pos = stop.start()
        if pos < text or not stop[1]:
            continue
        display = environment(tex, pos, end)
        if display is None and closing_delimiter(tex, pos, end):
            return []
        label = _LABEL.match(tex, pos, end)
        if display or label:
            after = display.end if display else label.end() if label else pos
            parts += [_Part("text", text, pos), _Part("display" if display else "label", pos, after)]
            text = after
    parts.append(_Part("text", text, end))
    return parts if any(part.kind == "display" for part in parts) else []


class _Expansion(Struct):
    """Builds the blocks that replace one `subequations` environment."""

    token: Token
    page: PageState
    md: MarkdownIt
    label: str = ""
    label_place: Place | None = None

    def blocks(self, start: int, end: int) -> list[Token]:
        """Return the blocks that replace the environment, or the original token if the environment contains
        no display."""
        math = get_record(self.token, Math)
        parts = _parts(math.tex, start, end)
        if not parts:
            return [self.token]
        for part in parts:
            if part.kind == "label":
                origin = math.origin.cut(part.start, part.end)
                found = _LABEL.fullmatch(origin.text)
                written = found[1] if found else ""
                place = origin.place(origin.text.find(written), max(1, len(written)))
                self._name(normal_id(written), place)
        if math.label:
            self._name(math.label, math.label_place or math.origin.place(0))
        opening = self._make_token("subequations_open", "div", 1)
        opening.attrs["class"] = "subequations"
        attach_record(opening, Subequations(self.label, self.label_place))
        inside = [token for part in parts for token in self._part(math, part)]
        if math.tail:
            last = next(token for token in reversed(inside) if token.type == "math_display")
            attach_record(last, replace(get_record(last, Math), tail=math.tail))
        return [opening, *inside, self._make_token("subequations_close", "div", -1)]

    def _name(self, label: str, place: Place) -> None:
        if not label:
            self.page.reporter.error(
                "math-syntax", 'missing name in "\\label"', place, "write `\\label{eq:name}`"
            )
        elif self.label:
            message = f'duplicate label: these equations already have "{self.label}"'
            self.page.reporter.error("label-twice", message, place, "keep one of the labels")
        else:
            self.label, self.label_place = label, place

    def _part(self, math: Math, part: _Part) -> Iterator[Token]:
        start = part.start
        while part.kind == "text" and (blank := _SPACE.match(math.tex, start, part.end)):
            start = blank.end()
        origin = math.origin.cut(start, start + len(math.tex[start : part.end].rstrip()))
        if part.kind == "display":
            token = self._make_token("math_display", "math", 0, origin.text)
            attach_record(token, Math(origin.text, True, origin))
            yield token
        elif part.kind == "text" and origin.text:
            yield self._make_token("paragraph_open", "p", 1)
            inline = self._make_token("inline", "", 0, origin.text)
            attach_record(inline, origin)
            inline.children = parse_inline(self.md, origin, self.page)
            yield inline
            yield self._make_token("paragraph_close", "p", -1)

    def _make_token(self, kind: str, tag: str, nesting: Literal[-1, 0, 1], content: str = "") -> Token:
        level = self.token.level + (not kind.startswith("subequations"))
        token = Token(kind, tag, nesting, content=content, block=True, level=level)
        token.map = self.token.map
        return token
