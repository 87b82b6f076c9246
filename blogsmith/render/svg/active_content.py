"""Active content of SVG files: scripts, HTML and external URLs, which run or load if the file is opened by
itself.

In an `<img>`, browsers run none of it. The file is therefore published unchanged, and the author is warned. A
search for a few words rules out most files; only the others are parsed as XML.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType

from ...base.diagnostics.model import Diagnostic, Place, Reporter, find_word_range
from ...base.patterns import lazy_pattern
from ...base.storage.folder import open_real_file
from ...model.documents import Asset

CODE = "svg-active"
SUFFIX = ".svg"
_HINT = "remove it: a tab that opens the file runs or loads it; or add `svg-active` to `diagnostics: ignore:`"
_MAX_BYTES = 20_000_000
_MOST = 5
"""Maximum number of warnings for one file."""
_WORDS = (
    b"script",
    b"foreignobject",
    b"<!entity",
    b"xml-stylesheet",
    b"@import",
    b"xhtml",
    b"attributename",
    b"\0",
)
_SIGNS = (
    lazy_pattern(rb"on[a-z]{3,}+\s*+="),
    # URLs outside the file.
    lazy_pattern(rb"href\s*+=\s*+[\"'](?!#)"),
    lazy_pattern(rb"url\(\s*+[\"']?+(?!#)"),
)
_EVENT = lazy_pattern(r"on[a-z]+", re.IGNORECASE)
_SCRIPTED = lazy_pattern(r"[\x00-\x20]*(?:java|vb)script:|[\x00-\x20]*data:text/html", re.IGNORECASE)
_REMOTE_URL = lazy_pattern(r"\s*(?:[a-z][a-z0-9+.-]*:)?//\S*", re.IGNORECASE)
_CSS_ELSEWHERE = lazy_pattern(r"""(?:@import\s+|url\(\s*)["']?((?:https?:)?//[^"')\s;]+)""", re.IGNORECASE)
_SVG = "http://www.w3.org/2000/svg"
_XHTML = "http://www.w3.org/1999/xhtml"
_LOADING = frozenset(("image", "use", "feImage", "script", "mpath", "tref", "cursor", "font-face-uri"))
_RUNNING = frozenset(("script", "handler", "listener"))
_CHANGING = frozenset(("set", "animate"))
_BYTE_ORDERS: Mapping[bytes, str] = MappingProxyType(
    {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
)


def svg_warnings(asset: Asset) -> tuple[Diagnostic, ...]:
    """Return the warnings about a file; empty for files that are not SVG, too large or unreadable."""
    if asset.path.suffix.lower() != SUFFIX or asset.size > _MAX_BYTES:
        return ()
    try:
        with open_real_file(asset.file) as file:
            data = file.read()
    except OSError:
        # the error is reported when the file is copied
        return ()
    return active_content(data, asset.path.as_posix()) if _is_suspect(data.lower()) else ()


def _is_suspect(low: bytes) -> bool:
    return any(word in low for word in _WORDS) or any(sign.search(low) for sign in _SIGNS)


def active_content(data: bytes, path: str) -> tuple[Diagnostic, ...]:
    """Return a warning for each kind of active content, where it first occurs."""
    return _parse(data, path)[0]


def is_harmless(data: bytes) -> bool:
    """Return whether an SVG is well-formed and has no active content outside of comments."""
    found, is_well_formed = _parse(data, "")
    return is_well_formed and not found


def _parse(data: bytes, path: str) -> tuple[tuple[Diagnostic, ...], bool]:
    """Return the first warnings about an SVG file, and whether it is well-formed."""
    encoding = next((name for mark, name in _BYTE_ORDERS.items() if data.startswith(mark)), "utf-8")
    text = data.decode(encoding, "replace")
    # imported here, because few sites have a file that needs it
    from xml.parsers import expat

    reading = _SvgParser(Reporter(path, re.split(r"\r\n?|\n", text)))
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.ordered_attributes = True

    def place() -> Place:
        return Place(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    parser.StartElementHandler = lambda name, attributes: reading.start(name, attributes, place())
    parser.EndElementHandler = lambda name: reading.end()
    parser.CharacterDataHandler = lambda text: reading.characters(text, place())
    parser.ProcessingInstructionHandler = lambda target, _: reading.instruction(target, place())
    parser.EntityDeclHandler = lambda name, *_: reading.entity(name)
    # browsers show and run what precedes an XML error, so it is reported too
    is_well_formed = False
    with suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(data, True)
        is_well_formed = True
    return tuple(reading.reporter.diagnostics[:_MOST]), is_well_formed


class _SvgParser:
    """State while a file is parsed."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self._path: list[str] = []
        self._known: set[str] = set()

    def start(self, name: str, attributes: list[str], place: Place) -> None:
        space, _, local = name.rpartition(" ")
        self._path.append(local)
        if local in _RUNNING and space in (_SVG, _XHTML, ""):
            self._report(f'"<{local}>", which runs code', local, place)
        elif local == "foreignObject":
            self._report('"<foreignObject>", which contains HTML', "foreignObject", place)
        elif space == _XHTML and "foreignObject" not in self._path:
            self._report(f'the HTML element "<{local}>"', local, place)
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            for what in _active_attributes(local, key.rpartition(" ")[2], value):
                self._report(what, key.rpartition(" ")[2], place)

    def end(self) -> None:
        self._path.pop()

    def characters(self, text: str, place: Place) -> None:
        if self._path[-1:] == ["style"]:
            for found in _CSS_ELSEWHERE.finditer(text):
                self._report(f'a stylesheet that loads "{found[1]}"', found[1], place)

    def instruction(self, target: str, place: Place) -> None:
        if target == "xml-stylesheet":
            self._report('"<?xml-stylesheet?>", which loads another file', target, place)

    def entity(self, name: str) -> None:
        # the parser's position is already after the declaration
        self._report(f'a declaration of the entity "{name}"', f"<!ENTITY {name}", Place(1, 1))

    def _report(self, what: str, word: str, place: Place) -> None:
        if what not in self._known:
            self._known.add(what)
            at = find_word_range(word, place, self.reporter.lines)
            self.reporter.warn(CODE, f"this SVG contains {what}", at, _HINT)


def _active_attributes(element: str, name: str, value: str) -> Iterator[str]:
    """Yield a description of the active content in an attribute."""
    if _EVENT.fullmatch(name):
        yield f'the attribute "{name}", which runs a script'
    if name in ("href", "src", "to", "from", "values") and any(map(_SCRIPTED.match, value.split(";"))):
        yield f'a URL that runs a script in "{name}"'
    if name in ("href", "src") and element in _LOADING and _REMOTE_URL.match(value):
        yield f'"<{element}>", which loads "{value.strip()}"'
    if name == "attributeName" and element in _CHANGING and value.rpartition(":")[2] == "href":
        yield f'"<{element}>", which changes the URL of a link'
    for found in _CSS_ELSEWHERE.finditer(value):
        yield f'a style that loads "{found[1]}"'


Inspect = Callable[[Asset], tuple[Diagnostic, ...]]
"""Function like `svg_warnings`, possibly with a cache."""
