"""Conversion of text to LaTeX. Every character that TeX would read as syntax is escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from types import MappingProxyType

from ..api.books import lazy_pattern, symbol_names
from .document import PaperChapter
from .typst import source_parts

_SYNTAX = MappingProxyType(
    {
        **{character: f"\\{character}" for character in "#$%&_{}"},
        "\\": "\\textbackslash{}",
        "^": "\\textasciicircum{}",
        "~": "\\textasciitilde{}",
        "`": "\\textasciigrave{}",
        '"': "\\textquotedbl{}",
        "[": "{[}",
        "]": "{]}",
        "\u00a0": "~",
    }
)
_ESCAPED = lazy_pattern(r'[#$%&_{}\\^~`"\[\]\u00a0]|([-\',<>!?])(?=\1|`)')
_CONTROL = lazy_pattern(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0e\ufe0f\ufeff]"
)
LONG_WORD = lazy_pattern(r"(\S{30,})")
"""A word that may be broken anywhere, such as a URL."""
_SPACE = lazy_pattern(r"[ \t\r\n\f]+")
_KNOWN = frozenset("–—‘’‚“”„†‡•…‰‹›€™ŒœŠšŸŽž") | frozenset(map(chr, range(0xA0, 0x180)))
"""Characters that LaTeX prints in text with the encodings T1 and TS1."""
_MARKS = MappingProxyType({"<super>": "\\textsuperscript", "<sub>": "\\textsubscript"})
_OTHER = MappingProxyType(
    {
        **{
            "‐": "-",
            "‑": "-",
            "‒": "--",
            "―": "---",
            "−": "\\ensuremath{-}",
            "\u2009": "\\,",
            "\u202f": "\\,",
            "\u2003": "\\quad{}",
        },
        **{"µ": "\\ensuremath{\\mu}", "✓": "\\ensuremath{\\checkmark}", "∎": "\\ensuremath{\\blacksquare}"},
        **{"✗": "\\ensuremath{\\times}", "│": "|", "─": "-", "⁄": "/", "′": "\\ensuremath{'}"},
        **{"↩": "\\ensuremath{\\hookleftarrow}", "█": "\\rule{1ex}{1.6ex}", "∥": "\\ensuremath{\\parallel}"},
    }
)
_BLACKBOARD = "ℂℍℕℙℚℝℤ"


def escape(text: str) -> str:
    """Return LaTeX that prints `text` literally, with runs of spaces reduced to one."""
    return escape_code(_SPACE.sub(" ", text))


def escape_long(text: str) -> str:
    """Return LaTeX that prints `text` literally. Long words, such as URLs, may break across lines."""
    parts = LONG_WORD.split(text)
    return "".join(breakable(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def breakable(text: str) -> str:
    """Return LaTeX that prints code or a formula literally. Lines may break after each part that
    `source_parts` returns."""
    return "\\allowbreak{}".join(map(escape, source_parts(text)))


def escape_code(text: str) -> str:
    """Return LaTeX that prints `text` literally, with all its spaces."""
    return _ESCAPED.sub(lambda found: _SYNTAX.get(found[0], f"{found[0]}{{}}"), without_control(text))


def without_control(text: str) -> str:
    """Return the text without control characters and without characters that change its direction."""
    return _CONTROL.sub("", text)


def escape_url(address: str) -> str:
    r"""Return a URL as an argument of `\href`."""
    kept = without_control(address).translate({ord(sign): f"%{ord(sign):02X}" for sign in '\\{}^`$" <>\x00'})
    return "".join(f"\\{sign}" if sign in "%#&_" else sign for sign in kept)


def write_links(chapter: PaperChapter) -> list[str]:
    """Return links from a chapter to its authors, its DOI and its web page. Each link shows its name."""
    found = [(f"ORCID of {name}", f"https://orcid.org/{orcid}") for name, orcid in chapter.authors if orcid]
    found += [("doi", f"https://doi.org/{chapter.doi}")] if chapter.doi else []
    found += [("url", chapter.url)] if chapter.url else []
    return [f"{escape(name)}: \\href{{{escape_url(url)}}}{{{escape_long(url)}}}" for name, url in found]


def declare_characters(characters: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return two lists: lines of a preamble that define these characters, and the characters that cannot be
    defined."""
    lines, missing = [], []
    for character in sorted(set(characters)):
        if character.isascii() or character in _KNOWN:
            continue
        code = f"{ord(character):04X}"
        if names := symbol_names(character):
            lines.append(f"\\pagesymbol{{{code}}}{{{','.join(names)}}}")
        elif text := _definition(character):
            lines.append(f"\\DeclareUnicodeCharacter{{{code}}}{{{text}}}")
        else:
            lines.append(f"\\DeclareUnicodeCharacter{{{code}}}{{\\pagemissing{{U+{code}}}}}")
            missing.append(character)
    return lines, missing


def find_passages(texts: Iterable[str], missing: Sequence[str]) -> list[str]:
    """Return passages of `texts`, in order. Together they contain every character of `missing`."""
    signs = "".join(map(re.escape, missing))
    open_signs = set(missing)
    found = []
    for passage in re.findall(f"[{signs}]+(?: [{signs}]+)*", "\n".join(texts)) if signs else ():
        if not open_signs.isdisjoint(passage):
            open_signs.difference_update(passage)
            found.append(passage)
    return found


def _definition(character: str) -> str:
    if character in _OTHER:
        return _OTHER[character]
    if unicodedata.combining(character):
        return ""
    kind, *codes = unicodedata.decomposition(character).split() or [""]
    plain = "".join(chr(int(code, 16)) for code in (codes if kind.startswith("<") else ()))
    if character in _BLACKBOARD:
        return f"\\ensuremath{{\\mathbb{{{plain}}}}}"
    if not plain or not all(part.isascii() or part in ("−", "\u00a0") for part in plain):
        return ""
    text = escape(plain.replace("−", "-"))
    return f"{_MARKS[kind]}{{{text}}}" if kind in _MARKS else text
