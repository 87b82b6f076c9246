"""Conversion of a source to a document: splits off the front matter and reads it.

Front matter is at the very start of a file: YAML between `---` lines (the second may be `...`), TOML between
`+++` lines, or a JSON object. Front matter with errors still gives a document with everything that could be
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from msgspec import Struct

from ..base.diagnostics.characters import find_forbidden, find_hidden, format_code_point, remove_forbidden
from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Diagnostic, Place, Reporter
from ..base.diagnostics.notebook_cells import NOTEBOOK, PYTHON
from ..base.merge_conflicts import take_first_versions
from ..base.patterns import lazy_pattern
from ..base.schema.data_loaders import load_json, load_toml, read_object
from ..base.schema.slots import LocatedMapping, Slot
from ..base.schema.yaml_loader import Located, load
from ..config.languages import file_language
from ..config.schema import Config
from ..model.documents import Document, FrontMatter, Source, read_end_later
from .head import read_front_matter

_HYPHENS = lazy_pattern(r"-{3,}")
_KEY = lazy_pattern(r"[A-Za-z]\w*:(?:\s|$)")
_HEAD_KEY = lazy_pattern(r"([A-Za-z]\w*)(?::(?:\s|$)|[ \t]*=)|[ \t]*\"([A-Za-z]\w*)\"[ \t]*:")
_TOML_LINE = lazy_pattern(r"[ \t]*(?:#|\[|[\w.\"'-]+[ \t]*[=:])")
_JSON = lazy_pattern(r"\{\s*\"(?:[^\"\\\n]|\\.)*\"\s*:")
_CODE = frozenset({"aliases", "bibliography", "execute", "image", "macros", "math", "slug", "template"})
"""Keys whose values are code or names, not prose."""


Loader = Callable[..., Located | None]


class _SplitSource(Struct, frozen=True):
    """A file split into front matter and body."""

    front_matter: str
    body: str
    first_line: int
    """1-based line number of the first line of the body."""
    load: Loader = load
    """Loader of the front matter."""
    head_line: int = 2
    """1-based line number of the first line of the front matter."""


def read_document(source: Source, config: Config) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Return the document of a source, and the errors in its front matter."""
    text = source.text
    lines = text.split("\n")
    reporter = Reporter(source.path.as_posix(), lines)
    kept = take_first_versions(text, reporter, is_markdown=True)
    if kept != text:
        source, text, lines = replace(source, text=kept), kept, kept.split("\n")
    # a notebook begins with the marker of its first cell
    start = next((n for n, line in enumerate(lines) if line.strip()), 0) if _begins_late(source) else 0
    split = _split(text, lines, reporter, start)
    located = None
    if split.front_matter.strip():
        located = split.load(split.front_matter, reporter, first_line=split.head_line)
    path = file_language(source.path, config).path
    front = read_front_matter(_root(located, reporter), path, config.timezone)
    front = with_language(front, source.path, config, reporter)
    _warn_of_hidden(split, reporter)
    body = _printable_body(split, reporter)
    if body != split.body:
        source = replace(source, text="\n".join([*lines[: split.first_line - 1], body]))
    elif text.endswith(body):
        body = read_end_later(source, len(text) - len(body))
    found = reporter.diagnostics
    if any(one.code == "merge-conflict" for one in found):
        # the conflict must be resolved first: until then it is unknown where the front matter ends
        found = [one for one in found if one.code != "front-matter-open"]
    return Document(source, front, body, split.first_line), tuple(found)


def find_key_place(names: Iterable[str], lines: Iterable[str]) -> Place | None:
    """Return the location of a key, by one of its names, in the lines of the front matter; None if no line
    has the key. Used for unknown keys, whose locations are not recorded."""
    pattern = re.compile(rf"""[\s{{,]*["']?({"|".join(map(re.escape, names))})["']?\s*[:=]""")
    for number, line in enumerate(lines, 1):
        if found := pattern.match(line):
            return Place(number, found.start(1) + 1, len(found[1]))
    return None


def _printable_body(split: _SplitSource, reporter: Reporter) -> str:
    """Return the body without characters that pages must not contain. Report the first one of each line.
    Columns in later diagnostics count without these characters."""
    if not find_forbidden(split.body):
        return split.body
    for number, line in enumerate(split.body.split("\n"), split.first_line):
        if found := find_forbidden(line):
            message = f"character {format_code_point(found[0])} is not allowed in pages and is removed"
            place = Place(number, found.start() + 1)
            fix = reporter.substitute(place, found[0], "", title="remove the character", is_safe=True)
            reporter.warn("hidden-character", message, place, "remove it", fix)
    return remove_forbidden(split.body)


def _warn_of_hidden(split: _SplitSource, reporter: Reporter) -> None:
    """Warn about invisible characters in comments, and in values that are not prose (macros, settings of
    cells)."""
    key = ""
    for number, line in enumerate(split.front_matter.split("\n"), split.head_line):
        if named := _HEAD_KEY.match(line):
            key = named[1] or named[2]
        found = find_hidden(line)
        if found and (key in _CODE or line.lstrip().startswith("#")):
            message = f"this line contains the invisible character {format_code_point(found[0])}"
            place = Place(number, found.start() + 1)
            fix = reporter.substitute(place, found[0], "", title="remove the character")
            reporter.warn("hidden-character", message, place, "remove it", fix)


