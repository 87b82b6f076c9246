"""Macros in formulas: their parameters, and their bodies as lists of TeX tokens."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class MacroParameter(Struct, frozen=True):
    r"""One parameter of `\NewDocumentCommand` (xparse, "Specifying arguments")."""

    kind: Literal["mandatory", "optional", "mark", "delimited", "embellished"]
    """`mandatory`: in braces or one token. `optional`: between `opening` and `closing`, may be missing.
    `mark`: present or not, such as a star. `delimited`: between `opening` and `closing`, required.
    `embellished`: after `opening`, may be missing; those of a macro may be in any order."""
    opening: str = ""
    """Token before the argument; for a `mark`, the mark itself. Empty if there is none."""
    closing: str = ""
    """Token after the argument; empty if there is none."""
    default: tuple[str, ...] | None = None
    """Tokens used if an optional argument is missing; None: the missing argument is marked as absent."""


class Macro(Struct, frozen=True):
    """A macro that the author defines."""

    arity: int
    """Number of arguments, including the optional one."""
    default: tuple[str, ...] | None
    """Default of the first argument, as tokens; the first argument is then optional. None: no argument is
    optional."""
    body: tuple[str, ...]
    delimiters: tuple[tuple[str, ...], ...] = ()
    r"""Tokens before the first parameter, then those after each, for a definition like `\def\a#1.{…}`; empty
    if there are none."""
    parameters: tuple[MacroParameter, ...] = ()
    r"""Parameters of `\NewDocumentCommand`, used instead of `default` and `delimiters`; empty for other
    definitions."""
    origin: str = ""
    """Place of the definition, such as `line 12 of preamble.tex`; empty if the page contains it."""
    problem: str = ""
    """Reason why the definition cannot be read, reported only if the macro is used; empty if it was read."""
