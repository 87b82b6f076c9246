"""The author's raw HTML: URLs are checked and get the base path, images get their sizes.

Only attributes with URLs that a browser loads or follows are changed. All other text stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place, Reporter
from ..base.html_tags import Attribute, StartTag, find_end_tag, find_visible, parse_start_tag
from ..base.patterns import lazy_pattern
from ..model.html_names import HTML_ELEMENTS, is_element
from ..model.names import name_set
from ..syntax.html_nodes import html_place
from ..syntax.markdown_elements import allows_markdown, requests_markdown
from ..syntax.open_elements import escape_unfinished
from .context import PageRendering
from .dimensions import HINT, Length, fit_attributes, parse_length
from .policy.sources import SELF, script_imports, source_of, style_urls
from .policy.tags import add_noopener
from .variants import picture_tag

_TAG = lazy_pattern(r"<[A-Za-z]")
_RELEVANT_ATTRIBUTES = frozenset(("style", "markdown"))
"""Attributes that are checked on every tag."""
_SIZE_WORDS = frozenset(("", "auto"))
"""Values of `width` or `height` that mean the image's own size."""
_REWRITTEN_ATTRIBUTES = frozenset(("src", "alt", "width", "height", "loading", "decoding", "markdown"))
"""Attributes of an image that are not copied unchanged."""


class _Edit(Struct, frozen=True):
    """A range of a tag and its replacement."""

    start: int
    end: int
    text: str


def rewrite_raw(rendering: PageRendering, token: Token) -> str:
    """Return the token's HTML with resolved URLs. Problems are reported at the tag that has them."""
    text = token.content
    rendering.reading.pass_html(text)
    remote = RemoteRule(rendering)
    first_line = rendering.parsed.page.first_line
    pieces, at = [], 0
    for start, tag in _tags(text):
        place = html_place(token, first_line, start, tag.end - start)
        report_element(rendering, tag, text, place)
        remote.check(tag, text, place)
        _report_markdown(rendering, token, tag, place)
        pieces += [text[at:start], _rewrite(rendering, text, start, tag, place)]
        at = tag.end
    rewritten = escape_unfinished("".join(pieces) + text[at:])
    # done last, because positions of problems refer to the text before this change
    return add_noopener(rewritten.encode()).decode() if "target" in rewritten.lower() else rewritten


def _tags(text: str) -> Iterator[tuple[int, StartTag]]:
    """Yield (offset, tag) of each start tag that may need a report or a change."""
    at = 0
    for found in find_visible(_TAG, text):
        start = found.start()
        tag = parse_start_tag(text, start) if start >= at else None
        if tag is None:
            continue
        at = tag.end
        names = {item.name for item in tag.attributes}
        is_relevant = tag.name in RESOLVERS or tag.name in LOADING or tag.name not in HTML_ELEMENTS
        if is_relevant or names & _RELEVANT_ATTRIBUTES:
            yield start, tag


def _report_markdown(rendering: PageRendering, token: Token, tag: StartTag, place: Place) -> None:
    """Warn about Markdown inside an HTML block, where it is not parsed. Inside a paragraph, it is parsed."""
    is_block = token.type == "html_block" or "textmap" in token.meta
    if not is_block or not requests_markdown(tag):
        return
    if not any(found.place == place for found in rendering.parsed.diagnostics):
        message = f'Markdown in this "<{tag.name}>" is not parsed'
        hint = "move the attribute `markdown` to the elements inside"
        if allows_markdown(tag):
            hint = f"close the element with `</{tag.name}>`, and do not put it inside a `<pre>`"
        rendering.reporter.warn("html-markdown", message, place, hint)


def _rewrite(rendering: PageRendering, text: str, start: int, tag: StartTag, place: Place) -> str:
    if tag.name == "img" and tag.get("src"):
        return _image(rendering, tag, place)
    if tag.name == "source" and "dark" in tag.get("media"):
        # a theme with a switch for the colour scheme must be able to select the image, too
        rendering.widgets.add("pictures")
    edits = sorted(_edits(rendering, text, tag, place), key=lambda edit: edit.start)
    pieces, at = [], start
    for edit in edits:
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*pieces, text[at : tag.end]))


