"""What stands in a page, as it is counted: read from HTML, ours or that of another system."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import unquote

from ...patterns import lazy_pattern

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
_WORD = lazy_pattern(r"[^\W_]+(?:[’'][^\W_]+)*")
_TEX_SPACE = lazy_pattern(r"\s+")
_TEX_LAYOUT = lazy_pattern(
    r"\\(?:begin|end)\{split\}|\\(?:text)?color\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}"
    r"|\\(?:displaystyle|textstyle|nonumber|notag|limits)(?![A-Za-z])|\\label\s*\{[^{}]*\}|\\(?![A-Za-z])|[,;:!~.]"
)
"""What moves or labels, backslashes that Markdown may have taken away, and what Sphinx adds around lines."""


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
    """A formula as it is compared: without blanks, points, and what only moves or labels it."""
    return _TEX_SPACE.sub("", _TEX_LAYOUT.sub("", tex.strip()))


def compared_code(code: str) -> str:
    """A code block as it is compared: blanks at ends of lines and around it do not count."""
    return "\n".join(line.strip() for line in code.strip().splitlines() if line.strip())


def words_in(text: str) -> list[str]:
    """The words of a text as they are compared: letters and digits, without case and typographic forms."""
    text = unquote(text) if "%" in text else text
    folded = unicodedata.normalize("NFC", text).casefold()
    return [word.replace("’", "'") for word in _WORD.findall(folded)]


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
    """The name of an image's file, what a notebook attaches too; a data address is one thing."""
    if address.startswith("data:"):
        return "data:"
    path = unquote(address.strip().removeprefix("attachment:").partition("#")[0].partition("?")[0])
    return re.sub(r"[^\w.]+", "-", path.rstrip("/").rpartition("/")[2].casefold())
