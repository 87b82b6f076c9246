"""Translation of tags and includes of Jekyll, of its plugins and of its themes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from html import escape
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set
from ..bibliographies import fit_key
from ..text.containers import begin_tabs, fence_marks, tab
from ..text.html import caption_text, code_spans
from ..text.math import format_display_math, format_inline_math
from .liquid import (
    LiquidRenderer,
    LiquidScope,
    LiquidSyntaxError,
    UnknownValueError,
    evaluate,
    format_value,
    inner_text,
)
from .liquid_parser import LiquidTag
from .source import JekyllDocument, PageContext, WorkList

_ARGUMENT = lazy_pattern(
    r"(?s)([\w-]+)\s*=\s*(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|\{\{([^{}]*)\}\}|([^\s,\"']+))"
)
_PICTURE_NAMES = lazy_pattern(r"figure|image|img|picture|photo|lightbox|fig\b", re.IGNORECASE)
_VIDEO_NAMES = lazy_pattern(r"video|youtube|vimeo", re.IGNORECASE)
_ADDRESSES = ("path", "src", "url", "image_path", "image", "file", "img", "name", "image_url", "filename")
_CAPTIONS = ("caption", "cap", "description", "desc", "text")
_PICTURE_FILE = lazy_pattern(r"\.(?:png|jpe?g|gif|svg|webp|avif)(?:[?#].*)?$", re.IGNORECASE)
_EMPTY_INCLUDES = name_set(
    "toc mathjax katex disqus comments ads giscus utterances bib_search calendar latest_posts selected_papers"
)
_DEEPEST = 10


def include(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """Return the translation of an `include` tag."""
    name, _, rest = tag.arguments.strip().partition(" ")
    name = name.strip("\"'")
    if "{{" in tag.arguments.split("=")[0] or not name:
        return context.leave_untranslated(tag, "unsupported syntax: include with a computed name")
    given = _arguments(rest, scope, renderer)
    if PurePosixPath(name).stem in _EMPTY_INCLUDES:
        return ""
    if picture := _translate_image(context, name, given):
        return picture
    if _VIDEO_NAMES.search(name) and (video := _video(name, given)):
        return video
    template = context.site.includes.get(name.removeprefix("./"))
    if template is None:
        return context.leave_untranslated(tag, f'include not found: "{name}"')
    return _render_own(context, tag, scope.inner({"include": given}), renderer)


def _render_own(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    name = tag.arguments.split()[0].strip("\"'").removeprefix("./")
    if context.depth >= _DEEPEST:
        return context.leave_untranslated(tag, f'include "{name}" includes itself')
    context.start = context.start if context.depth else tag.start
    context.depth += 1
    try:
        text = renderer.render(context.site.includes[name], scope)
    finally:
        context.depth -= 1
    # blank lines would end the HTML for Markdown, and indented lines would become code
    return re.sub(r"\n[ \t]*(?=\n)|^[ \t]+", "", text, flags=re.MULTILINE).strip("\n")


def _arguments(text: str, scope: LiquidScope, renderer: LiquidRenderer) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, double, single, output, bare in _ARGUMENT.findall(text):
        if output or bare:
            try:
                found[name] = evaluate(output or bare, scope, renderer.filters)
            except (UnknownValueError, LiquidSyntaxError):
                found[name] = bare or None
        else:
            found[name] = re.sub(r"\\([\"'])", r"\1", double or single)
    return found


def _translate_image(context: PageContext, name: str, given: Mapping[str, Any]) -> str:
    """Return the figure that an include shows; empty if the include does not show images. name: file of the
    include; given: its arguments."""
    is_named = _PICTURE_NAMES.search(name.rpartition("/")[2]) is not None
    template = context.site.texts.get(name, "")
    if not is_named and "<img" not in template:
        return ""
    address = _first_argument(given, _ADDRESSES)
    if not address or not (is_named or _PICTURE_FILE.search(address)):
        return ""
    caption = _first_argument(given, _CAPTIONS)
    if ", " in address and all(re.match(r"https?://|/|[\w./-]+\.\w+$", each) for each in address.split(", ")):
        return _translate_images(context, address, caption, given)
    return figure_html(_root_url(address, template), caption, given)


def _first_argument(given: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((format_value(given[name]) for name in names if given.get(name)), "")


def _root_url(address: str, template: str) -> str:
    """Return the URL of an image that an include shows. An absolute URL is not changed. Any other URL is
    below the folder in the include's template, or below the site root."""
    if re.match(r"(?:https?:)?//|/|data:", address):
        return address
    folder = re.search(r"src=[\"'](?:\{\{[^{}]*\}\})?(/[\w/-]+/)\{\{\s*include\.", template)
    return (folder[1] if folder else "/") + address


