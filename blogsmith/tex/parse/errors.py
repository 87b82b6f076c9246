"""Mistakes while reading: first at a token, then at a place of the author's formula."""

from __future__ import annotations

from ...base.patterns import lazy_pattern
from ..errors import Kind, TexError
from .scan import At


class ParseError(Exception):
    """The formula is wrong at `token`; becomes a `TexError` once tokens have places."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        token: str = "",
        *,
        hint: str = "",
        end: str = "",
        unclosed: bool = False,
        unknown: bool = False,
        meant: str | None = None,
    ) -> None:
        """unclosed: the end of what `token` opens is missing. unknown: no command has the name `token`.

        meant: what to write in place of the token; None: that is not known.
        """
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message.replace("\0", "")  # the mark of what `\\let` has taken
        self.token = token
        self.hint = hint
        self.end = end
        """Last token of what is wrong, where that is more than one."""
        self.unclosed = unclosed
        self.unknown = unknown
        self.meant = meant


_NAMED = lazy_pattern(r"\\(?:begin|end)\s*\{[^{}]*\}")


def place_error(error: ParseError, tex: str) -> TexError:
    """`error` with the place of its token in `tex`, the author's formula; without one: its end."""
    token = error.token
    if not isinstance(token, At):
        return TexError(error.kind, error.message, max(0, len(tex.rstrip()) - 1), 1, hint=error.hint)
    end = error.end if isinstance(error.end, At) else token
    length = max(end.offset + end.length, token.offset + token.length) - token.offset
    named = _NAMED.match(tex, token.offset) if token in ("\\begin", "\\end") and not token.macro else None
    is_whole = named is None and tex[token.offset : token.offset + length] == token
    return TexError(
        error.kind,
        error.message,
        token.offset,
        len(named[0]) if named else length,
        hint=error.hint,
        meant=error.meant if is_whole else None,
    )


def misplaced_tab_error(token: str) -> ParseError:
    """The error of a `&` where no cell is."""
    hint = "write \\& for the sign"
    return ParseError("math-syntax", "& stands outside a table or alignment", token, hint=hint, meant="\\&")
