"""The author's raw HTML: its addresses are checked and get the base path, its images their sizes.

Only what the browser would load or follow is touched; everything else stays to the letter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place
from ..base.html_tags import Attribute, StartTag, hidden_spans, start_tag
from ..base.patterns import lazy_pattern
from ..syntax.markdown_elements import holds_text, is_asked
from ..syntax.raw_places import raw_place
from .context import Rendering
from .custom_elements import report_element
from .dimensions import HINT, Length, fit_attributes, parse_length
from .policy.openers import with_openers
from .remote_html import LOADING, RemoteRule
from .srcset import rewrite_srcset
from .variants import picture_tag

_TAG = lazy_pattern(r"<[A-Za-z]")
_TELLING = frozenset(("style", "markdown"))
"""Attributes that matter on any tag."""
_SIZE_WORDS = frozenset(("", "auto"))
"""Of a width or a height: as the picture is."""
_PRINTED = frozenset(("src", "alt", "width", "height", "loading", "decoding", "markdown"))
"""Attributes of an image that are not carried over as they are."""


class _Edit(Struct, frozen=True):
    """A piece of a tag that is printed as something else."""

    start: int
    end: int
    text: str


def rewrite_raw(rendering: Rendering, token: Token) -> str:
    """The token's HTML with its addresses resolved; problems are reported at their tag."""
    text = token.content
    rendering.reading.pass_html(text)
    remote = RemoteRule(rendering)
    first_line = rendering.parsed.page.first_line
    pieces, at = [], 0
    for start, tag in _tags(text):
        place = raw_place(token, first_line, start, tag.end - start)
        report_element(rendering.reporter, tag, text, place)
        remote.check(tag, text, place)
        _report_markdown(rendering, token, tag, place)
        pieces += [text[at:start], _rewrite(rendering, text, start, tag, place)]
        at = tag.end
    rewritten = "".join(pieces) + text[at:]
    # last: what is reported above has its place in the author's text
    return with_openers(rewritten.encode()).decode() if "target" in rewritten.lower() else rewritten


def _tags(text: str) -> Iterator[tuple[int, StartTag]]:
    """Where the tags begin that there is something to say about, and these."""
    hidden, at = deque(hidden_spans(text)), 0
    for found in _TAG.finditer(text):
        start = found.start()
        while hidden and hidden[0][1] <= start:
            hidden.popleft()
        tag = start_tag(text, start) if start >= at and not (hidden and hidden[0][0] <= start) else None
        if tag is None:
            continue
        at = tag.end
        names = {item.name for item in tag.attributes}
        if tag.name in RESOLVERS or tag.name in LOADING or "-" in tag.name or names & _TELLING:
            yield start, tag


def _report_markdown(rendering: Rendering, token: Token, tag: StartTag, place: Place) -> None:
    """Between the tags of a paragraph Markdown is read anyway; in a block of HTML it is not."""
    is_block = token.type == "html_block" or "textmap" in token.meta
    if not is_block or not is_asked(tag):
        return
    if not any(found.place == place for found in rendering.parsed.diagnostics):
        message = f"the Markdown in this <{tag.name}> is not read"
        hint = "give the attribute to its parts instead"
        if holds_text(tag):
            hint = f"an element that asks for Markdown needs its end, </{tag.name}>, and no <pre> around it"
        rendering.reporter.warn("html-markdown", message, place, hint)


def _rewrite(rendering: Rendering, text: str, start: int, tag: StartTag, place: Place) -> str:
    if tag.name == "img" and tag.get("src"):
        return _image(rendering, tag, place)
    if tag.name == "source" and "dark" in tag.get("media"):
        # a switch of the theme chooses, too
        rendering.widgets.add("pictures")
    edits = sorted(_edits(rendering, text, tag, place), key=lambda edit: edit.start)
    pieces, at = [], start
    for edit in edits:
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*pieces, text[at : tag.end]))


def _edits(rendering: Rendering, text: str, tag: StartTag, place: Place) -> Iterator[_Edit]:
    resolvers = RESOLVERS.get(tag.name, {})
    known: set[str] = set()
    for item in tag.attributes:
        if item.name in known:
            continue
        known.add(item.name)
        begin, end = _quoted(text, item)
        if item.name == "markdown":
            # with the blank before it
            yield _Edit(len(text[: item.name_start].rstrip()), end, "")
        elif item.value and (resolve := resolvers.get(item.name)):
            yield _Edit(begin, end, f'"{_attribute(resolve(rendering, item.value, place))}"')


def _quoted(text: str, item: Attribute) -> tuple[int, int]:
    """Where a value stands, with its quotes."""
    has_quotes = text[item.start - 1] in "\"'"
    return item.start - has_quotes, item.end + has_quotes


def _attribute(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def _link(rendering: Rendering, written: str, place: Place) -> str:
    target = rendering.tools.link(written, rendering.document)
    rendering.problem(target, place)
    return target.url


def _picture(rendering: Rendering, written: str, place: Place) -> str:
    return rendering.find_image(written, place).url


def _pictures(rendering: Rendering, written: str, place: Place) -> str:
    return rewrite_srcset(written, lambda path: rendering.find_image(path, place).url)


Resolve = Callable[[Rendering, str, Place], str]

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
"""Tag → attribute that holds addresses → (page, value, place) → the value that is printed."""


def _image(rendering: Rendering, tag: StartTag, place: Place) -> str:
    found = rendering.find_image(tag.get("src"), place)
    own = {a.name: a.value for a in reversed(tag.attributes) if a.name not in _PRINTED}
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


def _read_length(rendering: Rendering, tag: StartTag, name: str, place: Place) -> Length | None:
    """What `width` or `height` say; None after a warning if that is no length."""
    text = tag.get(name)
    length = parse_length(text.lower())
    if length is None and text.strip().lower() not in _SIZE_WORDS:
        rendering.reporter.warn("image-width", f"{name} {text} is no length", place, HINT)
    return length
