"""CSS text: removal of redundant characters, and splitting into statements.

Tokens follow CSS Syntax Level 3 as far as necessary. Comments and redundant spaces are removed; names,
numbers, values and the order of rules stay the same. As in browsers, constructs that are open at the end of a
stylesheet are closed, and unmatched closing brackets are removed. So a stylesheet cannot affect one that is
joined after it.
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
    r"|(?P<text>(?:[^\s\"'/{}()\[\];\\u]+|u(?!rl\()|\\.)+|.)",
    re.DOTALL | re.IGNORECASE,
)
_ADDRESS = lazy_pattern(r"url\(\s*(['\"]?)(.*?)\1\s*\)", re.DOTALL | re.IGNORECASE)
_WHOLE = lazy_pattern(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)
"""Start of a URL whose meaning does not depend on the file that contains it."""
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_BEFORE = frozenset("{};,:>([")
"""A space after one of these is redundant."""
_BEHIND = frozenset("{};,>)]")
"""A space before one of these is redundant."""
_ROOT = ":root{"
_WORD = lazy_pattern(r"[\w-]|[^\x00-\x7f]")


@lru_cache(maxsize=256)
def statements(css: str, folder: str = "") -> tuple[str, ...]:
    """Return the rules and other statements (such as `@import`), as short as possible with the same meaning.
    folder: folder of the stylesheet relative to the file that will contain the rules; put before relative
    URLs."""
    return _CssParser(folder).read(css)


def unclosed_constructs(css: str) -> list[int]:
    """Return the offsets of brackets and comments that are never closed. A closing bracket also closes all
    brackets that were opened inside it, as in `statements`."""
    found: list[int] = []
    waiting: list[tuple[str, int]] = []
    for token in _TOKEN.finditer(css):
        if token.lastgroup == "open":
            waiting.append((_CLOSING[token[0]], token.start()))
        elif token.lastgroup == "comment" and (len(token[0]) < 4 or not token[0].endswith("*/")):
            found.append(token.start())
        elif token.lastgroup == "close" and any(closing == token[0] for closing, _ in waiting):
            while (innermost := waiting.pop())[0] != token[0]:
                found.append(innermost[1])
    return sorted([*found, *(at for _, at in waiting)])


def drop_overridden(rules: Sequence[str]) -> list[str]:
    """Return the rules without custom properties of `:root` that a later rule for `:root` sets again. rules:
    results of `statements`, in order; later ones override earlier ones."""
    kept: list[str] = []
    set_later: set[str] = set()
    for rule in reversed(rules):
        # nested rules may apply to other elements
        if rule.startswith(_ROOT) and rule.count("{") == 1:
            named = [(one.partition(":")[0], one) for one in _declarations(rule[len(_ROOT) : -1])]
            left = [one for name, one in named if name not in set_later or "!important" in one.lower()]
            set_later.update(name for name, _ in named if name.startswith("--"))
            rule = f"{_ROOT}{';'.join(left)}}}" if left else ""
        kept += [rule] if rule else []
    return kept[::-1]


def _declarations(body: str) -> list[str]:
    """Return the declarations of a rule's body."""
    found, depth = [""], 0
    for token in _TOKEN.finditer(body):
        depth += {"open": 1, "close": -1}.get(token.lastgroup or "", 0)
        if token[0] == ";" and depth == 0:
            found.append("")
        else:
            found[-1] += token[0]
    return found


class _CssParser:
    """Parser for one stylesheet."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._done: list[str] = []
        self._parts: list[str] = []
        self._last = ""
        """Last character of the statement that is being read."""
        self._open: list[str] = []
        """Closing characters of the open brackets, innermost last."""
        self._is_spaced = False
        self._is_cut = False
        """Whether a comment without spaces around it was removed here; if so, a space may be needed between
        two tokens."""

    def read(self, css: str) -> tuple[str, ...]:
        for token in _TOKEN.finditer(css):
            kind = token.lastgroup
            if kind == "space":
                self._is_spaced = True
            elif kind == "text":
                self._append(token[0])
                if token[0] == ";" and not self._open:
                    self._end()
            else:
                self._read_token(kind or "", token[0])
        if self._parts and self._last == "\n":
            self._parts[-1] = self._parts[-1].rstrip("\n") + self._parts[-1][0]
        for closing in reversed(self._open):
            self._append(closing)
        self._end()
        return tuple(self._done)

    def _read_token(self, kind: str, text: str) -> None:
        if kind == "comment":
            self._is_cut = True
        elif kind == "close":
            self._close(text)
        elif kind == "string":
            # a string that ends with its line makes its declaration invalid, up to the next semicolon
            self._append(text if len(text) > 1 and text[-1] == text[0] else f"{text}\n")
        else:
            self._append(_rebase(text, self._folder) if kind == "address" else text)
            if kind == "open":
                self._open.append(_CLOSING[text])

    def _close(self, text: str) -> None:
        if text not in self._open:
            return
        # a brace closes everything that is open inside it
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
        if first == "}" and self._last == ";" and self._parts[-1] == ";":
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
