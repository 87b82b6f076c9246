"""Data for the theme's templates of figures: images, sliders that compare images, and videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from ..base.diagnostics.model import Place, TextMap
from ..config.validate import LANGUAGE
from ..model.links import LinkTarget
from ..model.pictures import ImageInfo, video_type
from ..syntax.records import Shortcode
from .context import PageRendering
from .dimensions import HINT, nearest_length, parse_length
from .figure_frame import inline_html, plain_argument, shortcode_figure
from .figures import image_tag
from .films import HostedVideo, VideoFile, WrittenPath, read_video, video_tag
from .galleries import MAX_COLUMNS, columns_for
from .variants import picture_tag

_VIDEO_FILE_ARGUMENTS = ("captions", "lang", "loop")
"""Arguments that apply only to a video file of the site."""
_SWITCH: Mapping[str, bool] = MappingProxyType(
    {**dict.fromkeys(("", "yes", "true", "loop"), True), **dict.fromkeys(("no", "false"), False)}
)

Data = Callable[[PageRendering, Shortcode], Mapping[str, Any] | None]


def plain_figure(rendering: PageRendering, call: Shortcode) -> Mapping[str, Markup]:
    """Return the parts of a figure for a shortcode that is not blogsmith's: caption, alternative text and
    poster, if given."""
    poster = _poster(rendering, call)
    return shortcode_figure(rendering, call, _value(call, "caption"), call.args.get("alt", ""), poster)


def _poster(rendering: PageRendering, call: Shortcode) -> str:
    """Return the poster image of a video. Its alternative text is empty, because the link around it has a
    name."""
    path = _value(call, "poster")
    if path is None:
        return ""
    place = path.place(0, len(path.text))
    tag = image_tag(rendering, path.text, "", place, classes=("embed-poster",), can_lead=False)
    # an image that cannot be shown becomes a link, which cannot be inside another link
    return "" if tag.startswith("<a ") else tag


def split_list(text: str) -> list[tuple[int, str]]:
    r"""Return (offset, item) of each item of a list. `a, b\, c` has the items `a` and `b, c`. A comma inside
    `$…$` does not separate items."""
    items, start, pos, in_math = [], 0, 0, False
    while pos <= len(text):
        if pos == len(text) or (text[pos] == "," and not in_math):
            piece = text[start:pos]
            items.append((start + len(piece) - len(piece.lstrip()), piece.strip().replace("\\,", ",")))
            start = pos + 1
        elif text[pos] == "\\":
            pos += 1
        elif text[pos] == "$":
            in_math = not in_math and "$" in text[pos + 1 :]
        pos += 1
    return items


def _values(call: Shortcode, name: str) -> list[TextMap]:
    """Return the items of a list argument with their positions."""
    text = call.args.get(name, "")
    if not text.strip():
        return []
    origin = call.arg_maps.get(name) or TextMap(text, ((call.place.line, call.place.column),))
    items = []
    for offset, item in split_list(text):
        place = origin.place(offset)
        items.append(TextMap(item, ((place.line, place.column),) * (item.count("\n") + 1)))
    return items


def _images(rendering: PageRendering, call: Shortcode) -> Mapping[str, Any] | None:
    sources, captions, alts = _values(call, "src"), _values(call, "cap"), _values(call, "alt")
    columns = _columns(rendering, call, len(sources))
    if not sources:
        _report_missing(rendering, call, "src", "picture.png")
        return None
    for name, given in (("cap", captions), ("alt", alts)):
        if len(given) > len(sources):
            plural = "image" if len(sources) == 1 else "images"
            message = (
                f"too many {'captions' if name == 'cap' else 'alt texts'}: "
                f"{len(given)} for {len(sources)} {plural}"
            )
            report_argument(
                rendering, call, name, message, "write `\\,` for a comma that does not separate values"
            )
            return None
    whole = _value(call, "caption")
    if whole and captions and len(sources) == 1:
        hint = "remove one of them"
        report_argument(rendering, call, "caption", '"caption" has no effect because "cap" is given', hint)
    if len(sources) == 1:
        captions = captions or ([whole] if whole else [])
        whole = captions[0] if captions else None
    images = []
    width = _width(rendering, call)
    rendering.is_framed = True
    for index, source in enumerate(sources):
        caption = inline_html(rendering, captions[index]) if index < len(captions) else ""
        alt = alts[index].text if index < len(alts) else ""
        tag = image_tag(
            rendering,
            source.text,
            alt,
            source.place(0, max(1, len(source.text))),
            columns=columns,
            attrs={"width": width},
            caption=plain_argument(rendering, captions[index]) if index < len(captions) else "",
        )
        images.append({"img": Markup(tag), "caption": Markup(caption)})
    rendering.is_framed = False
    return {"images": images, "cols": columns, "figure": shortcode_figure(rendering, call, whole)}


def _columns(rendering: PageRendering, call: Shortcode, count: int) -> int:
    text = call.args.get("cols", "")
    if text and not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_COLUMNS):
        report_argument(
            rendering,
            call,
            "cols",
            f'invalid value "{text}" of "cols": expected a number from 1 to {MAX_COLUMNS}',
            'write `cols="3"`',
        )
        text = ""
    if text:
        return int(text)
    return columns_for(count)


def _width(rendering: PageRendering, call: Shortcode) -> str:
    """Return the width, or an empty string after reporting an invalid one."""
    width = call.args.get("width", "")
    if not width or parse_length(width):
        return width
    origin = call.arg_maps.get("width")
    place = origin.place(0, len(width)) if origin else call.place
    fix = rendering.reporter.substitute(place, width, nearest_length(width))
    rendering.reporter.error("image-width", f'invalid width "{width}": expected a length', place, HINT, fix)
    return ""


def _compare_data(rendering: PageRendering, call: Shortcode) -> Mapping[str, Any] | None:
    tags, labels, names, paths = {}, {}, {}, []
    language = rendering.language
    for side, default in (("before", language.translate("Before")), ("after", language.translate("After"))):
        path = _value(call, side)
        if path is None:
            _report_missing(rendering, call, side, "picture.png")
            return None
        paths.append(path)
        label = _value(call, f"label-{side}") or TextMap(default, ((call.place.line, call.place.column),))
        names[side] = plain_argument(rendering, label)
        labels[side] = Markup(inline_html(rendering, label))
        alt = call.args.get(f"{side}-alt", names[side])
        place = path.place(0, len(path.text))
        tags[side] = Markup(image_tag(rendering, path.text, alt, place, classes=[f"compare-{side}"]))
    _warn_of_sizes(rendering, paths)
    return {
        "figure": shortcode_figure(rendering, call, _value(call, "caption"), call.args.get("alt", "")),
        "before": tags["before"],
        "after": tags["after"],
        "before_label": labels["before"],
        "after_label": labels["after"],
        "label": language.translate("Compare {before} with {after}", **names),
        "widget": "compare",
    }


def _warn_of_sizes(rendering: PageRendering, paths: Sequence[TextMap]) -> None:
    """Warn about a slider whose images differ in size, because their contents would not line up."""
    found = [rendering.tools.image(path.text, rendering.document) for path in paths]
    sizes = [(one.width_px, one.height_px) for one in found if isinstance(one, ImageInfo)]
    if len(sizes) == len(paths) and None not in sizes[0] + sizes[1] and sizes[0] != sizes[1]:
        words = ", ".join(
            f'"{path.text}" is {width}×{height}' for path, (width, height) in zip(paths, sizes, strict=True)
        )
        place = paths[1].place(0, len(paths[1].text))
        message = f"images of this slider differ in size: {words}"
        rendering.reporter.warn("image-sizes", message, place, "crop or scale one to the size of the other")


def _value(call: Shortcode, name: str) -> TextMap | None:
    """Return an argument that is a single string, even if it contains commas; None if it is missing."""
    text = call.args.get(name, "").strip()
    if not text:
        return None
    return call.arg_maps.get(name) or TextMap(text, ((call.place.line, call.place.column),))


def _video(rendering: PageRendering, call: Shortcode) -> Mapping[str, Any] | None:
    source, caption = _value(call, "src"), _value(call, "caption")
    if source is None:
        _report_missing(rendering, call, "src", "https://www.youtube.com/watch?v=…")
        return None
    words = plain_argument(rendering, caption) if caption else ""
    alt = call.args.get("alt", "")
    # a title equal to the caption would appear twice
    written = _value(call, "title")
    title = plain_argument(rendering, written) if written else ""
    title = "" if title == words else title
    base = {"caption": Markup(inline_html(rendering, caption)) if caption else "", "title": title}
    if "://" not in source.text and not source.text.startswith("//"):
        tag = Markup(video_tag(rendering, _video_file(rendering, call, source)))
        url = rendering.tools.media(source.text, rendering.document).url
        local = {"src": url, "type": video_type(source.text), "video": tag}
        return {**base, "figure": shortcode_figure(rendering, call, caption), "local": local}
    for name in _VIDEO_FILE_ARGUMENTS:
        if name in call.args:
            message = f'"{argument_name(call, name)}" has no effect because the video is on another host'
            report_argument(rendering, call, name, message, f"remove `{argument_name(call, name)}`")
    video = _find_video(rendering, source)
    if video is None:
        return None
    has_own = bool(_value(call, "poster"))
    poster = _poster(rendering, call) if has_own else _copied_poster(rendering, video, source)
    # screen readers need a name of the link, and the visible text must not repeat it
    spoken = words if not title else ""
    if not (title or words):
        title = rendering.language.translate("Playlist" if video.is_list else "Video")
    return {
        **base,
        "title": title,
        "spoken": spoken,
        "figure": shortcode_figure(rendering, call, caption, alt, poster),
        "provider": video.provider,
        "url": video.url,
        "embed_url": video.embed_url,
        "host": video.host,
        "local": None,
        "widget": "embed",
    }


def _copied_poster(rendering: PageRendering, video: HostedVideo, source: TextMap) -> str:
    """Return the tag of the local copy of the video's still image; empty if the site has no copy."""
    found = rendering.tools.poster(video.poster_url, rendering.document)
    place = source.place(0, len(source.text))
    if isinstance(found, LinkTarget):
        rendering.report_target(found, place)
    if not isinstance(found, ImageInfo):
        return ""
    rendering.images += 1
    return picture_tag(rendering, found, found, "", classes=("embed-poster",))


