"""Makes a folder with LaTeX from a page of the site, for arXiv and journals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from ..api.books import (
    BookSource,
    BuildOptions,
    Diagnostic,
    Macro,
    MacroTable,
    PageView,
    Progress,
    SiteError,
    is_command,
    latex_definitions,
    lazy_pattern,
    name_set,
    no_progress,
    open_pages,
    read_macros,
    temporary_folder,
    text_of,
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
from .latex import LatexFile, write_body, write_inline
from .latex_text import declare_characters, escape, escape_url

TEMPLATES = ("article", "amsart")
_PLACES = ("preamble", "title", "abstract", "body", "references")
_MARKER = lazy_pattern(r"(?m)^[ \t]*% blogsmith: ([a-z]+)[ \t]*$")
_CALL = lazy_pattern(r"\\(?:[A-Za-z]+|.)")
_DEFINES = lazy_pattern(
    r"\\(?:[egx]?def|let|(?:re)?newcommand|providecommand|DeclareMathOperator|(?:eq)?ref)(?![A-Za-z])"
)
_TEXT_COMMANDS = name_set(
    "AA AE DH L NG O OE P S TH aa ae author b begin bibitem bfseries c callout caption centering d date "
    "dh emph end endgroup begingroup enspace fbox footnote footnotemark footnotetext g hfil hfill href "
    "hyperref i item itshape j k l label leavevmode linewidth maketitle mbox newline ng nobreak noindent "
    "normalfont o oe page pageref par phantomsection qed r ref refname section small ss subsection "
    "subsubsection t textwidth th thanks title ttfamily u underline v"
)
"""Commands of LaTeX that formulas of blogsmith do not have. A macro of the same name is expanded."""
_PACKAGES: Mapping[str, str] = {
    r"\\(?:[bx]?cancel|cancelto)\b": "cancel",
    r"\\mathscr\b": "mathrsfs",
    r"\\bm\b": "bm",
    r"\\begin\{tikzcd\}": "tikz-cd",
    r"\\begin\{CD\}": "amscd",
    r"\\xymatrix\b": "[all]{xy}",
    r"\\(?:ll|rr)bracket\b": "stmaryrd",
    r"\\(?:[Bb]raket|[Bb]ra|[Kk]et|[Ss]et)\b": "braket",
    r"\\ce\b": "[version=4]{mhchem}",
    r"\\(?:SI|si|qty|unit|num|ang)\b": "siunitx",
    r"\\begin\{(?:sub)?numcases\}": "cases",
}
"""Pattern of TeX → package that defines it."""


class LatexFolder(Struct, frozen=True):
    """Files of a document in LaTeX."""

    files: Mapping[str, bytes]
    name: str
    """Suggested name of the folder."""
    warnings: tuple[Diagnostic, ...]


def make_latex(
    root: Path, post: str, options: BuildOptions, *, template: str = "", progress: Progress = no_progress
) -> LatexFolder:
    """Make the files of a post in LaTeX.

    template: a name of `TEMPLATES`, or the path of a LaTeX file with marked places. Raise SiteError if a name
    is unknown, or the site has an error.
    """
    frame = _read_template(template or TEMPLATES[0])
    with (
        open_pages(root, (post,), options, series="", title="", progress=progress) as book,
        temporary_folder() as folder,
    ):
        if len(book.pages) != 1:
            hint = "name the file or folder of one post"
            raise SiteError(Diagnostic("tex-template", f'too many posts in "{post}"', hint=hint))
        builder = _FolderBuilder(book, folder)
        made = builder.make(frame)
        return LatexFolder(made, f"{book.name}-tex", (*book.warnings, *builder.warnings))


def _read_template(template: str) -> str:
    if template in TEMPLATES:
        return files(__package__).joinpath("templates", f"{template}.tex").read_text(encoding="utf-8")
    try:
        text = Path(template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = "name `article`, `amsart`, or a file that ends in `.tex`"
        raise SiteError(Diagnostic("tex-template", f'template "{template}" not found', hint=hint)) from error
    found = _MARKER.findall(text)
    for place in ("preamble", "body"):
        if place not in found:
            message = f'missing line "% blogsmith: {place}" in template "{template}"'
            raise SiteError(Diagnostic("tex-template", message, hint=f"add the line `% blogsmith: {place}`"))
    if unknown := next((name for name in found if name not in _PLACES), ""):
        message = f'unknown place "{unknown}" in template "{template}"'
        hint = f"use one of {', '.join(f'`{name}`' for name in _PLACES)}"
        raise SiteError(Diagnostic("tex-template", message, hint=hint))
    return text


class _FolderBuilder(ChapterReader):
    """Reads the page, and writes it with its images."""

    def make(self, frame: str) -> dict[str, bytes]:
        """Return the files: name → content."""
        (page,) = self._book.pages
        (chapter,) = self.read()
        choice = _MacroChoice(_page_macros(self._book, page))
        body = write_body(chapter, self._name_image, choice.choose)
        places = {
            "title": _title(chapter, choice),
            "abstract": _abstract(chapter, choice),
            "body": _facts(chapter) + body.body.rstrip(),
            "references": "\\bibliography{main}" if body.bibliography else "",
        }
        if body.bibliography and "references" not in _MARKER.findall(frame):
            places["body"] += f"\n\n{places['references']}"
        places["preamble"] = self._preamble(chapter, body, choice, [*places.values(), body.bibliography])
        for tex in dict.fromkeys(body.rejected):
            self._warn("tex-rejected", f'formula "{tex[:40]}" not allowed in LaTeX', "", page.path)
        main = _MARKER.sub(lambda found: places[found[1]], frame)
        made = {
            "main.tex": main.encode("utf-8", "replace"),
            "paper.sty": files(__package__).joinpath("templates", "paper.sty").read_bytes(),
            "00README.json": _readme(),
        }
        if body.bibliography:
            made["main.bbl"] = body.bibliography.encode("utf-8", "replace")
        for name in sorted(filter(None, self._images.values())):
            made[name] = (self._folder / name).read_bytes()
        return made

    def _preamble(
        self, chapter: d.PaperChapter, body: LatexFile, choice: _MacroChoice, texts: Iterable[str]
    ) -> str:
        formulas = list(body.formulas)
        packages = [
            name for pattern, name in _PACKAGES.items() if any(map(lazy_pattern(pattern).search, formulas))
        ]
        lines = ["\\usepackage{paper}"]
        lines += [f"\\usepackage{name if name[0] == '[' else f'{{{name}}}'}" for name in packages]
        if chapter.lang.lower().startswith("de"):
            lines.append(
                '\\IfFileExists{ngerman.ldf}{\\usepackage[ngerman]{babel}\\AtBeginDocument{\\shorthandoff{"}}}{}'
            )
        defined, unknown = latex_definitions([*formulas, *choice.bodies()])
        for name in unknown:
            self._warn_missing(f"\\{name}", "use another symbol; LaTeX prints its name")
        lines += defined
        lines += choice.definitions()
        declared, missing = declare_characters("".join([*texts, *lines]))
        for character in missing:
            self._warn_missing(character, "write it in another form; LaTeX prints its code point")
        authors = ", ".join(name for name, _ in chapter.authors)
        plain = f"\\hypersetup{{pdftitle={{{escape(chapter.plain_title)}}},pdfauthor={{{escape(authors)}}}}}"
        return "\n".join([*lines, *declared, plain])

    def _warn_missing(self, symbol: str, hint: str) -> None:
        self._warn_at(symbol, "tex-rejected", f'missing LaTeX for "{symbol}"', hint)

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


class _MacroChoice:
    """Decides for each formula whether it keeps the macros of its author."""

    def __init__(self, macros: MacroTable) -> None:
        self._macros = macros
        self._usable = {
            name: text_of(macro.body) for name, macro in macros.items() if _is_definable(name, macro)
        }
        while bad := [
            name
            for name, body in self._usable.items()
            if any(call not in self._usable and call in macros for call in _CALL.findall(body))
        ]:
            for name in bad:
                del self._usable[name]
        self._used: set[str] = set()

    def choose(self, tex: str, portable: str) -> str:
        """Return `tex` if the preamble can define its macros, otherwise `portable`."""
        if not portable:
            return tex
        calls = _CALL.findall(tex)
        if _DEFINES.search(tex) or any(
            call not in self._usable
            and (call in self._macros or (call[1:].isalpha() and not is_command(call)))
            for call in calls
            if call not in ("\\begin", "\\end", "\\label", "\\tag", "\\notag", "\\nonumber")
        ):
            return portable
        self._use(calls)
        return tex

    def _use(self, calls: Iterable[str]) -> None:
        for call in calls:
            if call in self._usable and call not in self._used:
                self._used.add(call)
                self._use(_CALL.findall(self._usable[call]))

    def bodies(self) -> list[str]:
        """Return the bodies of the macros in use."""
        return [self._usable[name] for name in sorted(self._used)]

    def definitions(self) -> list[str]:
        """Return lines of a preamble that define the macros in use."""
        lines = []
        for name in sorted(self._used):
            macro = self._macros[name]
            options = f"[{macro.arity}]" if macro.arity else ""
            if macro.default is not None:
                options += f"[{{{text_of(macro.default)}}}]"
            lines.append(
                f"\\providecommand{{{name}}}{{}}\\renewcommand{{{name}}}{options}{{{self._usable[name]}}}"
            )
        return lines


def _is_definable(name: str, macro: Macro) -> bool:
    is_plain = not (macro.delimiters or macro.parameters or macro.problem)
    return is_plain and name[1:].isalpha() and not is_command(name) and name[1:] not in _TEXT_COMMANDS


def _page_macros(book: BookSource, page: PageView) -> MacroTable:
    documents = book.site.resolved.loaded.documents
    front = next((document.front for document in documents if str(document.path) == page.path), None)
    macros = read_macros(book.site.config.math.macros)
    return macros.extend(front.math.macros) if front else macros


def _title(chapter: d.PaperChapter, choice: _MacroChoice) -> str:
    title = write_inline(chapter.title, choice.choose)
    if chapter.subtitle:
        title += f": {escape(chapter.subtitle)}"
    authors = " \\and ".join(escape(name) for name, _ in chapter.authors)
    return f"\\title{{{title}}}\n\\author{{{authors}}}\n\\date{{{escape(chapter.date)}}}"


def _abstract(chapter: d.PaperChapter, choice: _MacroChoice) -> str:
    text = write_inline(chapter.description, choice.choose)
    return f"\\begin{{abstract}}\n{text}\n\\end{{abstract}}" if text else ""


def _facts(chapter: d.PaperChapter) -> str:
    links = [(f"ORCID of {name}", f"https://orcid.org/{orcid}") for name, orcid in chapter.authors if orcid]
    links += [("doi", f"https://doi.org/{chapter.doi}")] if chapter.doi else []
    links += [("url", chapter.url)] if chapter.url else []
    written = [f"{escape(name)}: \\href{{{escape_url(url)}}}{{{escape(url)}}}" for name, url in links]
    return f"\\pagenote{{{'; '.join(written)}}}\n\n" if written else ""


def _readme() -> bytes:
    """Return the file that names the main file and the compiler for arXiv."""
    content = {
        "spec_version": 1,
        "process": {"compiler": "pdflatex"},
        "sources": [{"filename": "main.tex", "usage": "toplevel"}],
    }
    return (json.dumps(content, indent=2) + "\n").encode()
