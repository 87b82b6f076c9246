"""Pandoc's attribute lists, such as `{#id .class key="value"}`, and those of its table formats that GitHub's
Markdown does not have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...api.importing import lazy_pattern

_ITEM = lazy_pattern(
    r"\s*(?:#(?P<id>[^\s{}#]+)|\.(?P<class>[^\s{}.=]+)|(?P<key>[\w:.-]+)\s*=\s*"
    r"(?:\"(?P<quoted>(?:\\.|[^\"\\])*)\"|'(?P<single>(?:\\.|[^'\\])*)'|(?P<bare>[^\s{}]+))"
    r"|(?P<dash>-)(?=[\s}]|\Z)|=(?P<raw>\w+)|(?P<word>[\w+#-]+))"
)
_END = lazy_pattern(r"\s*\}")
_SAFE = lazy_pattern(r"[^\s\"'}<>]+")
_NAME = lazy_pattern(r"[^\w.:-]+")
ALLOWED = frozenset(("width", "height", "title", "lang", "dir", "loading", "rel", "download"))
"""Attributes that blogsmith's attribute lists accept, in addition to `data-…` and `aria-…`."""


@dataclass(frozen=True, slots=True)
class PandocAttributes:
    """A Pandoc attribute list."""

    id: str = ""
    classes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)
    raw: str = ""
    """Format of raw text, such as `html` for `{=html}`; empty if it is not raw text."""
    words: tuple[str, ...] = ()
    """Words that are not an id, a class or a key with a value, for example the language in `{python}`."""

    def get(self, *keys: str) -> str:
        """Return the value of the first of these attributes that is set; empty if none of them is set."""
        return next((self.pairs[key] for key in keys if key in self.pairs), "")

    def has(self, *names: str) -> bool:
        """Return whether the list has one of these classes."""
        return not set(names).isdisjoint(self.classes)


def read_pandoc_attributes(text: str, start: int = 0) -> tuple[PandocAttributes, int] | None:
    """Return the attribute list whose brace opens at `start`, and the index after the list. Return None if
    the list is invalid."""
    if not text.startswith("{", start):
        return None
    position, name, raw = start + 1, "", ""
    classes: list[str] = []
    pairs: dict[str, str] = {}
    words: list[str] = []
    while not _END.match(text, position):
        found = _ITEM.match(text, position)
        if not found or found.end() == position:
            return None
        position = found.end()
        if found["key"]:
            pairs.setdefault(found["key"], _value(found.groupdict()))
        elif found["class"]:
            classes.append(found["class"])
        elif found["dash"]:
            classes.append("unnumbered")
        elif found["word"]:
            words.append(found["word"])
        else:
            name, raw = found["id"] or name, found["raw"] or raw
    end = _END.match(text, position)
    if end is None:
        return None
    return PandocAttributes(name, tuple(classes), pairs, raw, tuple(words)), end.end()


def _value(groups: Mapping[str, str | None]) -> str:
    quoted = groups["quoted"] if groups["quoted"] is not None else groups["single"]
    if quoted is None:
        return groups["bare"] or ""
    return quoted.replace('\\"', '"').replace("\\'", "'")


def attribute_text(attributes: PandocAttributes, dropped: frozenset[str] = frozenset()) -> str:
    """Return the attribute list in blogsmith's form; empty if it has no attributes left.

    Attributes that blogsmith does not accept and the classes in `dropped` are left out.
    """
    parts = [f"#{fit_id(attributes.id)}"] if attributes.id else []
    parts += [f".{_NAME.sub('-', name)}" for name in attributes.classes if name not in dropped]
    for key, value in attributes.pairs.items():
        if key in ALLOWED or key.startswith(("data-", "aria-")):
            parts.append(f"{key}={quoted_value(value)}")
    return "{" + " ".join(parts) + "}" if parts else ""


def quoted_value(value: str) -> str:
    """Return the value in the form for an attribute list, in quotes where necessary."""
    if _SAFE.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value and "'" not in value else '"' + value.replace('"', "”") + '"'


def fit_id(name: str) -> str:
    """Replace the characters of an id that an attribute list cannot contain."""
    return _NAME.sub("-", name)


