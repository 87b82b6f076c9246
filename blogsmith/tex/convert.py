"""One function from a formula's TeX to the MathML a page prints.

guard → macros → rewrite → engine → clean → row numbers. Wrong TeX is a `TexError` that points at
the author's characters, also through macros (at the call). Pure: a formula's answer depends on
the arguments alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from .clean import clean_mathml, number_rows
from .commands import COMMANDS, ENVIRONMENTS
from .engines import Engine, engine
from .errors import TexError
from .guard import check_length, check_structure
from .lexer import Joined, Token, join, tokenize
from .macros import definitions, expand_tokens
from .numbering import ROW_ENVIRONMENTS, RowNumber, split_rows
from .rewrite import rewrite

__all__ = ["Formula", "TexError", "convert_formula"]

_NO_MACROS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Formula:
    """A typeset formula."""

    mathml: str
    """One `<math>` element, safe to stand in an HTML page."""


def convert_formula(
    tex: str,
    *,
    display: bool,
    macros: Mapping[str, str] = _NO_MACROS,
    rows: Sequence[RowNumber | None] = (),
    engine: Engine = "auto",
) -> Formula:
    """Typeset `tex`, the author's formula without its delimiters; TexError if it is wrong.

    macros: name with backslash → body, see `macros`; definitions inside `tex` are added.
    rows: what each row of an `align` or its kin prints; empty, or no such environment: no numbers.
    """
    check_length(len(tex))
    body, defined = definitions(tex, macros)
    known = {**macros, **defined} if defined else macros
    tokens = expand_tokens(tokenize(body), known)
    check_structure(tokens)
    numbered = any(rows) and split_rows(body).environment in ROW_ENVIRONMENTS
    source = join(rewrite(tokens, numbered=numbered))
    check_length(len(source.text))
    markup = clean_mathml(_run(source, display, known, engine), display=display, alttext=tex)
    return Formula(number_rows(markup, rows) if numbered else markup)


def _run(source: Joined, display: bool, macros: Mapping[str, str], name: Engine) -> str:
    """The engine's markup; its errors moved to the author's characters."""
    try:
        return engine(name)(source.text, display)
    except TexError as error:
        raise _at_author(error, source, macros) from None


def _at_author(error: TexError, source: Joined, macros: Mapping[str, str]) -> TexError:
    token = _blamed(error, source)
    hint = error.hint or _suggestion(error, macros)
    length = max(error.length, token.length)
    return TexError(error.kind, error.message, token.offset, length, hint=hint)


def _blamed(error: TexError, source: Joined) -> Token:
    """The token an engine complains about; its `\\begin` for an unknown environment."""
    at = error.offset
    if error.message.startswith("unknown TeX environment"):
        at = max(source.text.rfind("\\begin", 0, at + 1), 0)
    return source.token_at(at)


def _suggestion(error: TexError, macros: Mapping[str, str]) -> str:
    if error.kind != "math-command":
        return ""
    word = error.message.rsplit(" ", 1)[-1]
    choices = [*COMMANDS, *macros] if word.startswith("\\") else ENVIRONMENTS
    # three letters resemble too much, so this is stricter than `errors.nearest`; macros win
    near = get_close_matches(word.lstrip("\\"), [c.lstrip("\\") for c in reversed(choices)], n=1, cutoff=0.75)
    slash = "\\" if word.startswith("\\") else ""
    if near:
        return f"did you mean {slash}{near[0]}?"
    return "a command of your own is declared under math: macros:" if slash else ""
