"""Inline HTML: text, code, links, headings, small marks, raw HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.east_asian import joins_lines
from ..syntax.math.formulas import PUNCTUATION
from ..syntax.records import Heading, get_record
from .context import PageRendering, Rule
from .raw_html import rewrite_raw


def escape_html(text: str) -> str:
    """Return `text` escaped for element content and double-quoted attributes."""
    # Most strings contain none of the four characters.
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    return text.replace('"', "&quot;") if '"' in text else text


def attributes(token: Token, *leave_out: str) -> str:
    """Return the token's attributes with a leading space, in the order they were set."""
    return "".join(
        f' {key}="{escape_html(str(value))}"' for key, value in token.attrs.items() if key not in leave_out
    )


def find_punctuation(tokens: Sequence[Token], index: int) -> str:
    """Return the punctuation of the text `tokens[index]` that belongs to the formula before it."""
    if not 0 < index < len(tokens) or tokens[index].type != "text":
        return ""
    found = PUNCTUATION.match(tokens[index].content) if tokens[index - 1].type == "math_inline" else None
    return found[0] if found else ""


def _text(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    # The formula before it has already printed this part.
    done = len(find_punctuation(tokens, index))
    return escape_html(tokens[index].content[done:])


def _softbreak(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "" if joins_lines(tokens, index) else "\n"


def _hardbreak(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "<br>\n"


def _code_inline(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    return f"<code{attributes(token)}>{escape_html(token.content)}</code>"


def _abbr(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return f"<abbr{attributes(tokens[index])}>{escape_html(tokens[index].content)}</abbr>"


def _task_box(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token, language = tokens[index], rendering.language
    flags = "".join(f" {name}" for name in ("checked", "disabled") if name in token.attrs)
    label = language.translate("done") if "checked" in token.attrs else language.translate("to do")
    written = attributes(token, "checked", "disabled")
    return f'<input{written} aria-label="{escape_html(label)}"{flags}> '


def _heading_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    heading = get_record(token, Heading)
    number = f'<span class="heading-number">{heading.number}</span> ' if heading.number else ""
    return f'<{token.tag} id="{escape_html(heading.id)}"{attributes(token, "id")}>{number}'


def _heading_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    heading = get_record(tokens[index - 2], Heading)
    text = rendering.language.translate("Link to section {heading}", heading=heading.text)
    label = escape_html(text.rstrip())
    anchor = f'<a class="heading-anchor" href="#{escape_html(heading.id)}" aria-label="{label}"></a>'
    return f" {anchor}</{tokens[index].tag}>\n"


def _html_block(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render the child tokens of a block with formulas, or the raw HTML of any other block."""
    pieces = tokens[index].children
    return rendering.render(rendering, pieces) if pieces else rewrite_raw(rendering, tokens[index])


def _raw_block(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    chunks = tokens[index].content.strip("\n").split("\n\n")
    return "".join(f"<p>{escape_html(chunk)}</p>\n" for chunk in chunks if chunk.strip())


def _strike_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "<del>"


def _strike_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    return "</del>"


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "text": _text,
        "text_special": _text,
        "softbreak": _softbreak,
        "hardbreak": _hardbreak,
        "code_inline": _code_inline,
        "abbr": _abbr,
        "task_box": _task_box,
        "heading_open": _heading_open,
        "heading_close": _heading_close,
        "html_block": _html_block,
        "raw_block": _raw_block,
        "s_open": _strike_open,
        "s_close": _strike_close,
    }
)
