"""Figures: an image alone in its paragraph becomes a figure with a caption.

In `![alt](a.png "Caption with $x$"){#fig-x width=60%}`, alternative text and caption are separate. Images of
a gallery become one figure each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec.structs import replace

from ..base.diagnostics.model import Place, TextMap
from ..model.pictures import is_video
from .math.equations import check_inline
from .records import Figure, LinkTargetPlace, Math, attach_record, get_record
from .references.labels import normal_id
from .state import PageState, get_page
from .text import set_quotes

_CAPTION_LINES = 8
r"""Maximum distance of a `\caption` from its image, in lines."""
_DISABLED_FLAGS = ("allows_html", "takes_blocks", "takes_values")
"""Flags of the page state that are false while captions and labels are parsed."""


def figures(state: StateCore) -> None:
    """Turn images alone in a paragraph into figures (core rule, after the inline rules)."""
    page = get_page(state.env)
    tokens = state.tokens
    for index in range(1, len(tokens) - 1):
        inline = tokens[index]
        opening, closing = tokens[index - 1], tokens[index + 1]
        if inline.type != "inline" or opening.type != "paragraph_open":
            continue
        image = _single_image(inline)
        if image is None:
            continue
        caption = str(image.attrs.pop("title", ""))
        name = normal_id(str(image.attrs.pop("id", "")))
        # The text of a video is its caption, because it cannot be shown anywhere else.
        is_titled = bool(caption) or not is_video(get_record(image, LinkTargetPlace).target)
        figure = Figure(name, caption=bool(caption) or not is_titled)
        for token, kind in ((opening, "figure_open"), (closing, "figure_close")):
            # In a tight list paragraphs are hidden, but the figure must be shown.
            token.type, token.tag, token.hidden = kind, "figure", False
            attach_record(token, figure)
        if caption:
            closing.children = _caption(state.md, caption, image, page)
        elif not is_titled:
            closing.children, image.children = list(image.children or ()), []


def _single_image(inline: Token) -> Token | None:
    """Return the image if the text is a single image, which may be inside a link; otherwise None."""
    children = [c for c in inline.children or [] if not (c.type == "text" and not c.content.strip())]
    if len(children) == 3 and children[0].type == "link_open" and children[2].type == "link_close":
        children = children[1:2]
    return children[0] if len(children) == 1 and children[0].type == "image" else None


def _caption(md: MarkdownIt, caption: str, image: Token, page: PageState) -> list[Token]:
    place = get_record(image, LinkTargetPlace).place
    line = page.lines[place.line - page.first_line] if place.line >= page.first_line else ""
    column = line.find(caption, place.column - 1) + 1 or place.column
    if page.is_latex and not line[column - 1 :].startswith(caption):
        place = _find_latex_caption(place, page)
        column = place.column
    return parse_inline(md, TextMap(caption, ((place.line, column),) * (caption.count("\n") + 1)), page)


def _find_latex_caption(place: Place, page: PageState) -> Place:
    r"""Return the position of the `\caption` nearest to an image, or `place` without a `\caption`."""
    lines = range(
        max(0, place.line - _CAPTION_LINES), min(place.line + _CAPTION_LINES, len(page.reporter.lines))
    )
    found = [(abs(at + 1 - place.line), at) for at in lines if "\\caption{" in page.reporter.lines[at]]
    at = min(found)[1] if found else -1
    return (
        Place(at + 1, page.reporter.lines[at].index("\\caption{") + len("\\caption{") + 1) if found else place
    )


def parse_inline(md: MarkdownIt, text: TextMap, page: PageState) -> list[Token]:
    """Return the inline tokens of a text that is not a paragraph: a caption, a title, a label."""
    before = {name: getattr(page, name) for name in ("current", "base", *_DISABLED_FLAGS)}
    page.current, page.base = text, 0
    for name in _DISABLED_FLAGS:
        setattr(page, name, False)
    tokens: list[Token] = []
    # Link references such as `[a][b]` have no definitions here and stay visible as text.
    env = {"page": page, "references": {}, "footnotes": page.footnotes}
    md.inline.parse(text.text, md, env, tokens)
    for name, value in before.items():
        setattr(page, name, value)
    if page.options.smart_quotes:
        set_quotes(tokens, text.text, page)
    for token in tokens:
        if token.type == "math_display":
            token.type = "math_inline"
            attach_record(token, replace(get_record(token, Math), display=False))
        # Text parsed after the page is not numbered any more, so its formulas are checked here.
        if token.type == "math_inline" and page.is_parsed:
            check_inline(get_record(token, Math), page.reporter)
    return tokens


# `<div class="gallery">`: one image a line. Each of them becomes a figure in a grid.


_BLANKS = ("softbreak", "hardbreak")
_PARAGRAPH = ["paragraph_open", "inline", "paragraph_close"]


def galleries(state: StateCore) -> None:
    """Split a gallery's paragraphs of images into one paragraph for each image (core rule, before
    `figures`)."""
    if not any(token.type == "gallery_open" for token in state.tokens):
        return
    out: list[Token] = []
    depth = 0
    for token in state.tokens:
        depth += {"gallery_open": 1, "gallery_close": -1}.get(token.type, 0)
        if token.type == "gallery_close" and "textmap" in token.meta:
            token.children = parse_inline(state.md, get_record(token, TextMap), get_page(state.env))
        out.append(token)
        if depth and token.type == "paragraph_close":
            out[-3:] = _split_paragraph(out[-3:])
    state.tokens = out


def _split_paragraph(paragraph: Sequence[Token]) -> list[Token]:
    """Return the paragraph, or one paragraph for each of its images."""
    if [token.type for token in paragraph] != _PARAGRAPH:
        return list(paragraph)
    opening, inline, closing = paragraph
    images = list(_images(inline.children or ()))
    if len(images) < 2 or None in images:
        return list(paragraph)
    divided: list[Token] = []
    for image in images:
        assert image is not None, "a paragraph without other content"
        # Copy `meta`, so that each figure has records of its own.
        paragraph = (opening.copy(), inline.copy(children=image), closing.copy())
        divided += [token.copy(meta=dict(token.meta)) for token in paragraph]
    return divided


def _images(children: Sequence[Token]) -> Iterator[list[Token] | None]:
    """Yield each image with the link around it, and None for any other content except whitespace."""
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
