"""Elements and text of a page, written in Markdown or in HTML.

Only elements that an accessibility rule needs are included. Each token and each tag is visited once.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal
from urllib.parse import unquote

from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place, TextMap
from ..base.html_tags import find_visible, parse_start_tag
from ..base.patterns import lazy_pattern
from ..model.pictures import is_video
from ..syntax.html_nodes import html_place
from ..syntax.parser import Parsed
from ..syntax.records import Figure, Heading, LinkTargetPlace, Math, Shortcode, get_record

_TAG = lazy_pattern(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMES = frozenset((*_HEADINGS, "a", "img", "figcaption", "table", "tr", "th", "td", "video", "track"))
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
_TEXTS = frozenset(("text", "text_special", "code_inline", "kbd", "abbr"))
_SUBSTITUTE_TEXT: Mapping[str, str] = MappingProxyType(
    {"softbreak": " ", "hardbreak": " ", "citation": "[1]", "value": "1", "xref": "1"}
)
_TABLE_TOKENS: Mapping[str, str] = MappingProxyType(
    {f"{name}_{side}": name for name in ("table", "tr", "th", "td") for side in ("open", "close")}
)


class SourceElement(Struct, frozen=True):
    """A start tag, an end tag, or a run of text."""

    kind: Literal["start", "end", "text"]
    name: str = ""
    """Tag name in lower case; empty for text."""
    attributes: Mapping[str, str] = _NO_ATTRIBUTES
    place: Place = Place(1)
    """Location of a start tag, which a report underlines."""
    text: str = ""
    is_captioned: bool = False
    """Whether the image has a figure caption, or the video has captions."""
    is_markdown: bool = False


def page_elements(page: Parsed) -> Iterator[SourceElement]:
    """Yield the elements of a page in document order."""
    named = {*page.labels, *(get_record(t, Heading).id for t in page.tokens if t.type == "heading_open")}
    before = None
    for element in _block_elements(page.tokens, page.page.first_line):
        if before and element.kind == "end" and _prints_title(before, named):
            yield SourceElement("text", text="title")
        yield element
        before = element


def _prints_title(element: SourceElement, named: Container[str]) -> bool:
    """Return whether a Markdown link without text prints the title of its target. named: ids on this page
    that have a name or title."""
    if not (element.is_markdown and element.kind == "start" and element.name == "a"):
        return False
    path, _, anchor = element.attributes.get("href", "").partition("#")
    return unquote(anchor) in named if not path else path.endswith((".md", ".ipynb", "/"))


def _block_elements(tokens: Sequence[Token], first_line: int) -> Iterator[SourceElement]:
    is_captioned = False
    for index, token in enumerate(tokens):
        if token.type == "inline":
            yield from _inline_elements(token.children or (), first_line, is_captioned=is_captioned)
        elif token.type == "figure_open":
            is_captioned = get_record(token, Figure).caption
        elif token.type == "figure_close":
            is_captioned = False
        elif token.type == "heading_open" and "heading" in token.meta:
            level = get_record(token, Heading).level
            place = _text_place(tokens[index + 1], token, first_line)
            yield SourceElement("start", f"h{level}", place=place, is_markdown=True)
        elif token.type == "heading_close":
            yield SourceElement("end", token.tag)
        elif token.type in _TABLE_TOKENS:
            yield _table_element(token, first_line)
        else:
            yield from _token_elements(token, first_line, is_captioned=is_captioned)


def _text_place(inline: Token, opening: Token, first_line: int) -> Place:
    """Return the location of the text in `inline`. If it has no text, return the location of the heading's
    line. opening: token that begins the heading."""
    line = first_line + (opening.map or [0])[0]
    text = inline.meta.get("textmap")
    if not isinstance(text, TextMap) or not text.text:
        return Place(line)
    return text.place(0, len(text.text))


def _table_element(token: Token, first_line: int) -> SourceElement:
    name = _TABLE_TOKENS[token.type]
    if token.nesting < 0:
        return SourceElement("end", name)
    line = first_line + (token.map or [0])[0]
    return SourceElement("start", name, place=Place(line), is_markdown=True)


def _inline_elements(
    tokens: Iterable[Token], first_line: int, *, is_captioned: bool
) -> Iterator[SourceElement]:
    place = Place(1)
    for token in tokens:
        if token.type == "text":
            yield SourceElement("text", text=token.content)
        elif token.type == "link_open":
            place = get_record(token, LinkTargetPlace).place if "linktargetplace" in token.meta else place
            attributes = {name: str(value) for name, value in token.attrs.items()}
            # The text of an autolink is its URL.
            yield SourceElement("start", "a", attributes, place, is_markdown="linktargetplace" in token.meta)
        elif token.type == "link_close":
            yield SourceElement("end", "a")
        else:
            yield from _token_elements(token, first_line, is_captioned=is_captioned)


def _token_elements(token: Token, first_line: int, *, is_captioned: bool) -> Iterator[SourceElement]:
    if token.type in ("html_inline", "html_block"):
        yield from _html_elements(token, first_line)
    elif token.type == "image" and "linktargetplace" in token.meta:
        yield _image(token, is_captioned=is_captioned)
    elif token.type in ("shortcode", "shortcode_inline"):
        yield from _shortcode_elements(get_record(token, Shortcode))
    elif token.type in ("math_inline", "math_display"):
        yield SourceElement("text", text=get_record(token, Math).tex)
    elif token.type in _TEXTS:
        yield SourceElement("text", text=token.content)
    elif token.type in _SUBSTITUTE_TEXT:
        yield SourceElement("text", text=_SUBSTITUTE_TEXT[token.type])
    elif token.children:
        yield from _inline_elements(token.children, first_line, is_captioned=is_captioned)


def _image(token: Token, *, is_captioned: bool) -> SourceElement:
    at = get_record(token, LinkTargetPlace)
    attributes = {name: str(value) for name, value in token.attrs.items()}
    if is_video(at.target):
        is_loop = "loop" in attributes.get("class", "").split() or "data-loop" in attributes
        has_captions = bool(attributes.get("data-captions"))
        muted = {"muted": ""} if is_loop else {}
        return SourceElement("start", "video", muted, at.place, is_captioned=has_captions, is_markdown=True)
    attributes["alt"] = "".join(_texts(token.children or ()))
    return SourceElement("start", "img", attributes, at.place, is_captioned=is_captioned, is_markdown=True)


def _texts(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        yield get_record(token, Math).tex if token.type == "math_inline" else token.content
        yield from _texts(token.children or ())


def _shortcode_elements(call: Shortcode) -> Iterator[SourceElement]:
    """Yield the image of an `img` shortcode. The output of other shortcodes is not checked."""
    if call.name != "img" or not call.is_readable:
        return
    has_words = bool(call.args.get("alt", "").strip(" ,") or call.args.get("cap", "").strip(" ,"))
    if "alt" not in call.args or has_words:
        attributes = {"alt": call.args.get("alt", ""), "src": call.args.get("src", "")}
        place = Place(call.place.line, call.place.column, max(1, len(call.source.partition("\n")[0])))
        yield SourceElement("start", "img", attributes, place, is_captioned=has_words, is_markdown=True)


def _html_elements(token: Token, first_line: int) -> Iterator[SourceElement]:
    """Yield the tags of raw HTML and the text between them."""
    text = token.content
    at = 0
    is_captioned = "<figcaption" in text
    for found in find_visible(_TAG, text):
        start = found.start()
        if start < at:
            continue
        if text[at:start].strip():
            yield SourceElement("text", text=text[at:start])
        name = found["name"].lower()
        if found["end"]:
            at = _tag_end(text, found.end())
            if name in _NAMES:
                yield SourceElement("end", name)
            continue
        tag = parse_start_tag(text, start)
        at = tag.end if tag else found.end()
        if tag and name in _NAMES:
            attributes = {item.name: item.value for item in reversed(tag.attributes)}
            place = html_place(token, first_line, start, tag.end - start)
            yield SourceElement("start", name, attributes, place, is_captioned=is_captioned)
    if text[at:].strip():
        yield SourceElement("text", text=text[at:])


def _tag_end(text: str, pos: int) -> int:
    end = text.find(">", pos)
    return end + 1 if end >= 0 else pos
