"""Attributes of code in Hugo → ours: `{hl_lines=[1,"3-5"] linenos=table}` → `{1,3-5} linenos`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...base.patterns import lazy_pattern

_OPTION = lazy_pattern(
    r"([A-Za-z_][\w-]*)\s*=\s*"
    r"(\[[^\]]*\]|\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s,{}]+(?:[ \t]+\d+(?:-\d+)?(?=[\s,]|$))*)"
)
_FENCE = lazy_pattern(r"(?P<open>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,}))[ \t]*(?P<info>[^\n]*)")
_INFO = lazy_pattern(r"([^\s{]*)[ \t]*(?:\{(.*)\})?[ \t]*(.*)")
_NUMBERS = lazy_pattern(r"\d+(?:\s*-\s*\d+)?")


def rewrite_fence(block: str) -> str:
    """A code block with the words behind its language as ours are; one that is indented stays."""
    found = _FENCE.match(block)
    if not found or "{" not in found["info"] or found["info"].startswith("{"):
        return block
    info = _INFO.fullmatch(found["info"].strip())
    if not info or info[2] is None:
        return block
    shown = info_string(info[1], options_in(info[2]))
    return f"{found['open']}{shown}{' ' + info[3] if info[3] else ''}{block[found.end() :]}"


def options_in(text: str) -> dict[str, str]:
    """Options of the highlighter as they are written, names in lower case, without quotes."""
    return {name.casefold(): value.strip("\"'[]") for name, value in _OPTION.findall(text)}


def info_string(language: str, options: Mapping[str, str]) -> str:
    """Language and options as ours are written."""
    start = int(options["linenostart"]) if options.get("linenostart", "").isdigit() else 1
    parts = [language]
    title = (
        options.get("title") or options.get("filename") or options.get("name") or options.get("file") or ""
    )
    if title:
        parts.append('title="{}"'.format(title.replace('"', "'")))
    if marked := _marked(options.get("hl_lines", "")):
        parts.append(marked)
    if options.get("linenos", "false").casefold() not in ("false", "0"):
        parts.append("linenos")
    if start != 1:
        parts.append(f"start={start}")
    return " ".join(filter(None, parts)) if language or len(parts) == 1 else " ".join(["text", *parts[1:]])


def _marked(lines: str) -> str:
    # Hugo counts marked lines from the first one of the block, as we do, whatever the numbers begin with
    numbers = [re.sub(r"\s", "", each) for each in _NUMBERS.findall(lines)]
    return f"{{{','.join(numbers)}}}" if numbers else ""
