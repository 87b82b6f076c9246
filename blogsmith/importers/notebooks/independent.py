"""Independent renderer of notebooks with json and markdown-it. It is used to count their content, and shares
no code with the translation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import Any

from ...api.importing import name_set
from ..verify.markdown_reader import formula_html, markdown_reader

_FORMULA = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)[\s\S]*?[^`](?P=ticks)(?!`))|(?P<display>(?<!\\)\$\$[\s\S]+?\$\$)"
    r"|(?P<math>(?<![\\$])\$(?!\$)(?:\\[\s\S]|[^\\$\n`]|\n(?![ \t]*\n))+?\$(?!\d))"
    r"|(?P<bracket>\\\\\([\s\S]+?\\\\\)|\\\\\[[\s\S]+?\\\\\])"
    r"|(?P<bare>\\begin\{(?P<name>(?:align|equation|gather|eqnarray|multline)\*?)\}[\s\S]*?\\end\{(?P=name)\})"
)
_MARK = re.compile("\ue014(\\d+)\ue015")
_HIDDEN = name_set("remove-cell hide-cell remove_cell hide_cell hide remove-input remove-code")
_OPTIONS = re.compile(r"\A(?:[ \t]*#[ \t]?\|.*(?:\n|\Z))+")
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HIDDEN_OPTION = re.compile(r"\|[ \t]*(?:echo|include)[ \t]*:[ \t]*false")


def render_notebook(text: str, markdown: Callable[[str], str] | None = None) -> str:
    """Return the HTML of a notebook, or of a fragment of Markdown.

    markdown: function that returns the HTML of a Markdown cell; if None, the cell is rendered as in Jupyter.
    """
    render = markdown or _markdown
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return render(text)
    sheets = data.get("worksheets")
    cells = data.get("cells") or [
        cell for sheet in (sheets if isinstance(sheets, list) else []) for cell in sheet.get("cells", [])
    ]
    return "\n".join(_cell(cell, render) for cell in cells if isinstance(cell, dict))


def _cell(cell: dict[str, Any], render: Callable[[str], str]) -> str:
    source = _join_lines(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind == "code":
        metadata = cell.get("metadata")
        tags = (metadata.get("tags") if isinstance(metadata, dict) else None) or []
        if _HIDDEN.intersection(str(tag).replace("_", "-") for tag in tags) or _HIDDEN_OPTION.search(source):
            return ""
        code = _OPTIONS.sub("", source).strip("\n")
        return f"<pre><code>{escape(code)}</code></pre>" if code.strip() else ""
    if kind == "raw":
        metadata = cell.get("metadata") or {}
        form = metadata.get("raw_mimetype") or metadata.get("format") or ""
        return "" if form not in ("", "text/html", "text/markdown") else render(_remove_front_matter(source))
    if kind == "heading":
        source = f"{'#' * int(cell.get('level') or 1)} {source}"
    return render(_remove_front_matter(source))


def _remove_front_matter(source: str) -> str:
    return re.sub(r"\A\s*---\n[\s\S]*?^---[ \t]*(?:\n|\Z)", "", source, count=1, flags=re.MULTILINE)


def _join_lines(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _markdown(text: str) -> str:
    formulas: list[str] = []

    def keep(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        tex = re.sub(r"\A(?:\$+|\\\\[(\[])|(?:\$+|\\\\[)\]])\Z", "", found[0])
        formulas.append(formula_html(tex))
        return f"\ue014{len(formulas) - 1}\ue015"

    parts = re.split(r"(^[ \t]*(?:```|~~~)[\s\S]*?^[ \t]*(?:```|~~~)[ \t]*$)", text, flags=re.MULTILINE)
    kept = "".join(part if number % 2 else _FORMULA.sub(keep, part) for number, part in enumerate(parts))
    return _MARK.sub(lambda found: formulas[int(found[1])], str(_parser().render(kept)))


_parser = lru_cache(maxsize=1)(markdown_reader)
