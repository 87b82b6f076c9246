"""Reads pages of the site as chapters, with their links and images."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from ..api.books import (
    BookSource,
    Diagnostic,
    PageView,
    Place,
    decode_base64,
    formula_words,
    host_url,
    lazy_pattern,
    outside_address,
    percent_encode,
    plural,
    spoken_text,
)
from . import document as d
from .compiler import add_image
from .elements import read_elements
from .formulas import standalone_svg
from .reader import PageReader

_DATA = lazy_pattern(r"data:image/(png|jpe?g|gif|webp|avif);base64,", re.IGNORECASE)


class ChapterReader:
    """Reads pages, and copies the images on these pages to a folder."""

    def __init__(self, book: BookSource, folder: Path) -> None:
        self._book = book
        self._folder = folder
        self._host = host_url(book.site.config)
        self._numbers = {page.url: number for number, page in enumerate(book.pages, 1)}
        self._images: dict[str, str] = {}
        self.warnings: list[Diagnostic] = []

    def read(self) -> list[d.PaperChapter]:
        """Return the pages as chapters."""
        return [
            self._chapter(page, number)
            for page, number in zip(self._book.pages, self._numbers.values(), strict=True)
        ]

    def _warn(self, code: str, message: str, hint: str, path: str = "") -> None:
        self.warnings.append(Diagnostic(code, message, path, hint=hint, severity="warning"))

    def _warn_at(self, text: str, code: str, message: str, hint: str, path: str = "") -> None:
        """Report a warning about `text` in the page `path`, or in any page if `path` is empty."""
        self.warnings.append(self._locate(text, code, message, hint, path))

    def _locate(self, text: str, code: str, message: str, hint: str, path: str = "") -> Diagnostic:
        """Return a warning about `text` in the page `path`, or in any page if `path` is empty. The warning
        has a location if a source file contains the text unchanged."""
        paths = [path] if path else [page.path for page in self._book.pages]
        for document in self._book.site.resolved.loaded.documents:
            at = document.source.text.find(text) if str(document.path) in paths else -1
            if at >= 0:
                start = document.source.text.rfind("\n", 0, at) + 1
                line = document.source.text[start:].partition("\n")[0]
                place = Place(document.source.text.count("\n", 0, at) + 1, at - start + 1, max(1, len(text)))
                return Diagnostic(code, message, str(document.path), place, line, hint, "warning")
        path = paths[0] if len(paths) == 1 else ""
        return Diagnostic(code, message, path, hint=hint, severity="warning")

    def _chapter(self, page: PageView, number: int) -> d.PaperChapter:
        language = self._book.site.frame.find_language(page.lang)
        reader = PageReader(
            lambda address: self._resolve(number, address),
            self._image_path,
            lambda math: formula_words(math, page.lang),
            number,
        )
        content = reader.read(read_elements(page.content))
        title = reader.inline(read_elements(page.heading_html or page.title_html).children)
        description = reader.inline(read_elements(page.description_html).children)
        if reader.statics:
            forms = [plural(count, name) for name, count in sorted(reader.statics.items())]
            message = f"missing in the PDF, with a static form instead: {', '.join(forms)}"
            self._warn("pdf-static", message, "link to the page where readers need it", page.path)
        people = page.citation.authors if page.citation else ()
        orcids = {person.name: person.orcid for person in people}
        return d.PaperChapter(
            title=title,
            plain_title=spoken_text(page.title, page.title_html),
            content=content,
            anchor=f"{number}-",
            lang=page.lang,
            subtitle=page.subtitle,
            description=description,
            date=language.format_date(page.date) if page.date else "",
            authors=tuple((name, orcids.get(name, "")) for name in page.authors),
            doi=page.citation.doi if page.citation else "",
            url=page.canonical_url,
        )

    # links and images

    def _resolve(self, number: int, address: str) -> str:
        """Return the target of a link. For a page in the document, this is `#` and an anchor; otherwise it is
        an absolute URL. Empty if the link has no target."""
        address = address.strip()
        if address.startswith("#"):
            return f"#{number}-{unquote(address[1:])}"
        if (path := self._site_path(address)) is not None:
            path, _, fragment = path.partition("#")
            if path in self._numbers:
                return f"#{self._numbers[path]}-{unquote(fragment)}"
            return (
                percent_encode(f"{self._host}{path}{'#' if fragment else ''}{fragment}") if self._host else ""
            )
        return outside_address(address)

    def _site_path(self, address: str) -> str | None:
        """Return the path of a URL on the site; None for other URLs."""
        if self._host and address.startswith(f"{self._host}/"):
            return address.removeprefix(self._host)
        return address if address.startswith("/") and not address.startswith("//") else None

    def _image_path(self, address: str) -> str:
        """Return the path of an image on the site, and add its file to the document; empty if there is no
        file."""
        if written := _DATA.match(address):
            if address not in self._images:
                suffix = f".{written[1].lower().replace('jpeg', 'jpg')}"
                name, pasted = f"image-{len(self._images) + 1}", decode_base64(address[written.end() :])
                self._images[address] = self._add_image(name, pasted, suffix) if pasted else ""
            return address if self._images[address] else ""
        path = self._site_path(address.strip())
        path = unquote(path.partition("?")[0].partition("#")[0]) if path else ""
        if path and path not in self._images:
            data = self._book.read_file(path)
            suffix = f".{path.rpartition('.')[2].lower()}"
            name = f"image-{len(self._images) + 1}"
            self._images[path] = self._add_image(name, data, suffix) if data is not None else ""
        return path if path and self._images[path] else ""

    def _name_image(self, image: d.PaperPicture) -> str:
        key = image.path or image.svg
        if key not in self._images:
            data = standalone_svg(image.svg).encode()
            self._images[key] = self._add_image(f"image-{len(self._images) + 1}", data, ".svg")
        return self._images[key]

    def _add_image(self, name: str, data: bytes, suffix: str) -> str:
        """Add an image and return its file name; empty if its format is unsupported."""
        return add_image(self._folder, name, data, suffix)