def argument_name(call: Shortcode, name: str) -> str:
    """Return the name of an argument as the author wrote it: an attribute, if the call is a `<div>`."""
    return name if call.source else f"data-{name}"


def block_name(call: Shortcode) -> str:
    """Return the kind and name of a call for messages, such as `shortcode "img"`."""
    return f'{"shortcode" if call.source else "block"} "{call.name}"'


def _report_missing(rendering: PageRendering, call: Shortcode, name: str, example: str) -> None:
    written = argument_name(call, name)
    message = f'missing argument "{written}" for {block_name(call)}'
    report_argument(rendering, call, name, message, f'write `{written}="{example}"`')


def _find_video(rendering: PageRendering, source: TextMap) -> HostedVideo | None:
    allow = rendering.tools.config.embeds.allow
    video = read_video(source.text, allow)
    if video is None:
        place = source.place(0, len(source.text))
        message = f'invalid video "{source.text}": expected a URL of an allowed host, or a file'
        hint = f"write a video URL of {' or '.join(allow)} (see `embeds.allow`), or the path of a file"
        rendering.reporter.error("embed-host", message, place, hint)
    return video


def _video_file(rendering: PageRendering, call: Shortcode, source: TextMap) -> VideoFile:
    def written(name: str) -> WrittenPath | None:
        found = _value(call, name)
        return _written_text(found) if found else None

    loop = call.args.get("loop", "no").strip().lower()
    if loop not in _SWITCH:
        report_argument(
            rendering,
            call,
            "loop",
            f'invalid value "{loop}" of "loop": expected yes or no',
            "write `yes` or `no`",
        )
    lang = call.args.get("lang", "").strip()
    if lang and not LANGUAGE.fullmatch(lang):
        report_argument(
            rendering, call, "lang", f'invalid language tag "{lang}"', "write a tag such as `en` or `pt-BR`"
        )
        lang = ""
    return VideoFile(
        _written_text(source),
        poster=written("poster"),
        captions=written("captions"),
        lang=lang,
        is_loop=_SWITCH.get(loop, False),
        title=call.args.get("title", ""),
        label=call.args.get("alt", ""),
    )


def _written_text(text: TextMap) -> WrittenPath:
    return WrittenPath(text.text, text.place(0, max(1, len(text.text))))


def report_argument(
    rendering: PageRendering, call: Shortcode, name: str, message: str, hint: str = ""
) -> None:
    origin = call.arg_maps.get(name)
    place: Place = origin.place(0, max(1, len(origin.text))) if origin else call.place
    rendering.reporter.error("shortcode-argument", message, place, hint)


DATA_FUNCTIONS: Mapping[str, Data] = MappingProxyType(
    {"img": _images, "image-compare": _compare_data, "video-embed": _video}
)
"""Shortcode → function that prepares its data, for shortcodes of blogsmith."""

ARGUMENTS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "img": ("src", "cap", "caption", "alt", "cols", "width", "id"),
        "image-compare": (
            *("before", "after", "caption", "alt", "before-alt", "after-alt"),
            *("label-before", "label-after", "id"),
        ),
        "video-embed": ("src", "caption", "title", "alt", "poster", *_VIDEO_FILE_ARGUMENTS, "id"),
    }
)
"""Shortcode → its arguments."""
