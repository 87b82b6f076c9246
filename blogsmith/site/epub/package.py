"""The file of a book: its package document, its contents, and all of it in one archive.

Source: EPUB 3.3, https://www.w3.org/TR/epub-33/, and EPUB Accessibility 1.1. The same book gives the same
bytes: nothing in it says when it was made.
"""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Iterator, Sequence

from msgspec import Struct

from .xhtml import escape_xml

MEDIA_TYPES = {
    ".css": "text/css",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".xhtml": "application/xhtml+xml",
}
"""Ending of a file → its media type; what every reading device knows."""

_CONTAINER = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>\n"
)
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive can say."""


class Entry(Struct, frozen=True):
    """A line of the contents."""

    title: str
    address: str
    """Of the chapter, or of a heading in it."""
    entries: tuple[Entry, ...] = ()


class BookFile(Struct, frozen=True):
    """A file of the book."""

    name: str
    data: bytes
    properties: str = ""
    """Of its kind in the manifest, such as `mathml`."""

    @property
    def suffix(self) -> str:
        """The ending of its name."""
        return f".{self.name.rpartition('.')[2].lower()}"


class BookFacts(Struct, frozen=True):
    """What a library knows of a book."""

    identifier: str
    """A URL or URN that no other book has."""
    title: str
    language: str
    modified: dt.datetime
    authors: tuple[str, ...] = ()
    description: str = ""
    publisher: str = ""
    source: str = ""
    """URL of what it was made from."""
    rights: str = ""
    is_right_to_left: bool = False


def pack_book(
    facts: BookFacts,
    chapters: Sequence[BookFile],
    files: Sequence[BookFile],
    contents: Sequence[Entry],
    contents_title: str,
) -> bytes:
    """The bytes of the book. chapters: in the order they are read. files: what they name."""
    package = _package(facts, chapters, files)
    nav = BookFile("nav.xhtml", _nav(facts, contents, contents_title).encode(), "nav")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        # reading devices look for it at a fixed place
        _add(archive, "mimetype", b"application/epub+zip", zipfile.ZIP_STORED)
        _add(archive, "META-INF/container.xml", _CONTAINER.encode())
        _add(archive, "book/package.opf", package.encode())
        for file in (nav, *chapters, *files):
            _add(archive, f"book/{file.name}", file.data)
    return stream.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = method
    info.external_attr = 0o644 << 16
    # else it names the system it was made on
    info.create_system = 3
    archive.writestr(info, data)


def _package(facts: BookFacts, chapters: Sequence[BookFile], files: Sequence[BookFile]) -> str:
    items = [BookFile("nav.xhtml", b"", "nav"), *chapters, *files]
    ids = {file.name: f"f{number}" for number, file in enumerate(items)}
    manifest = "\n".join(
        f'<item id="{ids[file.name]}" href="{escape_xml(file.name)}" media-type="{MEDIA_TYPES[file.suffix]}"'
        + (f' properties="{file.properties}"/>' if file.properties else "/>")
        for file in items
    )
    spine = "\n".join(f'<itemref idref="{ids[chapter.name]}"/>' for chapter in chapters)
    direction = ' page-progression-direction="rtl"' if facts.is_right_to_left else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"'
        f' xml:lang="{escape_xml(facts.language)}">\n'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        + "\n".join(_metadata(facts, has_math=any("mathml" in chapter.properties for chapter in chapters)))
        + f"\n</metadata>\n<manifest>\n{manifest}\n</manifest>\n"
        + f"<spine{direction}>\n{spine}\n</spine>\n</package>\n"
    )


def _metadata(facts: BookFacts, *, has_math: bool) -> Iterator[str]:
    yield f'<dc:identifier id="id">{escape_xml(facts.identifier)}</dc:identifier>'
    yield f"<dc:title>{escape_xml(facts.title)}</dc:title>"
    yield f"<dc:language>{escape_xml(facts.language)}</dc:language>"
    for author in facts.authors:
        yield f"<dc:creator>{escape_xml(author)}</dc:creator>"
    others = {
        "description": facts.description,
        "publisher": facts.publisher,
        "source": facts.source,
        "rights": facts.rights,
    }
    for name, value in others.items():
        if value:
            yield f"<dc:{name}>{escape_xml(value)}</dc:{name}>"
    modified = facts.modified.astimezone(dt.UTC)
    yield f'<meta property="dcterms:modified">{modified:%Y-%m-%dT%H:%M:%SZ}</meta>'
    features = ["tableOfContents", "readingOrder", "structuralNavigation", *(["MathML"] if has_math else [])]
    for feature in features:
        yield f'<meta property="schema:accessibilityFeature">{feature}</meta>'
    for mode in ("textual", "visual"):
        yield f'<meta property="schema:accessMode">{mode}</meta>'
    yield '<meta property="schema:accessibilityHazard">unknown</meta>'


def _nav(facts: BookFacts, contents: Sequence[Entry], title: str) -> str:
    direction = "rtl" if facts.is_right_to_left else "ltr"
    body = f'<nav epub:type="toc" role="doc-toc"><h1>{escape_xml(title)}</h1>{_entries(contents)}</nav>'
    return xhtml_document(title, body, facts.language, direction)


def _entries(entries: Sequence[Entry]) -> str:
    items = "".join(
        f'<li><a href="{escape_xml(entry.address)}">{escape_xml(entry.title)}</a>'
        f"{_entries(entry.entries) if entry.entries else ''}</li>\n"
        for entry in entries
    )
    return f"<ol>\n{items}</ol>"


def xhtml_document(title: str, body: str, language: str, direction: str) -> str:
    """A page of the book."""
    language = escape_xml(language)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
        f' lang="{language}" xml:lang="{language}" dir="{direction}">\n'
        f"<head><title>{escape_xml(title)}</title>"
        '<link rel="stylesheet" type="text/css" href="book.css"/></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )
