"""Conversion of a page's HTML to well-formed XHTML.

Reading devices use an XML parser: a single unclosed tag makes them show an error instead of the chapter.
Elements that only work on the site, such as scripts, controls and frames, are removed. Source: EPUB 3.3,
§6.1, https://www.w3.org/TR/epub-33/#sec-xhtml.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ..api.books import VOID_ELEMENTS, Tag, lazy_pattern, name_set, scan_html

XHTML = "http://www.w3.org/1999/xhtml"
MATHML = "http://www.w3.org/1998/Math/MathML"
SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"

_REMOVED_ELEMENTS = name_set("button canvas dialog form input object script select style template textarea")
"""Controls and scripts, removed together with their content."""
_OMITTED_VOID = name_set("base embed input link meta param source track")
_UNWRAPPED = name_set("picture noscript audio video map area iframe")
"""Elements that are replaced by their content. A link to the file of media or frames is added."""
_CLOSES_PARAGRAPH = name_set(
    "address article aside blockquote details div dl fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 "
    "header hr main nav ol p pre section table ul"
)
_CLOSED_BY = {
    "li": name_set("li"),
    "dt": name_set("dt dd"),
    "dd": name_set("dt dd"),
    "tr": name_set("tr td th"),
    "td": name_set("td th"),
    "th": name_set("td th"),
    "tbody": name_set("thead tbody tr td th"),
    "tfoot": name_set("thead tbody tr td th"),
}
"""Element → open elements that its start tag closes."""
_MAX_DEPTH = 200
_ATTRIBUTE_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_.-]*")
_RAW_NAME = lazy_pattern(r"[^\s\"'<>/=]+")
_NOT_IN_BOOKS = name_set(
    "loading decoding fetchpriority srcset sizes tabindex contenteditable align valign border bgcolor "
    "cellpadding cellspacing frameborder allow allowfullscreen autoplay controls loop muted preload poster "
    "crossorigin integrity referrerpolicy ping target rel draggable hidden for"
)
"""Attributes that have no effect in a book or are not allowed there."""
_NOT_IN_MATHML_3 = name_set("intent arg")
"""Attributes of MathML 4 only. Source: EPUB 3.3, §6.1.3, which allows MathML 3."""
_EMPTY_ALLOWED = name_set("alt class href id style title")

Resolve = Callable[[str, str], str]
"""Function from (element, URL) to the URL in the book; empty if it has no target."""


class Chapter(Struct, frozen=True):
    """A part of the book as XHTML, and properties for the manifest."""

    body: str
    has_math: bool
    has_svg: bool


def read_xhtml(html: str, resolve: Resolve) -> Chapter:
    """Convert `html` to well-formed XHTML. resolve: function that returns the URL in the book.

    A link without a target becomes text, and an image without a target becomes its alt text.
    """
    writer = _Writer(resolve)
    for part in scan_html(html):
        if isinstance(part, str):
            writer.add_text(part)
        elif part.is_end:
            writer.close(part.name)
        else:
            writer.start(part, html[part.start : part.end])
    return writer.chapter()


def escape_xml(text: str) -> str:
    """Escape `text` for use as text or attribute value."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    # an XML parser normalizes line ends in attributes to spaces
    return text.replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")


class _OpenElement(Struct, frozen=True):
    tag: str
    """Lower-case HTML name."""
    written: str
    """Name in the output; empty if only the content of the element is written."""
    namespace: str
    """XML namespace of the elements inside this element."""


