"""Conversion of d2lbook's dialect to MyST.

It covers roles such as `` :name:`x` ``, labels after their targets, tabs, and cells of several frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...api.importing import lazy_pattern
from ..text.containers import trim_blank_lines

_ROLE = lazy_pattern(r"(?<![\w`{]):(numref|eqref|ref|cite|citet|citep):`([^`\n]+)`")
_ROLES = {
    **{"numref": "numref", "eqref": "eq", "ref": "ref"},
    **{"cite": "cite", "citet": "cite:t", "citep": "cite:p"},
}
_MARK = lazy_pattern(r"\s*:(label|eqlabel|width|height|citet?):`([^`]+)`\s*")
_BEGIN_TAB = lazy_pattern(r"\s*:begin_tab:`?([^`\n]*)`?\s*")
_END_TAB = lazy_pattern(r"\s*:end_tab:\s*")
_IMAGE = lazy_pattern(r"!\[(?P<caption>.*)\]\((?P<path>[^()\s]+)\)\s*", re.DOTALL)
_CAPTION = lazy_pattern(r":(?![a-z_]+:)(\S.*)")
_CELL = lazy_pattern(r"(\s*`{3,})\s*\{\s*\.([A-Za-z]+)\s+\.input[^}]*\}.*")
_TAB = lazy_pattern(r"%%tab\s+(.+)")
_SLIDE_EMPHASIS = lazy_pattern(r"([\[(])\s*\*\*(?=\S)([^*\n]+(?:\n[^*\n]+)*)\*\*\s*[\])](?!\()")
_HEADING = lazy_pattern(r"#{1,6}\s.*")
_BIBLIOGRAPHY = lazy_pattern(r"\s*:bibliography:`.*`\s*")


def rewrite_d2l(text: str) -> str:
    """Convert a page of d2lbook to MyST."""
    lines = list(_join_images(text.split("\n")))
    out: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if found := _CELL.fullmatch(line):
            used, made = _cell(lines, index, found)
        elif line.lstrip().startswith("```"):
            used, made = _fence(lines, index)
        elif found := _BEGIN_TAB.fullmatch(line):
            used, made = 1, [f"::::{{tab-item}} {found[1]}"]
        elif _END_TAB.fullmatch(line):
            used, made = 1, ["::::"]
        elif _CAPTION.fullmatch(line) and (table := _table(lines, index)):
            used, made = table
        elif _BIBLIOGRAPHY.fullmatch(line):
            used, made = 1, ["```{bibliography}", "```"]
        else:
            used, made = _attach_labels(lines, index)
        out.extend(made)
        index += used
    return "\n".join(out)


def _join_images(lines: list[str]) -> Iterator[str]:
    held: list[str] = []
    for line in lines:
        if held or (line.startswith("![") and not _IMAGE.fullmatch(line)):
            held.append(line)
            if line.rstrip().endswith(")") or not line.strip() or len(held) > 8:
                whole = " ".join(held)
                yield from [whole] if _IMAGE.fullmatch(whole) else held
                held = []
        else:
            yield line
    yield from held


def _fence(lines: list[str], index: int) -> tuple[int, list[str]]:
    marks = lines[index].strip()
    marks = marks[: len(marks) - len(marks.lstrip("`"))]
    end = next((n for n in range(index + 1, len(lines)) if lines[n].strip() == marks), len(lines) - 1)
    block = lines[index : end + 1]
    if lines[index].strip() == f"{marks}toc":
        block[0] = lines[index].replace("toc", "{toctree}")
    if "eval_rst" in lines[index]:
        block[0] = f"{marks}{{eval-rst}}"
    return end - index + 1, block


def _cell(lines: list[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
    """Convert a cell to a code block with the name of its framework as caption. found: match of the first
    line. Return the number of lines read, and the new lines."""
    used, block = _fence(lines, index)
    body = trim_blank_lines(block[1:-1])
    head = [f"{found[1]}{{code-block}} {found[2]}"]
    if body and (tab := _TAB.fullmatch(body[0].strip())):
        head.append(f":caption: {tab[1].strip()}")
        body = body[1:]
    if any("d2lbook.tab" in line for line in body[:2]):
        return used, []
    # without the empty line, the first line of code could be read as an option
    return used, [*head, "", *body, block[-1]]


def _table(lines: list[str], index: int) -> tuple[int, list[str]] | None:
    """Convert a table. The line at `index` is its caption, followed by its label. Return the number of lines
    read, and the new lines; None if no table follows."""
    end = index + 1
    name = ""
    while end < len(lines) and (not lines[end].strip() or _MARK.fullmatch(lines[end])):
        found = _MARK.fullmatch(lines[end])
        name = found[2] if found and found[1] == "label" else name
        end += 1
    start = end
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        end += 1
    if start == end:
        return None
    options = [f":name: {name}"] if name else []
    caption = _prose(lines[index][1:].strip())
    rows = [_prose(line) for line in lines[start:end]]
    return end - index, [f":::{{table}} {caption}", *options, "", *rows, ":::"]


def _attach_labels(lines: list[str], index: int) -> tuple[int, list[str]]:
    """Add the labels and sizes in the following lines to the element in the line at `index`. Return the
    number of lines read, and the new lines."""
    marks: dict[str, str] = {}
    last = index + 1
    while last < len(lines) and (found := _MARK.fullmatch(lines[last])) and lines[index].strip():
        marks[found[1]] = found[2]
        last += 1
    line, name = lines[index], marks.get("label") or marks.get("eqlabel") or ""
    if not marks:
        if found := _MARK.fullmatch(line):
            return 1, [f"({found[2]})="] if "label" in found[1] else []
        return 1, [_prose(line)]
    if found := _IMAGE.fullmatch(line):
        options = [f":name: {name}"] if name else []
        options += [f":{key}: {marks[key]}" for key in ("width", "height") if key in marks]
        return last - index, [f"```{{figure}} {found['path']}", *options, "", _prose(found["caption"]), "```"]
    if line.rstrip().endswith("$$") and name:
        return last - index, [f"{line.rstrip()} ({name})"]
    target = [f"({name})="] if name else []
    if _HEADING.fullmatch(line):
        return last - index, [*target, _prose(line)]
    return last - index, [_prose(line), "", *target]


def _prose(line: str) -> str:
    line = _ROLE.sub(lambda found: f"{{{_ROLES[found[1]]}}}`{found[2]}`", line)
    return _SLIDE_EMPHASIS.sub(r"**\2**", line)
