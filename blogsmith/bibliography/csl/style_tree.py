"""Parses styles and locales into trees. Files with a document type are rejected, because its entities could
refer to other files.

Source: CSL 1.0.2 specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from xml.etree import ElementTree

from msgspec import Struct

from ...base.patterns import lazy_pattern

_DOCTYPE = lazy_pattern(r"<!\s*(?:DOCTYPE|ENTITY)", 2)
_SPACE = "{http://purl.org/net/xbiblio/csl}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
MOST_CHARACTERS = 1_000_000
MOST_DEPTH = 100
_LOCALES: Mapping[str, str] = {
    **{"de": "de-DE", "en": "en-US", "es": "es-ES", "fr": "fr-FR", "it": "it-IT", "ja": "ja-JP"},
    **{"nl": "nl-NL", "pl": "pl-PL", "pt": "pt-PT", "ru": "ru-RU", "zh": "zh-CN"},
}
_EXACT = frozenset(("en-GB", "pt-BR"))


class StyleError(Exception):
    """Error raised if a style cannot be used. The message gives the reason to the author."""


class StyleNode(Struct, frozen=True, eq=False):
    """An element of a style."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple[StyleNode, ...] = ()
    text: str = ""

    def get(self, name: str, default: str = "") -> str:
        """Return the value of an attribute, or `default` if it is missing."""
        return self.attributes.get(name, default)

    def has(self, name: str) -> bool:
        """Return whether the element has an attribute."""
        return name in self.attributes

    def find(self, tag: str) -> StyleNode | None:
        """Return the first child with this tag; None if there is none."""
        return next((child for child in self.children if child.tag == tag), None)

    def find_all(self, tag: str) -> Iterator[StyleNode]:
        """Return all children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def walk(self) -> Iterator[StyleNode]:
        """Yield the element and all its descendants."""
        yield self
        for child in self.children:
            yield from child.walk()


@lru_cache(maxsize=16)
def parse_csl(text: str) -> StyleNode:
    """Parse the XML of a style or locale. Raises `StyleError` if it is invalid."""
    if len(text) > MOST_CHARACTERS:
        raise StyleError("the file is too large for a style")
    if _DOCTYPE.search(text):
        raise StyleError("a document type (DOCTYPE) is not allowed in a style")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise StyleError(
            f"invalid XML at line {line}, column {column + 1}: {error.msg.partition(':')[0]}"
        ) from error
    return _node(root, 0)


def _node(element: ElementTree.Element, depth: int) -> StyleNode:
    if depth > MOST_DEPTH:
        raise StyleError("its elements are nested too deeply")
    attributes = {("lang" if name == _LANG else name): value for name, value in element.attrib.items()}
    children = tuple(_node(child, depth + 1) for child in element if isinstance(child.tag, str))
    return StyleNode(element.tag.removeprefix(_SPACE), attributes, children, element.text or "")


@lru_cache(maxsize=16)
def read_locale(language: str) -> StyleNode:
    """Return the locale of a language, or the English one if the language has none."""
    main = language.partition("-")[0].lower()
    name = language if language in _EXACT else _LOCALES.get(main, "en-US")
    package = __package__.rpartition(".")[0]
    return parse_csl((files(package) / "locales" / f"{name}.xml").read_text("utf-8"))
