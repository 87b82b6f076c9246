"""Shortcode calls → HTML: the arguments become data, the theme's template makes the markup.

`img`, `image-compare` and `video-embed` have their data prepared here, a plugin's by its
`shortcode_data`; every other shortcode gets its arguments as they are written, under `args`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from markdown_it.token import Token
from markupsafe import Markup

from ..base.diagnostics.model import Place, SiteError, TextMap, question_of
from ..config.validate import LANGUAGE
from ..model.media import film_type
from ..syntax.records import Shortcode, record_of
from .captions import inline_html, plain
from .context import Rendering, Rule
from .dimensions import HINT, nearest_length, parse_length
from .figures import image_tag
from .films import Film, Written, film_tag
from .galleries import MAX_COLUMNS, columns_for
from .videos import read_video

_FILM_ONLY = ("poster", "captions", "lang", "loop")
"""Arguments of a video that is a file of the site."""
_SWITCH: Mapping[str, bool] = MappingProxyType(
    {**dict.fromkeys(("", "yes", "true", "loop"), True), **dict.fromkeys(("no", "false"), False)}
)

Data = Callable[[Rendering, Shortcode], Mapping[str, Any] | None]


def _shortcode(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    call = record_of(tokens[index], Shortcode)
    theme = rendering.tools.theme
    if call.name in rendering.given_up:
        return ""
    if call.name and not theme.has_shortcode(call.name):
        _report_unknown(rendering, call)
        return _print_source(call, tokens[index])
    for mistake in call.mistakes:
        rendering.reporter.error("shortcode-argument", mistake.message, mistake.place, mistake.hint)
    if not call.name or not call.is_readable:
        return _print_source(call, tokens[index])
    _check_arguments(rendering, call)
    data = _data(rendering, call)
    if data is None:
        return ""
    context = {"args": dict(call.args), "id": call.id, "label": _label(rendering, call), **data}
    if "widget" in data:
        rendering.widgets.add(str(data["widget"]))
    try:
        html = theme.render_shortcode(call.name, context, str(rendering.document.path), rendering.language)
    except SiteError as error:
        if rendering.parsed.page.options.plugin_hint(call.name):
            # its template is there, and what it prints comes from the plugin
            _report_unknown(rendering, call)
            return _print_source(call, tokens[index])
        rendering.absorb(error)
        if any(found.code == "template-limit" for found in error.diagnostics):
            # it costs seconds a call, and posts may hold a thousand
            rendering.given_up.add(call.name)
        return ""
    return html if tokens[index].type == "shortcode_inline" else html.strip() + "\n"


def _report_unknown(rendering: Rendering, call: Shortcode) -> None:
    """One report for one call: what its arguments may be is not known, and its end belongs to it."""
    if call.name.startswith("end") and call.name[3:] in rendering.unknown:
        return
    rendering.unknown.add(call.name)
    names = rendering.tools.theme.shortcode_names()
    hint = rendering.parsed.page.options.plugin_hint(call.name) or FOREIGN.get(call.name)
    near = None if hint else rendering.reporter.nearest(call.name, names)
    hint = hint or question_of(near) or f"known: {', '.join(names)}"
    fix = rendering.reporter.substitute(call.place, call.name, near)
    rendering.reporter.error("shortcode-unknown", f"there is no shortcode {call.name}", call.place, hint, fix)


def _print_source(call: Shortcode, token: Token) -> str:
    """A call that means nothing, as it is written: nothing is lost where the page is shown all the same."""
    text = escape(call.source, quote=False)
    return text if token.type == "shortcode_inline" or not text else f"<p>{text}</p>\n"


def _check_arguments(rendering: Rendering, call: Shortcode) -> None:
    """Report arguments one of our own shortcodes does not know; what others take is their business."""
    known = ARGUMENTS.get(call.name, call.args)
    for name in call.args:
        if name not in known:
            place = call.key_places.get(name) or call.arg_maps[name].place(0)
            near = rendering.reporter.nearest(name, [one for one in known if one not in call.args])
            hint = question_of(near) or f"known: {', '.join(known)}"
            message = f"{call.name} has no argument {name}"
            fix = rendering.reporter.substitute(place, name, near)
            rendering.reporter.error("shortcode-argument", message, place, hint, fix)


def _label(rendering: Rendering, call: Shortcode) -> str:
    return rendering.language.translate("Figure {number}", number=call.number) if call.number else ""


def _data(rendering: Rendering, call: Shortcode) -> Mapping[str, Any] | None:
    """The template's data, or None if an argument is wrong and was reported."""
    if call.name in rendering.tools.plugins.shortcode_data:
        return _plugin_data(rendering, call)
    own = OWN.get(call.name)
    return own(rendering, call) if own else {}


