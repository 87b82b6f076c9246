"""TeX macros wherever a site keeps them: settings of MathJax and KaTeX in scripts, hidden formulas, `.tex`
files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base.patterns import lazy_pattern

_SETTING = lazy_pattern(r"[\"']?[mM]acros[\"']?\s*:\s*\{")
_ENTRY = lazy_pattern(
    r"\s*,?\s*(?://[^\n]*\n\s*|/\*[\s\S]*?\*/\s*)*(?P<q>[\"']?)(?P<name>\\{0,2}[A-Za-z]+)(?P=q)\s*:\s*"
)
_STRING = lazy_pattern(r"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`|String\.raw`([^`]*)`")
_ESCAPED = lazy_pattern(r"\\(.)", re.DOTALL)
_DEFINITION = lazy_pattern(
    r"\\(?:(?:re)?newcommand|providecommand)\*?\s*(?:\{\s*(\\[A-Za-z]+)\s*\}|(\\[A-Za-z]+))\s*(?:\[(\d)\])?"
    r"\s*(\[[^\]]*\])?\s*(?=\{)"
    r"|\\def\s*(\\[A-Za-z]+)\s*((?:#\d)*)\s*(?=\{)"
    r"|\\DeclareMathOperator(\*?)\s*(?:\{\s*(\\[A-Za-z]+)\s*\}|(\\[A-Za-z]+))\s*(?=\{)"
)


def script_macros(text: str) -> dict[str, str]:
    r"""Name with backslash → TeX, of `macros: {R: "\\mathbb{R}", norm: ["\\|#1\\|", 1]}` in a script or
    page."""
    found: dict[str, str] = {}
    for start in _SETTING.finditer(text):
        for name, body in _entries(text, start.end()):
            found.setdefault("\\" + name.lstrip("\\"), body)
    return found


def _entries(text: str, position: int) -> Iterator[tuple[str, str]]:
    while entry := _ENTRY.match(text, position):
        position = entry.end()
        is_list = text.startswith("[", position)
        string = _STRING.match(text, position + 1 if is_list else position)
        if not string:
            return
        raw = next((group for group in string.groups()[:3] if group is not None), None)
        yield entry["name"], string[4] if raw is None else _ESCAPED.sub(r"\1", raw)
        position = string.end()
        if is_list:
            closing = text.find("]", position)
            if closing < 0:
                return
            position = closing + 1


def tex_macros(text: str) -> dict[str, str]:
    r"""Name with backslash → TeX, of `\newcommand`, `\def` and `\DeclareMathOperator`; with optional
    arguments none."""
    found: dict[str, str] = {}
    for start in _DEFINITION.finditer(text):
        body = group_at(text, start.end())
        optional, star = start[4], start[7]
        name = start[1] or start[2] or start[5] or start[8] or start[9]
        if body is None or optional:
            continue
        is_operator = start[8] or start[9]
        found[name] = rf"\operatorname{star}{{{body}}}" if is_operator else body
    return found


def optional_macros(text: str) -> list[str]:
    r"""Definitions of `\newcommand` with an optional argument, as they are written."""
    found = []
    for start in _DEFINITION.finditer(text):
        body = group_at(text, start.end())
        if body is not None and start[4]:
            found.append(f"{start[0].strip()}{{{body}}}")
    return found


def group_at(text: str, position: int) -> str | None:
    """What stands in the braces that open at `position`; None if they do not close."""
    depth = 0
    for index in range(position, len(text)):
        if text[index] == "\\":
            continue
        if text[index] in "{}" and text[index - 1] != "\\":
            depth += 1 if text[index] == "{" else -1
            if depth == 0:
                return text[position + 1 : index]
    return None
