"""CSS as text: what a browser does not need taken out, and the statements of a sheet told apart.

Tokens as in CSS Syntax Level 3, as far as that takes. Comments go, and blanks that separate nothing; names,
numbers, values and the order of rules stay as they are. What is left open at the end of a sheet is closed, as
browsers do it, and a bracket that closes nothing goes: so no sheet reaches into the one behind it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache

from ...base.patterns import lazy_pattern

_STRING = r""""(?:[^"\\\n]|\\.)*(?:"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z)"""
_TOKEN = lazy_pattern(
    r"(?P<comment>/\*.*?(?:\*/|\Z))"
    r"|(?P<space>\s+)"
    rf"|(?P<address>url\(\s*(?:{_STRING}|[^\"')\s][^)]*)?\s*\))"
    rf"|(?P<string>{_STRING})"
    r"|(?P<open>[{(\[])"
    r"|(?P<close>[})\]])"
    r"|(?P<text>(?:[^\s\"'/{}()\[\];,:>\\uU]|\\.)+|.)",
    re.DOTALL | re.IGNORECASE,
)
_ADDRESS = lazy_pattern(r"url\(\s*(['\"]?)(.*?)\1\s*\)", re.DOTALL | re.IGNORECASE)
_WHOLE = lazy_pattern(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)
"""Begins an address that means the same in every file."""
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_BEFORE = frozenset("{};,:>([")
"""Behind one of these a blank separates nothing."""
_BEHIND = frozenset("{};,>)]")
"""Before one of these neither."""
_ROOT = ":root{"
_WORD = lazy_pattern(r"[\w-]|[^\x00-\x7f]")


@lru_cache(maxsize=256)
def statements(css: str, folder: str = "") -> tuple[str, ...]:
    """The rules of a sheet and its statements such as `@import`, each as short as it can be without change.

    folder: of the sheet, as seen from where its rules will stand; relative addresses get it.
    """
    return _Reader(folder).read(css)


def drop_overridden(rules: Sequence[str]) -> list[str]:
    """The rules without those custom properties of `:root` that a later rule of `:root` sets again.

    rules: as `statements` gives them, in the order in which they override each other.
    """
    kept: list[str] = []
    set_later: set[str] = set()
    for rule in reversed(rules):
        # what is nested in a rule may hold for something else
        if rule.startswith(_ROOT) and rule.count("{") == 1:
            named = [(one.partition(":")[0], one) for one in _declarations(rule[len(_ROOT) : -1])]
            left = [one for name, one in named if name not in set_later or "!important" in one.lower()]
            set_later.update(name for name, _ in named if name.startswith("--"))
            rule = f"{_ROOT}{';'.join(left)}}}" if left else ""
        kept += [rule] if rule else []
    return kept[::-1]


def _declarations(body: str) -> list[str]:
    """What stands between the braces of a rule, taken apart."""
    found, depth = [""], 0
    for token in _TOKEN.finditer(body):
        depth += {"open": 1, "close": -1}.get(token.lastgroup or "", 0)
        if token[0] == ";" and depth == 0:
            found.append("")
        else:
            found[-1] += token[0]
    return found


class _Reader:
    """Reads one sheet."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._done: list[str] = []
        self._parts: list[str] = []
        self._last = ""
        """The last character of the statement."""
        self._open: list[str] = []
        """What closes the brackets that are open, the innermost last."""
        self._is_spaced = False
        self._is_cut = False
        """A comment stood here, with no blank beside it."""

    def read(self, css: str) -> tuple[str, ...]:
        for token in _TOKEN.finditer(css):
            self._read_token(token.lastgroup or "text", token[0])
        if self._parts and self._last == "\n":
            self._parts[-1] = self._parts[-1].rstrip("\n") + self._parts[-1][0]
        for closing in reversed(self._open):
            self._append(closing)
        self._end()
        return tuple(self._done)

    def _read_token(self, kind: str, text: str) -> None:
        if kind == "comment":
            self._is_cut = True
        elif kind == "space":
            self._is_spaced = True
        elif kind == "close":
            self._close(text)
        elif kind == "string":
            # one that ends with its line makes its declaration invalid, up to the next semicolon
            self._append(text if len(text) > 1 and text[-1] == text[0] else f"{text}\n")
        else:
            self._append(_rebase(text, self._folder) if kind == "address" else text)
            if kind == "open":
                self._open.append(_CLOSING[text])
            elif text == ";" and not self._open:
                self._end()

    def _close(self, text: str) -> None:
        if text not in self._open:
            return
        # a brace ends what was left open inside of it
        while self._open:
            closing = self._open.pop()
            self._append(closing)
            if closing == text:
                break
        if text == "}" and not self._open:
            self._end()

    def _append(self, text: str) -> None:
        first = text[0]
        if self._last == "" and first == ";":
            return
        if first == "}" and self._last == ";":
            self._parts.pop()
        elif self._is_spaced:
            if self._last and self._last not in _BEFORE and first not in _BEHIND:
                self._parts.append(" ")
        elif self._is_cut and _WORD.match(self._last) and _WORD.match(first):
            self._parts.append("/**/")
        self._is_spaced = self._is_cut = False
        self._parts.append(text)
        self._last = text[-1]

    def _end(self) -> None:
        if self._parts:
            self._done.append("".join(self._parts))
        self._parts, self._last = [], ""


def _rebase(address: str, folder: str) -> str:
    found = _ADDRESS.fullmatch(address)
    if not folder or found is None or not found[2] or _WHOLE.match(found[2]):
        return address
    quote, path = found[1] or '"', found[2]
    return f"url({quote}{posixpath.normpath(posixpath.join(folder, path))}{quote})"
