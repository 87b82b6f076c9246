"""Formats the tokens of a parsed post as text, for `blogsmith tokens`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place, TextMap
from ..model.cells import CellOptions

_HIDDEN = ("origin", "arg_maps", "place", "places", "texts", "code", "settings")


def format_tokens(tokens: Sequence[Token], first_line: int) -> str:
    """Return one line for each token: line in the file, type, content, attributes and record."""
    return "\n".join(_lines(tokens, first_line, 0)) + "\n"


def _lines(tokens: Sequence[Token], first_line: int, depth: int) -> Iterator[str]:
    for token in tokens:
        if token.nesting < 0:
            depth -= 1
        place = _place(token, first_line)
        parts = [f"{place:>8}", "  " * max(0, depth) + token.type]
        if token.content and token.type != "inline":
            parts.append(repr(token.content if len(token.content) <= 60 else token.content[:57] + "…"))
        parts += [f"{key}={value!r}" for key, value in token.attrs.items()]
        parts += [
            _record(record)
            for record in token.meta.values()
            if isinstance(record, Struct) and not isinstance(record, TextMap)
        ]
        yield " ".join(parts).rstrip()
        yield from _lines(token.children or (), first_line, depth + 1)
        if token.nesting > 0:
            depth += 1


def _place(token: Token, first_line: int) -> str:
    for record in token.meta.values():
        at = getattr(record, "place", None)
        origin = getattr(record, "origin", None)
        if isinstance(origin, TextMap):
            at = origin.place(0)
        if isinstance(at, Place):
            return f"{at.line}:{at.column}"
    return str(token.map[0] + first_line) if token.map else ""


def _record(record: Struct) -> str:
    shown = []
    for field in record.__struct_fields__:
        value = getattr(record, field)
        if isinstance(value, CellOptions):
            shown += [f"{name}={said!r}" for name, said in _option_items(value)]
        elif field not in _HIDDEN and value not in ("", (), None, False, frozenset()):
            shown.append(f"{field}={value!r}")
    return f"{type(record).__name__}({', '.join(shown)})"


def _option_items(options: CellOptions) -> Iterator[tuple[str, object]]:
    """Yield the cell options that differ from their defaults, except those that the listing shows
    elsewhere."""
    for name, default in zip(options.__struct_fields__, options.__struct_defaults__, strict=True):
        value = getattr(options, name)
        if name not in (*_HIDDEN, "label", "code_summary") and value != default:
            yield name, tuple(str(need) for need in value) if name == "needs" else value
