"""Translation of one paper to a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import (
    LATEX_ENVIRONMENTS,
    Diagnostic,
    PreambleError,
    SiteError,
    TheoremKind,
    callout_kind,
    kind_table,
    lazy_pattern,
    read_preamble,
    slugify,
    text_of,
    translate_latex,
)
from ..bibliographies import SourceBibliographies, fit_key
from ..model import ImportedData, ImportedFile, ImportedPage, Notice, SourcePart, by_path
from ..source_files import MACROS, read_text
from .definitions import Definitions, read_reserved_words
from .expansion import Expander
from .figures import Figures, graphic_folders
from .head import Head, read_head
from .labels import level_headings, name_parts, rename_environments, rename_labels
from .numbers import free_of_subsections, number_settings
from .prose import APPENDIX, UNNUMBERED, Prose, prepare
from .references import BIBLIOGRAPHY, CITATION, cited_keys, read_bbl
from .source import FileReader, SourceText, with_line_notices
from .tables import letter_captions, simplify_tables

_BEGIN = lazy_pattern(r"\\begin\s*\{document\}")
_END = lazy_pattern(r"\\end\s*\{document\}")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_LISTED = lazy_pattern(r"\\begin\{thebibliography\}[\s\S]*?(?:\\end\{thebibliography\}|\Z)")
_FLOAT = lazy_pattern(r"\\begin\{(figure|table|wrapfigure)\*?\}[\s\S]*?\\end\{\1\*?\}")
_LINE_BREAK = lazy_pattern(r"\\(?:no)?linebreak(?![A-Za-z])(?:\[\d\])?")
_PACKAGES = r"""
\newcommand{\floatconts}[3]{#3#2\label{#1}}
\newcommand{\hiderel}[1]{\mathrel{#1}}
\NewDocumentCommand{\condition}{sO{,}m}{#2\quad\IfBooleanTF{#1}{#3}{\text{#3}}}
"""
"""Commands of the class jmlr and of the package breqn."""
_RESERVED_WORD = lazy_pattern(r"\\<[A-Za-z]+>")
_KIND = lazy_pattern(r"[a-z][a-z0-9-]*")
_HEADING_MARK = lazy_pattern(rf"^(#+ .*?)([{UNNUMBERED}{APPENDIX}])(.*?)(?: \{{(#[^{{}}]*)\}})?$", 8)
_SHOWN = lazy_pattern(r"[\\`*_<>$\[\]]")


@dataclass(slots=True)
class PaperImport:
    """A translated paper, with settings and files for the site."""

    page: ImportedPage
    settings: Mapping[str, Any]
    files: tuple[ImportedFile, ...] = ()
    made: tuple[ImportedData, ...] = ()


@dataclass(slots=True)
class PaperReader:
    """Reads one paper. path: its main file, relative to the root."""

    root: Path
    path: PurePosixPath
    notices: list[Notice] = field(default_factory=list)
    definitions: Definitions = field(default_factory=Definitions)
    theorems: tuple[TheoremKind, ...] = ()
    preamble: str = ""

    def read(self) -> PaperImport:
        """Read, expand and translate the paper. Raise SiteError if it cannot be read."""
        files = FileReader(self.root, self.notices, self.path.parent)
        whole = files.read(self.path)
        if whole is None:
            message = f'invalid paper "{self.path}": expected text of at most 10 MB'
            hint = "write the path of the main `.tex` file"
            raise SiteError(Diagnostic("import-source", message, hint=hint))
        preamble, body = _split(whole)
        self.definitions.add(_PACKAGES)
        for style in files.styles(preamble):
            self.definitions.add(style.text)
        self.definitions.add(preamble.text)
        self.preamble = preamble.text
        body = body.edit((one.start, one.end, "") for one in self.definitions.add(body.text))
        body = _expand_words(body, read_reserved_words(preamble.text))
        self.theorems = self._read_theorems(body.text)
        settings, notices = number_settings(preamble.text, body.text, self.definitions.theorems)
        self.notices += notices
        body = Expander(self.definitions).expand(body)
        # also definitions by macros of the author
        body = body.edit((one.start, one.end, "") for one in self.definitions.add(body.text))
        body = rename_environments(body)
        body = simplify_tables(level_headings(letter_captions(name_parts(body))))
        only_referenced = settings["math"]["numbering"].startswith("labelled")
        body = rename_labels(
            body, lambda name: callout_kind(name, self._kinds()), only_referenced=only_referenced
        )
        original = body.text
        self._note_drawings(body)
        body = body.edit((*found.span(), _fit_citation(found)) for found in CITATION.finditer(body.text))
        head = read_head(f"{preamble.text}\n{body.text}")
        figures = Figures(files, graphic_folders(preamble.text))
        front, references = self._front(head, preamble.text, body.text, files)
        body = body.edit((*found.span(), "") for found in _LISTED.finditer(body.text))
        prose = prepare(figures.place(body), self._is_known)
        text = self._translate(prose)
        macros = self._macros(text)
        self.notices += figures.notices
        page = ImportedPage(
            path=PurePosixPath(
                "content", "posts", slugify(front["title"])[:60].strip("-") or "paper", "index.md"
            ),
            front=front,
            text=text,
            source=self.path.as_posix(),
            original=original,
            notices=tuple(self.notices),
            parts=_parts(body),
        )
        folder = page.path.parent
        return PaperImport(
            page,
            {
                **settings,
                **({"math": {**settings.get("math", {}), "macros": [MACROS.as_posix()]}} if macros else {}),
            },
            by_path((*references.copied_files(), *figures.files(folder))),
            by_path((*([ImportedData(MACROS, macros.encode())] if macros else ()), *figures.made(folder))),
        )

    def _read_theorems(self, body: str) -> tuple[TheoremKind, ...]:
        self.definitions.theorems = free_of_subsections(self.definitions.theorems, body)
        found = read_preamble("\n".join(self.definitions.theorems), self.path.as_posix(), {})
        return tuple(one for one in found.theorems if _KIND.fullmatch(one.name.casefold().rstrip("*")))

    def _kinds(self) -> dict[str, bool]:
        """Return name of a callout kind → whether the kind is numbered."""
        kinds = {name: row.numbered for name, row in kind_table().items()}
        return kinds | {one.name.casefold(): one.is_numbered for one in self.theorems}

    def _is_known(self, environment: str) -> bool:
        name = environment.rstrip("*")
        return name in LATEX_ENVIRONMENTS or callout_kind(name, self._kinds()) is not None

    def _translate(self, prose: Prose) -> str:
        kinds = self._kinds()
        done = translate_latex(
            prose.source.text, kinds, [name for name, numbered in kinds.items() if numbered]
        )
        hint = "write Markdown for it"
        left = [
            Notice("left", f'unknown LaTeX "{one.written}": it stays text', hint=hint)
            for one in done.problems
        ]
        self.notices += prose.notices
        self.notices += with_line_notices(left, prose.source, (one.start for one in done.problems))
        text = _HEADING_MARK.sub(_mark_heading, done.text).replace(UNNUMBERED, "").replace(APPENDIX, "")
        return prose.restore(text)

    def _note_drawings(self, body: SourceText) -> None:
        """Add a notice for each figure or table with a drawing, because only a build with LaTeX shows the
        drawing."""
        floats = [found for found in _FLOAT.finditer(body.text) if "\\begin{tikzpicture}" in found[0]]
        hint = "run `blogsmith trust` and `blogsmith build` on a machine with LaTeX"
        notices = [
            Notice("changed", "missing drawing: the page shows its code", hint=hint, removed=one[0])
            for one in floats
        ]
        self.notices += with_line_notices(notices, body, (one.start() for one in floats))

    def _front(
        self, head: Head, preamble: str, body: str, files: FileReader
    ) -> tuple[dict[str, Any], SourceBibliographies]:
        front: dict[str, Any] = {"title": self._line(head.title) or self.path.stem}
        if head.date:
            front["date"] = head.date
        if head.authors:
            front["authors"] = [plain_line(self._line(name)) for name in head.authors]
        if head.has_notes:
            message = "missing in the front matter: notes and addresses of title and authors"
            hint = "write `affiliation` and `orcid` of the authors in the front matter"
            self.notices.append(Notice("dropped", message, self.path.as_posix(), hint=hint))
        works = SourceBibliographies()
        front |= self._references(preamble, body, files, works)
        return front, works

    def _references(
        self, preamble: str, body: str, files: FileReader, works: SourceBibliographies
    ) -> dict[str, Any]:
        """Return the keys `bibliography`, `references` and `nocite` of the front matter. works: collection of
        the `.bib` files, extended by this method."""
        keys = cited_keys(body)
        named = [name.strip() for one in BIBLIOGRAPHY.finditer(preamble + body) for name in one[1].split(",")]
        paths = [path for name in named if (path := files.find(name, suffixes=("", ".bib")))]
        bibs = [self.root / path for path in paths]
        known = works.all_entries(bibs)
        found = works.page_front_matter([key for key in keys if key in known], bibs)
        listed = "\n".join(one[0] for one in _LISTED.finditer(body))
        bbl = files.find(self.path.stem, suffixes=(".bbl",))
        if bbl and not listed:
            listed = read_text(self.root / bbl) or ""
        entries = [] if not listed else read_bbl(listed)
        taken = {entry["id"] for entry in found.get("references", ())} | {fit_key(key) for key in known}
        extra = [entry for entry in entries if entry["id"] not in taken]
        cited = {fit_key(key) for key in keys}
        if found:
            extra = [entry for entry in extra if entry["id"] in cited]
        if extra:
            found["references"] = [*found.get("references", ()), *extra]
        if uncited := [f"@{entry['id']}" for entry in extra if entry["id"] not in cited]:
            found["nocite"] = uncited
        missing = sorted(cited - taken - {entry["id"] for entry in extra} - {"*"})
        for key in missing:
            self.notices.append(
                Notice(
                    "missing",
                    f'reference not found: "{key}"',
                    self.path.as_posix(),
                    hint="add it to the `.bib` file",
                )
            )
        return found

    def _line(self, latex: str) -> str:
        """Return LaTeX as one line of Markdown."""
        source = SourceText(latex, [(self.path.as_posix(), 1)] * (latex.count("\n") + 1))
        prose = prepare(Expander(self.definitions).expand(source), self._is_known)
        done = prose.restore(translate_latex(prose.source.text, self._kinds()).text)
        return " ".join(lazy_pattern(r"\\\n|\[\^\d+\][\s\S]*").sub(" ", done).split())

    def _macros(self, text: str) -> str:
        """Return the content of a file with all macros and theorems that the paper uses; empty if it uses
        none."""
        made = self._made_macros(text)
        needed = [*made, *(_LINE_BREAK.sub("", one) for one in self.definitions.needed(text + "".join(made)))]
        theorems = [one for one in self.definitions.theorems]
        lines = [*(["\\makeatletter"] if any("@" in one for one in needed) else []), *needed, *theorems]
        return "\n".join(lines) + "\n" if lines else ""

    def _made_macros(self, text: str) -> list[str]:
        """Return definitions that loops or other macros in the preamble make. Only macros that the text uses,
        directly or through other macros, are included."""
        try:
            macros = read_preamble(self.preamble, self.path.as_posix(), {}).macros
        except PreambleError:
            return []
        made = {
            name: f"\\newcommand{{{name}}}[{macro.arity}]{{{text_of(macro.body)}}}"
            for name, macro in macros.items()
            if not (macro.problem or macro.delimiters or macro.parameters or macro.default)
        }
        written = self.definitions.written
        used, waiting = set[str](), [text]
        while waiting:
            new = {found[0] for found in _COMMAND.finditer(waiting.pop())} - used
            used |= new
            waiting += [source for name in new for source in written.get(name, (made.get(name, ""),))]
        return [source for name, source in made.items() if name in used and name not in written]


def _expand_words(body: SourceText, words: Mapping[str, str]) -> SourceText:
    found = _RESERVED_WORD.finditer(body.text) if words else ()
    return body.edit((*one.span(), words.get(one[0], one[0])) for one in found)


def _split(whole: SourceText) -> tuple[SourceText, SourceText]:
    begin, end = _BEGIN.search(whole.text), _END.search(whole.text)
    last = end.start() if end else len(whole.text)
    if begin is None:
        return whole.part(0, 0), whole.part(0, last)
    return whole.part(0, begin.start()), whole.part(begin.end(), max(last, begin.end()))


def _parts(body: SourceText) -> tuple[SourcePart, ...]:
    """Return the lines of the text where another part of the source starts. A part ends where a file is
    included or lines were removed."""
    found = list[SourcePart]()
    for number, (file, line) in enumerate(body.origins, 1):
        if not found or (found[-1].source, found[-1].first + number - found[-1].line) != (file, line):
            found.append(SourcePart(number, file, line))
    return tuple(found)


def _mark_heading(found: Any) -> str:
    name = ".unnumbered" if found[2] == UNNUMBERED else ".appendix"
    attributes = " ".join(filter(None, (found[4], name)))
    return f"{found[1]}{found[3]} {{{attributes}}}"


def _fit_citation(found: Any) -> str:
    """Return a citation in the form that blogsmith accepts, with other commands and keys if necessary. found:
    match of `CITATION`."""
    keys = ",".join(
        fit_key(key.strip()) if key.strip() != "*" else "*" for key in found["keys"].split(",") if key.strip()
    )
    name = found["name"].casefold()
    command = "nocite" if name == "nocite" else "citet" if name in _TEXTUAL else "citep"
    options = " ".join(found["options"].split())
    return f"\\{command}{options}{{{keys}}}"


_TEXTUAL = frozenset(
    ("citet", "textcite", "citeauthor", "newcite", "citealt", "citealp", "cites", "shortcite")
)


def plain_line(text: str) -> str:
    """Return a line of Markdown as plain text."""
    return _SHOWN.sub("", text.replace("&nbsp;", " "))
