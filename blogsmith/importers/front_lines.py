"""Lines of front matter that an import does not change, with their comments, quotation marks and layout."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from ..api.importing import Reporter, lazy_pattern, load_located_yaml
from .model import SiteImport
from .source_files import open_file

_HEAD = lazy_pattern(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = lazy_pattern(r"([A-Za-z_][\w.-]*|\"[^\"\\\n]*\"|'[^'\n]*')[ \t]*:(?:[ \t]|$)")
"""Matches a key at the top level, at the start of a line."""
_SUFFIXES = frozenset((".md", ".markdown", ".mdown", ".mdx", ".qmd", ".rmd"))
_MAX_BYTES = 1 << 16


def read_heads(site: SiteImport) -> SiteImport:
    """Set `head` of each page to the front matter of its source file, if this is YAML."""
    pages = []
    for page in site.pages:
        head = ""
        if page.front and PurePosixPath(page.source).suffix.lower() in _SUFFIXES:
            head = _read_head(site, page.source)
        pages.append(replace(page, head=head) if head else page)
    return replace(site, pages=tuple(pages))


def _read_head(site: SiteImport, source: str) -> str:
    try:
        with open_file(site.root / source) as file:
            found = _HEAD.match(file.read(_MAX_BYTES).decode("utf-8").removeprefix("\ufeff"))
    except (OSError, ValueError):
        return ""
    return found[1].replace("\r\n", "\n") if found else ""


@lru_cache(4096)
def keep_lines(head: str, new: str) -> str:
    """Return the front matter `new`. If the value of a key is the same in `head`, use the author's lines and
    comments from there, in their order. If `head` cannot be divided into keys, return `new` unchanged. new:
    YAML from `format_yaml`."""
    old, wanted = _blocks(head), _blocks(new)
    if old is None or wanted is None:
        return new
    end = old.pop("", ("", ""))[0]
    kept = [above + _pick(block, wanted.pop(key, ("", ""))[1]) for key, (above, block) in old.items()]
    return "".join((*kept, *(block for _, block in wanted.values()), end)).lstrip("\n")


def _pick(old: str, new: str) -> str:
    """Return the old lines of a key if blogsmith reads the same value from them as from the new lines.
    Otherwise, return the new lines."""
    return old if new and (old == new or _read(old) == _read(new) != "") else new


def _read(text: str) -> str:
    """Return the `repr` of the data in YAML, as blogsmith reads it; empty on an error."""
    reporter = Reporter("", text.split("\n"))
    located = load_located_yaml(text, reporter)
    return "" if located is None or reporter.diagnostics else repr(located.value)


def _blocks(text: str) -> dict[str, tuple[str, str]] | None:
    """Return top-level key → (comments before the key, lines of the key). Comments at the end have the key
    "". Return None if the text cannot be divided into keys."""
    found: dict[str, tuple[str, str]] = {}
    above, key = "", ""
    for line in text.splitlines(keepends=True):
        if not line.strip() or line[0] == "#":
            above += line
        elif match := _KEY.match(line):
            key = match[1].strip("\"'")
            if key in found:
                return None
            found[key], above = (above, line), ""
        elif key and line[0] in " \t-":
            found[key], above = (found[key][0], found[key][1] + above + line), ""
        else:
            return None
    return {**found, "": (above, "")} if above else found