def _plugin_data(rendering: Rendering, call: Shortcode) -> Mapping[str, Any] | None:
    plugin, function = rendering.tools.plugins.shortcode_data[call.name]
    try:
        data: object = function(dict(call.args), rendering.document)
        if isinstance(data, Mapping):
            return data
        message = f"plugin {plugin} gives no data for {call.name}: {type(data).__name__} instead of a mapping"
        rendering.reporter.error("plugin", message, call.place)
    except ValueError as error:
        rendering.reporter.error("shortcode-argument", str(error), call.place)
    except SiteError as error:
        for found in error.diagnostics:
            rendering.reporter.add(found)
    except Exception as error:
        # a bug of the plugin must not take the build down, and must be known as the plugin's
        message = f"plugin {plugin} fails on {call.name}: {type(error).__name__}: {error}"
        rendering.reporter.error("plugin", message, call.place)
    return None


def split_list(text: str) -> list[tuple[int, str]]:
    r"""`a, b\, c` → (offset, item) of each: `a` and `b, c`; a comma inside `$…$` splits nothing."""
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
    """The items of a list argument, each with its place."""
    text = call.args.get(name, "")
    if not text.strip():
        return []
    origin = call.arg_maps.get(name) or TextMap(text, ((call.place.line, call.place.column),))
    items = []
    for offset, item in split_list(text):
        place = origin.place(offset)
        items.append(TextMap(item, ((place.line, place.column),) * (item.count("\n") + 1)))
    return items


def _images(rendering: Rendering, call: Shortcode) -> Mapping[str, Any] | None:
    sources, captions, alts = _values(call, "src"), _values(call, "cap"), _values(call, "alt")
    columns = _columns(rendering, call, len(sources))
    if not sources:
        _report_argument(rendering, call, "src", f'{call.name} needs src="picture.png"')
        return None
    for name, given in (("cap", captions), ("alt", alts)):
        if len(given) > len(sources):
            plural = "image" if len(sources) == 1 else "images"
            message = (
                f"{len(given)} {'captions' if name == 'cap' else 'alt texts'} for {len(sources)} {plural}"
            )
            _report_argument(rendering, call, name, message, "write a comma inside a text as \\,")
            return None
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
            caption=plain(rendering, captions[index]) if index < len(captions) else "",
        )
        images.append({"img": Markup(tag), "caption": Markup(caption)})
    rendering.is_framed = False
    return {"images": images, "cols": columns}


def _columns(rendering: Rendering, call: Shortcode, count: int) -> int:
    text = call.args.get("cols", "")
    if text and not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_COLUMNS):
        _report_argument(rendering, call, "cols", f"cols is a number from 1 to {MAX_COLUMNS}, not {text}")
        text = ""
    if text:
        return int(text)
    return columns_for(count)


def _width(rendering: Rendering, call: Shortcode) -> str:
    """The width asked for, or empty after a report."""
    width = call.args.get("width", "")
    if not width or parse_length(width):
        return width
    origin = call.arg_maps.get("width")
    place = origin.place(0, len(width)) if origin else call.place
    fix = rendering.reporter.substitute(place, width, nearest_length(width))
    rendering.reporter.error("image-width", f"width {width} is no length", place, HINT, fix)
    return ""


def _compare(rendering: Rendering, call: Shortcode) -> Mapping[str, Any] | None:
    tags, labels, names = {}, {}, {}
    language = rendering.language
    for side, default in (("before", language.translate("Before")), ("after", language.translate("After"))):
        path = next(iter(_values_whole(call, side)), None)
        if path is None:
            _report_argument(
                rendering, call, side, f"an image-compare needs data-{side}, the path of a picture"
            )
            return None
        label = next(
            iter(_values_whole(call, f"label-{side}")),
            TextMap(default, ((call.place.line, call.place.column),)),
        )
        names[side] = plain(rendering, label)
        labels[side] = Markup(inline_html(rendering, label))
        alt = call.args.get(f"{side}-alt", names[side])
        place = path.place(0, len(path.text))
        tags[side] = Markup(image_tag(rendering, path.text, alt, place, classes=[f"compare-{side}"]))
    return {
        "before": tags["before"],
        "after": tags["after"],
        "before_label": labels["before"],
        "after_label": labels["after"],
        "label": language.translate("Compare {before} with {after}", **names),
        "widget": "compare",
    }