_GRID_RULE = lazy_pattern(r"\+(?:[-=:]+\+)+[ \t]*")
_GRID_ROW = lazy_pattern(r"[|+].*[|+][ \t]*")
_DASHES = lazy_pattern(r"[ ]{0,3}-{2,}(?:[ ]+-{2,})+[ \t]*")
_RULE = lazy_pattern(r"[ ]{0,3}-{3,}[ \t]*")
_CAPTION = lazy_pattern(r"(?:Table)?:[ \t]+(?P<text>\S[\s\S]*?)[ \t]*", re.IGNORECASE)
_FENCE_OPENING = lazy_pattern(r"[ \t]*(?:`{3,}|~{3,})")
"""Opening fence of a code block in a table cell."""
_FENCED = lazy_pattern(r"(?m)(^[ \t>]*(?:`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??[ \t>]*(?:`{3,}|~{3,})[ \t]*$)")
_BLANK = lazy_pattern(r"(\n(?:[ \t]*\n)+)")
_FORMULA = lazy_pattern(r"(\$(?:\\.|[^$\\])+\$)")
_PIPE_RULE = lazy_pattern(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


def translate_ruled_tables(text: str) -> str:
    """Convert grid tables and tables with lines of dashes to pipe tables, except inside fences.

    The text must not be masked, because the position of characters determines the columns.
    """
    if "+--" not in text and "--" not in text:
        return text
    return "".join(_translate_outside_fences(part) for part in _FENCED.split(text) if part is not None)


def _translate_outside_fences(text: str) -> str:
    if _FENCED.fullmatch(text):
        return text
    blocks = _BLANK.split(text)
    blocks[::2] = [_block(block) for block in blocks[::2]]
    return "".join(blocks)


def move_captions(text: str) -> str:
    """Move every table caption after its table, and convert it to blogsmith's form."""
    blocks = _BLANK.split(text)
    _move_captions(blocks)
    return "".join(blocks)


def is_table(block: str) -> bool:
    """Return whether a block of lines is a pipe table, with or without a caption line."""
    lines = block.split("\n")
    return any(
        "|" in lines[number] and "-" in line and "|" in line and _PIPE_RULE.fullmatch(line) is not None
        for number, line in enumerate(lines[1:])
    ) or (
        len(lines) > 1 and "|" in lines[0] and _PIPE_RULE.fullmatch(lines[1]) is not None and "-" in lines[1]
    )


def _block(block: str) -> str:
    lines = block.split("\n")
    if _GRID_RULE.fullmatch(lines[0].strip()) and len(lines) > 2:
        end = next((n for n, line in enumerate(lines) if not _GRID_ROW.fullmatch(line.strip())), len(lines))
        table = _grid([line.strip() for line in lines[:end]])
        return "\n".join([*(table or lines[:end]), *lines[end:]])
    if len(lines) > 2 and _DASHES.fullmatch(lines[1]) and not _DASHES.fullmatch(lines[0]):
        return "\n".join(_simple(lines))
    return block


def _grid(lines: Sequence[str]) -> list[str]:
    """Convert a grid table to a pipe table, or to HTML if its cells contain code blocks.

    Return an empty list if cells span rows or columns.
    """
    borders = [at for at, char in enumerate(lines[0]) if char == "+"]
    if any(len(line) < borders[-1] for line in lines):
        return []
    rows: list[list[list[str]]] = [[]]
    header = -1
    for line in lines[1:]:
        if _GRID_RULE.fullmatch(line):
            if "=" in line:
                header = len(rows) - 1
            rows.append([])
        elif any(line[at] not in "|+" for at in borders):
            return []
        else:
            cells = [line[start + 1 : end].removeprefix(" ").rstrip() for start, end in pairwise(borders)]
            above = rows[-1] or [[]] * len(cells)
            rows[-1] = [[*old, new] for old, new in zip(above, cells, strict=True)]
    if any(_FENCE_OPENING.match(line) for row in rows for cell in row for line in cell):
        return _html([row for row in rows if row], header + 1 if header >= 0 else 0)
    made = [[_cell(cell) for cell in row] for row in rows if row]
    marks = [
        _alignment(lines[0] if header < 0 else next(line for line in lines if "=" in line), *pair)
        for pair in pairwise(borders)
    ]
    if header < 0:
        made.insert(0, [""] * len(marks))
    return _pipes(made, marks)


def _html(rows: Sequence[Sequence[Sequence[str]]], heads: int) -> list[str]:
    """Return an HTML table, whose cells may contain blocks, unlike those of a pipe table. heads: number of
    header rows."""
    out = ["<table>"]
    for number, row in enumerate(rows):
        tag = "th" if number < heads else "td"
        out.append("<tr>")
        for cell in row:
            lines = "\n".join(cell).strip("\n").split("\n")
            out += [f'<{tag} markdown="1">', "", *lines, "", f"</{tag}>"]
        out.append("</tr>")
    return [*out, "</table>", ""]


def _alignment(rule: str, start: int, end: int) -> str:
    part = rule[start + 1 : end]
    return f"{':' if part.startswith(':') else ''}---{':' if part.endswith(':') else ''}"


def _cell(lines: Sequence[str]) -> str:
    """Return the lines of a table cell as one line. `<br>` separates paragraphs and list items."""
    text = "\n".join(line.strip() for line in lines).strip()
    text = re.sub(r"\n\s*\n|\n(?=[-*+] )", "<br>", text)
    return _escape_pipes(re.sub(r"(^|<br>)[-*+] ", r"\1• ", " ".join(text.split())))


def _escape_pipes(text: str) -> str:
    """Escape the pipes in the text of a table cell, except in formulas."""
    parts = _FORMULA.split(text)
    return "".join(part if n % 2 else re.sub(r"(?<!\\)\|", r"\|", part) for n, part in enumerate(parts))


def _simple(lines: Sequence[str]) -> list[str]:
    """Convert a table whose columns are marked by lines of dashes to a pipe table."""
    starts = [found.start() for found in re.finditer(r"-+", lines[1])]
    ends = [*starts[1:], None]
    rows = [lines[0]]
    position = 2
    while position < len(lines) and not (
        _DASHES.fullmatch(lines[position]) or _RULE.fullmatch(lines[position])
    ):
        if _CAPTION.fullmatch(lines[position]):
            break
        rows.append(lines[position])
        position += 1
    rest = lines[position + 1 :] if position < len(lines) and "--" in lines[position] else lines[position:]
    columns = list(zip(starts, ends, strict=True))
    made = [[_escape_pipes(row[start:end].strip()) for start, end in columns] for row in rows]
    return [*_pipes(made, ["---"] * len(starts)), *rest]


def _pipes(rows: Sequence[Sequence[str]], marks: Sequence[str]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], f"|{'|'.join(marks)}|", *lines[1:]]


