"""Near misses: text that is almost a heading, an image, a link or a table, reported with a fix.

Examples: `#Intro` lacks a space, `![a](my file.png)` contains one, a table has too few header cells. A
backslash before the text turns a warning off.
"""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.fixes import make_replacement
from ..base.diagnostics.model import TextMap
from ..base.patterns import lazy_pattern
from .east_asian import is_east_asian
from .lookahead import code_span_end, run_length
from .open_elements import report_comments
from .records import get_record
from .state import PageState, get_page
from .tables import alignments, split_row

_HEADING = lazy_pattern(r"(#{1,6})([^\W\d_][^\n#]{0,100})")
_MAX_WORDS = 8
"""Maximum number of words of a paragraph that may be meant as a heading."""
_SENTENCE_ENDS = (".", ",", ";", ":")
_SPACED = lazy_pattern(
    r"(?<!\\)(!?)\[([^\[\]\n]{0,200})\](?<!\\\])"
    r"\(([^\s()<>\"'][^()<>\"'\n]{0,400}?\.[A-Za-z0-9]{2,5}(?:#[\w-]{1,100})?)"
    r"([ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]*\)"
)
_NESTED = lazy_pattern(
    r"(?<![\\!])\[[^\[\]\n]{0,200}(?<![\\!])(?P<inner>\[[^\[\]\n]{1,200}\]\([^()\s]{1,300}\))"
    r"[^\[\]\n]{0,200}\](?P<outer>\([^()\s]{1,300}\))"
)
"""A link inside the text of another link. CommonMark makes only the inner one a link."""
_MODULE = lazy_pattern(
    r"(?:import\s+(?:[\w*{][^\n'\";]{0,200}\sfrom\s+)?[\"'][^\"'\n]{1,200}[\"'];?|export\s+(?:const|default|function)\s[^\n]{0,200})"
)
_CODE = "\x01"
_BOLD = lazy_pattern(r"(?<![\w*\\])\*\*(?![\s*])([^*\n]{1,200}[^\w\s*\\])\*\*([^\W\d_])")
"""Bold text that CommonMark does not close, because it ends in punctuation and a letter follows."""
_SPACED_BOLD = lazy_pattern(r"(?<![^\s(])\*\*(?![\s*])([^*\n]{1,200}?)([ \t]+)\*\*(?!\*)")
"""Bold text that CommonMark does not close, because it ends in a space."""
_JSX_COMMENT = lazy_pattern(r"\{/\*.{0,2000}?\*/\}", re.DOTALL)


def report_near_misses(state: StateCore) -> None:
    """Warn about text that is almost syntax (core rule)."""
    page = get_page(state.env)
    for number, token in enumerate(state.tokens):
        if token.type != "inline" or not token.content:
            continue
        content = token.content
        is_paragraph = state.tokens[number - 1].type == "paragraph_open"
        if is_paragraph and token.level == 1:
            if content[0] == "#":
                _check_heading(token, page)
            elif content.startswith(("import ", "export ")):
                _check_module(token, page)
        if "](" in content and _has_text(token, "]("):
            _check_paths(token, page)
            _check_nested(token, page)
        if "<!--" in content and not page.options.untrusted and _has_text(token, "<!--"):
            report_comments(token, page)
        if content.count("**") > 1 and _has_text(token, "**"):
            _check_bold(token, page)
            _check_spaced_bold(token, page)
        if "{/*" in content and _has_text(token, "{/*"):
            _check_comments(token, page)
        if is_paragraph and "|" in content and "-" in content and "\n" in content:
            _check_table(token, page)


def _has_text(inline: Token, text: str) -> bool:
    """Return whether `text` is still plain text after the inline rules, and has not become an element."""
    return any(text in child.content for child in inline.children or () if child.type == "text")


def _without_code(text: str, sign: str = _CODE) -> str:
    """Return `text` with the placeholder `sign` for each character of code spans."""
    pieces, at = [], 0
    while (start := text.find("`", at)) >= 0:
        width = run_length(text, start, len(text))
        end = code_span_end(text, start, len(text))
        pieces += [text[at:start], sign * (end - start) or text[start : start + width]]
        at = max(end, start + width)
    return "".join((*pieces, text[at:]))


def _check_heading(inline: Token, page: PageState) -> None:
    """Warn about a short paragraph such as `#Intro`. Lower case is allowed, as `#intro` may be a tag."""
    found = _HEADING.fullmatch(inline.content)
    if not found or not found[2][0].isupper() or found[2].rstrip().endswith(_SENTENCE_ENDS):
        return
    if len(found[2].split()) > _MAX_WORDS:
        return
    origin = get_record(inline, TextMap)
    signs, word = found[1], found[2].split()[0]
    place = origin.place(0, len(signs) + len(word))
    fix = make_replacement(
        place.line,
        place.column,
        f"{signs}{word}",
        f"{signs} {word}",
        title=f"write {signs} {word}",
        is_safe=len(signs) > 1,
    )
    message = f'"{signs}{word}" does not start a heading'
    page.reporter.warn(
        "heading-doubtful", message, place, f"write `{signs} {word}`, or `\\{signs}{word}`", fix
    )


