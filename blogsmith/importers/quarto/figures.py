"""Images and figures.

`![caption](a.png){#fig-a fig-alt="…"}` in a paragraph of its own is a figure, and its caption becomes the
image's title. Several figures in a div are a grid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...api.importing import lazy_pattern
from ..text.html import alt_text, attribute_list, link_destination, parse_length, style_length
from ..text.pandoc import PandocAttributes, fit_id, read_pandoc_attributes
from ..text.pieces import CLOSE, OPEN, HiddenFragments, closing_bracket
from .cells import NoticeCallback

_TARGET = lazy_pattern(
    r"\(\s*(?:<(?P<angle>[^<>\n]*)>|(?P<bare>(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))"
    r"(?:\s+(?:\"(?P<title>(?:\\.|[^\"\\])*)\"|'(?P<single>(?:\\.|[^'\\])*)'))?\s*\)"
)
_BLANK_BEFORE = lazy_pattern(
    r"(?:\A|\n)[ \t>]*\n[ \t>]*\Z|\A[ \t>]*\Z|:{3,}[^\n]*\n[ \t>]*\Z"
    r"|(?:\A|\n)[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\Z"
)
_BLANK_AFTER = lazy_pattern(r"[ \t]*(?:\Z|\n[ \t>]*(?:\n|\Z)|\n[ \t>]*:{3,})")
_PLACEHOLDER = lazy_pattern(f"{OPEN}\\d+{CLOSE}")
_MARKUP = lazy_pattern(r"\[\^[^\]]*\]|\[?@[\w:.-]+\]?|[*_`]+|[\ue000-\uf8ff]\d*[\ue000-\uf8ff]?|<[^<>]*>")
_LINK = lazy_pattern(r"\[([^\[\]]*)\]\([^()]*\)")
_ESCAPABLE = lazy_pattern(r"\\(?=[!-/:-@\[-`{-~])")
_FORMULA = lazy_pattern(r"(\$(?:\\.|[^$\\])+\$)")
_ABSOLUTE_LENGTH = lazy_pattern(r"(\d+(?:\.\d+)?)(in|cm|mm|pt)")
_PIXELS: Mapping[str, float] = {"in": 96, "cm": 37.8, "mm": 3.78, "pt": 1.333}
_VIDEOS = (".mp4", ".webm", ".mov", ".m4v", ".ogv")
_MAX_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class FigureImage:
    """An image that is alone in its paragraph."""

    address: str
    caption: str
    """Caption as inline Markdown on one line, with hidden fragments restored."""
    alt: str
    width: str = ""
    label: str = ""
    link: str = ""
    """URL that the image links to; empty if the image is not a link."""

    def markdown(self) -> str:
        """Return the figure in blogsmith's Markdown."""
        if self.address.lower().endswith(_VIDEOS):
            caption = f' data-caption="{self.caption}"' if self.caption and '"' not in self.caption else ""
            return f'<div class="video-embed" data-src="{self.address}"{caption}></div>'
        title = f' "{title_text(self.caption)}"' if self.caption else ""
        image = f"![{alt_text(self.alt)}]({link_destination(self.address)}{title})"
        if self.link:
            return f"[{image}]({link_destination(self.link)})" + attribute_list(self.label)
        return image + attribute_list(self.label, {"width": self.width})


def title_text(text: str) -> str:
    """Return a text for use as the quoted title of a Markdown image. Backslashes that Markdown would remove
    are doubled."""
    return _ESCAPABLE.sub(r"\\\\", " ".join(text.split())).replace('"', '\\"')


