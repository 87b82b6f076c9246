"""Posts as notebooks: front matter, Markdown and cells of a post as the cells of an nbformat 4.5 file.

Metadata contain the parts of the post that a notebook cannot express otherwise, so `page.page_text` restores
the text of the post. Outputs are left out. Source: the JSON schema of nbformat 4.5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...base.patterns import lazy_pattern
from .markdown import OWN_KEY

_OPENING = lazy_pattern(r"(`{3,}|~{3,})[ \t]*(?:\{[ \t]*)?\.?([\w+-]*)[^\n]*")
_EDGES = lazy_pattern(r"(\s*)([\s\S]*?)(\s*)")


def export_notebook(text: str, first_line: int, cell_lines: Iterable[int], kernel: str = "") -> bytes:
    """Return a post as a notebook.

    text: source of the post. first_line, cell_lines: 1-based lines of the start of its body, and of the
    fences of its cells. Cells inside of lists and quotes stay Markdown. kernel: Jupyter kernel of the page;
    empty for Python.
    """
    language = ""
    before = ""
    cells: list[dict[str, Any]] = []
    for kind, part, fence in _parts(text.split("\n"), first_line, sorted(cell_lines)):
        start, source, end = _split_edges(part) if not fence else ("", part, "")
        before += start
        if not source.strip() and not fence:
            before += f"{end}\n"
            continue
        # the source of a Python file has markers before its cells
        is_kept = cells and before != "\n\n" and "\t" not in before
        own = {"before": before} if is_kept else {}
        if fence:
            own["fence"] = fence
            found = _OPENING.fullmatch(fence)
            language = language or (found[2].lower() if found else "")
        cells.append(_cell(kind, source, len(cells) + 1, own))
        before = end + "\n"
    name = language or "python"
    metadata: dict[str, Any] = {
        OWN_KEY: {"after": before.removesuffix("\n")},
        "kernelspec": {"display_name": name.capitalize(), "language": name, "name": kernel or "python3"},
        "language_info": {"name": name},
    }
    data = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _parts(lines: list[str], first_line: int, cell_lines: list[int]) -> Iterator[tuple[str, str, str]]:
    """Yield (kind of cell, text, opening line of its fence) for each part of a post. The line breaks between
    parts are left out."""
    position = first_line - 1
    if position:
        yield "raw", "\n".join(lines[:position]), ""
    for line in cell_lines:
        found = _OPENING.fullmatch(lines[line - 1]) if position < line <= len(lines) else None
        end = lines.index(found[1], line) if found and found[1] in lines[line:] else 0
        if not found or end <= line or _ends_before(lines[line:end], found[1]):
            continue
        if position < line - 1:
            yield "markdown", "\n".join(lines[position : line - 1]), ""
        yield "code", "\n".join(lines[line:end]), lines[line - 1]
        position = end + 1
    if position < len(lines):
        yield "markdown", "\n".join(lines[position:]), ""


def _ends_before(lines: Iterable[str], marks: str) -> bool:
    """Return whether one of the lines would end the fence that starts with `marks`. Such a line may have
    spaces at its ends, or more marks than the start."""
    end = re.compile(rf"[ ]{{0,3}}{re.escape(marks[0])}{{{len(marks)},}}[ \t]*")
    return any(end.fullmatch(line) for line in lines)


def _split_edges(text: str) -> tuple[str, str, str]:
    found = _EDGES.fullmatch(text)
    assert found, "every text matches"
    return found[1], found[2], found[3]


def _cell(kind: str, source: str, number: int, own: dict[str, str]) -> dict[str, Any]:
    lines = re.findall(r"[^\n]*\n|[^\n]+", source)
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    metadata = {OWN_KEY: own} if own else {}
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": metadata, "source": lines, **more}