def _edits(rendering: PageRendering, text: str, tag: StartTag, place: Place) -> Iterator[_Edit]:
    resolvers = RESOLVERS.get(tag.name, {})
    known: set[str] = set()
    for item in tag.attributes:
        if item.name in known:
            continue
        known.add(item.name)
        begin, end = _quoted(text, item)
        if item.name == "markdown":
            # the range includes the space before the attribute
            yield _Edit(len(text[: item.name_start].rstrip()), end, "")
        elif item.value and (resolve := resolvers.get(item.name)):
            yield _Edit(begin, end, f'"{_attribute(resolve(rendering, item.value, place))}"')


def _quoted(text: str, item: Attribute) -> tuple[int, int]:
    """Return the start and end of an attribute's value, including its quotes."""
    has_quotes = text[item.start - 1] in "\"'"
    return item.start - has_quotes, item.end + has_quotes


def _attribute(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def _link(rendering: PageRendering, written: str, place: Place) -> str:
    target = rendering.tools.link(written, rendering.document)
    rendering.report_target(target, place)
    return target.url


def _picture(rendering: PageRendering, written: str, place: Place) -> str:
    return rendering.find_image(written, place).url


def _pictures(rendering: PageRendering, written: str, place: Place) -> str:
    return rewrite_srcset(written, lambda path: rendering.find_image(path, place).url)


Resolve = Callable[[PageRendering, str, Place], str]

RESOLVERS: Mapping[str, Mapping[str, Resolve]] = MappingProxyType(
    {
        "a": {"href": _link},
        "audio": {"src": _link},
        "image": {"href": _picture, "xlink:href": _picture},
        "img": {"srcset": _pictures},
        "source": {"src": _link, "srcset": _pictures},
        "track": {"src": _link},
        "video": {"src": _link, "poster": _picture},
    }
)
"""Name of an element → attribute with URLs → function that returns the value to print. It is called with the
rendering, the value and the position of the value."""


def _image(rendering: PageRendering, tag: StartTag, place: Place) -> str:
    found = rendering.find_image(tag.get("src"), place)
    own = {a.name: a.value for a in reversed(tag.attributes) if a.name not in _REWRITTEN_ATTRIBUTES}
    kept = {name: tag.get(name) for name in ("loading", "decoding") if tag.get(name)}
    if own.get("srcset"):
        own["srcset"] = _pictures(rendering, own["srcset"], place)
    size = fit_attributes(
        found,
        _read_length(rendering, tag, "width", place),
        _read_length(rendering, tag, "height", place),
    )
    own["style"] = ";".join(part for part in (size.style, own.get("style", "")) if part)
    rendering.images += 1
    return picture_tag(rendering, found, size.info, tag.get("alt"), attrs={**own, **kept})


def _read_length(rendering: PageRendering, tag: StartTag, name: str, place: Place) -> Length | None:
    """Return the value of `width` or `height`. Warn about an invalid length and return None."""
    text = tag.get(name)
    length = parse_length(text.lower())
    if length is None and text.strip().lower() not in _SIZE_WORDS:
        rendering.reporter.warn("image-width", f'invalid {name} "{text}": expected a length', place, HINT)
    return length


# `srcset`: URLs of one image in several sizes, each with a descriptor.
#
# Parsed as in HTML (4.8.4.2.1): a URL ends at a space, so it may contain commas, but not at its ends.


_CANDIDATE = lazy_pattern(r"[\s,]*+([^\s,]\S*)\s*+([^,]*+)")


def rewrite_srcset(text: str, resolve: Callable[[str], str]) -> str:
    """Return a `srcset` with the result of `resolve` for each URL. Leave out images for which the result is
    empty."""
    candidates = ((resolve(address), rest) for address, rest in split_srcset(text))
    return ", ".join(" ".join((address, rest)).rstrip() for address, rest in candidates if address)


def split_srcset(text: str) -> list[tuple[str, str]]:
    """Return (URL, descriptor such as `2x`) of each image in a `srcset`."""
    found, at = [], 0
    while candidate := _CANDIDATE.match(text, at):
        address = candidate[1].rstrip(",")
        ends_here = address != candidate[1]
        at = candidate.end(1) if ends_here else candidate.end()
        found.append((address, "" if ends_here else " ".join(candidate[2].split())))
    return found


# Custom elements in a post: without a script, browsers treat them as plain text. For the elements of Distill,
# the hint names the equivalent syntax.


_RESERVED = name_set(
    "annotation-xml color-profile font-face font-face-format font-face-name font-face-src font-face-uri "
    "missing-glyph"
)
"""Element names with a hyphen that SVG and MathML define (HTML 4.13.2)."""
_KEYS = lazy_pattern(r"[\s,;]+")
_SHORT = 60
"""Maximum number of characters of the author's text that a hint repeats."""


def report_element(rendering: PageRendering, tag: StartTag, text: str, place: Place) -> None:
    """Warn about an element that browsers do not know. text: HTML that contains the tag and the end of its
    element."""
    if tag.name in _RESERVED:
        return
    reporter = rendering.reporter
    if "-" not in tag.name:
        if not is_element(tag.name, rendering.document.body):
            _report_unknown(reporter, text[tag.start + 1 :][: len(tag.name)], place)
        return
    write = _DISTILL.get(tag.name)
    hint = write(tag, text) if write else "write `\\<` for a plain `<`: only a script could show this element"
    message = f'unknown HTML element "<{tag.name}>"'
    reporter.warn("html-element", message, place, hint)


def _report_unknown(reporter: Reporter, name: str, place: Place) -> None:
    """Warn about a tag that browsers ignore: `<int>` as in `vector<int>`, or a component of MDX."""
    hint = _COMPONENTS.get(name) or f"write `\\<{name}>`, or put it between backticks"
    reporter.warn("html-element", f'unknown element "<{name}>": browsers do not show the tag', place, hint)


_COMPONENTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("Tabs", "TabItem", "Tab"), 'write tabs as `<div class="tabs">`'),
        **dict.fromkeys(
            ("Admonition", "Callout", "Note", "Tip", "Warning"), "write a callout as `> [!NOTE]`"
        ),
        "CodeBlock": "write a fence of three backticks",
        "Image": "write an image as `![text](image.png)`",
    }
)
"""Component of MDX → hint with the syntax to write instead."""


