"""Images: in text, and as figures with caption and number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..diagnostics.model import Place
from ..syntax.headings import plain_text
from ..syntax.records import DarkTwin, Figure, LinkAt, get
from .context import Rendering, Rule
from .dimensions import HINT, Length, fit_style, parse_length
from .prose import escape_html
from .schemes import scheme_pair
from .variants import picture_tag


def image_tag(
    rendering: Rendering,
    path: str,
    alt: str,
    place: Place | None,
    *,
    classes: Sequence[str] = (),
    columns: int = 1,
    attrs: Mapping[str, str] = MappingProxyType({}),
    dark: LinkAt | None = None,
) -> str:
    """An `<img>` for a path as the author wrote it; a missing file is reported at `place`.

    dark: another one for dark pages; columns: how many stand in a row.
    """
    found, more = rendering.find_image(path, place), dict(attrs)
    lengths = {name: _read_length(rendering, name, more.pop(name, ""), place) for name in ("width", "height")}
    rendering.images += 1
    more["style"] = ";".join(part for part in (fit_style(found, **lengths), more.get("style", "")) if part)
    if dark:
        twin = rendering.find_image(dark.target, dark.place)
        own = ' class="scheme-pair"'
        return scheme_pair(rendering, found, twin, alt, classes=classes, attrs=more, own=own)
    return picture_tag(rendering, found, found, alt, classes=classes, attrs=more, columns=columns)


def _read_length(rendering: Rendering, name: str, text: str, place: Place | None) -> Length | None:
    """What `width` or `height` say; None after a report if that is no length."""
    length = parse_length(text) if text else None
    if text and length is None:
        rendering.reporter.error("image-width", f"{name} {text} is no length", place, HINT)
    return length


def _image(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    at = get(token, LinkAt)
    attrs = {key: str(value) for key, value in token.attrs.items() if key not in ("src", "alt")}
    classes = attrs.pop("class", "").split()
    alt = plain_text(token.children or (), rendering.parsed.page)
    dark = get(token, DarkTwin).at if "darktwin" in token.meta else None
    tag = image_tag(rendering, at.target, alt, at.place, classes=classes, attrs=attrs, dark=dark)
    # what stands for an image that is not shown is a link, and a link holds none
    return tag if not tag.startswith("<a ") or not _is_in_link(tokens, index) else escape_html(alt)


def _is_in_link(tokens: Sequence[Token], index: int) -> bool:
    types = (token.type for token in reversed(tokens[:index]))
    return next((one for one in types if one in ("link_open", "link_close")), "") == "link_open"


def _figure_open(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    figure = get(tokens[index], Figure)
    name = f' id="{escape_html(figure.id)}"' if figure.id else ""
    return f'<figure class="figure"{name}>'


def _figure_close(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    figure = get(tokens[index], Figure)
    text = rendering.render(rendering, tokens[index].children or ())
    return figure_caption(rendering, figure.number, text) + "</figure>\n"


def figure_caption(rendering: Rendering, number: str, html: str) -> str:
    """The `<figcaption>`; empty without number and text."""
    name = escape_html(rendering.language.translate("Figure {number}", number=number))
    label = f'<span class="figure-label">{name}</span>' if number else ""
    if not label and not html:
        return ""
    return f"\n<figcaption>{label}{' ' if label and html else ''}{html}</figcaption>\n"


RULES: Mapping[str, Rule] = MappingProxyType(
    {"image": _image, "figure_open": _figure_open, "figure_close": _figure_close}
)
