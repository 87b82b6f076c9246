"""Shortcodes for images, videos, code, formulas, diagrams, links and parameters.

A handler `show_…` gets a call, the translation of its inner text, and the context of its page. It returns
None if it cannot translate the call, for example because a required argument is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from ....api.importing import name_set
from ...text.containers import Replacement, dedent_text, fence_text
from ...text.html import image, link_destination, parse_length
from ...text.math import format_display_math, format_inline_math, split_formula
from ..markdown import info_string, read_options
from .parse import Call, CallContext, write_source

_FORMULA_WORDS = frozenset(("display", "block", "displaymode"))
"""Arguments that request display math."""
_DELIMITED = re.compile(r"\s*(?:\$\$|\$|\\\\?\(|\\\\?\[)")


def show_highlight(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `highlight` to a code block, or to a code span if it has the option `hl_inline`. Return None
    if there is no closing call."""
    if call.inner is None:
        return None
    written = ",".join([*call.positional[1:], *(f'{key}="{value}"' for key, value in call.named.items())])
    options = read_options(written)
    language = call.get(0, "lang", "language")
    if options.pop("hl_inline", "false") == "true":
        return Replacement(context.finished.mask(f"`{inner.strip()}`"))
    code = re.sub(r"\A[ \t]*\n|\n[ \t]*\Z", "", inner)
    return _block(code, info_string(language or "text", options), context)


def _block(code: str, info: str, context: CallContext) -> Replacement:
    lines = fence_text(code, info).split("\n")
    # mask each line, so that a list or quote around the block can indent it
    return Replacement("\n".join(map(context.finished.mask, lines)), is_block=True)