def _move_captions(blocks: list[str]) -> None:
    """Move each caption after its table, and convert it to blogsmith's form. A caption is a separate block
    before or after the table, or at the end of the table's block."""
    for number in range(0, len(blocks), 2):
        lines = blocks[number].split("\n")
        at = next((n for n, line in enumerate(lines) if n and _CAPTION.fullmatch(line)), 0)
        if at and is_table("\n".join(lines[:at])):
            blocks[number] = "\n".join([*lines[:at], "", _caption("\n".join(lines[at:]))])
        elif _CAPTION.fullmatch(blocks[number].strip()):
            if number >= 2 and is_table(blocks[number - 2]):
                blocks[number] = _caption(blocks[number].strip())
            elif number + 2 < len(blocks) and is_table(blocks[number + 2]):
                blocks[number + 2] += "\n\n" + _caption(blocks[number].strip())
                blocks[number] = ""


def _caption(text: str) -> str:
    """Return a caption on one line, such as `: Caption {#tbl-x}`. Attributes other than the id are
    omitted."""
    found = _CAPTION.fullmatch(" ".join(text.split()))
    written = found["text"] if found else text
    brace = written.rfind("{")
    read = read_pandoc_attributes(written, brace) if brace >= 0 else None
    if read and not written[read[1] :].strip():
        label = f" {{#{fit_id(read[0].id)}}}" if read[0].id.startswith("tbl-") else ""
        return f": {written[:brace].strip()}{label}" if written[:brace].strip() else f": {label.strip()}"
    return f": {written}"