def _citation(tag: StartTag, text: str) -> str:
    keys = [key for key in _KEYS.split(tag.get("key") or tag.get("bibtex-key")) if key]
    return f"write `[{'; '.join(f'@{key}' for key in keys or ['key'])}]`"


def _footnote(tag: StartTag, text: str) -> str:
    return "write `[^name]` here, and `[^name]:` with its text on a line of its own"


def _formula(tag: StartTag, text: str) -> str:
    end = find_end_tag(text, tag.name, tag.end)
    tex = text[tag.end : end].strip() if end < len(text) else ""
    tex = tex if 0 < len(tex) <= _SHORT and "\n" not in tex else "…"
    return (
        f"write `$${tex}$$`" if any(item.name == "block" for item in tag.attributes) else f"write `${tex}$`"
    )


def _code(tag: StartTag, text: str) -> str:
    return "write a fence of three backticks, or `code` between single backticks"


_DISTILL: Mapping[str, Callable[[StartTag, str], str]] = MappingProxyType(
    {
        "d-cite": _citation,
        "d-footnote": _footnote,
        "d-math": _formula,
        "d-code": _code,
        "d-figure": lambda tag, text: "write <figure>, or an image alone in its paragraph",
        "d-byline": lambda tag, text: "write authors: in the front matter",
        "d-title": lambda tag, text: "write title: in the front matter",
        "d-bibliography": lambda tag, text: "write references: in the front matter",
        "d-citation-list": lambda tag, text: "the list of references comes by itself",
        "d-footnote-list": lambda tag, text: "the list of footnotes comes by itself",
    }
)
"""Element of Distill → function that returns a hint with the syntax to write instead."""


# Content that the HTML of a post loads from other hosts before a click: scripts, frames, stylesheets, videos.
# The setting `embeds.remote` applies to all of them; for images there is `images.remote`.


