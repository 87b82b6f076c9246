"""Runs expanders on a formula without the rest of the engine: TeX in, TeX out."""

from __future__ import annotations

from collections.abc import Mapping

from blogsmith.tex.parse.errors import ParseError
from blogsmith.tex.parse.reader import Expander, FormulaReader, Macro, TokenReader, text_of, tokens

MOST = 100_000
"""Maximum number of tokens per test; more would mean an endless expansion."""


def _content(reader: FormulaReader, command: str) -> list[str]:
    """Expand a stated meaning to its content."""
    reader.argument()
    return reader.argument()


_MEANINGS = {"\\MathMLintent": _content, "\\MathMLarg": _content}


def expand(tex: str, expanders: Mapping[str, Expander], macros: Mapping[str, str] | None = None) -> str:
    """Return `tex` with every command of `expanders` replaced repeatedly, and without intents."""
    known = {name: Macro(0, None, tuple(tokens(body))) for name, body in (macros or {}).items()}
    reader = TokenReader(tokens(tex), known)
    out: list[str] = []
    made = 0
    while reader.stack:
        token = reader.stack.pop()
        expander = _MEANINGS.get(token) or expanders.get(token)
        if expander is None:
            out.append(token)
            continue
        reader.command = token
        found = expander(reader, token)
        made += len(found)
        assert made < MOST, f"{tex!r} grows without end"
        reader.push(found)
    return text_of(out)


def complaint(tex: str, expanders: Mapping[str, Expander]) -> tuple[str, str, str]:
    """Return message, hint and reported command of the error that `tex` must give."""
    try:
        made = expand(tex, expanders)
    except ParseError as wrong:
        return wrong.message, wrong.hint, wrong.token
    raise AssertionError(f"no error: {made}")
