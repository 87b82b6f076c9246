"""What stands in a page, as it is counted: read from HTML, ours or that of another system."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import unquote

from ...base.patterns import lazy_pattern
from ..text.math import unescape_entities

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "formulas": "formula",
        "code": "code block",
        "footnotes": "footnote",
        "citations": "citation",
        "tables": "table",
        "images": "image",
        "headings": "heading",
        "links": "link",
        "words": "word",
    }
)
"""Kind of thing → one of it; in the order of reports."""
_MARKS = lazy_pattern(
    r"(?:(?:^|[ \t]+)(?:#|//|--|;+|%|/\*|<!--))?(?:[ \t]+(?:\(\d{1,3}\)!?|<\d{1,3}>)){1,9}"
    r"[ \t]*(?:\*/|-->)?[ \t]*\Z"
)
"""Marks in a comment that lead to notes below the code."""
_MARK_ENDS = (")", "!", ">", "/")
"""Last characters of lines with marks: few lines have one."""
_SIGN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese and Japanese, which have no blanks between words: each sign counts as one, as people count them."""
_WORD = lazy_pattern(rf"[{_SIGN}]|[^\W_{_SIGN}]+(?:[’'][^\W_{_SIGN}]+)*")
_ASCII_WORD = lazy_pattern(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
"""The same in a text of ASCII, in a third of the time."""
_LANGUAGE = lazy_pattern(r"\.[a-z]{2}(?:-[a-z]{2,4})?(?=\.[a-z]+\Z)")
_TEX_SPACE = lazy_pattern(r"\s+")
_TEX_LAYOUT = lazy_pattern(
    r"\\(?:begin|end)\{split\}|\\(?:text)?color\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}"
    r"|\\(?:displaystyle|textstyle|nonumber|notag|limits)(?![A-Za-z])|\\label\s*\{[^{}]*\}|\\(?![A-Za-z])|[,;:!~.]"
)
"""What moves or labels, backslashes that Markdown may have taken away, and what Sphinx adds around lines."""
_TYPOGRAPHY = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": "''", "”": "''", '"': "''"}
    | {"…": "", "–": "--", "—": "---", "«": "<<", "»": ">>"}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
)
"""What typographers make of signs in formulas, back to what may have been written: quotes of any form are
primes, points do not count in formulas. And signs without a width."""
_EMPHASIS = lazy_pattern(r"[_*~`>\\]+")
_TEX_COMMENT = lazy_pattern(r"(?<!\\)%[^\n]*")
_DEFINITION = lazy_pattern(
    r"\\(?:let\s*\\[A-Za-z]+\s*=?\s*(?:\\[A-Za-z]+|\S)"
    r"|(?:(?:re|provide)?newcommand|providecommand|renewcommand|DeclareMathOperator|g?def|require)(?![A-Za-z]))"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Counters of one page: kind → thing → how often. Words and links keep their order besides."""

    counters: Mapping[str, Counter[str]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """In the order of the page, as compared."""
    hidden: Counter[str] = field(default_factory=Counter)
    """Words inside formulas and code."""

    def of(self, kind: str) -> Counter[str]:
        """The things of a kind; empty if there is none."""
        return self.counters.get(kind, Counter())

    @property
    def sizes(self) -> dict[str, int]:
        """Kind → how many."""
        return {kind: self.of(kind).total() for kind in KINDS}


def compared_tex(tex: str) -> str:
    """A formula as it is compared: without blanks, points, and what only moves or labels it; empty for one
    that shows nothing because it only defines macros."""
    tex = unescape_entities(tex).translate(_TYPOGRAPHY)
    return "" if _only_defines(tex) else _TEX_SPACE.sub("", _TEX_LAYOUT.sub("", tex))


def _only_defines(tex: str) -> bool:
    """Whether a formula consists of definitions and comments."""
    if "\\" not in tex:
        return False
    tex = _TEX_COMMENT.sub("", tex).strip()
    if not _DEFINITION.match(tex):
        return False
    depth = 0
    rest = []
    for char in _DEFINITION.sub("", tex):
        depth += (char == "{") - (char == "}")
        rest.append(char if depth <= 0 and char != "}" else "")
    return not re.sub(r"\\[A-Za-z]+|\[[^\]]*\]|#\d|[\s*]", "", "".join(rest))


def without_emphasis(tex: str) -> str:
    """A compared formula without the signs that Markdown reads as emphasis, code or quotes, as old sites lost
    them, or show them."""
    return _EMPHASIS.sub("", tex)


def compared_code(code: str) -> str:
    """A code block as it is compared: blanks at ends of lines and around it do not count, nor marks."""
    lines = (_without_marks(line).strip() for line in code.strip().splitlines())
    return "\n".join(line for line in lines if line)


def _without_marks(line: str) -> str:
    return _MARKS.sub("", line) if line.rstrip().endswith(_MARK_ENDS) else line


def words_in(text: str) -> list[str]:
    """The words of a text as they are compared: letters and digits, without case and typographic forms."""
    text = unquote(text) if "%" in text else text
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    return _WORD.findall(folded)


def compared_address(address: str) -> str:
    """A link's or image's address as it is compared: of a file its name, since folders change."""
    address = unquote(address.strip().partition("#")[0].partition("?")[0])
    if re.match(r"(?:https?:)?//", address):
        return unquote(address).partition("//")[2].rstrip("/").casefold()
    return ""


def compared_key(key: str) -> str:
    """A key of a bibliography as it is compared: its letters and digits."""
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    return re.sub(r"[\W_]+", "", plain.casefold())


def compared_image(address: str) -> str:
    """The name of an image's file, without a language in it, what a notebook attaches too; a data address is
    one thing."""
    if address.startswith("data:"):
        return "data:"
    path = unquote(address.strip().removeprefix("attachment:").partition("#")[0].partition("?")[0])
    name = re.sub(r"[^\w.]+", "-", path.rstrip("/").rpartition("/")[2].casefold())
    return _LANGUAGE.sub("", name)
