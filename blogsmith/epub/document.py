"""Makes an e-book from pages of the site, with its chapters, their images, links between them, and
metadata."""

from __future__ import annotations

import datetime as dt
import io
import uuid
import zipfile
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from urllib.parse import quote, unquote

from msgspec import Struct

from ..api.books import (
    Config,
    Language,
    PageView,
    TocEntry,
    feed_html,
    host_url,
    lazy_pattern,
    outside_address,
    percent_encode,
    spoken_text,
    without_control_characters,
)
from .xhtml import Chapter, escape_xml, read_xhtml

ReadFile = Callable[[str], bytes | None]
"""Function that returns the bytes of the file at a path, which includes the base path; None if there is no
file."""

FONT = "math"
"""Name of the font of formulas in the book, without suffix."""
_NUMBER = lazy_pattern(r'<span class="heading-number">([^<]*)</span> ')
_ID = lazy_pattern(r' id="([^"]*)"')
_NOTE_MARK = lazy_pattern(r'(<sup class="footnote-ref"[^>]*><a )')
_NOTE = lazy_pattern(r'(<li )(id="fn-)')
_DOCUMENT_TYPE = lazy_pattern(r"<!DOCTYPE[^>\[]{0,1000}>")
_PATH_WITHOUT_DATA = lazy_pattern(r"<path(?=[\s/>])(?![^<>]{0,1000000}\sd=)")
_NO_DATE = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)
_ON_TITLE_PAGE = 3
"""Maximum number of authors on the title page; more do not fit on a line."""


class BookRequest(Struct, frozen=True):
    """Input of `make_book`."""

    pages: tuple[PageView, ...]
    """Pages in reading order."""
    title: str
    config: Config
    language: Language
    """Language of headings such as “Contents”."""
    font: bytes = b""
    """WOFF2 with the symbols of the formulas; if empty, formulas use the fonts of the reading device."""
    font_face: str = ""
    """The `@font-face` rule of `FONT`."""


def make_book(request: BookRequest, read_file: ReadFile) -> bytes:
    """Return an EPUB 3 file with a chapter for each page. read_file: see `ReadFile`."""
    binding = _BookBuilder(request, read_file)
    chapters = [binding.chapter(page) for page in request.pages]
    if len(request.pages) > 1:
        chapters.insert(0, binding.title_page())
    contents = [
        Entry(_title(page), binding.names[page.url], _headings(page.toc, binding.names[page.url]))
        for page in request.pages
    ]
    style = files(__package__).joinpath("book.css").read_bytes()
    pictures = [binding.pictures[path] for path in sorted(binding.pictures)]
    fonts = [BookFile(f"{FONT}.woff2", request.font)] if request.font else []
    sheet = BookFile("book.css", request.font_face.encode() + style)
    title = request.language.translate("Contents")
    return pack_book(_facts(request), chapters, [sheet, *fonts, *pictures], contents, title)


