"""BibTeX, as much as bibliographies of posts hold: entries, strings, braces, accents.

Left out: crossrefs and styles. What cannot be read is skipped up to the next entry.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from ...patterns import lazy_pattern

_ENTRY = lazy_pattern(r"@\s*([A-Za-z]+)\s*[{(]\s*")
_KEY = lazy_pattern(r"([^\s,{}]+)\s*,")
_FIELD = lazy_pattern(r"\s*,?\s*([\w+.-]+)\s*=\s*")
_BARE = lazy_pattern(r"[\w.+-]+")
_ACCENT = lazy_pattern(
    r"\{?\\([`'^\"~=.]|[uvHcdbkr](?=[\s{]))\s*(?:\{\s*(\\?[A-Za-z]?)\s*\}|(\\?[A-Za-z]))\}?"
)
_SIGN = lazy_pattern(
    r"\{?\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j|&|%|_|#|\$|textendash|textemdash)(?![A-Za-z])\s*\}?"
)
_COMMAND = lazy_pattern(r"\\(?:emph|textit|textbf|textrm|texttt|textsc|url|href|mkbibquote)\s*\{([^{}]*)\}")
_MATH = lazy_pattern(r"\$[^$]*\$")
_MARKS = {
    **{
        "`": "\u0300",
        "'": "\u0301",
        "^": "\u0302",
        "~": "\u0303",
        "=": "\u0304",
        "u": "\u0306",
        ".": "\u0307",
    },
    **{
        '"': "\u0308",
        "r": "\u030a",
        "H": "\u030b",
        "v": "\u030c",
        "d": "\u0323",
        "c": "\u0327",
        "k": "\u0328",
    },
    "b": "\u0331",
}
_SIGNS = {
    **{"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø"},
    **{"l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "textendash": "–", "textemdash": "—"},
}
_SKIPPED = frozenset(("comment", "preamble"))


def read_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Key → fields of every entry, names in lower case, values as plain text; `ENTRYTYPE` is its type.

    Of a key that stands twice the first counts, as in BibTeX.
    """
    strings: dict[str, str] = {}
    entries: dict[str, dict[str, str]] = {}
    position = 0
    while found := _ENTRY.search(text, position):
        position, kind = found.end(), found[1].lower()
        if kind in _SKIPPED:
            continue
        if kind == "string":
            fields, position = _read_fields(text, position, strings)
            strings |= fields
            continue
        key = _KEY.match(text, position)
        if not key:
            continue
        fields, position = _read_fields(text, key.end(), strings)
        plain = {name: plain_text(value) for name, value in fields.items() if name != "ENTRYTYPE"}
        entries.setdefault(key[1], {"ENTRYTYPE": kind, **plain})
    return entries


def _read_fields(text: str, position: int, strings: Mapping[str, str]) -> tuple[dict[str, str], int]:
    fields: dict[str, str] = {}
    while found := _FIELD.match(text, position):
        value, position = _read_value(text, found.end(), strings)
        fields.setdefault(found[1].lower(), value)
    return fields, position


def _read_value(text: str, position: int, strings: Mapping[str, str]) -> tuple[str, int]:
    """A value, parts of which may be joined by `#`, and where it ends."""
    parts = []
    while True:
        part, position = _read_part(text, position, strings)
        parts.append(part)
        joined = re.compile(r"\s*#\s*").match(text, position)
        if not joined:
            return "".join(parts), position
        position = joined.end()


def _read_part(text: str, position: int, strings: Mapping[str, str]) -> tuple[str, int]:
    if text.startswith(("{", '"'), position):
        end = _closing(text, position)
        return text[position + 1 : end], end + 1
    bare = _BARE.match(text, position)
    if not bare:
        return "", position
    return strings.get(bare[0].lower(), bare[0]), bare.end()


def _closing(text: str, position: int) -> int:
    """Where the value that opens at `position` ends; the end of the text if nowhere."""
    closer, depth, index = ("}" if text[position] == "{" else '"'), 0, position + 1
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char == closer and depth == 0:
            return index
        depth += {"{": 1, "}": -1}.get(char, 0)
        index += 1
    return len(text)


def plain_text(value: str) -> str:
    """A value without TeX: accents composed, commands and braces taken away; formulas stay."""
    formulas: list[str] = []

    def hide(found: re.Match[str]) -> str:
        formulas.append(found[0])
        return f"\ue000{len(formulas) - 1}\ue001"

    value = _MATH.sub(hide, value)
    value = _SIGN.sub(lambda found: _SIGNS.get(found[1], found[1]), _ACCENT.sub(_accented, value))
    while (plain := _COMMAND.sub(r"\1", value)) != value:
        value = plain
    value = re.sub(r"\\[A-Za-z]+\s*|[{}]", "", value).replace("~", " ").replace("\\", "")
    value = value.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    value = re.sub("\ue000(\\d+)\ue001", lambda found: formulas[int(found[1])], value)
    return unicodedata.normalize("NFC", " ".join(value.split()))


def _accented(found: re.Match[str]) -> str:
    letter = (found[2] or found[3] or "").removeprefix("\\")
    return unicodedata.normalize("NFC", letter + _MARKS[found[1]]) if letter else found[0]


def reference_of(key: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """An entry of `references:`, with the fields we know in our order."""
    names = [name.strip() for name in re.split(r"\s+and\s+", fields.get("author", "")) if name.strip()]
    entry: dict[str, Any] = {"id": key, "title": fields.get("title", "") or key}
    if names:
        entry["author"] = ["et al." if name == "others" else name for name in names]
    if year := fields.get("year") or fields.get("date", "")[:4]:
        entry["year"] = int(year) if year.isdecimal() else year
    venue = next((fields[name] for name in _VENUES if fields.get(name)), "")
    if venue and not venue.startswith(("http://", "https://")):
        entry["venue"] = venue
    return entry | dict(_address(fields))


_VENUES = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution", "howpublished")


def _address(fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    url, doi, eprint = (fields.get(name, "").replace("\\", "") for name in ("url", "doi", "eprint"))
    url = url or fields.get("howpublished", "")
    if url.startswith(("https://", "http://")) and " " not in url:
        yield "url", url
    elif doi:
        # 10/abcde is a short form that only the resolver knows
        yield ("doi", doi) if doi.startswith("10.") else ("url", f"https://doi.org/{doi}")
    elif eprint and "arxiv" in f"{fields.get('archiveprefix', '')}{fields.get('eprinttype', '')}".lower():
        yield "url", f"https://arxiv.org/abs/{eprint}"


_UNFIT = lazy_pattern(r"[^\w:.+/-]+")


def fit_key(key: str) -> str:
    """A key as `[@key]` can name it: what is no letter, digit or one of `: . + / -` becomes a hyphen."""
    fit = _UNFIT.sub("-", unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()).strip(
        "-.:+/"
    )
    return fit or "entry"
