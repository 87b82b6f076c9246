r"""Formulas: as other systems write them → as ours are written; and TeX macros wherever a site keeps them.

A formula that another system reads as Markdown first holds escapes that TeX must not see (`\_`, `\\{`); one
that it takes as it is holds none. The caller says which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from ...api.importing import lazy_pattern

_OPENERS = {"$$": "$$", r"\\[": r"\\]", r"\\(": r"\\)", r"\[": r"\]", r"\(": r"\)", "$": "$"}
_DISPLAYS = frozenset(("$$", r"\\[", r"\["))
_TEXT_ARGUMENT = lazy_pattern(r"\\(?:text|textbf|textit|textrm|textsf|texttt|mbox|hbox|operatorname)\*?\s*\{")
_ESCAPE = lazy_pattern(r"\\(\\(?=[{}|,;:!_#&%$*()\[\]])|\\\\\\?(?!\\)|[_*<>|`\"'~])")
_ENTITY = lazy_pattern(r"&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")
_ROWS = lazy_pattern(r"\\begin\{(?:align|equation|gather|eqnarray|multline)\*?\}|\\tag\b")
_COMMENT = lazy_pattern(r"(?<!\\)%")
_CONTINUED = lazy_pattern(r"[ \t]*\n[ \t>]*")


def split_formula(text: str) -> tuple[str, str]:
    """Opening delimiter and TeX of a formula as it is written; no delimiter for a bare environment."""
    for opener, closer in _OPENERS.items():
        if text.startswith(opener) and text.endswith(closer) and len(text) >= len(opener) + len(closer):
            return opener, text[len(opener) : len(text) - len(closer)]
    return "", text


def is_display(opener: str) -> bool:
    """Whether formulas in these delimiters stand on a line of their own, in systems with one meaning of
    `$$`."""
    return opener in _DISPLAYS or not opener


def has_rows(tex: str) -> bool:
    """Whether a formula is a display by what it holds: an environment with rows, or a tag."""
    return _ROWS.search(tex) is not None


def unescape_tex(tex: str) -> str:
    r"""TeX behind Markdown's escapes: `\_` → `_`, `\*` → `*`, `\\{` → `\{`, `\\\\` → `\\`, entities as
    characters.

    `\_` in an argument of `\text` and its like stays, where it is an underscore. `\{` stays: Markdown would
    take it away, and who wrote it meant a brace.
    """
    tex = unescape_entities(tex)
    if "\\" not in tex:
        return tex
    texts = _text_ranges(tex)

    def replace(found: re.Match[str]) -> str:
        what = found[1]
        if what == "\\":
            return "\\"
        if what.startswith("\\"):
            return "\\\\"
        inside = any(start <= found.start() < end for start, end in texts)
        return found[0] if inside and what == "_" else what

    return _ESCAPE.sub(replace, tex)


def unescape_entities(tex: str) -> str:
    """A formula with characters for entities, as a browser gives it to MathJax."""
    # `&current` is an ampersand and a word, though HTML knows `&curren` without its semicolon
    return _ENTITY.sub(lambda found: unescape(found[0]), tex)


def _text_ranges(tex: str) -> list[tuple[int, int]]:
    """Where arguments of `\\text` and its like stand."""
    ranges = []
    for found in _TEXT_ARGUMENT.finditer(tex):
        depth, end = 1, found.end()
        while end < len(tex) and depth:
            depth += {"{": 1, "}": -1}.get(tex[end], 0)
            end += 1
        ranges.append((found.end(), end))
    return ranges


_BARE_UNDERSCORE = lazy_pattern(r"((?<!\\)\$[^$]*\$)|(?<!\\)_")


def escape_underscores(tex: str) -> str:
    r"""TeX with `\_` where MathJax takes a bare underscore: in arguments of `\text` and its like, but for
    formulas in them."""
    parts, position = [], 0
    for start, end in _text_ranges(tex):
        if start < position:
            continue
        parts += [tex[position:start], _BARE_UNDERSCORE.sub(lambda found: found[1] or r"\_", tex[start:end])]
        position = end
    return "".join([*parts, tex[position:]])


def pair_braces(tex: str) -> str:
    r"""TeX with `\{ … \}` where an escape too much made a line break of each: `\\{ … \\}` outside of rows."""
    if "\\\\{" in tex and "\\\\}" in tex and "\\begin" not in tex:
        return tex.replace("\\\\{", "\\{").replace("\\\\}", "\\}")
    return tex


def inline(tex: str, after: str = "") -> str:
    r"""A formula in a line, on one line of source: `$x$`, or `\(x\)` where dollars would be read otherwise.

    after: the character that follows.
    """
    tex = tex.strip()
    if not _COMMENT.search(tex):
        tex = _CONTINUED.sub(" ", tex)
    if not tex:
        return ""
    if "$" in tex.replace(r"\$", "") or after.isdigit() or tex.endswith("\\"):
        return rf"\({tex}\)"
    return f"${tex}$"


def display(tex: str) -> str:
    """A formula on a line of its own; one that had several lines keeps them."""
    body = tex.strip("\n ")
    return f"$$\n{body}\n$$" if "\n" in body else f"$${body.strip()}$$"


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
