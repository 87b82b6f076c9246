r"""Conversion of goldmark's Markdown: code, formulas, HTML and literal text, but not links and shortcodes.

With the passthrough extension, goldmark does not change formulas. Without it, Markdown is applied to formulas
before TeX, so authors have to write `\_` for an index and `\\\\` for a new row. Some authors forget this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...api.importing import lazy_pattern, replace_emoji
from ..model import NoticeKind
from ..text.html import Element, replace_blocks
from ..text.html_markdown import convert_video, read_figure
from ..text.math import (
    format_display_math,
    format_inline_math,
    has_escapes,
    has_rows,
    is_display,
    split_formula,
    unescape_entities,
    unescape_tex,
)
from ..text.pieces import demote_headings, literal_brackets, literal_shortcodes, repeated_title
from ..text.segments import FormulaDelimiters, Segment, divide, is_table_cell, rewrite, rewrite_segments
from .config import HugoConfig

_BAR = lazy_pattern(r"(?<!\\)(?:\\\\)*\\\|")
_SPACED_ROW = lazy_pattern(r"(?<!\\)\\\\(?=\[-?[\d.]+(?:pt|em|ex|mm|cm|px|mu)\])")
_TEXT = lazy_pattern(r"\\(?:text|textbf|textit|textrm|textsf|texttt|mbox)\{[^{}$]*\}")
"""Matches commands for text in formulas, with their argument. MathJax shows an underscore in the argument as
written."""
_ENVIRONMENT = lazy_pattern(
    r"\\\\begin\{(?P<name>(?:align|equation|gather|eqnarray|multline)\*?)\}[\s\S]*?"
    r"(?P<end>\\\\end\{(?P=name)\})"
)
r"""Matches an environment with doubled backslashes: `\\begin{align}`."""
_REFERENCE = lazy_pattern(r"\\(\\(?:eq)?ref\{[\w:.-]+\})")
_GITLAB = lazy_pattern(r"`([^`]+)`")
"""Matches the code span in a formula in GitLab's syntax: dollars around a code span, which protects the TeX
from Markdown."""
_ROW_PLACEHOLDER, _BAR_PLACEHOLDER = "\ue014", "\ue015"


def formula_dialect(config: HugoConfig) -> FormulaDelimiters:
    """Return the formula delimiters that the site's settings enable."""
    delimiters = config.passthrough
    if delimiters is None:
        # without passthrough, Markdown removes the backslash of `\(`, and no formula is left
        return FormulaDelimiters(spaced_dollar=True, escaped_brackets=True, brackets=False)
    has_dollar = "$" in delimiters or not any("(" in each for each in delimiters)
    return FormulaDelimiters(
        dollar=has_dollar, spaced_dollar=has_dollar, escaped_brackets=True, brackets=True
    )


def rewrite_formulas(text: str, config: HugoConfig) -> str:
    """Convert every formula to blogsmith's delimiters."""
    dialect = formula_dialect(config)
    parts = []
    for segment in divide(text, dialect):
        if segment.kind == "math":
            end = segment.start + len(segment.text)
            parts.append(_rewrite(segment, text, text[end : end + 1], is_raw=config.passthrough is not None))
        elif segment.kind == "prose":
            parts.append(_prose(segment.text, dialect))
        else:
            parts.append(segment.text)
    return "".join(parts)


def _prose(text: str, dialect: FormulaDelimiters) -> str:
    """Return the text with characters escaped that the old site shows as text, but that would start a formula
    in blogsmith."""
    if not dialect.brackets:
        text = literal_brackets(text)
        text = _ENVIRONMENT.sub(
            lambda found: _plain_tex(found[0][1 : -len(found["end"])] + found["end"][1:], is_cell=False), text
        )
        text = _REFERENCE.sub(r"\1", text)
    if not dialect.dollar and "$" in text:
        text = re.sub(r"(?<!\\)\$", r"\\$", text)
    return text


def _rewrite(segment: Segment, text: str, after: str, *, is_raw: bool) -> str:
    opener, tex = split_formula(segment.text)
    if not tex.strip():
        return segment.text
    if found := _GITLAB.fullmatch(tex):
        return format_display_math(found[1]) if is_display(opener) else format_inline_math(found[1], after)
    if not is_raw or opener.startswith("\\\\") or (not opener and has_escapes(tex)):
        tex = _plain_tex(tex, is_cell=is_table_cell(text, segment.start))
    else:
        tex = unescape_entities(tex)
    tex = _TEXT.sub(lambda found: re.sub(r"(?<!\\)_", r"\\_", found[0]), tex)
    if not opener:
        return tex
    if is_display(opener) or has_rows(tex):
        # keep the lines: they may begin with the markers of a quote or list around the formula
        return f"$${tex}$$" if "\n" in tex else format_display_math(tex)
    return format_inline_math(tex, after)