def figure_html(address: str, caption: str, given: Mapping[str, Any]) -> str:
    """Return a figure in HTML, which is converted to Markdown later if possible. given: arguments of the
    include."""
    alt = format_value(given.get("alt"))
    width = format_value(given.get("width") or given.get("max-width"))
    shown = [f'src="{escape(address)}"', f'alt="{escape(alt)}"']
    number = re.search(r"\d+(?:\.\d+)?\s*(?:px|%|em|rem)?", width)
    shown += [f'width="{number[0]}"'] if number else []
    shown += [f'id="{escape(format_value(given["id"]))}"'] if given.get("id") else []
    # the content of `<code>` is not translated any more, but a caption is
    note = f"<figcaption>{' '.join(code_spans(caption).split())}</figcaption>" if caption else ""
    return f"<figure><img {' '.join(shown)}>{note}</figure>"


def _translate_images(context: PageContext, addresses: str, captions: str, given: Mapping[str, Any]) -> str:
    """Return a shortcode for an include with several images. addresses: URLs with commas between them; given:
    arguments of the include."""
    values = {
        "src": addresses,
        "cap": caption_text(captions),
        "alt": format_value(given.get("alt")),
        "cols": format_value(given.get("cols")),
    }
    shown = " ".join(f'{name}="{value.replace(chr(34), "”")}"' for name, value in values.items() if value)
    return context.finished.mask(f"{{% include img.html {shown} %}}")