def show_formula(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `math` and `katex`. Their content is text that contains formulas with delimiters, or the TeX
    of one formula."""
    if call.inner is None or not inner.strip():
        written = call.get("tex", "content", "formula", "code", 0)
        if written and written not in _FORMULA_WORDS:
            return Replacement(context.finished.mask(format_inline_math(written)))
        # in themes, this call only loads the script that typesets formulas
        context.notice("dropped", f'shortcode "{call.name}" has no output', "", "")
        return Replacement("")
    if _DELIMITED.match(inner) or re.search(r"\$\$|\\\\?\[|\\\\?\(|(?<!\\)\$", inner):
        return _delimited(inner, context)
    is_display = (
        not _FORMULA_WORDS.isdisjoint((*call.positional, *call.named))
        or "\n" in inner.strip()
        # the call is alone on its lines
        or inner.lstrip(" \t").startswith("\n")
    )
    tex = inner.strip()
    if not is_display:
        return Replacement(context.finished.mask(format_inline_math(tex)))
    return Replacement(context.finished.mask(format_display_math(tex)), is_block=True)


def _delimited(inner: str, context: CallContext) -> Replacement:
    """Translate content with delimited formulas. Hugo does not apply Markdown inside this shortcode.
    Placeholders therefore protect the formulas from later conversions."""
    opener, tex = split_formula(inner.strip())
    if opener in ("$$", r"\[", r"\\["):
        return Replacement(context.finished.mask(format_display_math(tex)), is_block=True)
    if opener and opener not in tex:
        return Replacement(context.finished.mask(format_inline_math(tex)))
    shown = re.sub(
        r"\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\]|\\\([\s\S]+?\\\)|(?<![\\$])\$(?!\$)[^$]+?\$",
        lambda found: context.finished.mask(found[0]),
        inner,
    )
    return Replacement(shown)


def show_diagram(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `mermaid` to a fence with the language `mermaid`."""
    if call.inner is None:
        return None
    return _block(dedent_text(inner), "mermaid", context)


def show_data(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `chart`, `echarts` and similar calls to a code block with the data that they draw."""
    if not inner.strip():
        return None
    hint = "draw it in a code cell, or add an image"
    context.notice("left", f'unsupported shortcode "{call.name}": its data is shown as code', hint, "")
    return _block(write_source(call.inner or ()).strip("\n"), "js", context)


def show_reference(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `ref` and `relref` to a link destination. If the page is missing, add a notice."""
    target = call.get(0, "path")
    address = context.link(target)
    if address:
        return Replacement(link_destination(address))
    context.notice("missing", f'page not found: "{target}" in a "{call.name}" shortcode', "", "")
    return Replacement(link_destination(target or "#"))


def show_parameter(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `param` to a value of the page's front matter or of the site's settings."""
    value = context.param(call.get(0, "name"))
    return Replacement(value) if value else None


def show_file(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `include`, `readfile` and `code` to the text of a file. If the call names a language,
    translate it to a code block."""
    name = call.get("file", "src", "path", 0)
    text = context.file(name) if name else ""
    if not text:
        return None
    language = call.get("language", "lang", "code" if call.get("code") not in ("true", "") else "lang", 1)
    if language or call.name == "code" or call.get("code") == "true":
        return _block(text.strip("\n"), language, context)
    return Replacement(text, is_block=True)


def hide_comment(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Remove `comment`, whose content Hugo does not show either."""
    context.notice("dropped", f'shortcode "{call.name}" is removed with its hidden content', "", inner)
    return Replacement("")


HANDLERS = {
    **dict.fromkeys(("highlight", "codeblock"), show_highlight),
    **dict.fromkeys(name_set("math katex mathjax latex tex equation inlinemath eq"), show_formula),
    **dict.fromkeys(("mermaid", "diagram"), show_diagram),
    **dict.fromkeys(("chart", "echarts", "plotly", "vega", "vega-lite", "chartjs"), show_data),
    **dict.fromkeys(("ref", "relref"), show_reference),
    "param": show_parameter,
    **dict.fromkeys(("include", "readfile", "code", "codefile", "code-file", "includemd"), show_file),
    **dict.fromkeys(("comment", "hide", "private"), hide_comment),
}


_COMMANDS = ("Resize", "Fit", "Fill", "Crop")
"""Names of Hugo's image operations, which may be the second argument."""
_SIZE = re.compile(r"(\d+)x\d*")


def show_figure(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `figure`, `img` and similar calls to an image with a caption, as a separate paragraph."""
    address = call.get("src", "link" if "src" not in call.named and not call.positional else "src", 0)
    address = address or call.get("image", "url", "file", "light", "path")
    if not address:
        return None
    target = context.image(address)
    caption = figure_caption(call, inner)
    second = call.get(1) if not call.named else ""
    alt = call.get("alt", "caption", "title") or ("" if second in _COMMANDS else second)
    name = call.get("id", "name")
    width = _width(call)
    link = call.get("link", "href")
    if link and link != address and not link.lower().endswith((".png", ".jpg", ".jpeg", ".svg", ".webp")):
        return Replacement(_linked(target, alt, caption, link, parse_length(width)), is_block=True)
    shown = image(target, _plain(alt), caption=caption, width=width, name=name)
    return Replacement(shown, is_block=True, inline=f"![{_plain(alt)}]({link_destination(target)})")


def figure_caption(call: Call, inner: str = "") -> str:
    """Return title, caption and source of a figure as one line of Markdown."""
    title, caption = call.get("title"), call.get("caption", "cap") or " ".join(inner.split())
    source = call.get("attr")
    if source and (link := call.get("attrlink")):
        source = f"[{source}]({link_destination(link.replace(' ', '%20'))})"
    if title and caption and title != caption:
        caption = f"**{title}** {caption}"
    return " ".join(filter(None, [caption or title, source]))


def _width(call: Call) -> str:
    if written := call.get("width", "w"):
        return written
    # images that Hugo resizes: `Resize "600x"`
    sizes = [call.get("options", "size"), *call.positional[1:]]
    return next((found[1] for size in sizes if (found := _SIZE.match(size.strip()))), "")


def _plain(alt: str) -> str:
    pattern = r"(\$[^$]+\$)|[*_`]|\[([^\]]*)\]\([^)]*\)"
    return re.sub(pattern, lambda found: found[1] or found[2] or "", alt)


def _linked(address: str, alt: str, caption: str, link: str, width: str) -> str:
    """Return an image that is a link. With a caption, the image is HTML; otherwise it is Markdown."""
    if not caption:
        return f"[![{_plain(alt)}]({link_destination(address)})]({link_destination(link)})"
    size = f' width="{width}"' if width else ""
    picture = f'<img src="{escape(address)}" alt="{escape(_plain(alt))}"{size}>'
    shown = f'<a href="{escape(link)}">{picture}</a>'
    return f'<figure markdown="1">\n{shown}\n<figcaption markdown="1">{caption}</figcaption>\n</figure>'


def show_gallery(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Replace a gallery call with the images in it."""
    return Replacement(inner, is_block=True) if inner.strip() else None


def show_video(address: str, call: Call) -> Replacement:
    """Return blogsmith's block for a video at a URL."""
    caption = call.get("caption", "title")
    more = f' data-caption="{escape(caption)}"' if caption else ""
    return Replacement(f'<div class="video-embed" data-src="{escape(address)}"{more}></div>', is_block=True)


def show_youtube(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `youtube`, whose argument is a video id or a URL."""
    # the id may have player parameters: `L967JqNFxkw?start=1281`
    name = call.get("id", "v", 0)
    if not name:
        return None
    name = name if "/" in name else name.replace("?", "&")
    address = name if "/" in name else f"https://www.youtube.com/watch?v={name}"
    start = call.get("start")
    return show_video(f"{address}&t={start}" if start.isdigit() and "/" not in name else address, call)


def show_vimeo(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `vimeo`, whose argument is a video id."""
    name = call.get("id", 0)
    return show_video(name if "/" in name else f"https://vimeo.com/{name}", call) if name else None


def show_video_file(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `video`, whose argument is a file of the site or the URL of a video."""
    address = call.get("src", "url", "mp4", 0)
    return show_video(context.image(address), call) if address else None


_HOSTS: Mapping[str, tuple[str, str]] = {
    **{"gist": ("https://gist.github.com/{}", "Gist"), "x": ("https://x.com/{}", "Post")},
    **dict.fromkeys(("tweet", "twitter"), ("https://twitter.com/{}", "Post")),
    "instagram": ("https://www.instagram.com/p/{}/", "Instagram"),
    **{"codepen": ("https://codepen.io/{}", "CodePen"), "jsfiddle": ("https://jsfiddle.net/{}", "JSFiddle")},
    "gitlab": ("https://gitlab.com/-/snippets/{}", "Snippet"),
    "spotify": ("https://open.spotify.com/{}", "Spotify"),
    "github": ("https://github.com/{}", "GitHub"),
    "bilibili": ("https://www.bilibili.com/video/{}", "Bilibili"),
}


def show_link(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate a call that would load content from another host to a link."""
    host = call.name.removesuffix("_simple")
    pattern, title = _HOSTS[host]
    user, name = call.get("user"), call.get("id", "repo", "bvid")
    parts = [user, name] if name else list(call.positional)
    if host in ("tweet", "x", "twitter") and len(parts) > 1 and parts[0]:
        parts = [parts[0], "status", parts[1]]
    elif host in ("tweet", "x", "twitter"):
        parts = ["i/web/status", *filter(None, parts)]
    path = "/".join(part for part in parts[:3] if part)
    if not path:
        return None
    message = f'shortcode "{call.name}" becomes a link: pages load nothing from other hosts'
    context.notice("changed", message, "", "")
    address = path if "://" in path else pattern.format(path)
    return Replacement(f"[{title} {path}]({link_destination(address)})", is_block=True)


MEDIA_HANDLERS = {
    **dict.fromkeys(("figure", "img", "image", "imgproc", "picture", "imagefig", "lightimg"), show_figure),
    **dict.fromkeys(("lightbox", "imgcap", "imageproc", "responsive-image", "resize-image"), show_figure),
    **dict.fromkeys(("gallery", "image-grid", "imagegrid", "figures", "image-gallery"), show_gallery),
    "youtube": show_youtube,
    "youtubelite": show_youtube,
    "vimeo": show_vimeo,
    "video": show_video_file,
    **dict.fromkeys(_HOSTS, show_link),
    "vimeo_simple": show_vimeo,
    **dict.fromkeys(("twitter_simple", "x_simple", "instagram_simple"), show_link),
}