def _values_whole(call: Shortcode, name: str) -> list[TextMap]:
    """An argument that is one value, commas included."""
    text = call.args.get(name, "").strip()
    if not text:
        return []
    return [call.arg_maps.get(name) or TextMap(text, ((call.place.line, call.place.column),))]


def _video(rendering: Rendering, call: Shortcode) -> Mapping[str, Any] | None:
    source = next(iter(_values_whole(call, "src")), None)
    if source is None:
        _report_argument(
            rendering, call, "src", "a video-embed needs data-src, an address or the path of a video file"
        )
        return None
    caption = next(iter(_values_whole(call, "caption")), None)
    text = Markup(inline_html(rendering, caption)) if caption else ""
    words = plain(rendering, caption) if caption else ""
    # a title that the caption repeats would stand in the panel and below it
    title = "" if call.args.get("title", "") == words else call.args.get("title", "")
    base = {
        "caption": text,
        "title": title,
        # names the link to those who hear it, without a second copy in the text
        "spoken": "" if title else words,
    }
    if "://" not in source.text and not source.text.startswith("//"):
        tag = Markup(film_tag(rendering, _film(rendering, call, source)))
        url = rendering.tools.media(source.text, rendering.document).url
        return {**base, "local": {"src": url, "type": film_type(source.text), "video": tag}}
    for name in _FILM_ONLY:
        if name in call.args:
            _report_argument(rendering, call, name, f"{name} is for video files of the site")
    allow = rendering.tools.config.embeds.allow
    video = read_video(source.text, allow)
    if video is None:
        place = source.place(0, len(source.text))
        message = f"cannot embed {source.text}: it is no video of an allowed host"
        rendering.reporter.error(
            "embed-host", message, place, f"allowed hosts: {', '.join(allow)} (embeds.allow), or a local file"
        )
        return None
    fields = {"provider": video.provider, "url": video.url, "embed_url": video.embed_url, "host": video.host}
    return {**base, **fields, "local": None, "widget": "embed"}


def _film(rendering: Rendering, call: Shortcode, source: TextMap) -> Film:
    def written(name: str) -> Written | None:
        found = next(iter(_values_whole(call, name)), None)
        return _written_text(found) if found else None

    loop = call.args.get("loop", "no").strip().lower()
    if loop not in _SWITCH:
        _report_argument(rendering, call, "loop", f"loop is yes or no, not {loop}")
    lang = call.args.get("lang", "").strip()
    if lang and not LANGUAGE.fullmatch(lang):
        _report_argument(rendering, call, "lang", f"{lang} is no language tag", "write it as en or pt-BR")
        lang = ""
    return Film(
        _written_text(source),
        poster=written("poster"),
        captions=written("captions"),
        lang=lang,
        is_loop=_SWITCH.get(loop, False),
        title=call.args.get("title", ""),
    )


def _written_text(text: TextMap) -> Written:
    return Written(text.text, text.place(0, max(1, len(text.text))))


def _report_argument(rendering: Rendering, call: Shortcode, name: str, message: str, hint: str = "") -> None:
    origin = call.arg_maps.get(name)
    place: Place = origin.place(0, max(1, len(origin.text))) if origin else call.place
    rendering.reporter.error("shortcode-argument", message, place, hint)


OWN: Mapping[str, Data] = MappingProxyType({"img": _images, "image-compare": _compare, "video-embed": _video})
"""Shortcodes whose data blogsmith prepares."""

FOREIGN: Mapping[str, str] = MappingProxyType(
    {
        "post_url": "link to the file of the post: [text](2026-03-14-name.md)",
        "link": "link to the file: [text](page.md)",
        "highlight": "write a code fence: ```python",
        "endhighlight": "write a code fence: ```python",
    }
)
"""Tag of another generator → what to write here."""

ARGUMENTS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "img": ("src", "cap", "alt", "cols", "width", "id"),
        "image-compare": ("before", "after", "before-alt", "after-alt", "label-before", "label-after"),
        "video-embed": ("src", "caption", "title", *_FILM_ONLY),
    }
)
"""What each of them takes."""

RULES: Mapping[str, Rule] = MappingProxyType({"shortcode": _shortcode, "shortcode_inline": _shortcode})
