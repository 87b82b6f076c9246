"""Independent renderer of Obsidian's Markdown with markdown-it. It is used to count the content of notes, and
shares no code with the translation."""

from __future__ import annotations

import re
from functools import lru_cache

from markdown_it import MarkdownIt

from ..verify.markdown_reader import Dollars, formula_html, markdown_reader

_CODE = re.compile(r"(?ms)(^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,}).*?^[ \t>]*\2[ \t]*$|(?<!`)`[^`\n]+`(?!`))")
_DIAGRAM = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:mermaid|dot|graphviz)\b")
_BOX = re.compile(r"(?:`{3,}|~{3,})ad-[\w-]+[ \t]*\n([\s\S]*?)^(?:`{3,}|~{3,})[ \t]*", re.MULTILINE)
_BOX_OPTION = re.compile(r"^(?:title:|(?:collapse|icon|color):[^\n]*\n)", re.MULTILINE)
"""Matches an option in a box of the plugin Admonition."""
_COMMENT = re.compile(r"%%[\s\S]*?%%")
_DISPLAY = re.compile(
    r"(?<![\\$])\$(?![\s$])[^$\n]+(?<![\s\\])\$(?=\$)|(?<!\\)\$\$(?!\$)((?:(?!\$\$)[\s\S])+?)\$\$"
)
"""Matches display math; also an inline formula before another one, whose dollars are not display math."""
_QUOTE = re.compile(r"(?<=\n)[ \t]*(?:>[ \t]?)+")
_EMBED = re.compile(r"!\[\[([^\[\]\n|#]+)[^\[\]\n]*\]\]")
_EMPTY = re.compile(r"(?<![\\$])\$\$\$\$(?!\$)")
_WIKI = re.compile(
    r"alttext=\"[^\"]*\"|(?<![\\$])\$(?![\s$])(?:[^$\n]|\n(?![ \t]*\n))*(?<![\s\\])\$(?!\d)"
    r"|\\(?=begin\{)|\[\[([^\[\]\n]+)\]\]"
)
"""Matches a link; also a formula, which contains no links, and the backslash of a formula environment, which
is text."""
_BLOCK_ID = re.compile(r"(?m)(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$")
_MARKER = re.compile(r"(?m)^([ \t>]*)\[!\w[^\[\]\n]*\][+-]?|^([ \t>]*[-*+][ \t]+)\[.\](?=[ \t])")
_INLINE_NOTE = re.compile(r"\^\[((?:[^\[\]\n]|\[[^\[\]\n]*\])+)\]")
_SIZED_IMAGE = re.compile(r"!\[([^\]\n|]*)\|[^\]\n]*\]\(")
_VIDEO = re.compile(r"!\[[^\]\n]*\]\(https://(?:www\.)?(?:youtube\.com|youtu\.be|vimeo\.com)/[^)\s]*\)")
_IMAGE_FILE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$", re.IGNORECASE)


def render_note(text: str) -> str:
    """Return the note as HTML with formulas as `<math>`."""
    parts = []
    position = 0
    for code in _CODE.finditer(text):
        parts.append(_prose(text[position : code.start()]))
        box = _BOX.fullmatch(code[0])
        parts.append(
            _prose(_BOX_OPTION.sub("", box[1])) if box else "" if _DIAGRAM.match(code[0]) else code[0]
        )
        position = code.end()
    return str(_parser().render("".join([*parts, _prose(text[position:])])))


def _prose(text: str) -> str:
    text = _DISPLAY.sub(_render_display, _EMPTY.sub("", _COMMENT.sub("", text)))
    text = _EMBED.sub(_render_embed, text)
    text = _WIKI.sub(_render_link, text)
    text = _VIDEO.sub("", text)
    text = _SIZED_IMAGE.sub(r"![\1](", text)
    text = _INLINE_NOTE.sub(r" \1 ", text)
    return _BLOCK_ID.sub("", _MARKER.sub(lambda found: found[1] or found[2] or "", text))


def _render_display(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    # its lines are neither headings nor lists, and a bar in it ends no cell of a table
    html = formula_html(_QUOTE.sub("", found[1]))
    html = html.replace("\n", "&#10;").replace("|", "&#124;")
    # a line of hyphens after it is a rule
    return f"{html}\n" if "\n" in found[1] else html


def _render_link(found: re.Match[str]) -> str:
    if found[0] == "\\":
        return ""
    shown = found[1] and found[1].replace("\\|", "|").rpartition("|")[2].replace("#", " ")
    return shown or found[0]


def _render_embed(found: re.Match[str]) -> str:
    name = found[1].strip()
    return f"![](<{name}>)" if _IMAGE_FILE.search(name) else ""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return markdown_reader(dollars=Dollars(False, False))