def _plain_tex(tex: str, *, is_cell: bool) -> str:
    r"""Remove Markdown's escapes from TeX.

    is_cell: whether the formula is in a table, where `\|` means a pipe. Elsewhere, `\|` stays unchanged,
    because the author meant a norm. `\\[2pt]` always stays, because the author meant a new row.
    """
    if not is_cell:
        tex = _BAR.sub(
            lambda found: found[0][:-2] + _BAR_PLACEHOLDER if len(found[0]) == 2 else found[0], tex
        )
    tex = unescape_tex(_SPACED_ROW.sub(_ROW_PLACEHOLDER, tex))
    return tex.replace(_ROW_PLACEHOLDER, r"\\").replace(_BAR_PLACEHOLDER, r"\|")


_OPTION = lazy_pattern(
    r"([A-Za-z_][\w-]*)\s*=\s*"
    r"(\[[^\]]*\]|\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s,{}]+(?:[ \t]+\d+(?:-\d+)?(?=[\s,]|$))*)"
)
_FENCE = lazy_pattern(r"(?P<open>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,}))[ \t]*(?P<info>[^\n]*)")
_INFO = lazy_pattern(r"([^\s{]*)[ \t]*(?:\{(.*)\})?[ \t]*(.*)")
_NUMBER_LIST = lazy_pattern(r"[\d,\s-]+")
"""Matches numbers of highlighted lines as blogsmith and other systems write them between braces:
`{2,4-6}`."""
_NUMBERS = lazy_pattern(r"\d+(?:\s*-\s*\d+)?")


def rewrite_fence(block: str) -> str:
    """Convert the info string of a code block to blogsmith's form. Prefixes of lines in a list or quote
    stay."""
    found = _FENCE.match(block)
    if not found or "{" not in found["info"] or found["info"].startswith("{"):
        return block
    info = _INFO.fullmatch(found["info"].strip())
    if not info or info[2] is None or _NUMBER_LIST.fullmatch(info[2]):
        return block
    shown = info_string(info[1], read_options(info[2]))
    return f"{found['open']}{shown}{' ' + info[3] if info[3] else ''}{block[found.end() :]}"


def read_options(text: str) -> dict[str, str]:
    """Return highlighter options: name in lower case → value without quotes."""
    return {name.casefold(): value.strip("\"'[]") for name, value in _OPTION.findall(text)}


def info_string(language: str, options: Mapping[str, str]) -> str:
    """Return an info string in blogsmith's form. options: result of `read_options`."""
    start = int(options["linenostart"]) if options.get("linenostart", "").isdigit() else 1
    parts = [language]
    names = ("title", "filename", "name", "file")
    if title := next((options[name] for name in names if options.get(name)), ""):
        parts.append('title="{}"'.format(title.replace('"', "'")))
    if marked := _highlighted_lines(options.get("hl_lines", "")):
        parts.append(marked)
    if options.get("linenos", "false").casefold() not in ("false", "0"):
        parts.append("linenos")
    if start != 1:
        parts.append(f"start={start}")
    return " ".join(filter(None, parts)) if language or len(parts) == 1 else " ".join(["text", *parts[1:]])


def _highlighted_lines(lines: str) -> str:
    # in Hugo and in blogsmith, highlighted lines are counted from the first line of the block, whatever the
    # line numbers are
    numbers = [re.sub(r"\s", "", each) for each in _NUMBERS.findall(lines)]
    return f"{{{','.join(numbers)}}}" if numbers else ""


_MORE = lazy_pattern(r"<!--[ \t]*more[ \t]*-->", re.IGNORECASE)
_BLOCK_ATTRIBUTES = lazy_pattern(
    r"(?m)^(?P<line>[ \t>]*\S[^\n]*)\n[ \t>]*\{(?P<list>[.#]?[\w-][^{}\n]*)\}[ \t]*$"
)
_IMAGE = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]+)?!\[[^\]]*\]\([^)]*\)[ \t]*")
_BLANK_LINES = lazy_pattern(r"\n(?:[ \t]*\n){2,}")
_IMAGE_ATTRIBUTE = lazy_pattern(r"#[\w:-]+|(?:width|height)=\"?[\w.%]+\"?")
_WIKI = lazy_pattern(r"(?<!\\)(!?)\[\[([^\[\]\n]+)\]\](?!\()")
_STRUCK = lazy_pattern(r"(?<![~\\/])~(?![\s~])([^~\n]*[^~\s\\/])~(?!~)")
"""Matches strikethrough between single tildes. A tilde after a slash is excluded, because
`https://host/~name/` is a URL."""
_MAX_SUBSCRIPT = 4
"""Maximum number of characters of a subscript in a chemical formula."""
_MARK = lazy_pattern(r"(?<![=\\])==(?=\S)(?=[^\n=]+==)")
_FORMULA_FENCE = lazy_pattern(
    r"(?m)(?P<open>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(?P<ticks>`{3,}|~{3,})[ \t]*(?:math|katex|mathjax)\b"
    r"[^\n`]*\n(?P<tex>[\s\S]*?)(?P<close>^[ \t>]*)(?P=ticks)(?P<end>[ \t]*\n?)"
)
_DELIMITER = lazy_pattern(r"\$\$|\\\[|(?<!\\)\$")
_EXECUTED = lazy_pattern(
    r"(?m)\A([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,}))[ \t]*\{\.?([\w+-]+)[^}\n]*\}[^\n]*$"
)


