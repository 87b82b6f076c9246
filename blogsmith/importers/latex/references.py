r"""References of a paper, read from `.bib` files, a `.bbl` file, or `thebibliography` in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...api.importing import lazy_pattern, plain_text
from ..bibliographies import fit_key
from .scanning import group_end, option_end, skip_space

CITATION = lazy_pattern(
    r"\\(?P<name>(?:no|foot|paren|text|auto|full|smart"
    r"|super)?[cC]ite[A-Za-z]*)\*?(?P<options>(?:\s*\[[^\[\]]*\]){0,2})\s*\{(?P<keys>[^{}]*)\}"
)
BIBLIOGRAPHY = lazy_pattern(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_ITEM = lazy_pattern(r"\\bibitem(?![A-Za-z])")
_ENTRY = lazy_pattern(r"\\entry\{(?P<key>[^{}]*)\}\{(?P<kind>[^{}]*)\}(?P<body>[\s\S]*?)\\endentry")
_FIELD = lazy_pattern(
    r"\\(?:field|list)\{(?P<name>[a-z]+)\}(?:\{\d+\})?\{(?P<value>(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
)
_PERSON = lazy_pattern(r"(?P<part>family|given)=\{+(?P<value>[^{}]*)\}+")
_URL = lazy_pattern(r"\\(?:url|href|path)\s*\{([^{}]*)\}|(https?://[^\s{}]+)")
_YEAR = lazy_pattern(r"(?<!\d)(?:1[6-9]|20)\d\d(?!\d)")
_LABEL_YEAR = lazy_pattern(r"\((\d{4})[a-z]?\)")


def read_bbl(text: str) -> list[dict[str, Any]]:
    """Return the entries of a `.bbl` file or of `thebibliography`, in the form of the front matter key
    `references`."""
    if "\\entry{" in text:
        return list(_biblatex_entries(text))
    starts = [found.start() for found in _ITEM.finditer(text)]
    return [
        entry
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
        if (entry := _read_item(text[start:end]))
    ]


def _read_item(text: str) -> dict[str, Any]:
    position = skip_space(text, len("\\bibitem"))
    label_end = option_end(text, position)
    label = text[position:label_end] if label_end > 0 else ""
    start = skip_space(text, label_end if label_end > 0 else position)
    end = group_end(text, start)
    if end < 0:
        return {}
    body = text[end:].partition("\\end{thebibliography}")[0]
    blocks = [part.strip() for part in body.split("\\newblock")]
    plain = [_plain(part) for part in blocks]
    entry: dict[str, Any] = {"id": fit_key(text[start + 1 : end - 1].strip())}
    if len(plain) > 1:
        names = [name.strip(" .") for name in lazy_pattern(r",\s+(?:and\s+)?|\s+and\s+").split(plain[0])]
        entry |= {"title": plain[1].rstrip(".,"), "author": [name for name in names if len(name) > 1]}
        rest = " ".join(part for part in plain[2:] if part)
    else:
        entry |= {"title": plain[0]}
        rest = ""
    year = _LABEL_YEAR.search(label) or _YEAR.search(rest)
    if year:
        entry["year"] = int(year[year.lastindex or 0])
    if rest:
        entry["note"] = rest
    if found := _URL.search(body):
        url = (found[1] or found[2]).replace("\\", "").strip()
        if url.startswith("http"):
            entry["url"] = url
    return {key: value for key, value in entry.items() if value} if entry.get("title") else {}


def _plain(tex: str) -> str:
    tex = lazy_pattern(
        r"\\(?:em|it|bf|sc|rm|penalty0?|bibinfo\s*\{[^{}]*\}|bibfield\s*\{[^{}]*\}|BibitemOpen"
        r"|BibitemShut\s*\{[^{}]*\}|natexlab)(?![A-Za-z])"
    ).sub("", tex)
    return plain_text(tex).replace("\u00a0", " ").strip()


def _biblatex_entries(text: str) -> Iterator[dict[str, Any]]:
    for found in _ENTRY.finditer(text):
        fields = {one["name"]: _plain(one["value"]) for one in _FIELD.finditer(found["body"])}
        names = list[str]()
        author = found["body"].partition("\\name{author}")[2].partition("\n    }%")[0]
        parts = [(one["part"], plain_text(one["value"])) for one in _PERSON.finditer(author)]
        for part, value in parts:
            if part == "family":
                names.append(value)
            elif names and "," not in names[-1]:
                names[-1] = f"{names[-1]}, {value}"
        entry: dict[str, Any] = {"id": fit_key(found["key"]), "title": fields.get("title") or found["key"]}
        if names:
            entry["author"] = names
        if year := _YEAR.search(fields.get("year", "") or fields.get("date", "")):
            entry["year"] = int(year[0])
        venue = next(
            (fields[name] for name in ("journaltitle", "booktitle", "publisher") if fields.get(name)), ""
        )
        yield entry | ({"venue": venue} if venue else {})


def cited_keys(text: str) -> list[str]:
    """Return the keys that a text cites, in order, without duplicates."""
    found = (key.strip() for one in CITATION.finditer(text) for key in one["keys"].split(","))
    return list(dict.fromkeys(key for key in found if key))
