"""`{% include … %}`: those that every theme has by another name, and the site's own, rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.units import name_set
from ..text.tags import caption_text, code_spans
from .context import PageContext
from .liquid.filters import text_of
from .liquid.parse import LiquidTag
from .liquid.render import LiquidRenderer
from .liquid.values import LiquidScope, LiquidSyntaxError, UnknownValue, evaluate

_ARGUMENT = lazy_pattern(
    r"([\w-]+)\s*=\s*(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|\{\{([^{}]*)\}\}|([^\s,\"']+))", re.DOTALL
)
_PICTURE_NAMES = lazy_pattern(r"figure|image|img|picture|photo|lightbox|fig\b", re.IGNORECASE)
_VIDEO_NAMES = lazy_pattern(r"video|youtube|vimeo", re.IGNORECASE)
_ADDRESSES = ("path", "src", "url", "image_path", "image", "file", "img", "name", "image_url", "filename")
_CAPTIONS = ("caption", "cap", "description", "desc", "text")
_PICTURE_FILE = lazy_pattern(r"\.(?:png|jpe?g|gif|svg|webp|avif)(?:[?#].*)?$", re.IGNORECASE)
_NOTHING = name_set(
    "toc.html toc mathjax.html katex.html disqus.html comments.html ads.html giscus.html utterances.html"
)
_DEEPEST = 10


def include(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """What an include becomes."""
    name, _, rest = tag.arguments.strip().partition(" ")
    name = name.strip("\"'")
    if "{{" in tag.arguments.split("=")[0] or not name:
        return context.leave(tag, "an include whose name is made by the template")
    given = _arguments(rest, scope, renderer)
    if name.rpartition("/")[2] in _NOTHING:
        return ""
    if picture := _picture(context, name, given):
        return picture
    if _VIDEO_NAMES.search(name) and (video := _video(name, given)):
        return video
    template = context.site.includes.get(name.removeprefix("./"))
    if template is None:
        return context.leave(tag, f"the include {name} is not there")
    return _render_own(context, tag, scope.inner({"include": given}), renderer)


def _render_own(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    name = tag.arguments.split()[0].strip("\"'").removeprefix("./")
    if context.depth >= _DEEPEST:
        return context.leave(tag, f"the include {name} includes itself")
    context.start = context.start if context.depth else tag.start
    context.depth += 1
    try:
        text = renderer.render(context.site.includes[name], scope)
    finally:
        context.depth -= 1
    # blank lines would end the HTML for Markdown, and its indentation make code
    return re.sub(r"\n[ \t]*(?=\n)|^[ \t]+", "", text, flags=re.MULTILINE).strip("\n")


def _arguments(text: str, scope: LiquidScope, renderer: LiquidRenderer) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, double, single, output, bare in _ARGUMENT.findall(text):
        if output or bare:
            try:
                found[name] = evaluate(output or bare, scope, renderer.filters)
            except (UnknownValue, LiquidSyntaxError):
                found[name] = bare or None
        else:
            found[name] = re.sub(r"\\([\"'])", r"\1", double or single)
    return found


def _picture(context: PageContext, name: str, given: Mapping[str, Any]) -> str:
    """A figure of an include that shows one picture, or several as ours does; empty if it is no such
    include."""
    is_named = _PICTURE_NAMES.search(name.rpartition("/")[2]) is not None
    template = context.site.texts.get(name, "")
    if not is_named and "<img" not in template:
        return ""
    address = next((text_of(given[key]) for key in _ADDRESSES if given.get(key)), "")
    if not address or not (is_named or _PICTURE_FILE.search(address)):
        return ""
    caption = next((text_of(given[key]) for key in _CAPTIONS if given.get(key)), "")
    if ", " in address and all(re.match(r"https?://|/|[\w./-]+\.\w+$", each) for each in address.split(", ")):
        return _several(context, address, caption, given)
    return picture_html(_rooted(address, template), caption, given)


def _rooted(address: str, template: str) -> str:
    """An address as the include would make it: below the site's root, where its template says so."""
    if re.match(r"(?:https?:)?//|/|data:", address):
        return address
    folder = re.search(r"src=[\"'](?:\{\{[^{}]*\}\})?(/[\w/-]+/)\{\{\s*include\.", template)
    return (folder[1] if folder else "/") + address


def picture_html(address: str, caption: str, given: Mapping[str, Any]) -> str:
    """A figure in HTML, which later becomes Markdown where it can."""
    alt = text_of(given.get("alt"))
    width = text_of(given.get("width") or given.get("max-width"))
    shown = [f'src="{escape(address)}"', f'alt="{escape(alt)}"']
    number = re.search(r"\d+(?:\.\d+)?\s*(?:px|%|em|rem)?", width)
    shown += [f'width="{number[0]}"'] if number else []
    shown += [f'id="{escape(text_of(given["id"]))}"'] if given.get("id") else []
    # the text of an element `<code>` is not looked into, a caption is
    note = f"<figcaption>{' '.join(code_spans(caption).split())}</figcaption>" if caption else ""
    return f"<figure><img {' '.join(shown)}>{note}</figure>"


def _several(context: PageContext, addresses: str, captions: str, given: Mapping[str, Any]) -> str:
    """Several pictures in one include, which ours of the same name shows too."""
    values = {
        "src": addresses,
        "cap": caption_text(captions),
        "alt": text_of(given.get("alt")),
        "cols": text_of(given.get("cols")),
    }
    shown = " ".join(f'{name}="{value.replace(chr(34), "”")}"' for name, value in values.items() if value)
    return context.finished.mask(f"{{% include img.html {shown} %}}")


def _video(name: str, given: Mapping[str, Any]) -> str:
    address = next(
        (text_of(given[key]) for key in ("id", "path", "url", "src", "video") if given.get(key)), ""
    )
    if re.fullmatch(r"[\w-]{6,15}", address):
        is_vimeo = "vimeo" in name or given.get("provider") == "vimeo"
        address = f"https://vimeo.com/{address}" if is_vimeo else f"https://www.youtube.com/watch?v={address}"
    embedded = re.match(r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/embed/([\w-]+)", address)
    address = f"https://www.youtube.com/watch?v={embedded[1]}" if embedded else address
    if not address:
        return ""
    if not address.startswith(("http", "/")):
        address = f"/{address}"
    caption = text_of(given.get("caption") or given.get("title")).replace('"', "&quot;")
    note = f' data-caption="{caption}"' if caption else ""
    return f'<div class="video-embed" data-src="{escape(address)}"{note}></div>'
