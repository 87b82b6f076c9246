"""Errors in a formula: raised at a token, then located in the author's formula."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.diagnostics.model import confirm_typo
from ...base.patterns import lazy_pattern
from ..errors import Kind, TexError
from .scan import PlacedToken


class ParseError(Exception):
    """Error in a formula at `token`. Converted to a `TexError` once tokens have positions."""

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
        """Describe an error at a token.

        unclosed: the end of the construct that `token` opens is missing. unknown: no command has the name
        `token`. meant: text to write instead of the token; None if it is not known.
        """
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message.replace("\0", "")  # without the marker of tokens bound by `\let`
        self.token = token
        self.hint = hint
        self.end = end
        """Last token of the error, if it has more than one; otherwise empty."""
        self.unclosed = unclosed
        self.unknown = unknown
        self.meant = meant


_BOXES_HINT = "define the macro by commands such as `\\overline`: a page has no boxes and registers of TeX"
XY_HINT = r"draw it in a fence that begins with ```tikz: `\usepackage[all]{xy}`, then `\begin{xy} … \end{xy}`"
_FENCE_HINT = "end the formula before it, and write a fence that begins with ```{} in the text of the post"
_TAG_HINT = "write `\\tag{1}` to number a formula"
UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        **{
            f"\\{name}": _BOXES_HINT
            for name in (
                *(
                    "setbox",
                    "sbox",
                    "savebox",
                    "usebox",
                    "newbox",
                    "box",
                    "copy",
                    "unhbox",
                    "unhcopy",
                    "unvbox",
                ),
                *("wd", "ht", "dp", "ifdim", "ifhmode", "ifvmode", "ifinner", "ifvoid", "ifodd", "ifcase"),
                *("settowidth", "settoheight", "settodepth", "advance", "multiply", "divide", "count"),
                *("dimen", "dimexpr", "numexpr", "the", "fam", "leaders", "fontdimen", "afterassignment"),
                *("aftergroup", "vrule", "hrule"),
            )
        },
        "\\chemfig": _FENCE_HINT.format("chemfig"),
        "\\tikz": _FENCE_HINT.format("tikz"),
        **dict.fromkeys(("\\eqno", "\\leqno"), _TAG_HINT),
        "\\multirow": "write the text in the first of the rows",
    }
)
"""Command of TeX that formulas cannot use → hint about what to do instead."""
_UNCLOSED = lazy_pattern(r'"(\S+)"(?: after "\S+")? is never closed')
_ENDS: Mapping[str, str] = MappingProxyType(
    {
        "{": "write `}` where it ends",
        "[": "write `]` where it ends",
        "\\left": "write `\\right)` or another `\\right` with a delimiter where it ends",
    }
)
"""Opening token → hint about its end."""
_NAMED = lazy_pattern(r"\\(?:begin|end)\s*\{[^{}]*\}")


def place_error(error: ParseError, tex: str) -> TexError:
    """Return `error` with its position in `tex`, the author's formula. An error without a placed token gets
    the position of the last character."""
    token = error.token
    if not isinstance(token, PlacedToken):
        return TexError(error.kind, error.message, max(0, len(tex.rstrip()) - 1), 1, hint=error.hint)
    end = error.end if isinstance(error.end, PlacedToken) else token
    length = max(end.offset + end.length, token.offset + token.length) - token.offset
    named = _NAMED.match(tex, token.offset) if token in ("\\begin", "\\end") and not token.macro else None
    is_whole = named is None and tex[token.offset : token.offset + length] == token
    # the fix for an unknown command is only a guess, others are certain
    meant = confirm_typo(error.token, error.meant) if error.unknown else error.meant
    return TexError(
        error.kind,
        error.message,
        token.offset,
        len(named[0]) if named else length,
        hint=error.hint,
        meant=meant if is_whole else None,
    )


def closing_hint(message: str) -> str:
    """Return a hint for `message`, the message about an opening token that is never closed."""
    found = _UNCLOSED.search(message)
    opening = found[1] if found else ""
    closing = opening.replace("\\begin", "\\end")
    return _ENDS.get(opening) or (f"write `{closing}` where it ends" if closing != opening else "")


def argument_hint(command: str) -> str:
    """Return a hint for a command that has too few arguments."""
    return f"write `{{…}}` after `{command}` for each of its arguments"


def unmatched_hint(token: str) -> str:
    """Return a hint for a closing token without an opening one."""
    if token == "}":
        return "remove it, or write `\\}` to print `}`"
    return f"remove it, or write `{token.replace('right', 'left').replace('end', 'begin')}` before it"


def duplicate_infix_error(token: str) -> ParseError:
    r"""Return the error for a second `\over` or similar command in a group."""
    hint = f"group with braces, as in `{{a {token} b}} {token} c`"
    return ParseError("math-syntax", f'duplicate "{token}": only one is allowed in a group', token, hint=hint)


def misplaced_tab_error(token: str) -> ParseError:
    """Return the error for a `&` outside a table."""
    hint = "write `\\&` to print `&`"
    return ParseError(
        "math-syntax", '"&" is not allowed outside a table or alignment', token, hint=hint, meant="\\&"
    )