class _BookBuilder:
    """Converts chapters and collects the images they refer to."""

    def __init__(self, request: BookRequest, read_file: ReadFile) -> None:
        self._request = request
        self._read_file = read_file
        self._host = host_url(request.config)
        self.names = {page.url: f"chapter-{number}.xhtml" for number, page in enumerate(request.pages, 1)}
        self._html = {page.url: feed_html(page, request.config) for page in request.pages}
        self._ids = {url: frozenset(_ID.findall(html)) for url, html in self._html.items()}
        self.pictures: dict[str, BookFile] = {}

    def chapter(self, page: PageView) -> BookFile:
        text = read_xhtml(self._html[page.url], lambda tag, address: self._resolve(page, tag, address))
        title = read_xhtml(page.title_html, lambda tag, address: "")
        body = _with_notes(text.body)
        head = f"<h1>{_number(page.heading_html)}{title.body}</h1>\n{_byline(page, self._request.language)}"
        html = (
            f'<section epub:type="chapter" role="doc-chapter">\n<header>{head}</header>\n{body}\n</section>'
        )
        document = xhtml_document(_title(page), html, page.lang, page.direction)
        return BookFile(self.names[page.url], document.encode(), _properties((text, title)))

    def title_page(self) -> BookFile:
        """Return the title page of a book with several chapters."""
        request, facts = self._request, _facts(self._request)
        authors = ", ".join(facts.authors[:_ON_TITLE_PAGE]) + (
            " …" if len(facts.authors) > _ON_TITLE_PAGE else ""
        )
        lines = [f"<h1>{escape_xml(request.title)}</h1>"]
        lines += [f'<p class="byline">{escape_xml(text)}</p>' for text in (authors, facts.publisher) if text]
        if facts.source:
            lines.append(
                f'<p class="byline"><a href="{escape_xml(facts.source)}">{escape_xml(facts.source)}</a></p>'
            )
        text = "\n".join(lines)
        body = f'<section class="title-page" epub:type="titlepage">\n{text}\n</section>'
        direction = "rtl" if facts.is_right_to_left else "ltr"
        return BookFile(
            "title.xhtml", xhtml_document(request.title, body, facts.language, direction).encode()
        )

    def _resolve(self, page: PageView, tag: str, address: str) -> str:
        """Resolve a URL of the page to a URL in the book; empty if it has no target."""
        address = address.strip()
        if address.startswith(f"{self._host}/") or (not self._host and address.startswith("/")):
            local = address.removeprefix(self._host)
            path, _, fragment = local.partition("#")
            if tag == "img":
                return self._picture(unquote(path.partition("?")[0]))
            if path in self.names:
                return self._in_book(page, path, fragment)
            return percent_encode(address) if self._host else ""
        if tag == "img":
            return ""
        if address.startswith("#"):
            return self._in_book(page, page.url, address[1:])
        return outside_address(address)

    def _in_book(self, page: PageView, url: str, fragment: str) -> str:
        fragment = unquote(fragment)
        anchor = f"#{quote(fragment)}" if fragment in self._ids[url] else ""
        return anchor if anchor and url == page.url else f"{self.names[url]}{anchor}"

    def _picture(self, path: str) -> str:
        """Return the name that an image of the site has in the book; empty if the image does not exist."""
        suffix = f".{path.rpartition('.')[2].lower()}"
        if path not in self.pictures:
            data = self._read_file(path) if MEDIA_TYPES.get(suffix, "").startswith("image/") else None
            if data is None:
                return ""
            data = _clean_svg(data) if suffix == ".svg" else data
            self.pictures[path] = BookFile(f"picture-{len(self.pictures) + 1}{suffix}", data)
        return self.pictures[path].name


