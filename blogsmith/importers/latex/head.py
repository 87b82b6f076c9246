"""Title, authors, date and abstract of a paper, as the common document classes write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...api.importing import lazy_pattern, parse_date
from .scanning import group_end, option_end, skip_space

_COMMAND = lazy_pattern(
    r"\\(?P<name>title|author|date|icmltitle|icmlauthor|Title|name|subtitle|shorttitle|icmltitlerunning"
    r"|aistatstitle"
    r"|aistatsauthor|Author)\*?(?![A-Za-z])"
)
_SEPARATOR = lazy_pattern(r"\\(?:and|And|AND|quad|qquad)(?![A-Za-z])|\\\\|\n[ \t]*\n|\\hfill(?![A-Za-z])")
_NOTE = lazy_pattern(
    r"\\(?:thanks|footnote|footnotemark|textsuperscript|inst|orcidlink|orcidID|email|affil|affiliation"
    r"|address"
    r"|footnotetext|thanksref|corref|fnref|institution|IEEEmembership|texttt|url|href|vspace|hspace"
    r"|authornote|IEEEauthorblockA)"
)
_MARK = lazy_pattern(r"\$\s*\^[^$]*\$|\^\{[^{}]*\}|\\(?:dagger|ddagger|ast|star)(?![A-Za-z])|\\,")
_NAME_WORD = lazy_pattern(r"[^\W\d_]{1,}")
_NO_NAME = lazy_pattern(
    r"(?i)\b(?:universit|institut|department|dept|school|laborator|college|faculty|research|center|centre"
    r"|inc|llc|"
    r"google|microsoft|deepmind|openai|equal|contribution|corresponding|email|anonymous|address|usa"
    r"|street|academy)|@|http"
)
_MAX_NAME_WORDS = 6
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WORDS = lazy_pattern(
    r"([A-Za-z]{3,9})\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})\Z"
    r"|(\d{1,2})\.?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})\Z"
)


@dataclass(frozen=True, slots=True)
class Head:
    """Title, authors and date of a paper, as LaTeX."""

    title: str = ""
    authors: tuple[str, ...] = ()
    date: str = ""
    r"""Date in ISO form; empty if the paper has none, or only the day of printing (`\today`)."""
    has_notes: bool = False
    """Whether title and authors have notes or addresses, which the importer omits."""


def read_head(text: str) -> Head:
    """Read title, authors and date from the text of a paper, including the preamble. The first title that is
    not empty is used."""
    title, date, authors, has_notes = "", "", list[str](), False
    for found in _COMMAND.finditer(text):
        value = _argument(text, found.end())
        name = found["name"].casefold()
        has_notes = has_notes or _NOTE.search(value) is not None
        if name in ("title", "icmltitle", "aistatstitle"):
            title = title or _remove_notes(value)
        elif name in ("author", "icmlauthor", "aistatsauthor"):
            authors += _names(value)
        elif name == "date":
            date = date or _read_date(value)
    return Head(title, tuple(dict.fromkeys(authors)), date, has_notes)


def _argument(text: str, position: int) -> str:
    position = skip_space(text, position)
    while (end := option_end(text, position)) > 0:
        position = skip_space(text, end)
    end = group_end(text, position)
    return text[position + 1 : end - 1].strip() if end > 0 else ""


def _names(value: str) -> Iterator[str]:
    r"""Yield the strings in an author block that may be names. Authors are separated by line breaks, `\and`
    or commas."""
    text = _MARK.sub("", _remove_notes(value))
    for line in _SEPARATOR.split(text):
        for part in lazy_pattern(r",\s+|\s+and\s+|\s&\s|;").split(line):
            name = " ".join(part.replace("~", " ").strip("{} \t\n,*").split())
            name = lazy_pattern(
                r"\\(?:bf|bfseries|textbf|large|Large|small|rm|it|sc|textsc|IEEEauthorblockN|name|fnms"
                r"|snm)(?![A-Za-z])\s*\{?"
            ).sub("", name)
            name = name.strip("{} *")
            words = _NAME_WORD.findall(name)
            if 2 <= len(words) <= _MAX_NAME_WORDS and not _NO_NAME.search(name) and name[:1].isupper():
                yield name


def _remove_notes(value: str) -> str:
    pieces, position = list[str](), 0
    for found in _NOTE.finditer(value):
        if found.start() < position:
            continue
        pieces.append(value[position : found.start()])
        position = found.end()
        while (end := max(option_end(value, position), group_end(value, position))) > 0:
            position = end
    return "".join((*pieces, value[position:]))


def _read_date(value: str) -> str:
    written = " ".join(value.replace("~", " ").split())
    if found := _WORDS.match(written):
        month, day, year = (found[1], found[2], found[3]) if found[1] else (found[5], found[4], found[6])
        number = next((at for at, name in enumerate(_MONTHS, 1) if name.startswith(month.casefold()[:3])), 0)
        return f"{year}-{number:02d}-{int(day or 1):02d}" if number and int(day or 1) <= 31 else ""
    try:
        parsed = parse_date(written)
    except ValueError:
        parsed = None
    return parsed.date().isoformat() if parsed else ""
