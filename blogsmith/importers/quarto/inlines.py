"""Conversion of Pandoc's inline syntax that blogsmith does not have: spans, inline notes, superscripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from ...api.importing import lazy_pattern
from ..text.math import tex_macros
from ..text.pandoc import PandocAttributes, attribute_text, fit_id, read_pandoc_attributes
from ..text.pieces import (
    HiddenFragments,
    literal_highlights,
    literal_shortcodes,
    literal_wikilinks,
    replace_bracketed,
)
from .cells import NoticeCallback

_RAW_SPAN = lazy_pattern("\ue000(\\d+)\ue001\\{=(\\w+)\\}")
_SUPERSCRIPT = lazy_pattern(r"(?<![\\\[^])\^((?:[^\s^\\\[\]]|\\.)+)\^")
_SUBSCRIPT = lazy_pattern(r"(?<![\\~])~((?:[^\s~\\]|\\.)+)~(?!~)")
_AFTER_LINK = lazy_pattern(r"(?<=\))\{[^{}\n]*\}")
_AFTER_CODE = lazy_pattern("(?<=\ue001)\\{[^{}\n=]*\\}")
_HEADING = lazy_pattern(r"^([ \t>]*#{1,6}[ \t]+[^\n]*?)[ \t]*(\{[^{}\n]*\})[ \t]*#*[ \t]*$", re.MULTILINE)
_PROTECTED = re.compile(
    r"(?m)((?<=\))\{[^{}\n]*\}|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)|<[A-Za-z/!][^<>]*>|https?://[^\s<>\")\]]+"
    r"|^[ ]{0,3}\[(?!\^)[^\]\n]+\]:[ \t]+\S+.*$|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
)
_RAW_TEX = lazy_pattern(
    r"(?m)^[ \t]*\\(?:newpage|pagebreak|clearpage|noindent|bigskip|medskip|smallskip|vspace\*?\{[^{}]*\}"
    r"|hfill|appendix|tableofcontents|maketitle)[ \t]*$"
)
_DEFINITION = lazy_pattern(
    r"(?m)^[ \t]*\\(?:(?:re)?newcommand|providecommand|def|DeclareMathOperator)\b[^\n]*(?:\n[^\n]+)*?$"
)
_ONE_LINE_DEFINITION = lazy_pattern(
    r"(?m)^[ \t]*\\(?:(?:re)?newcommand|providecommand|def|DeclareMathOperator|let)\b[^\n]*$\n?"
)
_EXAMPLE = lazy_pattern(r"^([ \t]*)\(@([\w-]*)\)([ \t]+)", re.MULTILINE)
_SPACE = lazy_pattern(r"(?<!\\)\\(?=[ ])")
_LATEX_BRACKET = lazy_pattern(r"(?<!\\)\\([()])")
_SQUARE = lazy_pattern(r"(?<!\\)\\\[((?:[^\\\n]|\\[^\]\n]|\n(?![ \t>]*\n))*?)\\\]([({\[]?)")
_PARAGRAPH_END = lazy_pattern(r"(\n[ \t>]*(?=\n))")
_DROPPED = frozenset(("unnumbered", "unlisted", "nav-link", "external", "lightbox"))
_NOTE = "inline"
_NOTE_MARK = lazy_pattern(f"\\[\\^{_NOTE}-(\\d+)\ue020\\]")


def hide_urls(text: str, pieces: HiddenFragments) -> str:
    """Replace URLs, HTML tags and link definitions in a masked text with placeholders in `pieces`."""
    return pieces.hide(_PROTECTED, text)


def rewrite_heading_attributes(text: str) -> str:
    """Remove attributes that blogsmith does not support from the attribute lists of headings."""

    def substitute(found: re.Match[str]) -> str:
        read = read_pandoc_attributes(found[2])
        if read is None:
            return found[0]
        kept = attribute_text(read[0], _DROPPED)
        return f"{found[1]} {kept}".rstrip()

    return _HEADING.sub(substitute, text)


def translate_raw_spans(text: str, hidden: Callable[[int], str], note: NoticeCallback) -> str:
    """Replace raw HTML such as `` `<b>`{=html} `` with the HTML, and remove raw text for other formats.
    hidden: function that returns the code span of a placeholder by its number."""

    def substitute(found: re.Match[str]) -> str:
        code = hidden(int(found[1])).strip("`").strip()
        if found[2] in ("html", "html5"):
            return code
        message = f'raw text for other format "{found[2]}" is removed'
        note("dropped", message, code, removed=f"`{code}`")
        return ""

    return _RAW_SPAN.sub(substitute, text)


def remove_raw_tex(text: str, note: NoticeCallback) -> tuple[str, dict[str, str]]:
    """Remove TeX that HTML output does not show. Return the text, and name → TeX for the macros that the
    removed TeX defines."""
    macros: dict[str, str] = {}

    def substitute(found: re.Match[str]) -> str:
        macros.update(tex_macros(found[0]))
        note("changed", "macros in the text are moved to `math: macros:`", found[0], removed=found[0])
        return ""

    def drop(found: re.Match[str]) -> str:
        message = f'TeX for other formats is removed: "{found[0].strip()}"'
        note("dropped", message, found[0], removed=found[0])
        return ""

    return _RAW_TEX.sub(drop, _ONE_LINE_DEFINITION.sub(substitute, text)), macros


def translate_inline_notes(text: str) -> str:
    """Replace each `^[a note]` with a footnote, whose text is at the end of the page."""
    notes: list[str] = []

    def substitute(inside: str, after: str) -> tuple[str, int]:
        notes.append(" ".join(inside.split()))
        return f"[^{_NOTE}-{len(notes)}\ue020]", 0

    text = replace_bracketed(text, "^[", substitute)
    count = len(notes)

    def numbered(part: str) -> str:
        # notes were found from the last to the first, so their order is reversed
        return _NOTE_MARK.sub(lambda found: f"[^{_NOTE}-{count + 1 - int(found[1])}]", part)

    made = [f"[^{_NOTE}-{number}]: {numbered(each)}" for number, each in enumerate(reversed(notes), 1)]
    return numbered(text).rstrip("\n") + "\n\n" + "\n\n".join(made) if made else text


def translate_spans(text: str, note: NoticeCallback) -> str:
    """Convert `[text]{.class}` to blogsmith's syntax, or to equivalent Markdown or HTML."""

    def substitute(inside: str, after: str) -> tuple[str, int] | None:
        read = read_pandoc_attributes(after)
        if read is None or inside.startswith("^"):
            return None
        return _span(inside, read[0], note), read[1]

    return replace_bracketed(text, "[", substitute)


