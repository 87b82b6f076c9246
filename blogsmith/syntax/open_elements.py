"""Comments and elements of raw HTML that are never closed and would swallow the rest of the page.

A `<!--` without `-->` is text. An open `<details>`, `<script>` or `<textarea>` is closed at the end of the
post, and that of a heading at the end of the heading. Both are errors.
"""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.model import Place, TextMap
from ..base.html_tags import parse_start_tag
from ..base.patterns import lazy_pattern
from ..model.names import name_set
from .raw_places import html_place
from .records import get_record
from .state import PageState, get_page

CODE = "html-open"
_COMMENT_HINT = "write `-->` after the comment, or `\\<!--` for text"
_RAW_TEXT = name_set("iframe noembed noframes plaintext script style textarea title xmp")
"""Elements in which browsers read no tags but their own end tag."""
_SWALLOWING = _RAW_TEXT | name_set("datalist details dialog noscript object select template video")
_PATTERN = "|".join(sorted(_SWALLOWING))
_COMMENT = lazy_pattern(r"(?<!\\)<!--")
_TAG = lazy_pattern(rf"(?i)<!--|<(/?)({_PATTERN})(?=[\s/>])")


def report_comments(inline: Token, page: PageState) -> None:
    """Report comments that are never closed. Their text is visible."""
    text = inline.content
    for found in _COMMENT.finditer(text):
        if text.find("-->", found.end()) < 0:
            place = get_record(inline, TextMap).place(found.start(), len(found[0]))
            page.reporter.error(CODE, 'missing "-->" after this comment', place, _COMMENT_HINT)
            return


def close_elements(state: StateCore) -> None:
    """Close all elements that are still open at the end of the text or of a heading (core rule)."""
    page = get_page(state.env)
    open_tags: list[tuple[str, Place]] = []
    result: list[Token] = []
    for index, token in enumerate(state.tokens):
        if token.type == "html_block":
            _read(token, open_tags, page)
        elif token.type == "inline" and token.children:
            _read_children(token, state.tokens[index - 1].type, open_tags, page)
        elif token.type == "footnotes_open":
            result += _closing(open_tags, page)
        result.append(token)
    state.tokens = [*result, *_closing(open_tags, page)]


def _read_children(inline: Token, parent: str, open_tags: list[tuple[str, Place]], page: PageState) -> None:
    children = inline.children or []
    if not any(child.type == "html_inline" for child in children):
        return
    own: list[tuple[str, Place]] = [] if parent == "heading_open" else open_tags
    for child in children:
        if child.type == "html_inline":
            _read(child, own, page)
    if own is not open_tags:
        for token in _closing(own, page):
            token.type, token.block = "html_inline", False
            token.content = token.content.rstrip("\n")
            children.append(token)


def _read(token: Token, open_tags: list[tuple[str, Place]], page: PageState) -> None:
    """Add the elements that a fragment of HTML opens to `open_tags`, and remove those that it closes."""
    text, at = token.content, 0
    while found := _TAG.search(text, at):
        at, name = found.end(), (found[2] or "").lower()
        inside = open_tags[-1][0] if open_tags else ""
        if inside in _RAW_TEXT and not (found[1] and name == inside):
            continue
        if not name:
            end = text.find("-->", found.start())
            at = end + len("-->") if end >= 0 else len(text)
        elif found[1]:
            last = next((i for i in range(len(open_tags) - 1, -1, -1) if open_tags[i][0] == name), None)
            if last is not None:
                del open_tags[last:]
        elif tag := parse_start_tag(text, found.start()):
            at = tag.end
            if text[: tag.end].endswith("/>") and "<svg" in text:
                continue
            open_tags.append((name, html_place(token, page.first_line, tag.start, tag.end - tag.start)))


def _closing(open_tags: list[tuple[str, Place]], page: PageState) -> Iterator[Token]:
    """Report the open elements, and yield their end tags. The list is empty afterwards."""
    tags = [open_tags.pop() for _ in range(len(open_tags))]
    for name, place in tags:
        hint = f"write `</{name}>` after it, or `\\<{name}>` for text"
        if not any(found.place == place for found in page.reporter.diagnostics):
            message = f'missing "</{name}>": the element would swallow the rest'
            page.reporter.error(CODE, message, place, hint)
        yield Token("html_block", "", 0, content=f"</{name}>\n", block=True, map=None)
