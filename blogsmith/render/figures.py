"""Images in text, and as figures with caption and number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..base.diagnostics.model import Place
from ..model.pictures import ImageInfo, is_video
from ..syntax.headings import plain_text
from ..syntax.records import DarkVariant, Figure, LinkTargetPlace, get_record
from .context import PageRendering, Rule
from .dimensions import HINT, Length, fit_style, nearest_length, parse_length
from .figure_frame import figure_attributes, figure_caption
from .films import VideoFile, WrittenPath, video_tag
from .galleries import ASKED, REFUSED, has_lightbox, lightbox_link
from .margins import margin_figure_class
from .prose import escape_html, own_classes
from .schemes import scheme_pair
from .variants import picture_tag


def image_tag(
    rendering: PageRendering,
    path: str,
    alt: str,
    place: Place | None,
    *,
    classes: Sequence[str] = (),
    columns: int = 1,
    attrs: Mapping[str, str] = MappingProxyType({}),
    dark: LinkTargetPlace | None = None,
    can_lead: bool = True,
    caption: str = "",
) -> str:
    """Return an `<img>` for a path as the author wrote it. A missing file is reported at `place`.

    dark: the image for dark pages. columns: number of images in a row. can_lead: whether the image may be a
    link to its large version. caption: caption as text; an identical alternative text is left out, so that it
    is not read twice.
    """
    found, more = rendering.find_image(path, place), dict(attrs)
    twin = rendering.find_image(dark.target, dark.place) if dark else None
    lengths = {name: _read_length(rendering, name, more.pop(name, ""), place) for name in ("width", "height")}
    rendering.images += 1
    more["style"] = ";".join(part for part in (fit_style(found, **lengths), more.get("style", "")) if part)
    printed = [name for name in classes if name not in (ASKED, REFUSED)]
    columns = rendering.gallery.columns if rendering.gallery else columns
    is_linked = can_lead and has_lightbox(rendering, found, classes, is_framed=rendering.is_framed)
    if alt == caption and found.url and not is_linked:
        alt = ""
    if twin:
        own = ' class="scheme-pair"'
        rendering.widgets.add("schemes")
        tag = scheme_pair(rendering, found, twin, alt, classes=printed, attrs=more, own=own)
    else:
        tag = picture_tag(rendering, found, found, alt, classes=printed, attrs=more, columns=columns)
    if {"only-light", "only-dark"} & set(printed):
        rendering.widgets.add("schemes")
    return lightbox_link(rendering, tag, found, twin) if is_linked else tag


def _read_length(rendering: PageRendering, name: str, text: str, place: Place | None) -> Length | None:
    """Return the value of `width` or `height`. Report an invalid length and return None."""
    length = parse_length(text) if text else None
    if text and length is None:
        fix = rendering.reporter.substitute(place, text, nearest_length(text))
        line = rendering.reporter.lines[place.line - 1] if place else ""
        at = line.find(text, line.find(f"{name}=", place.column)) if place else -1
        place = Place(place.line, at + 1, len(text)) if place and at >= 0 else place
        rendering.reporter.error(
            "image-width", f'invalid {name} "{text}": expected a length', place, HINT, fix
        )
    return length


def _image(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    at = get_record(token, LinkTargetPlace)
    attrs = {key: str(value) for key, value in token.attrs.items() if key not in ("src", "alt")}
    alt = plain_text(token.children or (), rendering.parsed.page)
    if is_video(at.target):
        return _film(rendering, at, alt, attrs)
    dark = get_record(token, DarkVariant).at if "darkvariant" in token.meta else None
    classes = attrs.pop("class", "").split()
    if rendering.is_framed and "margin" in classes:
        # the figure around the image has the class
        classes.remove("margin")
    tag = image_tag(
        rendering,
        at.target,
        alt,
        at.place,
        classes=classes,
        attrs=attrs,
        dark=dark,
        can_lead=not rendering.is_in_link,
        caption=rendering.frame_caption,
    )
    # an image that cannot be shown becomes a link, which cannot be inside another link
    return escape_html(alt) if rendering.is_in_link and tag.startswith("<a ") else tag


def _film(rendering: PageRendering, at: LinkTargetPlace, label: str, attrs: Mapping[str, str]) -> str:
    """Render a video, written as `![caption](clip.mp4){data-poster=still.png data-captions=clip.vtt
    .loop}`."""

    def written(name: str) -> WrittenPath | None:
        return WrittenPath(attrs[name], at.place) if attrs.get(name) else None

    lengths = [_read_length(rendering, name, attrs.get(name, ""), at.place) for name in ("width", "height")]
    film = VideoFile(
        WrittenPath(at.target, at.place),
        poster=written("data-poster"),
        captions=written("data-captions"),
        lang=attrs.get("data-lang", ""),
        is_loop="loop" in attrs.get("class", "").split() or "data-loop" in attrs,
        label=label,
        style=fit_style(ImageInfo("", None, None), *lengths),
    )
    rendering.widgets.add("film")
    return video_tag(rendering, film)


def _figure_open(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    figure = get_record(tokens[index], Figure)
    rendering.is_framed = True
    places = range(index, len(tokens))
    closing = next((tokens[at] for at in places if tokens[at].type == "figure_close"), None)
    rendering.frame_caption = plain_text(closing.children or (), rendering.parsed.page) if closing else ""
    image = next((token for token in tokens[index + 1].children or () if token.type == "image"), None)
    classes = margin_figure_class(rendering, image) + own_classes(tokens[index])
    return f'<figure class="figure{classes}"{figure_attributes(figure.id)}>'


def _figure_close(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    figure = get_record(tokens[index], Figure)
    rendering.is_framed, rendering.frame_caption = False, ""
    text = rendering.render(rendering, tokens[index].children or ())
    return figure_caption(rendering, figure.number, text) + "</figure>\n"


RULES: Mapping[str, Rule] = MappingProxyType(
    {"image": _image, "figure_open": _figure_open, "figure_close": _figure_close}
)
