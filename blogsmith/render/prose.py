"""Inline HTML: text, code, links, headings, marks such as `<kbd>`, raw HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.east_asian import joins_lines
from ..syntax.math.formulas import PUNCTUATION
from .context import PageRendering, Rule
from .raw_html import rewrite_raw


def escape_html(text: str) -> str:
    """Return `text` escaped for element content and double-quoted attributes."""
    # most strings contain none of the four characters
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


def own_classes(token: Token) -> str:
    """Return the classes that the author gave the block, each with a leading space."""
    return "".join(f" {escape_html(name)}" for name in str(token.attrs.get("class", "")).split())


def find_punctuation(tokens: Sequence[Token], index: int) -> str:
    """Return the punctuation at the start of the text `tokens[index]` that must stay with the formula before
    it."""
    if not 0 < index < len(tokens) or tokens[index].type != "text":
        return ""
    found = PUNCTUATION.match(tokens[index].content) if tokens[index - 1].type == "math_inline" else None
    return found[0] if found else ""


def _text(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    # the formula before has already printed this part
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


def _html_block(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    """Render a block of raw HTML. If it contains formulas, its child tokens are rendered."""
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
        "html_block": _html_block,
        "raw_block": _raw_block,
        "s_open": _strike_open,
        "s_close": _strike_close,
    }
)
