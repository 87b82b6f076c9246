"""Conversion of pages of the site to a PDF."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from ..api.books import (
    BookSource,
    BuildOptions,
    Diagnostic,
    PageView,
    Progress,
    SiteError,
    SiteSnapshot,
    no_progress,
    open_pages,
    spoken_text,
    temporary_folder,
)
from .chapters import ChapterReader
from .compiler import (
    MAIN,
    CompileFailedError,
    add_file,
    add_font,
    compile_folder,
    families,
    missing_text,
    require_compiler,
)
from .typst import PaperFacts, RejectedContent, TypstFile, write_document

TEMPLATES = ("article", "lecture-notes")
_TEXT_FONT, _MATH_FONT, _CODE_FONT = "Libertinus Serif", "New Computer Modern Math", "DejaVu Sans Mono"
"""Fonts that are part of the compiler."""
_MAX_TRIES = 40
"""Maximum number of compilations. Each compilation may reject one more formula or image."""
_NO_DATE = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


class Paper(Struct, frozen=True):
    """A PDF made from pages of the site."""

    data: bytes
    name: str
    """Suggested file name, without extension."""
    pages: int
    """Number of pages of the site in the PDF."""
    warnings: tuple[Diagnostic, ...]


def make_paper(
    root: Path,
    posts: Sequence[str],
    options: BuildOptions,
    *,
    series: str = "",
    title: str = "",
    template: str = "",
    progress: Progress = no_progress,
) -> Paper:
    """Make a PDF of `posts` or a series. If neither is given, use all posts.

    template: a name in `TEMPLATES`, or the path of a Typst file; if empty, `article` for one page, otherwise
    `lecture-notes`. Raise SiteError if a name is unknown, the site has an error, or Typst rejects the
    template.
    """
    require_compiler()
    with open_pages(root, posts, options, series=series, title=title, progress=progress) as book:
        data, warnings = compile_paper(book, template)
        return Paper(data, book.name, len(book.pages), (*book.warnings, *warnings))


def compile_paper(book: BookSource, template: str = "") -> tuple[bytes, tuple[Diagnostic, ...]]:
    """Return the PDF of pages, with warnings about content that it cannot show. template: as in `make_paper`.

    Raise SiteError if Typst rejects the document.
    """
    with temporary_folder() as folder:
        _add_template(folder, template or TEMPLATES[len(book.pages) > 1])
        builder = _PaperBuilder(book, folder)
        return builder.compile(), tuple(builder.warnings)


def _add_template(folder: Path, template: str) -> None:
    own = files(__package__).joinpath("templates")
    add_file(folder, "functions.typ", own.joinpath("functions.typ").read_bytes())
    if template in TEMPLATES:
        data = own.joinpath(f"{template}.typ").read_bytes()
    else:
        try:
            data = Path(template).read_bytes()
        except OSError as error:
            hint = "write `article`, `lecture-notes`, or a file that ends in `.typ`"
            message = f'template "{template}" not found'
            raise SiteError(Diagnostic("pdf-compile", message, hint=hint)) from error
    add_file(folder, "template.typ", data)


class _PaperBuilder(ChapterReader):
    """Builder of one PDF: reads pages, collects their files, and compiles the document."""

    def compile(self) -> bytes:
        """Return the PDF. Replace and report the formulas and images that the compiler rejects."""
        chapters = self.read()
        facts = self._facts()
        rejected = RejectedContent()
        is_accessible, use_system_fonts = True, False
        stamp = int(max(page.updated or page.date or _NO_DATE for page in self._book.pages).timestamp())
        for _ in range(_MAX_TRIES):
            written = write_document(facts, chapters, self._name_image, rejected)
            add_file(self._folder, MAIN, written.text.encode())
            try:
                return compile_folder(
                    self._folder, stamp, is_accessible=is_accessible, use_system_fonts=use_system_fonts
                )
            except CompileFailedError as error:
                found = self._reject(error, written, rejected)
                if found is not None:
                    rejected = found
                elif (text := missing_text(error.message)) and not use_system_fonts:
                    use_system_fonts = True
                elif is_accessible:
                    is_accessible = False
                    self._warn_accessibility(error, text)
                else:
                    hint = "correct the Typst file of `--template`, if you named one"
                    message = f"invalid Typst document: {error.message}"
                    raise SiteError(Diagnostic("pdf-compile", message, hint=hint)) from error
        message = f"too many invalid formulas and images for Typst: more than {_MAX_TRIES - 1}"
        hint = "correct the formulas and images of the first warnings"
        raise SiteError(Diagnostic("pdf-compile", message, hint=hint))

    def _reject(
        self, error: CompileFailedError, written: TypstFile, rejected: RejectedContent
    ) -> RejectedContent | None:
        """Report the formula or image that the compiler's error names. Return `rejected` with this formula or
        image added, or None if the error names neither."""
        for name, line in error.places:
            if name == MAIN and line in written.formulas:
                page, tex = written.formulas[line]
                self._warn_formula(self._book.pages[page - 1], tex, error)
                return RejectedContent(rejected.formulas | {tex}, rejected.images)
            image = written.images.get(line, "") if name == MAIN else name
            if image in self._images.values():
                path = next(path for path, own in self._images.items() if own == image)
                shown = "drawing" if path.startswith("<") else path
                self._warn(
                    "pdf-rejected",
                    f'invalid image "{shown}" for Typst: {error.message}',
                    "save it again as PNG or SVG",
                )
                return RejectedContent(rejected.formulas, rejected.images | {image})
        return None

    def _warn_accessibility(self, error: CompileFailedError, text: str) -> None:
        if text:
            hint = "install a font with these characters; without the font, the PDF shows boxes"
            self._warn_at(text, "pdf-accessibility", f'missing font for "{text}"', hint)
        else:
            problem = error.message.removeprefix("PDF/UA-1 error: ")
            self._warn(
                "pdf-accessibility",
                f"invalid PDF/UA-1: {problem}",
                "correct this in the page: until then, the PDF is not tagged as accessible",
            )

    def _warn_formula(self, page: PageView, tex: str, error: CompileFailedError) -> None:
        first = next((line for line in tex.splitlines() if line.strip()), tex)
        message = f"invalid formula for Typst: {error.message.removeprefix('panicked with: ')}"
        hint = "write a simpler formula; this PDF shows the TeX"
        self._warn_at(first, "pdf-rejected", message, hint, page.path)

    # the document

    def _facts(self) -> PaperFacts:
        book, pages = self._book, self._book.pages
        people = {author: "" for page in pages for author in page.authors}
        people.update(
            {person.name: person.orcid for page in pages if page.citation for person in page.citation.authors}
        )
        dates = [date for page in pages for date in (page.updated, page.date) if date]
        date = max(dates, default=None)
        theme = book.site.context.theme.files
        found = enumerate(text_fonts(book.site))
        fonts = [add_font(self._folder, file, f"font-{number}") for number, file in found]
        if theme.math_font:
            fonts.append(add_font(self._folder, theme.math_font.asset.file, "font-math"))
        is_one = len(pages) == 1
        return PaperFacts(
            title=spoken_text(
                book.title, pages[0].title_html if is_one and book.title == pages[0].title else ""
            ),
            site=book.site.config.title,
            contents=book.language.translate("Contents"),
            lang=pages[0].lang,
            authors=tuple(people.items()),
            description=pages[0].description if is_one else "",
            keywords=tuple(dict.fromkeys(tag.title for page in pages for tag in page.tags)),
            date=(date.year, date.month, date.day) if date else None,
            fonts=families(fonts, "text", _TEXT_FONT),
            math_fonts=families(fonts, "math", _MATH_FONT),
            code_fonts=families(fonts, "code", _CODE_FONT),
        )


def text_fonts(site: SiteSnapshot) -> list[Path]:
    """Return the font files: first the font of social cards, which has all characters of the text, then the
    fonts of pages."""
    theme = site.context.theme.files
    fonts = [theme.static[name].asset.file for name in sorted(theme.static) if name.startswith("fonts/")]
    found = (file for file in fonts if file.suffix.startswith(".woff") and file != theme.card.font)
    return [*([theme.card.font] if theme.card.font else []), *found]