def _check_paths(inline: Token, page: PageState) -> None:
    """Warn about a link or an image whose path contains a space."""
    origin = get_record(inline, TextMap)
    for found in _SPACED.finditer(_without_code(inline.content)):
        image, path = found[1], found[3]
        if " " not in path or _CODE in path or not _has_text(inline, f"]({path.split(' ')[0]}"):
            continue
        start, place = origin.place(found.start()), origin.place(found.start(3), len(path))
        written = inline.content[found.start() : found.end()]
        new = written.replace(f"]({path}", f"](<{path}>", 1)
        fix = make_replacement(start.line, start.column, written, new, title=f"write <{path}>", is_safe=True)
        kind = "image" if image else "link"
        message = f'space in the path of {"an" if image else "a"} {kind}, shown as text: "{_shorten(path)}"'
        page.reporter.warn("link-space", message, place, f"write `{image}[…](<{_shorten(path)}>)`", fix)


def _check_nested(inline: Token, page: PageState) -> None:
    """Warn about a link in the text of another link, whose target is shown as text."""
    for found in _NESTED.finditer(_without_code(inline.content)):
        link = inline.content[found.start("inner") : found.end("inner")]
        place = get_record(inline, TextMap).place(found.start("inner"), len(link))
        shown, target = _shorten(link), _shorten(found["outer"])
        message = f'"{shown}" is not allowed in the text of a link; "{target}" is shown as text'
        page.reporter.warn("link-nested", message, place, f"write `{shown}` after the link")


def _shorten(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"


def _check_module(inline: Token, page: PageState) -> None:
    """Warn about a paragraph of imports and exports, as in MDX."""
    lines = inline.content.split("\n")
    if _MODULE.fullmatch(lines[0].strip()):
        word = lines[0].split()[0]
        place = get_record(inline, TextMap).place(0, len(lines[0]))
        message = f'unsupported syntax: "{word}" of MDX is text'
        page.reporter.warn("foreign-syntax", message, place, "remove the line, and write a shortcode instead")


def _check_bold(inline: Token, page: PageState) -> None:
    """Warn about `**$n$**th`, whose asterisks stay text, because CommonMark requires a space or punctuation
    after them."""
    origin = get_record(inline, TextMap)
    text = _without_code(inline.content, "`")
    for found in _BOLD.finditer(text):
        if is_east_asian(found[2]) or is_east_asian(found[1][-1]):
            continue
        written = inline.content[found.start() : found.start(2)]
        place = origin.place(found.start(), len(written))
        meant = f"<strong>{written[2:-2]}</strong>"
        fix = page.reporter.substitute(place, written, meant, is_safe=True)
        hint = "write `<strong>…</strong>`, or a space after the asterisks"
        message = f'asterisks are text before a letter: "{_shorten(written + found[2])}"'
        page.reporter.warn("emphasis-doubtful", message, place, hint, fix)


def _check_spaced_bold(inline: Token, page: PageState) -> None:
    """Warn about `**Problem: **text`, whose asterisks stay text because of the space before the last ones."""
    origin = get_record(inline, TextMap)
    for found in _SPACED_BOLD.finditer(_without_code(inline.content, "`")):
        written = inline.content[found.start() : found.end()]
        if not _has_text(inline, written):
            continue
        place = origin.place(found.start(), len(written))
        after = inline.content[found.end() : found.end() + 1]
        meant = f"{written[:-2].rstrip()}**{found[2] if after.isalnum() else ''}"
        fix = page.reporter.substitute(place, written, meant, is_safe=True)
        message = f'asterisks are text after a space: "{_shorten(written)}"'
        page.reporter.warn("emphasis-doubtful", message, place, f"write `{_shorten(meant)}`", fix)


def _check_comments(inline: Token, page: PageState) -> None:
    """Warn about comments of MDX, which readers see."""
    origin = get_record(inline, TextMap)
    for found in _JSX_COMMENT.finditer(_without_code(inline.content)):
        place = origin.place(found.start(), len(found[0].split("\n")[0]))
        inside = found[0][3:-3].strip()
        fix = None
        if "\n" not in found[0] and "--" not in inside:
            fix = page.reporter.substitute(place, found[0], f"<!-- {inside} -->", is_safe=True)
        message = 'unsupported syntax: "{/*" opens no comment, and readers see its text'
        page.reporter.warn("foreign-syntax", message, place, "write `<!-- … -->`", fix)


def _check_table(inline: Token, page: PageState) -> None:
    """Warn about a table whose header row has another number of cells than its delimiter row."""
    lines = inline.content.split("\n")
    for number, line in enumerate(lines[1:]):
        if "-" not in line or "|" not in line or (columns := alignments(line)) is None:
            continue
        head = lines[number]
        cells = len(split_row(head))
        if "|" not in head or cells == len(columns):
            return
        origin = get_record(inline, TextMap)
        place = origin.place(sum(len(one) + 1 for one in lines[:number]), len(head))
        found = f"{cells} cell{'s'[cells == 1 :]}, the next row {len(columns)}"
        message = f"this table is text: its header row has {found}"
        hint = "write the same number of cells in both rows"
        if "`" in head and cells > len(columns):
            hint = "write `\\|` for a pipe that does not separate cells"
        page.reporter.warn("table-cells", message, place, hint)
        return
