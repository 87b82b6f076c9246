"""The picture of a post in lists: its image, otherwise its first figure, otherwise its first display
formula."""

from __future__ import annotations

import re

from ..base.patterns import lazy_pattern
from .texts import PageText

# the preview marks blocks with the line of the post
_MARKS = r'(?: data-(?:line|cell)="[0-9]*")*'
_FIGURE = lazy_pattern(rf'<figure{_MARKS} class="(?:figure|output output-image)[ "].*?</figure>', re.DOTALL)
_IMAGE = lazy_pattern(r"<picture[^>]*>(?:(?!</picture>).)*</picture>|<img [^>]*>", re.DOTALL)
_DISPLAY = lazy_pattern(
    rf'<div{_MARKS} class="math-display[^>]*>(<math display="block"[^>]*>(?:(?!</math>).)*</math>)', re.DOTALL
)
_NAMES = lazy_pattern(r' (?:id|style|class|usemap|fetchpriority|data-line|data-cell)="[^"]*"')
_ALT = lazy_pattern(r' alt="[^"]*"')
_SIZES = lazy_pattern(r' sizes="[^"]*"')
_ID = lazy_pattern(r' id="[^"]*"')
_TAG = lazy_pattern(r"<[^>]*>")
_SPACE = lazy_pattern(r'<mspace width="([0-9.]+)em"')
_SHOWN = "(min-width: 48em) 26rem, 100vw"
"""Displayed width of a picture in a list, as a value of `sizes`."""
_LONGEST = 4_000
"""Maximum length of a display formula in a list, in characters of MathML."""


def list_picture(cover: str, body: PageText) -> str:
    """Return the HTML of a post's picture, without ids, names and links; empty without a picture. The
    alternative text is empty, because the title beside the picture names the post. cover: `<img>` of the
    post's image."""
    if cover:
        return _quiet(cover).replace('loading="eager"', 'loading="lazy"')
    html = body.read()
    for figure in _FIGURE.finditer(html):
        if image := _IMAGE.search(figure[0]):
            return _quiet(image[0])
    shown = (found[1] for found in _DISPLAY.finditer(html))
    return next((_display(one) for one in shown if len(one) <= _LONGEST and "href=" not in one), "")


def _display(math: str) -> str:
    """Return a display formula without ids, with the number of characters in its longest row for
    stylesheets."""
    signs = max(1, round(max(map(_row_length, math.split("</mtr>")))))
    return _ID.sub("", math).replace("<math ", f'<math style="--signs:{signs}" ', 1)


def _row_length(row: str) -> float:
    """Return the width of a row in characters. Operators have space around them; an em is two characters."""
    text = "".join(_TAG.sub("", row).split())
    return len(text) + sum(map(text.count, "=+−")) + 2 * sum(map(float, _SPACE.findall(row)))


def _quiet(image: str) -> str:
    return _SIZES.sub(f' sizes="{_SHOWN}"', _ALT.sub(' alt=""', _NAMES.sub("", image)))
