"""Exceptions: for a formula that cannot be typeset, and for unusable MathML of other converters."""

from __future__ import annotations

from typing import Literal


class UnusableMathmlError(Exception):
    """Error in another converter's output: it is unsafe, not MathML Core, or not a formula. The argument is
    the reason, as a clause."""


TAG_TWICE = "keep one `\\tag` in a row"
"""Hint for a row with two tags."""
Kind = Literal["math-command", "math-brace", "math-syntax", "math-limit", "math-macro", "math-diagram"]


class TexError(Exception):
    """Error in the author's TeX: invalid or too large. The caller converts it to a `Diagnostic`."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        offset: int = 0,
        length: int = 1,
        *,
        hint: str = "",
        meant: str | None = None,
    ) -> None:
        """Describe an error at characters of the author's formula, without its delimiters. offset, length:
        range in characters. meant: replacement for that range; None if it is not known."""
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.offset = offset
        self.length = max(1, length)
        self.hint = hint
        self.correction = meant


class PreambleError(Exception):
    """Error that stops the reading of a LaTeX file, for example macros that expand without end."""

    def __init__(self, message: str, offset: int, hint: str = "") -> None:
        """Describe an error at a character of the file."""
        super().__init__(message)
        self.message, self.offset, self.hint = message, offset, hint
