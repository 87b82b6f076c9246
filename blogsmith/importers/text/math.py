r"""Conversion of formulas to blogsmith's syntax. Also readers for TeX macros.

Some systems apply Markdown to formulas, so authors escape characters (`\_`, `\\{`), and the escapes must be
removed before TeX reads the formula. Other systems leave formulas unchanged, and authors escape nothing. The
caller must know whether its system applies Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from ...api.importing import DISPLAY_ENVIRONMENTS, lazy_pattern

_OPENERS = {"$$": "$$", r"\\[": r"\\]", r"\\(": r"\\)", r"\[": r"\]", r"\(": r"\)", "$": "$"}
_DISPLAYS = frozenset(("$$", r"\\[", r"\["))
_ESCAPED_SIGN = lazy_pattern(r"\\[_*]|\\{3,}|\\\|\\\||\\\\\{[\s\S]*\\\\\}")
r"""Matches characters in an environment that are escaped for Markdown."""
_TEXT_ARGUMENT = lazy_pattern(r"\\(?:text|textbf|textit|textrm|textsf|texttt|mbox|hbox|operatorname)\*?\s*\{")
_ESCAPE = lazy_pattern(r"\\(\\(?=[{}|,;:!_#&%$*()\[\]])|\\\\\\?(?!\\)|[_*<>|`\"'~])")
_ENTITY = lazy_pattern(r"&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")
_ROWS = lazy_pattern(r"\\begin\{(?:align|equation|gather|eqnarray|multline)\*?\}|\\tag\b")
_COMMENT = lazy_pattern(r"(?<!\\)%")
_CONTINUED = lazy_pattern(r"[ \t]*\n[ \t>]*")


def split_formula(text: str) -> tuple[str, str]:
    """Return the opening delimiter and the TeX of a formula. The delimiter is empty for an environment
    without delimiters."""
    for opener, closer in _OPENERS.items():
        if text.startswith(opener) and text.endswith(closer) and len(text) >= len(opener) + len(closer):
            return opener, text[len(opener) : len(text) - len(closer)]
    return "", text


def is_display(opener: str) -> bool:
    """Return whether `opener` starts display math, in systems where `$$` always starts display math. An empty
    `opener` means an environment without delimiters, which is display math, too."""
    return opener in _DISPLAYS or not opener


def has_rows(tex: str) -> bool:
    r"""Return whether the TeX requires display math, because it contains `\tag` or an environment with
    rows."""
    return _ROWS.search(tex) is not None


def unescape_tex(tex: str) -> str:
    r"""Remove Markdown's escapes from TeX, and decode entities.

    `\_` becomes `_`, `\*` becomes `*`, `\\{` becomes `\{`, and `\\\\` becomes `\\`. In arguments of `\text`
    and similar commands, `\_` stays, because there it is an underscore. `\{` also stays: Markdown would
    remove its backslash, but the author meant a brace.
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


def has_escapes(tex: str) -> bool:
    """Return whether the TeX contains characters that are escaped for Markdown."""
    return _ESCAPED_SIGN.search(tex) is not None


def unescape_entities(tex: str) -> str:
    """Decode entities in a formula, as a browser does before MathJax reads it."""
    # without the semicolon, `&curren` in `&current` is not an entity here, though HTML accepts it
    return _ENTITY.sub(lambda found: unescape(found[0]), tex)


def _text_ranges(tex: str) -> list[tuple[int, int]]:
    r"""Return start and end offsets of the arguments of `\text` and similar commands."""
    ranges = []
    for found in _TEXT_ARGUMENT.finditer(tex):
        depth, end = 1, found.end()
        while end < len(tex) and depth:
            depth += {"{": 1, "}": -1}.get(tex[end], 0)
            end += 1
        ranges.append((found.end(), end))
    return ranges


_UNESCAPED_UNDERSCORE = lazy_pattern(r"((?<!\\)\$[^$]*\$)|(?<!\\)_")


def escape_underscores(tex: str) -> str:
    r"""Escape underscores in arguments of `\text` and similar commands, where MathJax accepts them unescaped.

    Underscores in formulas inside these arguments are subscripts, and stay unchanged.
    """
    parts, position = [], 0
    for start, end in _text_ranges(tex):
        if start < position:
            continue
        parts += [
            tex[position:start],
            _UNESCAPED_UNDERSCORE.sub(lambda found: found[1] or r"\_", tex[start:end]),
        ]
        position = end
    return "".join([*parts, tex[position:]])


_BARE = lazy_pattern(r"\\begin\{([A-Za-z]+\*?)\}[\s\S]*\\end\{[A-Za-z]+\*?\}\s*\Z")


def delimit_environment(tex: str) -> str:
    """Put dollars around an environment such as `cases`, which blogsmith reads only inside a formula."""
    found = _BARE.match(tex)
    return f"$${tex.strip()}$$" if found and found[1] not in DISPLAY_ENVIRONMENTS else tex


def pair_braces(tex: str) -> str:
    r"""Replace `\\{ … \\}` with `\{ … \}`, because one backslash is too many. TeX with an environment is not
    changed."""
    if "\\\\{" in tex and "\\\\}" in tex and "\\begin" not in tex:
        return tex.replace("\\\\{", "\\{").replace("\\\\}", "\\}")
    return tex


def format_inline_math(tex: str, after: str = "") -> str:
    r"""Return inline math on one line, as `$x$` or, if dollars would be read as text, as `\(x\)`. after: the
    character that follows."""
    tex = tex.strip()
    if not _COMMENT.search(tex):
        tex = _CONTINUED.sub(" ", tex)
    if not tex:
        return ""
    if "$" in tex.replace(r"\$", "") or after.isdigit() or tex.endswith("\\"):
        return rf"\({tex}\)"
    return f"${tex}$"


def format_display_math(tex: str) -> str:
    """Return display math. TeX with several lines keeps its line breaks."""
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
    r"""Return the macros that a MathJax or KaTeX configuration in a script or page defines, as in `macros:
    {R: "\\mathbb{R}", norm: ["\\|#1\\|", 1]}`.

    The result maps each name, with its backslash, to TeX.
    """
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
    r"""Return the macros that `\newcommand`, `\def` and `\DeclareMathOperator` define.

    The result maps each name, with its backslash, to TeX. Macros with optional arguments are left out.
    """
    found: dict[str, str] = {}
    for start in _DEFINITION.finditer(text):
        body = read_group(text, start.end())
        optional, star = start[4], start[7]
        name = start[1] or start[2] or start[5] or start[8] or start[9]
        if body is None or optional:
            continue
        is_operator = start[8] or start[9]
        found[name] = rf"\operatorname{star}{{{body}}}" if is_operator else body
    return found


def optional_macros(text: str) -> list[str]:
    r"""Return the source of the `\newcommand` definitions that have an optional argument."""
    found = []
    for start in _DEFINITION.finditer(text):
        body = read_group(text, start.end())
        if body is not None and start[4]:
            found.append(f"{start[0].strip()}{{{body}}}")
    return found


def read_group(text: str, position: int) -> str | None:
    """Return the text between the brace that opens at `position` and its closing brace; None if there is no
    closing brace."""
    depth = 0
    for index in range(position, len(text)):
        if text[index] == "\\":
            continue
        if text[index] in "{}" and text[index - 1] != "\\":
            depth += 1 if text[index] == "{" else -1
            if depth == 0:
                return text[position + 1 : index]
    return None