def _span(inside: str, attributes: PandocAttributes, note: NoticeCallback) -> str:
    if attributes.has("underline", "ul"):
        return f"<u>{inside}</u>"
    if attributes.has("mark", "hl", "highlight") and "==" not in inside:
        return f"=={inside}=="
    if attributes.has("kbd"):
        return f"[[{inside}]]"
    if attributes.has("aside", "column-margin"):
        return f"[{inside}]{{.margin}}"
    if attributes.has("content-hidden") or (
        attributes.has("content-visible") and attributes.get("when-format") not in ("", "html")
    ):
        note("dropped", "content for other formats than HTML is removed", inside, removed=inside)
        return ""
    style = attributes.get("style")
    if attributes.has("smallcaps"):
        style = f"font-variant:small-caps;{style}"
    if style:
        name = f' id="{escape(fit_id(attributes.id))}"' if attributes.id else ""
        classes = f' class="{escape(" ".join(attributes.classes))}"' if attributes.classes else ""
        return f'<span{name}{classes} style="{escape(style)}">{inside}</span>'
    kept = attribute_text(attributes)
    return f"[{inside}]{kept}" if kept else inside


def link_attributes(text: str) -> str:
    """Remove attributes that blogsmith does not support from the attribute lists of links and code."""

    def substitute(found: re.Match[str]) -> str:
        read = read_pandoc_attributes(found[0])
        return found[0] if read is None else attribute_text(read[0], _DROPPED)

    return _AFTER_CODE.sub(substitute, _AFTER_LINK.sub(substitute, text))


def translate_scripts(text: str) -> str:
    """Convert superscripts such as `x^2^` and subscripts such as `H~2~O` to HTML."""
    text = _SUPERSCRIPT.sub(lambda found: f"<sup>{_unescape_spaces(found[1])}</sup>", text)
    return _SUBSCRIPT.sub(lambda found: f"<sub>{_unescape_spaces(found[1])}</sub>", text)


def _unescape_spaces(text: str) -> str:
    return text.replace("\\ ", " ")


def translate_escapes(text: str) -> str:
    r"""Convert `\ ` to a non-breaking space. Unescape `\(` and `\[`, because in Quarto only dollars start a
    formula."""
    text = _SPACE.sub("", re.sub(r"(?<!\\)\\[ ](?=\S)", "&nbsp;", text))
    paragraphs = _PARAGRAPH_END.split(text)
    return _LATEX_BRACKET.sub(r"\1", "".join(map(_squares, paragraphs)))


def _squares(paragraph: str) -> str:
    """Unescape the pairs of brackets in a paragraph."""
    end = paragraph.rfind("\\]") + 3
    return _SQUARE.sub(_square, paragraph[:end]) + paragraph[end:] if end > 2 else paragraph


def escape_literals(text: str) -> str:
    """Escape text that is plain in Quarto, but would mean a keyboard key, a link or a shortcode in
    blogsmith."""
    return literal_shortcodes(literal_wikilinks(literal_highlights(text)))


def _square(found: re.Match[str]) -> str:
    """Return a pair of brackets without backslashes. Write entities if the brackets would otherwise start a
    link or other syntax."""
    if found[1].lstrip().startswith(("@", "^", "!", "[")) or found[2]:
        return f"&#91;{found[1]}&#93;{found[2]}"
    return f"[{found[1]}]"


def numbered_examples(text: str) -> str:
    """Replace each `(@) text` with a list item numbered through the page, and `@name` with the number of the
    item `(@name)`."""
    numbers: dict[str, int] = {}
    count = 0

    def substitute(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        if found[2]:
            numbers[found[2]] = count
        return f"{found[1]}{count}.{found[3]}"

    text = _EXAMPLE.sub(substitute, text)
    if not numbers:
        return text
    return re.sub(r"@([\w-]+)", lambda found: str(numbers.get(found[1], found[0])), text)


def line_blocks(text: str) -> str:
    """Convert a line block, whose lines start with `|`, to lines with hard line breaks."""
    made: list[str] = []
    for paragraph in re.split(r"(\n[ \t]*\n)", text):
        lines = paragraph.split("\n")
        if any(line.strip() for line in lines) and all(
            re.fullmatch(r"\|(?: .*)?", line) or not line.strip() for line in lines
        ):
            shown = [line for line in lines if line.strip()]
            # a row of a table ends with its pipe
            if not any(line.rstrip().endswith("|") and len(line) > 1 for line in shown):
                paragraph = "\\\n".join(_indented(line[1:].removeprefix(" ")) for line in shown)
        made.append(paragraph)
    return "".join(made)


def _indented(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return "&nbsp;" * blanks + line[blanks:]