class _Writer:
    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._parts: list[str] = []
        self._open: list[_OpenElement] = []
        self._omitted: list[str] = []
        self._has_math = self._has_svg = False

    def chapter(self) -> Chapter:
        self._close_until(0)
        return Chapter("".join(self._parts), self._has_math, self._has_svg)

    def start(self, written: Tag, source: str) -> None:
        """Write a start tag, unless the element is omitted. source: the tag as written in the page."""
        tag = written.name
        if tag in _REMOVED_ELEMENTS:
            if tag not in VOID_ELEMENTS and not written.is_closed:
                self._omitted.append(tag)
            return
        if self._omitted or tag in _OMITTED_VOID:
            return
        self._close_left_open(tag)
        values = dict(written.attributes)
        if tag == "video":
            self._show_poster(values)
        if tag in ("iframe", "audio", "video"):
            self._link_to(values.get("src", ""), values.get("title", ""))
        self._start(tag, values, source)
        is_closed = written.is_closed and self._open[-1].namespace != XHTML
        if tag in VOID_ELEMENTS or is_closed:
            self._close_last()

    def close(self, tag: str) -> None:
        if self._omitted:
            if tag == self._omitted[-1]:
                self._omitted.pop()
            return
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index].tag == tag:
                self._close_until(index)
                return

    def add_text(self, data: str) -> None:
        if not self._omitted:
            self._parts.append(data.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))

    def _start(self, tag: str, values: dict[str, str], source: str) -> None:
        """Write a start tag and push the element onto the stack of open elements."""
        outer = self._open[-1].namespace if self._open else XHTML
        is_leaf_text = bool(self._open) and self._open[-1].tag in ("mtext", "foreignobject")
        own = {"math": MATHML, "svg": SVG}.get(tag, XHTML if is_leaf_text else outer)
        written = "" if tag in _UNWRAPPED and own == XHTML else _written_name(tag, source, own)
        if len(self._open) > _MAX_DEPTH or not _ATTRIBUTE_NAME.fullmatch(tag):
            written = ""
        if own == XHTML and written:
            written = self._with_address(tag, values, written)
        if written:
            self._has_math |= tag == "math"
            self._has_svg |= tag == "svg"
            names = _written_names(source) if own == SVG else {}
            attributes = _attributes(values, names, own)
            if own != outer or tag in ("math", "svg"):
                attributes = f' xmlns="{own}"{attributes}'
            self._parts.append(f"<{written}{attributes}>")
        self._open.append(_OpenElement(tag, written, own))

    def _with_address(self, tag: str, values: dict[str, str], written: str) -> str:
        """Resolve the URL of an element and return the element name to write.

        A link without a target becomes a `span`. For an image without a target, write its alt text and return
        an empty name.
        """
        name = "src" if tag == "img" else "href"
        if tag not in ("a", "img") or name not in values:
            return "span" if tag in ("a", "img") else written
        address = self._resolve(tag, values[name])
        if address:
            values[name] = address
            if tag == "img":
                values.setdefault("alt", "")
            return written
        del values[name]
        if tag == "img":
            self._parts.append(escape_xml(values.get("alt", "")))
            return ""
        return "span"

    def _show_poster(self, values: dict[str, str]) -> None:
        """Write the poster of a video, because books do not play videos. If there is no poster, write its
        label."""
        address = self._resolve("img", values["poster"]) if values.get("poster") else ""
        words = escape_xml(values.get("aria-label", ""))
        if address:
            self._parts.append(f'<img src="{escape_xml(address)}" alt="{words}"/>')
        elif words:
            self._parts.append(f"<span>{words}</span> ")

    def _link_to(self, address: str, title: str) -> None:
        """Write a link to media that a book does not play."""
        address = self._resolve("a", address) if address else ""
        if address:
            self._parts.append(f'<a href="{escape_xml(address)}">{escape_xml(title or address)}</a>')

    def _close_left_open(self, tag: str) -> None:
        if tag in _CLOSES_PARAGRAPH and self._open and self._open[-1].tag == "p":
            self._close_last()
        ended = _CLOSED_BY.get(tag, ())
        while self._open and self._open[-1].tag in ended:
            self._close_last()

    def _close_until(self, index: int) -> None:
        """Close all open elements from the innermost to the one at `index`."""
        while len(self._open) > index:
            self._close_last()

    def _close_last(self) -> None:
        closed = self._open.pop()
        if not closed.written:
            return
        last = self._parts[-1]
        if last.startswith(f"<{closed.written}") and last.endswith(">") and closed.tag in VOID_ELEMENTS:
            self._parts[-1] = f"{last[:-1]}/>"
        else:
            self._parts.append(f"</{closed.written}>")


def _written_name(tag: str, raw: str, namespace: str) -> str:
    """Return the name of an element to write. SVG names are case-sensitive, but `Tag` has them in lower
    case."""
    found = _RAW_NAME.match(raw, 1) if namespace == SVG else None
    return found[0] if found and found[0].lower() == tag else tag


def _written_names(raw: str) -> dict[str, str]:
    """Map lower-case attribute names of an SVG element to their original spelling."""
    return {found[0].lower(): found[0] for found in _RAW_NAME.finditer(raw)}


def _is_style_for_pages(value: str) -> bool:
    """Return whether a style is omitted in books, because it loads a file or sets only properties that our
    themes define."""
    return "url(" in value.lower() or value.startswith("--")


def _attributes(values: dict[str, str], names: dict[str, str], namespace: str) -> str:
    parts = []
    for name, value in values.items():
        if name.startswith(("on", "data-", "xmlns")) or (namespace == XHTML and name in _NOT_IN_BOOKS):
            continue
        if namespace == MATHML and (name.startswith("aria-") or name in _NOT_IN_MATHML_3):
            # `alttext` has the same content
            continue
        if namespace == SVG and name in ("href", "xlink:href"):
            if not value.startswith("#"):
                continue
            if name == "xlink:href":
                parts.append(f' xmlns:xlink="{XLINK}"')
        elif not _ATTRIBUTE_NAME.fullmatch(name) or (name == "style" and _is_style_for_pages(value)):
            continue
        # XML requires a value; for boolean attributes such as `open`, it is the attribute's name
        written = value if value or name in _EMPTY_ALLOWED else name
        parts.append(f' {names.get(name, name)}="{escape_xml(written)}"')
    return "".join(parts)
