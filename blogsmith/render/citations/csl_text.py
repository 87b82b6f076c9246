"""Texts of works on their way through a style of CSL: formulas and tags as single signs, then HTML."""

from __future__ import annotations

from collections.abc import Callable

from ...base.patterns import lazy_pattern
from ...bibliography.csl.markup import FIRST_FORMULA, MOST_FORMULAS, PRIVATE, is_mark, tag_of, tag_sign
from ..prose import escape_html

_FORMULA = lazy_pattern(r"\$(?:[^\\$]|\\.)+\$|\\\$")
_WRITTEN_TAG = lazy_pattern(r'</?(?:i|b|sup|sub)>|<span class="nocase">.*?</span>')
_ADDRESS = lazy_pattern(r"https?://[^\s<>\"\ue000-\uf8ff]*[^\s<>\".,;:)\]\ue000-\uf8ff]")
_HTML = {"<sc>": '<span class="small-caps">', "</sc>": "</span>", "<nocase>": "", "</nocase>": ""}


class CslText:
    """The texts of one page."""

    def __init__(self) -> None:
        self._formulas: list[str] = []

    def encode(self, text: str) -> str:
        """A text as a style gets it."""
        text = PRIVATE.sub("", text)
        text = _FORMULA.sub(lambda found: self._formula(found[0]), text)
        return _WRITTEN_TAG.sub(lambda found: self._tag(found[0]), text)

    def _tag(self, written: str) -> str:
        if not written.startswith("<span"):
            return tag_sign(written)
        inner = _WRITTEN_TAG.sub(lambda found: tag_sign(found[0]), written[21:-7])
        return f"{tag_sign('<nocase>')}{inner}{tag_sign('</nocase>')}"

    def _formula(self, written: str) -> str:
        if written == "\\$":
            return "$"
        if len(self._formulas) >= MOST_FORMULAS:
            return written
        self._formulas.append(written)
        return chr(FIRST_FORMULA + len(self._formulas) - 1)

    def written(self, text: str) -> str:
        """What a style gave, formulas as they were written, without markup."""
        pieces = (self._formula_of(char) or ("" if is_mark(char) else char) for char in text)
        return "".join(pieces)

    def _formula_of(self, char: str) -> str:
        index = ord(char) - FIRST_FORMULA
        return self._formulas[index] if 0 <= index < len(self._formulas) else ""

    def html(self, text: str, formula: Callable[[str], str]) -> str:
        """HTML of what a style gave, addresses as links, signs of items kept. formula: `$x$` → its HTML."""
        pieces, position = list[str](), 0
        for found in _ADDRESS.finditer(text):
            pieces.append(self._plain(text[position : found.start()], formula))
            address = escape_html(found[0])
            pieces.append(f'<a href="{address}">{address}</a>')
            position = found.end()
        pieces.append(self._plain(text[position:], formula))
        return "".join(pieces)

    def _plain(self, text: str, formula: Callable[[str], str]) -> str:
        return "".join(self._character(char, formula) for char in escape_html(text))

    def _character(self, char: str, formula: Callable[[str], str]) -> str:
        if not "\ue000" <= char <= "\uf8ff":
            return char
        tag = tag_of(char)
        if tag:
            return _HTML.get(tag, tag)
        if written := self._formula_of(char):
            return formula(written)
        return char if is_mark(char) else ""