class FigureTranslator:
    """Translator for the images of one page."""

    def __init__(self, pieces: HiddenFragments, reveal: Callable[[str], str], note: NoticeCallback) -> None:
        """Create a translator. pieces: object that replaces finished Markdown with placeholders. reveal:
        function that returns a text with its hidden fragments restored."""
        self._pieces = pieces
        self._reveal = reveal
        self._note = note
        self._figures: dict[str, FigureImage] = {}
        self.parents: dict[str, tuple[str, str]] = {}
        """Label of a figure in a grid → label of the grid, and letter of the figure in the grid."""
        self.captions: dict[str, str] = {}
        """Label → caption, for elements that blogsmith does not number."""

    def images(self, text: str) -> str:
        """Translate every image of a masked text, and replace each with a placeholder in `pieces`."""
        position = text.rfind("![")
        while position >= 0:
            made = self._image(text, position)
            if made:
                text = text[: made[0]] + made[1] + text[made[2] :]
            position = text.rfind("![", 0, position)
        return text

    def _image(self, text: str, start: int) -> tuple[int, str, int] | None:
        """Return start, replacement and end of the image at `start`. If a link encloses the image, start and
        end are those of the link. Return None if no image starts there."""
        if start and text[start - 1] == "\\":
            return None
        closing = closing_bracket(text, start + 1)
        target = _TARGET.match(text, closing + 1) if closing > 0 else None
        if target is None:
            return None
        caption = text[start + 2 : closing]
        end = target.end()
        attributes, end = read_pandoc_attributes(text, end) or (PandocAttributes(), end)
        address = target["angle"] if target["angle"] is not None else target["bare"]
        title = target["title"] or target["single"] or ""
        link, start, end = self._link_around(text, start, end)
        if link and not attributes.id:
            attributes, end = read_pandoc_attributes(text, end) or (attributes, end)
        is_alone = _BLANK_BEFORE.search(text[max(0, start - 200) : start] if start > 200 else text[:start])
        if is_alone and _BLANK_AFTER.match(text, end):
            return start, self._figure(address, caption, title, attributes, link), end
        shown = f' "{title_text(self._reveal(title))}"' if title else ""
        image = f"![{alt_text(self._alt(caption, attributes))}]({link_destination(address)}{shown})"
        image += attribute_list(fit_id(attributes.id), {"width": _width(attributes)})
        image = f"[{image}]({link_destination(link)})" if link else image
        return start, self._pieces.mask(image), end

    def _link_around(self, text: str, start: int, end: int) -> tuple[str, int, int]:
        """Return the URL of a link around an image, and the start and end of the link. Without a link, return
        an empty URL and the image's start and end."""
        if text[start - 1 : start] != "[" or text[end : end + 2] != "](":
            return "", start, end
        target = _TARGET.match(text, end + 1)
        if target is None:
            return "", start, end
        return target["angle"] or target["bare"] or "", start - 1, target.end()

    def _figure(self, address: str, caption: str, title: str, attributes: PandocAttributes, link: str) -> str:
        caption = attributes.get("fig-cap") or caption or title
        shown = " ".join(self._reveal(caption).split())
        figure = FigureImage(
            address, shown, self._alt(caption, attributes), _width(attributes), fit_id(attributes.id), link
        )
        mark = self._pieces.mask(figure.markdown())
        self._figures[mark] = figure
        return mark

    def _alt(self, caption: str, attributes: PandocAttributes) -> str:
        """Return the alternative text that the author wrote. If there is none, return the caption without
        markup."""
        written = attributes.get("fig-alt", "alt")
        plain = _MARKUP.sub("", _LINK.sub(r"\1", self._pieces.restore(caption)))
        return " ".join((written or plain).split())

    def grid(self, text: str, attributes: PandocAttributes, opening: str) -> str:
        """Return a shortcode that shows the figures of a div side by side. For a single figure, return an
        image.

        Return an empty string if the div contains anything but figures and a caption at the end.
        """
        marks = _PLACEHOLDER.findall(text)
        figures = [self._figures[mark] for mark in marks if mark in self._figures]
        rest = _PLACEHOLDER.sub("\n\n", text).strip()
        if not figures or len(figures) != len(marks) or "\n\n" in re.sub(r"\n\s*\n(?:\s*\n)*", "\n\n", rest):
            return ""
        if rest and text.rstrip().endswith(marks[-1]):
            return ""
        caption = " ".join(self._reveal(rest or attributes.get("fig-cap")).split())
        label = fit_id(attributes.id)
        if len(figures) == 1:
            one = figures[0]
            both = FigureImage(
                one.address, caption or one.caption, one.alt, one.width, label or one.label, one.link
            )
            return both.markdown()
        return self._shortcode(figures, caption, label, attributes, opening)

    def _shortcode(
        self, figures: list[FigureImage], caption: str, label: str, attributes: PandocAttributes, opening: str
    ) -> str:
        for letter, figure in zip("abcdefghijklmnopqrstuvwxyz", figures, strict=False):
            if figure.label:
                self.parents[figure.label] = (label, letter)
        if any(figure.width or figure.link for figure in figures):
            self._note("changed", "widths and links of figures side by side are ignored", opening)
        columns = attributes.get("layout-ncol") or _columns(attributes, len(figures))
        captions, alts = [figure.caption for figure in figures], [figure.alt for figure in figures]
        arguments = {"src": ", ".join(_item(figure.address) for figure in figures)}
        for key, values in (("cap", captions), ("alt", alts)):
            arguments[key] = ", ".join(map(_item, values)) if any(values) else ""
        count = min(6, max(1, int(columns))) if columns.isdecimal() else min(_MAX_COLUMNS, len(figures))
        arguments |= {"cols": str(count), "id": label}
        shown = " ".join(f'{key}="{value}"' for key, value in arguments.items() if value)
        return f"{{% include img.html {shown} %}}" + (f"\n\n{caption}" if caption else "")

    def add_unnumbered(self, label: str, caption: str) -> None:
        """Record the caption of an element whose label blogsmith does not number."""
        self.captions[label] = " ".join(caption.split())


def _columns(attributes: PandocAttributes, count: int) -> str:
    rows = attributes.get("layout-nrow")
    if rows.isdecimal() and int(rows):
        return str(-(-count // int(rows)))
    widest = re.findall(r"\[([^\[\]]*)\]", attributes.get("layout"))
    return str(max((row.count(",") + 1 for row in widest), default=min(_MAX_COLUMNS, count)))


def _width(attributes: PandocAttributes) -> str:
    written = attributes.get("width").strip()
    if found := _ABSOLUTE_LENGTH.fullmatch(written):
        return str(round(float(found[1]) * _PIXELS[found[2]]))
    return parse_length(written) or style_length(attributes.get("style"))


def _item(text: str) -> str:
    """Return a text as one item of a comma-separated shortcode argument. Commas outside formulas are
    escaped."""
    parts = _FORMULA.split(text.replace('"', "”"))
    # a comma in a formula is not a separator
    return "".join(part if number % 2 else part.replace(",", r"\,") for number, part in enumerate(parts))


def label_links(captions: Mapping[str, str], parents: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return label → Markdown that replaces references to it, for labels that do not exist in the new page.
    captions, parents: see `FigureTranslator`."""
    found = {label: f"[{caption or label}](#{fit_id(label)})" for label, caption in captions.items()}
    return found | {
        label: f"{{@{parent}}}({letter})" if parent else f"({letter})"
        for label, (parent, letter) in parents.items()
    }