def _clean_svg(data: bytes) -> bytes:
    """Return an SVG image without constructs that EPUB forbids.

    These are a document type, which refers to an external file, and paths without data. An image that is not
    UTF-8 is returned unchanged.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return _PATH_WITHOUT_DATA.sub('<path d=""', _DOCUMENT_TYPE.sub("", text, count=1)).encode()


def _with_notes(body: str) -> str:
    """Mark footnotes so that reading devices show them in a popup."""
    body = _NOTE_MARK.sub(r'\1epub:type="noteref" ', body)
    return _NOTE.sub(r'\1epub:type="footnote" \2', body)


def _headings(entries: Sequence[TocEntry], name: str) -> tuple[Entry, ...]:
    return tuple(
        Entry(_number(entry.html) + spoken_text(entry.text, entry.html), f"{name}#{quote(entry.id)}")
        for entry in entries
    )


def _title(page: PageView) -> str:
    """Return the title of a page as plain text, for reading devices that show no formulas."""
    return _number(page.heading_html) + spoken_text(page.title, page.title_html)


def _number(heading: str) -> str:
    """Return the number at the start of a heading, followed by a space; empty for a heading without a
    number."""
    found = _NUMBER.match(heading)
    return f"{found[1]} " if found else ""


def _byline(page: PageView, language: Language) -> str:
    lines = [f'<p class="subtitle">{escape_xml(page.subtitle)}</p>'] if page.subtitle else []
    date = language.format_date(page.date) if page.date else ""
    facts = " · ".join(part for part in (", ".join(page.authors), date) if part)
    if facts:
        lines.append(f'<p class="byline">{escape_xml(facts)}</p>')
    return "\n".join(lines)


def _properties(parts: Sequence[Chapter]) -> str:
    names = (
        "mathml" if any(part.has_math for part in parts) else "",
        "svg" if any(part.has_svg for part in parts) else "",
    )
    return " ".join(name for name in names if name)


def _facts(request: BookRequest) -> BookMetadata:
    pages, config = request.pages, request.config
    authors = tuple(dict.fromkeys(name for page in pages for name in page.authors))
    sources = [page.canonical_url for page in pages if page.canonical_url.startswith("http")]
    source = sources[0] if len(pages) == 1 and sources else config.base_url
    # a book of several pages has no URL of its own
    names = "\n".join((config.base_url or config.title, request.title, *(page.url for page in pages)))
    own = source if len(pages) == 1 and sources else f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, names)}"
    dates = [date for page in pages for date in (page.updated, page.date) if date]
    licenses = {page.citation.license for page in pages if page.citation and page.citation.license}
    return BookMetadata(
        identifier=own,
        title=without_control_characters(request.title),
        language=request.language.tag,
        modified=max(dates, default=_NO_DATE),
        authors=authors or tuple(filter(None, (config.author,))),
        description=pages[0].description if len(pages) == 1 else "",
        publisher=config.title,
        source=source,
        rights=", ".join(sorted(licenses)),
        is_right_to_left=request.language.direction == "rtl",
    )


# The book file: package document, table of contents and the archive.
#
# Source: EPUB 3.3, https://www.w3.org/TR/epub-33/, and EPUB Accessibility 1.1. The output is reproducible:
# it does not contain the time of its creation.


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
"""File name extension → media type, for the types that every reading device supports."""

_CONTAINER = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>\n"
)
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Earliest timestamp in a ZIP archive."""


class Entry(Struct, frozen=True):
    """An entry of the table of contents."""

    title: str
    address: str
    """URL of the chapter, or of a heading in it."""
    entries: tuple[Entry, ...] = ()


class BookFile(Struct, frozen=True):
    """A file of the book."""

    name: str
    data: bytes
    properties: str = ""
    """Manifest properties, such as `mathml`."""

    @property
    def suffix(self) -> str:
        """The file name extension, in lower case."""
        return f".{self.name.rpartition('.')[2].lower()}"


class BookMetadata(Struct, frozen=True):
    """Metadata of a book."""

    identifier: str
    """A URL or URN that is unique to this book."""
    title: str
    language: str
    modified: dt.datetime
    authors: tuple[str, ...] = ()
    description: str = ""
    publisher: str = ""
    source: str = ""
    """URL of the source page or site."""
    rights: str = ""
    is_right_to_left: bool = False


def pack_book(
    facts: BookMetadata,
    chapters: Sequence[BookFile],
    files: Sequence[BookFile],
    contents: Sequence[Entry],
    contents_title: str,
) -> bytes:
    """Return the EPUB file. chapters: in reading order. files: images and other files that chapters refer to.
    contents: entries of the table of contents. contents_title: its title."""
    package = _package(facts, chapters, files)
    nav = BookFile("nav.xhtml", _nav(facts, contents, contents_title).encode(), "nav")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        # must be the first file and uncompressed, as reading devices expect
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
    # fixed, since `ZipInfo` otherwise records the operating system
    info.create_system = 3
    archive.writestr(info, data)


def _package(facts: BookMetadata, chapters: Sequence[BookFile], files: Sequence[BookFile]) -> str:
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


def _metadata(facts: BookMetadata, *, has_math: bool) -> Iterator[str]:
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


def _nav(facts: BookMetadata, contents: Sequence[Entry], title: str) -> str:
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
    """Return a page of the book as XHTML."""
    language = escape_xml(language)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
        f' lang="{language}" xml:lang="{language}" dir="{direction}">\n'
        f"<head><title>{escape_xml(title)}</title>"
        '<link rel="stylesheet" type="text/css" href="book.css"/></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )
