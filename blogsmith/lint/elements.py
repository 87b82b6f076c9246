"""Page as a sequence of elements and text, written in Markdown or in HTML.

Only elements that an accessibility rule needs are included. Each token and each tag is visited once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place, TextMap
from ..base.html_tags import hidden_spans, start_tag
from ..base.patterns import lazy_pattern
from ..model.pictures import is_film
from ..syntax.parser import Parsed
from ..syntax.raw_places import raw_place
from ..syntax.records import Figure, Heading, LinkAt, Math, Shortcode, record_of

_TAG = lazy_pattern(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMES = frozenset((*_HEADINGS, "a", "img", "figcaption", "table", "tr", "th", "td", "video", "track"))
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
_TEXTS = frozenset(("text", "text_special", "code_inline", "kbd", "abbr"))
_STANDING_FOR_TEXT: Mapping[str, str] = MappingProxyType(
    {"softbreak": " ", "hardbreak": " ", "citation": "[1]", "value": "1", "xref": "1"}
)
_OF_TABLES: Mapping[str, str] = MappingProxyType(
    {f"{name}_{side}": name for name in ("table", "tr", "th", "td") for side in ("open", "close")}
)


class WrittenElement(Struct, frozen=True):
    """A start tag, an end tag, or a run of text."""

    kind: Literal["start", "end", "text"]
    name: str = ""
    """Tag name in lower case; empty for text."""
    attributes: Mapping[str, str] = _NO_ATTRIBUTES
    place: Place = Place(1)
    """Location of a start tag, to underline in a report."""
    text: str = ""
    is_captioned: bool = False
    """Whether the image has a figure caption, or the video has captions."""
    is_markdown: bool = False


def elements_of(page: Parsed) -> Iterator[WrittenElement]:
    """Yield the elements of a page in document order."""
    yield from _of_blocks(page.tokens, page.page.first_line)


def _of_blocks(tokens: Sequence[Token], first_line: int) -> Iterator[WrittenElement]:
    is_captioned = False
    for index, token in enumerate(tokens):
        if token.type == "inline":
            yield from _of_spans(token.children or (), first_line, is_captioned=is_captioned)
        elif token.type == "figure_open":
            is_captioned = record_of(token, Figure).caption
        elif token.type == "figure_close":
            is_captioned = False
        elif token.type == "heading_open" and "heading" in token.meta:
            level = record_of(token, Heading).level
            place = _text_place(tokens[index + 1], token, first_line)
            yield WrittenElement("start", f"h{level}", place=place, is_markdown=True)
        elif token.type == "heading_close":
            yield WrittenElement("end", token.tag)
        elif token.type in _OF_TABLES:
            yield _of_table(token, first_line)
        else:
            yield from _of_token(token, first_line, is_captioned=is_captioned)


def _text_place(inline: Token, opening: Token, first_line: int) -> Place:
    """Return the location of the text of a heading, or of its line if it has no text."""
    line = first_line + (opening.map or [0])[0]
    text = inline.meta.get("textmap")
    if not isinstance(text, TextMap) or not text.text:
        return Place(line)
    return text.place(0, len(text.text))


def _of_table(token: Token, first_line: int) -> WrittenElement:
    name = _OF_TABLES[token.type]
    if token.nesting < 0:
        return WrittenElement("end", name)
    line = first_line + (token.map or [0])[0]
    return WrittenElement("start", name, place=Place(line), is_markdown=True)


def _of_spans(tokens: Iterable[Token], first_line: int, *, is_captioned: bool) -> Iterator[WrittenElement]:
    place = Place(1)
    for token in tokens:
        if token.type == "link_open":
            place = record_of(token, LinkAt).place if "linkat" in token.meta else place
            attributes = {name: str(value) for name, value in token.attrs.items()}
            # The text of an autolink is its URL.
            yield WrittenElement("start", "a", attributes, place, is_markdown="linkat" in token.meta)
        elif token.type == "link_close":
            yield WrittenElement("end", "a")
        else:
            yield from _of_token(token, first_line, is_captioned=is_captioned)


def _of_token(token: Token, first_line: int, *, is_captioned: bool) -> Iterator[WrittenElement]:
    if token.type in ("html_inline", "html_block"):
        yield from _of_html(token, first_line)
    elif token.type == "image" and "linkat" in token.meta:
        yield _image(token, is_captioned=is_captioned)
    elif token.type in ("shortcode", "shortcode_inline"):
        yield from _of_call(record_of(token, Shortcode))
    elif token.type in ("math_inline", "math_display"):
        yield WrittenElement("text", text=record_of(token, Math).tex)
    elif token.type in _TEXTS:
        yield WrittenElement("text", text=token.content)
    elif token.type in _STANDING_FOR_TEXT:
        yield WrittenElement("text", text=_STANDING_FOR_TEXT[token.type])
    elif token.children:
        yield from _of_spans(token.children, first_line, is_captioned=is_captioned)


def _image(token: Token, *, is_captioned: bool) -> WrittenElement:
    at = record_of(token, LinkAt)
    attributes = {name: str(value) for name, value in token.attrs.items()}
    if is_film(at.target):
        is_loop = "loop" in attributes.get("class", "").split() or "data-loop" in attributes
        has_captions = bool(attributes.get("data-captions"))
        muted = {"muted": ""} if is_loop else {}
        return WrittenElement("start", "video", muted, at.place, is_captioned=has_captions, is_markdown=True)
    attributes["alt"] = "".join(_texts(token.children or ()))
    return WrittenElement("start", "img", attributes, at.place, is_captioned=is_captioned, is_markdown=True)


def _texts(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        yield record_of(token, Math).tex if token.type == "math_inline" else token.content
        yield from _texts(token.children or ())


def _of_call(call: Shortcode) -> Iterator[WrittenElement]:
    """Yield the image of an `img` shortcode. The output of other shortcodes is not checked."""
    if call.name != "img" or not call.is_readable:
        return
    has_words = bool(call.args.get("alt", "").strip(" ,") or call.args.get("cap", "").strip(" ,"))
    if "alt" not in call.args or has_words:
        attributes = {"alt": call.args.get("alt", ""), "src": call.args.get("src", "")}
        place = Place(call.place.line, call.place.column, max(1, len(call.source.partition("\n")[0])))
        yield WrittenElement("start", "img", attributes, place, is_captioned=has_words, is_markdown=True)


def _of_html(token: Token, first_line: int) -> Iterator[WrittenElement]:
    """Yield the tags of raw HTML and the text between them."""
    text = token.content
    hidden, at = deque(hidden_spans(text)), 0
    is_captioned = "<figcaption" in text
    for found in _TAG.finditer(text):
        start = found.start()
        while hidden and hidden[0][1] <= start:
            hidden.popleft()
        if start < at or (hidden and hidden[0][0] <= start):
            continue
        if text[at:start].strip():
            yield WrittenElement("text", text=text[at:start])
        name = found["name"].lower()
        if found["end"]:
            at = _tag_end(text, found.end())
            if name in _NAMES:
                yield WrittenElement("end", name)
            continue
        tag = start_tag(text, start)
        at = tag.end if tag else found.end()
        if tag and name in _NAMES:
            attributes = {item.name: item.value for item in reversed(tag.attributes)}
            place = raw_place(token, first_line, start, tag.end - start)
            yield WrittenElement("start", name, attributes, place, is_captioned=is_captioned)
    if text[at:].strip():
        yield WrittenElement("text", text=text[at:])


def _tag_end(text: str, pos: int) -> int:
    end = text.find(">", pos)
    return end + 1 if end >= 0 else pos
