"""Lines that an import leaves as the author wrote them: comments and layout of front matter, white space of
the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from ..api.importing import Reporter, lazy_pattern, load_located_yaml
from .model import SiteImport
from .source_files import open_file

_HEAD = lazy_pattern(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = lazy_pattern(r"([A-Za-z_][\w.-]*|\"[^\"\\\n]*\"|'[^'\n]*')[ \t]*:(?:[ \t]|$)")
"""A key at the top level, at the start of a line."""
_BLANK_LINE = lazy_pattern(r"^[ \t]*\n", re.MULTILINE)
_FENCE_SPACES = lazy_pattern(r"^([ >]*(?:`{3,}|~{3,}))[ ]+")
_MAX_SKIPPED = 200
"""Maximum number of source lines between two lines of a new text that follow each other."""
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
    kept = list[str]()
    for key, (above, block) in old.items():
        picked = _pick(block, wanted.pop(key, ("", ""))[1])
        kept += [above if picked else _BLANK_LINE.sub("", above), picked]
    return "".join((*kept, *(block for _, block in wanted.values()), _BLANK_LINE.sub("", end))).lstrip("\n")


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


def keep_white_space(original: str, text: str) -> str:
    """Return `text`, but with the author's lines from `original` if these differ only in tabs, in spaces at
    the end, or in the number of blank lines. Hard line breaks of `text` stay."""
    old = original.split("\n")
    places: dict[str, list[int]] = {}
    for number, line in enumerate(old):
        # the width of a tab after text depends on the old system
        if "\t" not in line.strip():
            places.setdefault(_significant(line), []).append(number)
    kept = list[str]()
    last, is_kept, blank = -1, False, 0
    for line in text.split("\n"):
        if not line.strip():
            blank += 1
            continue
        known = places.get(_significant(line), ())
        at = bisect_right(known, last)
        found = at < len(known) and known[at] - last <= _MAX_SKIPPED and not line.endswith("  ")
        gap = old[last + 1 : known[at]] if found and is_kept and blank else []
        is_same = gap and not any(map(str.strip, gap))
        kept += [*(gap if is_same else [""] * blank), old[known[at]] if found else line]
        last, is_kept, blank = known[at] if found else last, found, 0
    return "\n".join((*kept, *[""] * blank))


def _significant(line: str) -> str:
    """Return a line without differences in white space that have no meaning."""
    return _FENCE_SPACES.sub(r"\1", line.expandtabs(4).rstrip())