_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {
        "audio": "src",
        "embed": "src",
        "frame": "src",
        "iframe": "src",
        "link": "href",
        "object": "data",
        "script": "src",
        "source": "src",
        "track": "src",
        "video": "src",
    }
)
"""Element → attribute with a URL that browsers load immediately."""
LOADING = frozenset((*_ADDRESSES, "style"))
"""Names of elements that may load something. Any other element may do so by its attribute `style`."""
_RELATIONS = name_set(
    "stylesheet preload modulepreload prefetch preconnect dns-prefetch prerender icon apple-touch-icon "
    "mask-icon manifest"
)
"""Values of `rel` that make a browser load the target of a `<link>`, or connect to its host."""
_MEDIA_ELEMENTS = frozenset(("audio", "source", "track", "video"))
_VIDEO_HOSTS = ("youtube.com", "youtube-nocookie.com", "youtu.be", "vimeo.com")
_MAX_DEPTH = 3
"""Maximum depth of nested pages in `srcdoc`."""


class RemoteRule:
    """Check of one fragment of HTML for content on other hosts. `check` must get its tags in order."""

    def __init__(self, rendering: PageRendering) -> None:
        self._rule = rendering.tools.config.embeds.remote
        self._reporter = rendering.reporter
        self._is_lazy = False
        """Whether the current video loads only after a click, so that its `<source>` tags load nothing."""

    def check(self, tag: StartTag, text: str, place: Place) -> None:
        """Report content that the tag loads from other hosts. text: HTML that contains the whole element."""
        if self._rule == "allow":
            return
        if tag.name in ("audio", "video"):
            self._is_lazy = tag.get("preload").lower() == "none" and not _has(tag, "autoplay")
        if self._is_lazy and tag.name in _MEDIA_ELEMENTS:
            return
        for address in dict.fromkeys(_remote_urls(tag, text)):
            self._report(tag, address, place)

    def _report(self, tag: StartTag, address: str, place: Place) -> None:
        report = self._reporter.warn if self._rule == "warn" else self._reporter.error
        report(
            "html-remote", f'"<{tag.name}>" loads "{address}" from another host', place, _hint(tag, address)
        )


def _remote_urls(tag: StartTag, text: str, depth: int = 0) -> Iterator[str]:
    """Yield the URLs on other hosts that browsers load for this tag. text: HTML that contains the whole
    element. depth: number of pages around it, if it is in a `srcdoc`."""
    name = _ADDRESSES.get(tag.name, "")
    is_word = tag.name == "link" and not _RELATIONS & set(tag.get("rel").lower().split())
    if name and not is_word and _is_remote(tag.get(name)):
        yield tag.get(name).strip()
    if "url(" in tag.get("style").lower():
        yield from style_urls(tag.get("style"))
    if tag.name == "style":
        yield from style_urls(_element_text(tag, text))
    if tag.name == "script" and not tag.get("src"):
        yield from script_imports(_element_text(tag, text))
    if tag.name == "iframe" and depth < _MAX_DEPTH:
        yield from _loaded_by_page(tag.get("srcdoc"), depth + 1)


def _element_text(tag: StartTag, text: str) -> str:
    return text[tag.end : find_end_tag(text, tag.name, tag.end)]


def _loaded_by_page(html: str, depth: int) -> Iterator[str]:
    for found in find_visible(_TAG, html):
        if tag := parse_start_tag(html, found.start()):
            yield from _remote_urls(tag, html, depth)
            if tag.name == "img" and _is_remote(tag.get("src")):
                yield tag.get("src")


def _is_remote(address: str) -> bool:
    source = source_of(address) if address.strip() else ""
    return source not in ("", SELF) and source not in ("data:", "blob:", "mailto:")


def _has(tag: StartTag, name: str) -> bool:
    return any(item.name == name for item in tag.attributes)


def _hint(tag: StartTag, address: str) -> str:
    if tag.name in _MEDIA_ELEMENTS:
        return 'write `preload="none"` to load the file on a click, or put a copy next to the post'
    allow = "write `embeds: {remote: allow}` in blogsmith.yaml"
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    if tag.name == "iframe" and any(host == one or host.endswith(f".{one}") for one in _VIDEO_HOSTS):
        return f'write `<div class="video-embed" data-src="{address}"></div>` to load it on a click'
    if tag.name in ("iframe", "frame", "embed", "object"):
        return f"link to it, or {allow}"
    return f"put a copy under static/, or {allow}"