def _begins_late(source: Source) -> bool:
    return source.path.suffix.lower() in (NOTEBOOK, PYTHON)


def _split(text: str, lines: list[str], reporter: Reporter, start: int = 0) -> _SplitSource:
    """Split a file whose first `start` lines are empty."""
    first = lines[start].rstrip()
    if first == "+++" and _TOML_LINE.match("".join(lines[1:2])):
        return _split_toml(lines, reporter)
    if _JSON.match(text) and (split := _split_json(text, lines)):
        return split
    if first != "---":
        _report_misplaced(lines, reporter)
        return _SplitSource("", text, 1)
    for index, line in enumerate(lines[start + 1 :], start=start + 1):
        if line.rstrip() in ("---", "..."):
            return _cut(lines, index, index + 1, head_line=start + 2)
    if not "".join(lines[start + 1 : start + 2]).strip():
        # a horizontal rule: nobody begins front matter with an empty line and also forgets its end
        return _SplitSource("", text, 1)
    hint = "end it with a line `---`"
    end = next((index for index, line in enumerate(lines) if index > start and not line.strip()), len(lines))
    fix = _end_head(lines, end, "---")
    reporter.error("front-matter-open", "missing end of front matter", Place(start + 1, 1, 3), hint, fix)
    return _cut(lines, end, end, head_line=start + 2)


def _end_head(lines: list[str], end: int, mark: str) -> Fix:
    """Return a fix that ends the front matter before its first empty line."""
    return make_replacement(end, len(lines[end - 1]) + 1, "", f"\n{mark}", title=f"end it with a line {mark}")


def _split_toml(lines: list[str], reporter: Reporter) -> _SplitSource:
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "+++":
            return _cut(lines, index, index + 1, load_toml)
    end = next((index for index, line in enumerate(lines) if not line.strip()), len(lines))
    fix, hint = _end_head(lines, end, "+++"), "end it with a line `+++`"
    reporter.error("front-matter-open", "missing end of front matter", Place(1, 1, 3), hint, fix)
    return _cut(lines, end, end, load_toml)


def _split_json(text: str, lines: list[str]) -> _SplitSource | None:
    """Split at the end of the JSON object, or if it is invalid, at a line `}` or an empty line. Return None
    if other characters follow on the last line of the object, because the text is then a sentence about
    JSON."""
    end = read_object(text).end
    if end >= 0:
        behind = text.find("\n", end)
        if text[end : behind if behind >= 0 else len(text)].strip():
            return None
        count = text.count("\n", 0, end) + 1
    else:
        ends = (n for n, line in enumerate(lines, 1) if line.rstrip() == "}" or not line.strip())
        count = next(ends, len(lines))
        end = len("\n".join(lines[:count]))
    return _SplitSource(text[:end], "\n".join(lines[count:]), count + 1, load_json, 1)


def _report_misplaced(lines: list[str], reporter: Reporter) -> None:
    """Report front matter that follows empty lines or is between lines of more than three hyphens; it would
    be printed as text."""
    at = next((index for index, line in enumerate(lines) if line.strip()), 0)
    mark = lines[at].rstrip()
    if not _HYPHENS.fullmatch(mark) or not _KEY.match("".join(lines[at + 1 : at + 2])):
        return
    end = next((line.rstrip() for line in lines[at + 1 :] if not line.strip() or line.rstrip() == mark), "")
    if end == mark:
        hint = "write it between two lines `---` at the very start of the file"
        place = Place(at + 1, 1, len(mark))
        reporter.error(
            "front-matter-open",
            "front matter has no effect because it is not at the start of the file",
            place,
            hint,
        )


def _cut(
    lines: list[str], head_end: int, body_start: int, read: Loader = load, head_line: int = 2
) -> _SplitSource:
    head, body = "\n".join(lines[head_line - 1 : head_end]), "\n".join(lines[body_start:])
    return _SplitSource(head, body, body_start + 1, read, head_line)


def _root(located: Located | None, reporter: Reporter) -> Slot:
    """Return the front matter as a mapping, empty if it is not a mapping."""
    found = located or Located({}, {}, {}, {})
    root = LocatedMapping(found, reporter, code="front-matter-value").root()
    if isinstance(root.value, dict):
        return root
    if root.value is not None:
        root.report("front matter must be `key: value` lines", "write lines such as `title: My post`")
    return root._replace(value={})


# The language of a page, from its front matter or its file name.


def with_language(front: FrontMatter, path: PurePosixPath, config: Config, reporter: Reporter) -> FrontMatter:
    """Return the front matter with the language from the file name, if it has none of its own. Report an
    error if they differ."""
    named = file_language(path, config).tag
    if not named or front.lang.lower() == named.lower():
        return front
    if front.lang:
        message = f'"lang" is "{front.lang}", but the file name has the language "{named}"'
        hint = "remove `lang`, or rename the file"
        reporter.error("translation", message, front.places.get("lang"), hint)
    return replace(front, lang=named)
