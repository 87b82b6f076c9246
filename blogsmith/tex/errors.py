"""The one exception of this package: a formula that cannot be typeset, and where it goes wrong."""

from __future__ import annotations

from typing import Literal

Kind = Literal["math-command", "math-brace", "math-syntax", "math-limit", "math-macro"]


class TexError(Exception):
    """The author's TeX is wrong or too big. The caller turns it into a `Diagnostic`."""

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
        """offset, length: in characters of the author's formula without its delimiters.

        meant: what to write there instead; None: that is not known.
        """
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.offset = offset
        self.length = max(1, length)
        self.hint = hint
        self.meant = meant