def _video(name: str, given: Mapping[str, Any]) -> str:
    address = _first_argument(given, ("id", "path", "url", "src", "video"))
    if re.fullmatch(r"[\w-]{6,15}", address):
        is_vimeo = "vimeo" in name or given.get("provider") == "vimeo"
        address = f"https://vimeo.com/{address}" if is_vimeo else f"https://www.youtube.com/watch?v={address}"
    embedded = re.match(r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/embed/([\w-]+)", address)
    address = f"https://www.youtube.com/watch?v={embedded[1]}" if embedded else address
    if not address:
        return ""
    if not address.startswith(("http", "/")):
        address = f"/{address}"
    caption = format_value(given.get("caption") or given.get("title")).replace('"', "&quot;")
    note = f' data-caption="{caption}"' if caption else ""
    return f'<div class="video-embed" data-src="{escape(address)}"{note}></div>'


_KATEX = lazy_pattern(r"\$\$((?:\\[\s\S]|(?!\$\$)[^\\])+?)\$\$|(?<!\\)\$((?:\\[\s\S]|[^\\$])+?)\$")
_QUOTED = lazy_pattern(r"\"([^\"]*)\"|'([^']*)'")
_IGNORED_TAGS = frozenset(
    ("toc", "seo", "feed_meta", "endtoc", "social_links", "bibliography_count", "increment")
)
_RAW_OPEN, _RAW_OUTPUT = "\ue012", "\ue013"
"""Placeholders for `{%` and `{{` in raw blocks. They stay until the text is divided into code and prose."""


def render_tag(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """Translate a tag that is not part of core Liquid."""
    if tag.name in _IGNORED_TAGS:
        return ""
    if tag.name in _TAGS:
        return _TAGS[tag.name](context, tag, scope, renderer)
    if tag.name in ("include", "include_relative", "include_cached", "render"):
        return include(context, tag, scope, renderer)
    if tag.branches and not tag.arguments:
        message = f'unknown tag "{tag.name}": only its content is kept'
        context.notice("changed", message, line=context.find_line(tag))
        return renderer.render(tag.branches[0].nodes, scope)
    why = f'unknown tag "{tag.name}"'
    if not tag.branches:
        return context.leave_untranslated(tag, why)
    # unlike a block, `raw` must not contain paragraphs
    head, foot = tag.source[: tag.source.find("%}") + 2], tag.source[tag.source.rfind("{%") :]
    inner = "".join(renderer.render(branch.nodes, scope) for branch in tag.branches)
    return f"{context.leave_untranslated(replace(tag, source=head), why)}{inner}{context.keep_raw(foot)}"


def _raw(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    return inner_text(tag).replace("{%", _RAW_OPEN).replace("{{", _RAW_OUTPUT)


def restore_raw(text: str, *, is_code: bool) -> str:
    """Replace the placeholders in the text of raw blocks. Outside of code, escape tags, because blogsmith
    would interpret them."""
    if is_code:
        return text.replace(_RAW_OPEN, "{%").replace(_RAW_OUTPUT, "{{")
    text = re.sub(rf"{_RAW_OPEN}([^\n]*?%\}})", r"{% raw %}{%\1{% endraw %}", text)
    return text.replace(_RAW_OPEN, "{%").replace(_RAW_OUTPUT, "{{")


def _highlight(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    language, _, options = tag.arguments.partition(" ")
    code = re.sub(r"\{%-?\s*(?:end)?raw\s*-?%\}", "", inner_text(tag))
    code = code if code.startswith("\n") else f"\n{code}"
    code = code.rstrip(" ") if code.rstrip(" ").endswith("\n") else f"{code}\n"
    ticks = fence_marks(code)
    marked = re.search(r"(?:hl_lines|mark_lines)=[\"']([\d ,-]+)[\"']", options)
    info = [language or "text"]
    if marked:
        info.append("{" + ",".join(re.split(r"[ ,]+", marked[1].strip())) + "}")
    if re.search(r"\blinenos\b", options):
        info.append("linenos")
    fence = f"{ticks}{' '.join(info)}{code}{ticks}"
    body = context.document.body
    begins_line = not context.depth and (tag.start == 0 or body[tag.start - 1] == "\n")
    # inside HTML it is Markdown only after a blank line
    return f"\n{fence}\n\n" if begins_line else fence


def _post_url(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    name = tag.arguments.strip().strip("\"'").removesuffix(".md")
    document = context.site.posts.get(name.strip("/")) or context.site.posts.get(name.rpartition("/")[2])
    return _document_url(context, tag, document, f'post not found: "{name}"')


def _link(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    path = tag.arguments.strip().strip("\"'").lstrip("/")
    if f"/{path}" in context.site.copied:
        return f"{context.site.config.base_path}/{path}"
    return _document_url(context, tag, context.site.paths.get(path), f'file not found: "{path}"')


def _document_url(context: PageContext, tag: LiquidTag, document: JekyllDocument | None, problem: str) -> str:
    if document is None or not document.address:
        context.notice("mistake", problem, line=context.find_line(tag), hint="correct the target of the link")
        return "#"
    return context.site.config.base_path + document.address


def _inner(tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    return renderer.render(tag.branches[0].nodes, scope) if tag.branches else ""


def _katexmm(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    text = _inner(tag, scope, renderer)

    def substitute(found: re.Match[str]) -> str:
        after = text[found.end() : found.end() + 1]
        return context.finished.mask(
            format_inline_math(found[2], after) if found[1] is None else format_display_math(found[1])
        )

    # in this block, formulas are found before Markdown is parsed, so TeX contains no escapes
    return _KATEX.sub(substitute, text)


def _katex(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    tex = _inner(tag, scope, renderer)
    return context.finished.mask(
        format_display_math(tex) if "display" in tag.arguments else format_inline_math(tex)
    )


def _cite(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    keys = [fit_key(each) for each in re.split(r"[\s,]+", tag.arguments.partition("--")[0]) if each]
    for key in keys:
        if key not in context.cited:
            context.cited.append(key)
    return context.finished.mask(f"[{'; '.join(f'@{key}' for key in keys)}]") if keys else ""


def _bibliography(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """Add a list of publications to `context.lists`. A list of the works that the page cites is ignored,
    because blogsmith generates it. Return an empty string."""
    options = tag.arguments
    if re.search(r"--cited\b|(?:^|\s)-c\b", options) or (context.cited and not options.strip()):
        return ""
    names = _BIB_FILES.findall(options)
    is_selected = re.search(r"\bselected\s*=\s*[\"']?true", options) is not None
    query = re.sub(r"\[\s*(?:year|selected)\s*=[^\]]*\]", "", " ".join(_BIB_QUERY.findall(options)))
    if query.strip("*@\"' "):
        message = f'query "{query.strip()}" has no effect: the list contains all entries'
        context.notice("changed", message, line=context.find_line(tag))
    lists = [WorkList(name, is_selected) for name in names] or [WorkList("", is_selected)]
    context.lists += [each for each in lists if each not in context.lists]
    return ""


_BIB_FILES = lazy_pattern(r"(?:--file|(?:^|(?<=\s))-f)[\s=]+[\"']?([\w./-]+)")
_BIB_QUERY = lazy_pattern(r"(?:--query|(?:^|(?<=\s))-q)[\s=]+((?:\[[^\]]*\]|[^\s\[])+)")


def _details(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    text = _inner(tag, scope, renderer)
    label = tag.arguments.strip().strip("\"'").replace('"', "&quot;")
    return f'<div class="collapsible" markdown="1" data-label="{label}">\n\n{text.strip()}\n\n</div>'


def _mermaid(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    text = _inner(tag, scope, renderer)
    return f"```mermaid\n{text.strip()}\n```"


def _tab(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    text = _inner(tag, scope, renderer)
    # the name of the group, then the label of the tab, which may have several words
    _, _, name = tag.arguments.strip().partition(" ")
    return "\n\n" + "\n".join(tab(name.strip() or tag.arguments.strip(), text.strip().split("\n"))) + "\n\n"


def _tabs(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    text = _inner(tag, scope, renderer)
    return "\n".join(begin_tabs(text.split("\n")))


def _gist(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    return _embed(context, tag, f"https://gist.github.com/{_first_word(tag)}", "a gist")


def _tweet(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    return _embed(context, tag, _first_word(tag), "a tweet")


def _first_word(tag: LiquidTag) -> str:
    return tag.arguments.split()[0].strip("\"'") if tag.arguments.split() else ""


def _embed(context: PageContext, tag: LiquidTag, address: str, what: str) -> str:
    """Return a link to content that the old page loaded from another host, and add a notice. what: name of
    the content in the notice."""
    message = f"{what} from another host becomes a link"
    context.notice("changed", message, line=context.find_line(tag))
    return f"<{address}>" if address.startswith("http") else address


def _video_tag(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """Translate the tags `youtube` and `vimeo`, whose argument is a video id or a URL."""
    name, host = _first_word(tag), {"youtube": "www.youtube.com/watch?v="}.get(tag.name, "vimeo.com/")
    address = name if name.startswith("http") else f"https://{host}{name}"
    return f'<div class="video-embed" data-src="{address}"></div>'


def _margin_note(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """Translate the tags `marginnote` and `sidenote` of the Tufte theme, such as `{% marginnote "id" "text"
    %}`. Sidenotes lose their numbers."""
    texts = _quoted(tag)
    if len(texts) < 2:
        return context.leave_untranslated(tag, f'missing text in tag "{tag.name}"')
    return f"[{' '.join(texts[1].split())}]{{.margin}}"


def _margin_figure(context: PageContext, tag: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
    """Translate `{% marginfigure "id" "path" "caption" %}`."""
    texts = _quoted(tag)
    if len(texts) < 2:
        return context.leave_untranslated(tag, f'missing image in tag "{tag.name}"')
    path = texts[1] if "://" in texts[1] else f"/{texts[1].lstrip('/')}"
    caption = " ".join(" ".join(texts[2:]).split()).replace('"', "&quot;")
    return f'\n\n![]({path} "{caption}"){{.margin}}\n\n' if caption else f"\n\n![]({path}){{.margin}}\n\n"


def _quoted(tag: LiquidTag) -> list[str]:
    return [double or single for double, single in _QUOTED.findall(tag.arguments)]


_TAGS: Mapping[str, Callable[[PageContext, LiquidTag, LiquidScope, LiquidRenderer], str]] = {
    **{"raw": _raw, "highlight": _highlight, "post_url": _post_url, "link": _link, "katexmm": _katexmm},
    **{"katex": _katex, "cite": _cite, "bibliography": _bibliography, "details": _details, "tab": _tab},
    **{"mermaid": _mermaid, "tabs": _tabs, "gist": _gist, "twitter": _tweet, "tweet": _tweet},
    **{"youtube": _video_tag, "vimeo": _video_tag},
    **{"marginnote": _margin_note, "sidenote": _margin_note, "marginfigure": _margin_figure},
}
