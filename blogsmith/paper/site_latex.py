"""Makes a folder with LaTeX from pages of the site, for arXiv, journals and books."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..api.books import (
    BookSource,
    BuildOptions,
    Diagnostic,
    MacroTable,
    PageView,
    Place,
    Progress,
    SiteError,
    latex_definitions,
    lazy_pattern,
    list_choices,
    no_progress,
    open_pages,
    plural,
    read_macros,
    temporary_folder,
)
from . import document as d
from .chapters import ChapterReader
from .compiler import (
    CompileFailedError,
    add_file,
    add_image,
    convert_drawing,
    convert_image,
    require_compiler,
)
from .latex import LatexFile, write_chapters, write_inline
from .latex_macros import MacroChoice
from .latex_text import declare_characters, escape, find_passages, write_links

TEMPLATES = ("article", "lecture-notes", "amsart")
_PLACES = ("preamble", "title", "abstract", "contents", "body", "references")
_MAX_NAMED, _MAX_SHOWN = 3, 24
"""Maximum number of symbols in a warning, and of characters of a symbol."""
_MARKER = lazy_pattern(r"(?m)^[ \t]*% blogsmith: ([a-z]+)[ \t]*$")
_PACKAGES: Mapping[str, str] = {
    r"\\(?:[bx]?cancel|cancelto)\b": "cancel",
    r"\\mathscr\b": "mathrsfs",
    r"\\bm\b": "bm",
    r"\\begin\{tikzcd\}": "tikz-cd",
    r"\\begin\{CD\}": "amscd",
    r"\\xymatrix\b": "[all]{xy}",
    r"\\(?:(?:ll|rr)bracket|[lr]Brack)\b": "stmaryrd",
    r"\\(?:[Bb]raket|[Bb]ra|[Kk]et|[Ss]et)\b": "braket",
    r"\\(?:ce|cee|cf|pu)\b": "[version=4]{mhchem}",
    r"\\(?:(?:SI|si|qty|unit|num|complex)(?:num|qty|list|range|product)?|ang)(?![A-Za-z])": "siunitx",
    r"\\(?:tensor|indices)\b": "tensor",
    r"\\units(?![A-Za-z])|\\unitfrac\b": "units",
    r"\\inferrule\b": "mathpartir",
    r"\\hdashline\b": "arydshln",
    r"\\begin\{(?:sub)?numcases\}": "cases",
}
"""Pattern of TeX → LaTeX package that defines the matching command."""


class LatexFolder(Struct, frozen=True):
    """Files of a document in LaTeX."""

    files: Mapping[str, bytes]
    name: str
    """Suggested name of the folder."""
    pages: int
    """Number of pages of the site in the document."""
    warnings: tuple[Diagnostic, ...]


def make_latex(
    root: Path,
    posts: Sequence[str],
    options: BuildOptions,
    *,
    series: str = "",
    title: str = "",
    template: str = "",
    progress: Progress = no_progress,
) -> LatexFolder:
    """Make LaTeX files from `posts` or a series. If neither is given, use all posts.

    template: a name of `TEMPLATES`, or the path of a LaTeX file with placeholders; if empty, `article` for
    one page, otherwise `lecture-notes`. Raise SiteError if a name is unknown, or the site has an error.
    """
    frame = _read_template(template) if template else ""
    with (
        open_pages(root, posts, options, series=series, title=title, progress=progress) as book,
        temporary_folder() as folder,
    ):
        builder = _FolderBuilder(book, folder)
        made = builder.make(frame or _read_template(TEMPLATES[len(book.pages) > 1]))
        return LatexFolder(made, f"{book.name}-tex", len(book.pages), (*book.warnings, *builder.warnings))


def _read_template(template: str) -> str:
    if template in TEMPLATES:
        return files(__package__).joinpath("templates", f"{template}.tex").read_text(encoding="utf-8")
    try:
        text = Path(template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = "write `article`, `lecture-notes`, `amsart`, or a file that ends in `.tex`"
        raise SiteError(Diagnostic("tex-template", f'template "{template}" not found', hint=hint)) from error
    found = _MARKER.findall(text)
    for place in ("preamble", "body"):
        if place not in found:
            message = f'missing line "% blogsmith: {place}" in template "{template}"'
            raise SiteError(Diagnostic("tex-template", message, hint=f"add the line `% blogsmith: {place}`"))
    if unknown := next((name for name in found if name not in _PLACES), ""):
        message = f'unknown place "{unknown}" in template "{template}"'
        hint = list_choices(_PLACES)
        raise SiteError(Diagnostic("tex-template", message, hint=hint))
    return text


class _FolderBuilder(ChapterReader):
    """Reads the pages, and writes them with their images."""

    def make(self, frame: str) -> dict[str, bytes]:
        """Return file name → content of the files. frame: LaTeX of the template, with placeholders."""
        chapters = self.read()
        choice = MacroChoice([_page_math(self._book, page)[0] for page in self._book.pages])
        written = write_chapters(chapters, self._name_image, choice.choose)
        references = "\\bibliography{main}" if written.bibliography else ""
        places = {**self._opening(chapters, choice), "references": references}
        places["body"] += "\n\n".join(body.rstrip() for body in written.bodies)
        if references and "references" not in _MARKER.findall(frame):
            places["body"] += f"\n\n{references}"
        places["preamble"] = self._preamble(
            chapters, written, choice, [*places.values(), written.bibliography]
        )
        for page, tex in dict.fromkeys(written.rejected):
            hint = "write the formula in another form; LaTeX prints its source"
            path = self._book.pages[page - 1].path
            self._warn_at(tex, "tex-rejected", f'formula "{tex[:40]}" not allowed in LaTeX', hint, path)
        main = _MARKER.sub(lambda found: places[found[1]], frame)
        made = {
            "main.tex": main.encode("utf-8", "replace"),
            "paper.sty": files(__package__).joinpath("templates", "paper.sty").read_bytes(),
            "00README.json": _readme(),
        }
        if written.bibliography:
            made["main.bbl"] = written.bibliography.encode("utf-8", "replace")
        for name in sorted(filter(None, self._images.values())):
            made[name] = (self._folder / name).read_bytes()
        return made

    def _opening(self, chapters: Sequence[d.PaperChapter], choice: MacroChoice) -> dict[str, str]:
        """Return placeholder → LaTeX, for the placeholders of the template that precede the text."""
        book, first = self._book, chapters[0]
        is_own = _has_own_title(book)
        title = write_inline(first.title, choice.choose) if is_own else escape(book.title)
        people = dict.fromkeys(name for chapter in chapters for name, _ in chapter.authors)
        names = " \\and ".join(map(escape, people))
        heading = f"\\author{{{names}}}"
        if len(chapters) > 1:
            dates = [date for page in book.pages for date in (page.updated, page.date) if date]
            date = escape(book.language.format_date(max(dates))) if dates else ""
            word = escape(book.language.translate("Contents"))
            contents = f"\\renewcommand{{\\contentsname}}{{{word}}}\n\\tableofcontents"
            heading = f"\\title{{{title}}}\n{heading}\n\\date{{{date}}}"
            return {"title": heading, "abstract": "", "contents": contents, "body": ""}
        title += f": {escape(first.subtitle)}" if first.subtitle else ""
        abstract = write_inline(first.description, choice.choose)
        facts = write_links(first)
        return {
            "title": f"\\title{{{title}}}\n{heading}\n\\date{{{escape(first.date)}}}",
            "abstract": f"\\begin{{abstract}}\n{abstract}\n\\end{{abstract}}" if abstract else "",
            "contents": "",
            "body": f"\\pagenote{{{'; '.join(facts)}}}\n\n" if facts else "",
        }

    def _preamble(
        self,
        chapters: Sequence[d.PaperChapter],
        written: LatexFile,
        choice: MacroChoice,
        texts: Sequence[str],
    ) -> str:
        formulas = list(written.formulas)
        packages = [
            name for pattern, name in _PACKAGES.items() if any(map(lazy_pattern(pattern).search, formulas))
        ]
        lines = ["\\usepackage{paper}"]
        names = dict.fromkeys(name for page in self._book.pages for name in _page_math(self._book, page)[1])
        lines += [f"\\usepackage{{{name}}}" for name in names]
        lines += [f"\\usepackage{name if name[0] == '[' else f'{{{name}}}'}" for name in packages]
        if chapters[0].lang.lower().startswith("de"):
            lines.append(
                '\\IfFileExists{ngerman.ldf}{\\usepackage[ngerman]{babel}\\AtBeginDocument{\\shorthandoff{"}}}{}'
            )
        defined, unknown = latex_definitions([*formulas, *choice.bodies()])
        lines += defined
        lines += choice.definitions()
        declared, missing = declare_characters("".join([*texts, *lines]))
        self._warn_missing([f"\\{name}" for name in unknown], "use another symbol; LaTeX prints its name")
        passages = find_passages(texts, missing)
        self._warn_missing(passages, "write it in another form; LaTeX prints its code point")
        authors = ", ".join(dict.fromkeys(name for chapter in chapters for name, _ in chapter.authors))
        title = chapters[0].plain_title if _has_own_title(self._book) else self._book.title
        plain = f"\\hypersetup{{pdftitle={{{escape(title)}}},pdfauthor={{{escape(authors)}}}}}"
        return "\n".join([*lines, *declared, plain])

    def _warn_missing(self, symbols: Sequence[str], hint: str) -> None:
        """Report symbols that LaTeX lacks. Each line of a source file that contains some of them gets one
        warning."""
        lines: dict[tuple[str, int], list[tuple[str, Diagnostic]]] = {}
        for symbol in symbols:
            found = self._locate(symbol, "tex-rejected", f'missing LaTeX for "{symbol}"', hint)
            key = (found.path, found.place.line if found.place else 0)
            lines.setdefault(key, []).append((symbol, found))
        for group in lines.values():
            group.sort(key=lambda pair: pair[1].place or Place(0, 0))
            names = ", ".join(f'"{symbol[:_MAX_SHOWN]}"' for symbol, _ in group[:_MAX_NAMED])
            more = f" and {plural(len(group) - _MAX_NAMED, 'other')}" if len(group) > _MAX_NAMED else ""
            self.warnings.append(replace(group[0][1], message=f"missing LaTeX for {names}{more}"))

    def _add_image(self, name: str, data: bytes, suffix: str) -> str:
        if suffix == ".gif":
            converted = convert_image(data)
            if converted is None:
                return ""
            data, suffix = converted
        added = add_image(self._folder, name, data, suffix)
        if not added.endswith(".svg"):
            return added
        require_compiler()
        try:
            drawing = convert_drawing(self._folder, added)
        except CompileFailedError as error:
            self._warn("tex-rejected", "drawing not allowed in PDF", error.message)
            return ""
        add_file(self._folder, f"{name}.pdf", drawing)
        return f"{name}.pdf"


def _has_own_title(book: BookSource) -> bool:
    """Return whether the title of the document is that of its only page."""
    return len(book.pages) == 1 and book.title == book.pages[0].title


def _page_math(book: BookSource, page: PageView) -> tuple[MacroTable, Sequence[str]]:
    """Return the macros of a page, and the LaTeX packages that it or the settings turn on."""
    settings, documents = book.site.config.math, book.site.resolved.loaded.documents
    front = next((document.front for document in documents if str(document.path) == page.path), None)
    macros = read_macros(settings.macros)
    if front is None:
        return macros, settings.packages
    own = front.math.packages
    return macros.extend(front.math.macros), settings.packages if own is None else own


def _readme() -> bytes:
    """Return the file `00README.json`, which names the main file and the compiler for arXiv."""
    content = {
        "spec_version": 1,
        "process": {"compiler": "pdflatex"},
        "sources": [{"filename": "main.tex", "usage": "toplevel"}],
    }
    return (json.dumps(content, indent=2) + "\n").encode()
