r"""Fences with the language `algorithmic`: numbered lines with formulas, keywords and levels.

A fence becomes an ordered list, one item a line. Lines without a number, such as `\Require`, are paragraphs
between the parts of the list. Each item has an id, so that links and references can point to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..base.patterns import lazy_pattern
from .latex.algorithms import AlgorithmLine, read_algorithm
from .latex.writer import translate
from .records import NumberedLine, attach_record
from .references.labels import normal_id
from .state import PageState, get_page

LANGUAGE = "algorithmic"
_MARKER = lazy_pattern(r"\[!algorithm\][^\n]*\{#([\w:.-]+)\}", 2)


def algorithms(state: StateCore) -> None:
    """Turn fences with the language `algorithmic` into lists (core rule, before the inline rules)."""
    if not any(token.type == "fence" and token.info.strip() == LANGUAGE for token in state.tokens):
        return
    page, count, name = get_page(state.env), 0, ""
    result: list[Token] = []
    for token in state.tokens:
        if token.type == "inline" and (marker := _MARKER.match(token.content)):
            name = normal_id(marker[1])
        elif token.type == "blockquote_close":
            name = ""
        if token.type == "fence" and token.info.strip() == LANGUAGE and token.content.strip():
            count += 1
            result += _list_tokens(token, name or f"algorithm-{count}", page)
        else:
            result.append(token)
    state.tokens = result


def _list_tokens(fence: Token, name: str, page: PageState) -> Iterator[Token]:
    """Yield the tokens of an algorithm. name: id of the algorithm."""
    first = (fence.map or [0])[0] + 1
    number, is_open = 0, False
    for line in read_algorithm(fence.content):
        at = first + fence.content.count("\n", 0, line.offset)
        if not line.is_numbered:
            if is_open:
                yield _token("algorithm_close", "ol", -1, fence)
            is_open = False
            yield from _paragraph(line, at, fence, page)
            continue
        if not is_open:
            opening = _token("algorithm_open", "ol", 1, fence)
            opening.attrs = {"class": "algorithm", **({"start": number + 1} if number else {})}
            yield opening
            is_open = True
        number += 1
        item = _token("list_item_open", "li", 1, fence, at)
        item.attrs = {"id": normal_id(line.label) if line.label else f"{name}-line-{number}"}
        if line.level:
            item.attrs["class"] = f"level-{line.level}"
        if line.label:
            attach_record(item, NumberedLine(normal_id(line.label), number))
        yield item
        yield from _paragraph(line, at, fence, page, is_hidden=True)
        yield _token("list_item_close", "li", -1, fence)
    if is_open:
        yield _token("algorithm_close", "ol", -1, fence)


def _paragraph(
    line: AlgorithmLine, at: int, fence: Token, page: PageState, *, is_hidden: bool = False
) -> Iterator[Token]:
    """Yield the paragraph of a line. at: its line in the text of the page, 0-based."""
    opening, closing = (
        _token(f"paragraph_{end}", "p", nesting, fence, at) for end, nesting in (("open", 1), ("close", -1))
    )
    opening.hidden = closing.hidden = is_hidden
    if not is_hidden:
        opening.attrs = {"class": "algorithm-input"}
    inline = _token("inline", "", 0, fence, at)
    inline.content = " ".join(translate(line.text, page.options.kinds).text.split("\n"))
    inline.children = []
    written = fence.content.split("\n")[at - (fence.map or [0])[0] - 1]
    start = page.text_map(written.strip(), at).starts[0]
    attach_record(inline, TextMap(inline.content, (start,)))
    yield from (opening, inline, closing)


def _token(kind: str, tag: str, nesting: int, fence: Token, at: int = -1) -> Token:
    token = Token(kind, tag, nesting, block=True)  # type: ignore[arg-type]
    token.level = fence.level
    token.map = [at, at + 1] if at >= 0 else fence.map
    return token
