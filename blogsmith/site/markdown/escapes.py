"""Text → Markdown that says the same: signs that would mean something get a backslash."""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern

_SPACES = lazy_pattern(r"[ \t\r\n\f]+")
_INSIDE = lazy_pattern(
    r"[\\`*<$]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|~(?=~)|(?<=~)~|=(?==)|(?<==)="
    r"|(?<![\w@])@(?=[\w{])"
    r"|\{(?=[%=@#:.])"
    r"|&(?=#?\w+;)"
    r"|-(?=--)|\.(?=\.\.)"
)
_AT_START = lazy_pattern(
    r"(?P<sign>[#>]|[-+](?=\s|$)|(?:---|\+\+\+|___)|[:|%](?=\s|$)|:::|!!!|\?\?\?|={1,}\s*$)"
    r"|(?P<number>\d{1,9})(?P<point>[.)])(?=\s|$)"
)


_BRACKET = lazy_pattern(r"\[(?=[\^!@\[-]|[ xX]\]|[^\[\]]*(?:\][(\[:{]|\Z))|(?<!\[)\](?=\])")
"""Not with a backslash: for many readers `\\[` begins a formula."""


def collapse_spaces(text: str) -> str:
    """`text` with one blank for each run of blanks and line ends, as browsers print it."""
    return _SPACES.sub(" ", text)


def escape_text(text: str) -> str:
    """`text` where it stands in a line."""
    text = _INSIDE.sub(lambda found: "\\" + found[0], text)
    return _BRACKET.sub(lambda found: f"&#{ord(found[0])};", text) if "[" in text else text


def escape_start(line: str) -> str:
    """A paragraph's Markdown, whose first signs begin no other block."""
    found = _AT_START.match(line)
    if not found:
        return line
    if found["number"]:
        return f"{found['number']}\\{line[found.end('number') :]}"
    return "\\" + line


def fence_of(sign: str, text: str, least: int) -> str:
    """A run of `sign` longer than all runs in `text`, and `least` at least."""
    longest = max((len(run) for run in re.findall(re.escape(sign) + "+", text)), default=0)
    return sign * max(least, longest + 1)
