"""`<div class="gallery">`: images one a line, each of which becomes a figure of a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from .figures import parse_inline
from .records import record_of
from .state import page_of

_BLANKS = ("softbreak", "hardbreak")
_PARAGRAPH = ["paragraph_open", "inline", "paragraph_close"]


def galleries(state: StateCore) -> None:
    """Core rule in front of that for figures: paragraphs of nothing but images, one for each image."""
    if not any(token.type == "gallery_open" for token in state.tokens):
        return
    out: list[Token] = []
    depth = 0
    for token in state.tokens:
        depth += {"gallery_open": 1, "gallery_close": -1}.get(token.type, 0)
        if token.type == "gallery_close" and "textmap" in token.meta:
            token.children = parse_inline(state.md, record_of(token, TextMap), page_of(state.env))
        out.append(token)
        if depth and token.type == "paragraph_close":
            out[-3:] = _divided(out[-3:])
    state.tokens = out


def _divided(paragraph: Sequence[Token]) -> list[Token]:
    """The paragraph, or one for each of its images."""
    if [token.type for token in paragraph] != _PARAGRAPH:
        return list(paragraph)
    opening, inline, closing = paragraph
    images = list(_images(inline.children or ()))
    if len(images) < 2 or None in images:
        return list(paragraph)
    divided: list[Token] = []
    for image in images:
        assert image is not None, "there is none of them among these"
        # a record of one figure is not that of the others
        paragraph = (opening.copy(), inline.copy(children=image), closing.copy())
        divided += [token.copy(meta=dict(token.meta)) for token in paragraph]
    return divided


def _images(children: Sequence[Token]) -> Iterator[list[Token] | None]:
    """Each image, with the link around it; None for anything else that is no blank."""
    at = 0
    while at < len(children):
        kinds = [child.type for child in children[at : at + 3]]
        if kinds[:1] == ["image"]:
            yield [children[at]]
        elif kinds == ["link_open", "image", "link_close"]:
            yield list(children[at : at + 3])
            at += 2
        elif (kinds[0] not in _BLANKS and children[at].content.strip()) or kinds[0] not in (*_BLANKS, "text"):
            yield None
        at += 1