def rewrite_markdown(
    text: str, config: HugoConfig, *, title: str, notice: Callable[[NoticeKind, str, str, str], None]
) -> str:
    """Convert a text to blogsmith's Markdown.

    notice: function that gets kind, message, hint and the removed text.
    """
    dialect = formula_dialect(config)
    if any(segment.kind == "comment" and _MORE.fullmatch(segment.text) for segment in divide(text, dialect)):
        notice("dropped", '"<!--more-->" has no effect because lists show the description', "", "")
        text = rewrite_segments(text, "comment", lambda comment: _MORE.sub("", comment), dialect)
    text = rewrite_segments(text, "block", _code_block, dialect)

    def prose(masked: str) -> str:
        if _setting(config, "parser", "attribute", "block") is True:
            masked = _BLOCK_ATTRIBUTES.sub(_attributes, masked)
        if repeated := repeated_title(masked, title):
            notice("dropped", "heading that repeats the title is removed", "", repeated)
            masked = masked.replace(repeated, "", 1)
        masked = demote_headings(masked)
        if config.value("enableemoji") is True:
            masked = replace_emoji(masked)
        masked = replace_blocks(masked, _html)
        return _BLANK_LINES.sub("\n\n", _literal(_extras(masked, config), config))

    return rewrite(text, prose, dialect)


def _code_block(block: str) -> str:
    """Convert a code block. If its language is a name for formulas, convert it to display math."""
    fence = _FORMULA_FENCE.fullmatch(block)
    if fence is None:
        # Hugo shows a block with its language in braces, but blogsmith would run it
        return rewrite_fence(_EXECUTED.sub(r"\1\2", block))
    # some themes expect delimiters inside the block
    mark = "" if _DELIMITER.search(fence["tex"]) else "$$"
    return f"{fence['open']}{mark}\n{fence['tex']}{fence['close']}{mark}{fence['end']}"


def _html(element: Element, indent: str) -> str:
    """Return an HTML block as Markdown if it is a video or an image. Return any other block unchanged."""
    if video := convert_video(element):
        return f"\n\n{video}\n\n"
    found = read_figure(element)
    if found and not (found.link and found.caption):
        return f"\n\n{found.markdown()}\n\n"
    return element.source()


def _setting(config: HugoConfig, *names: str) -> Any:
    return config.value("markup", "goldmark", *names)


def _attributes(found: re.Match[str]) -> str:
    """Return a line without the attribute list at its end. If the line is an image, keep its id and size. All
    other attributes only affect the style."""
    kept = _IMAGE_ATTRIBUTE.findall(found["list"])
    is_image = _IMAGE.fullmatch(found["line"])
    return f"{found['line'].rstrip()}{{{' '.join(kept)}}}" if kept and is_image else found["line"]


def _extras(masked: str, config: HugoConfig) -> str:
    """Convert goldmark's `++insertions++`, `~subscripts~` and `^superscripts^` to HTML, if the site enables
    them."""
    for name, pattern, shown in (
        ("insert", r"(?<!\+)\+\+(?=\S)([^+\n]+)\+\+(?!\+)", r"<ins>\1</ins>"),
        ("subscript", r"(?<!~)~(?=\S)([^~\s]+)~(?!~)", r"<sub>\1</sub>"),
        ("superscript", r"(?<!\^|\[)\^(?=\S)([^^\s]+)\^(?!\^)", r"<sup>\1</sup>"),
    ):
        if _setting(config, "extensions", "extras", name, "enable") is True:
            masked = re.sub(pattern, shown, masked)
    return masked


def _replace_tildes(found: re.Match[str]) -> str:
    """Convert text between single tildes to strikethrough. A short text next to a letter or digit becomes a
    subscript, as in H~2~O."""
    before, text, after = found.string[: found.start()][-1:], found[1], found.string[found.end() :][:1]
    is_lowered = len(text) <= _MAX_SUBSCRIPT and (before.isalnum() or after.isalnum())
    return f"<sub>{text}</sub>" if is_lowered else f"~~{text}~~"


def _literal(masked: str, config: HugoConfig) -> str:
    """Convert single tildes, and escape text that has no meaning in goldmark but has one in blogsmith."""
    if _setting(config, "extensions", "strikethrough") is not False:
        masked = _STRUCK.sub(_replace_tildes, masked)
    masked = literal_shortcodes(masked)
    masked = _WIKI.sub(r"\1\\[[\2]]", masked)
    if _setting(config, "extensions", "extras", "mark", "enable") is not True:
        masked = _MARK.sub(r"\\==", masked)
    return masked
