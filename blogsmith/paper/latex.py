"""Writes a document tree as LaTeX.

Text is escaped; only formulas are TeX of the author. Commands such as `statement` are those of
`templates/paper.sty`. Numbers are text, as on the page, so nothing is counted again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from ..api.books import latex_display, latex_formula, lazy_pattern, name_set
from . import document as d
from .latex_tables import COLUMNS, cell_grid, column_types
from .latex_text import (
    LONG_WORD,
    breakable,
    escape,
    escape_code,
    escape_long,
    escape_url,
    without_control,
    write_links,
)
from .latex_works import ChapterWorks, write_works
from .typst import plain

_STYLES: Mapping[str, str] = {
    **{"em": "emph", "strong": "textbf", "mark": "pagemark", "kbd": "pagekey", "code": "texttt"},
    **{"del": "pagedeleted", "ins": "underline", "sub": "textsubscript", "sup": "textsuperscript"},
    **{"small": "textnormal", "small-caps": "textsc"},
}
_PARAGRAPHS = {"label": "pagelabel", "small": "pagenote", "claim": "pageclaim"}
_SECTIONS = ("section", "subsection", "subsubsection", "paragraph")
_DEFINITION_LIKE = name_set(
    "definition example remark exercise problem solution answer hint notation question"
)
_MAX_LISTS = 4
_MAX_NESTED = 5
"""Maximum depth of environments that LaTeX counts as lists."""
_LONG_ROWS = 30
"""Minimum number of rows of a table that may break across pages."""
_UNSAFE = lazy_pattern(
    r"\\(?:input|include|openin|openout|read|readline|write|immediate|special|catcode|csname|usepackage"
    r"|RequirePackage|expandafter|scantokens|end\s*\{\s*document|pdf[a-z]+|loop|jobname|everymath)(?![A-Za-z])|\^\^"
)
_UNSUPPORTED = lazy_pattern(
    r"\\begin\s*\{(?:Nice\w*|[pbvBV]Nice\w*|block(?:array)?|empheq|prooftree)\*?\}|\\(?:p?matrix|cases)\s*\{"
)
"""Matches environments that are not in amsmath or not allowed in its displays, and commands of plain TeX."""
_CODE_SYNTAX = {"\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "\u00a0": " "}
_OUTSIDE_NAME = lazy_pattern(r"[^A-Za-z0-9:.-]")


ChooseTex = Callable[[str, str, int], str]
"""Function that returns the TeX to write for a formula. Arguments: the author's TeX; the same TeX with macros
expanded, or an empty string if there is no difference; and the number of its page."""


class LatexFile(Struct, frozen=True):
    """The content of a document in LaTeX."""

    bodies: tuple[str, ...]
    """Text of each chapter."""
    bibliography: str
    """Environment `thebibliography`; empty if nothing is cited."""
    formulas: tuple[str, ...]
    """TeX of all formulas."""
    rejected: tuple[tuple[int, str], ...]
    """Page number and TeX of each formula printed as text, because it is unsafe or LaTeX cannot set it."""


def write_chapters(
    chapters: Sequence[d.PaperChapter],
    name_image: Callable[[d.PaperPicture], str],
    choose_tex: ChooseTex,
) -> LatexFile:
    """Return the content of a document. name_image: returns a file name; empty if there is no file."""
    first = _Writer(name_image, choose_tex, None)
    for chapter in chapters:
        first.chapter(chapter, is_book=len(chapters) > 1)
    writer = _Writer(name_image, choose_tex, frozenset(first.anchors))
    bodies = tuple(writer.chapter(chapter, is_book=len(chapters) > 1) for chapter in chapters)
    return LatexFile(bodies, write_works(writer.works), tuple(writer.formulas), tuple(writer.rejected))


def write_inline(content: Iterable[d.Inline], choose_tex: ChooseTex, *, is_plain: bool = False) -> str:
    """Return inline content outside the body, such as the title. is_plain: whether to leave out links,
    anchors and footnotes, as in tables of contents."""
    return _Writer(lambda image: "", choose_tex, frozenset(), is_plain=is_plain).inline(content)


class _Writer:
    """Writes blocks and inline content, and collects anchors and formulas."""

    def __init__(
        self,
        name_image: Callable[[d.PaperPicture], str],
        choose_tex: ChooseTex,
        known: frozenset[str] | None,
        *,
        is_plain: bool = False,
    ) -> None:
        self._name_image = name_image
        self._choose_tex = choose_tex
        self._known = known
        """Names of all anchors; None if they are not known yet."""
        self._is_plain = is_plain
        """Whether links, anchors and footnotes are left out."""
        self._is_book = False
        self.anchors: set[str] = set()
        self.formulas: list[str] = []
        self.rejected: list[tuple[int, str]] = []
        self.works: list[ChapterWorks] = []
        self._title = ""
        """Title of the chapter, as in the contents."""
        self._lists = self._nested = self._level = 0
        self._numbered = 0
        self._is_box = False
        """Whether the writer is inside a box (a cell, caption, heading or footnote), where LaTeX allows
        neither footnotes nor environments for code."""
        self._notes: list[str] = []
        """Footnotes in boxes, which are written after the box."""

    def chapter(self, chapter: d.PaperChapter, *, is_book: bool) -> str:
        """Return the body of a chapter. is_book: whether the document has several chapters, so that each gets
        a heading."""
        self._is_book, self._level = is_book, 0
        if not is_book:
            return self.blocks(chapter.content)
        self._title = self._plain(chapter.title)
        title = self._boxed(lambda: self.inline(chapter.title))
        heading = f"\\pagechapter{{{self._title}}}{{{escape(chapter.plain_title)}}}{{{title}}}"
        heading += f"{self._anchor(chapter.anchor)}\n{self._waiting_notes()}"
        return f"{heading}{self._opening(chapter)}\n\n{self.blocks(chapter.content)}"

    def _opening(self, chapter: d.PaperChapter) -> str:
        """Return the part before the text of a chapter: subtitle, authors, date, links and summary."""
        names = ", ".join(name for name, _ in chapter.authors)
        facts = [escape(fact) for fact in (names, chapter.date) if fact]
        facts += write_links(chapter)
        parts = [f"\\pageclaim{{{escape(chapter.subtitle)}}}"] if chapter.subtitle else []
        parts += [f"\\pagenote{{{'; '.join(facts)}}}"] if facts else []
        summary = self._boxed(lambda: self.inline(chapter.description))
        parts += [f"\\pageclaim{{{summary}}}\n{self._waiting_notes()}".rstrip()] if summary else []
        return "\n".join(parts)

    def _plain(self, content: Iterable[d.Inline]) -> str:
        """Return inline content for the table of contents."""
        before, self._is_plain = self._is_plain, True
        written = self.inline(content).strip()
        self._is_plain = before
        return written

    # inline content

    def inline(self, content: Iterable[d.Inline]) -> str:
        """Return inline content."""
        return "".join(map(self._inline, content))

    def _inline(self, part: d.Inline) -> str:
        match part:
            case str():
                return escape_long(part)
            case d.PaperSpan("code", (str(text),)) if LONG_WORD.search(text):
                return f"\\texttt{{{breakable(text)}}}"
            case d.PaperSpan("code", (str(text),)):
                return f"\\texttt{{{_code_spaces(text)}}}"
            case d.PaperSpan("qed"):
                return "\\qed"
            case d.PaperSpan():
                return f"\\{_STYLES[part.style]}{{{self.inline(part.content)}}}"
            case d.PaperAnchor() | d.PaperNote() | d.PaperNoteReference() if self._is_plain:
                return ""
            case d.PaperLink(_, content) if self._is_plain:
                return self.inline(content)
            case d.PaperLink(target, content) if target.startswith("#"):
                written, name = self.inline(content), _anchor_name(target[1:])
                is_known = self._known is None or name in self._known
                return f"\\pagelink{{{name}}}{{{written}}}" if is_known else written
            case d.PaperLink(target, content):
                return f"\\href{{{escape_url(target)}}}{{{self.inline(content)}}}"
            case d.PaperAnchor(name):
                return self._anchor(name)
            case d.PaperFormula():
                return self._formula(part.tex, part.math.get("data-tex"), part.page)
            case d.PaperPicture():
                return self._picture(part)
            case d.PaperNote(_, number, content):
                return self._note(number, content)
            case d.PaperNoteReference(_, number):
                return f"\\textsuperscript{{{escape(number)}}}"
            case d.PaperLineBreak():
                return "\\newline{}"

    def _anchor(self, name: str) -> str:
        found = self._new_anchor(name)
        return f"\\pageanchor{{{found}}}" if found else ""

    def _new_anchor(self, name: str) -> str:
        """Return the label of an anchor; empty if an earlier anchor has the same name."""
        label = _anchor_name(name)
        if not name or label in self.anchors:
            return ""
        self.anchors.add(label)
        return label

    def _formula(self, tex: str, portable: str, page: int) -> str:
        chosen = self._choose(tex, portable, page)
        return f"${latex_formula(chosen)}$" if chosen else f"\\texttt{{{breakable(tex)}}}"

    def _choose(self, tex: str, portable: str, page: int) -> str:
        """Return the TeX to write for a formula; empty if it is unsafe or LaTeX does not support it."""
        chosen = self._choose_tex(tex, portable, page)
        if _UNSAFE.search(chosen) or _UNSUPPORTED.search(chosen) or not chosen.strip():
            self.rejected.extend([(page, tex)] * bool(chosen.strip()))
            return ""
        self.formulas.append(chosen)
        return chosen

    def _picture(self, image: d.PaperPicture) -> str:
        name = self._name_image(image)
        if not name:
            return escape(image.alt)
        if image.is_inline and not image.width:
            return f"\\pageicon{{{name}}}"
        width = image.width
        if width.endswith("%"):
            width = f"{float(width[:-1]) / 100:g}\\linewidth"
        options = f"[width={width.replace('pt', 'bp')}]" if width else ""
        return f"\\pageimage{options}{{{name}}}"

    def _note(self, number: str, content: Sequence[d.Block]) -> str:
        box, self._is_box = self._is_box, True
        written = self.blocks(content).strip()
        self._is_box = box
        if not number.isdecimal():
            return f"\\textsuperscript{{{escape(number)}}}\\footnotetext{{{written}}}"
        if box:
            self._notes.append(f"\\footnotetext[{number}]{{{written}}}")
            return f"\\pagenotemark{{{number}}}"
        return f"\\footnote[{number}]{{{written}}}"

    def _boxed(self, write: Callable[[], str]) -> str:
        """Return the content of a box, written by `write`. Footnotes in the box are written after it by
        `_waiting_notes`."""
        box, self._is_box = self._is_box, True
        written = write()
        self._is_box = box
        return written

    def _waiting_notes(self) -> str:
        if self._is_box:
            return ""
        notes, self._notes = self._notes, []
        return "".join(f"{note}%\n" for note in notes)

    # blocks

    def blocks(self, content: Sequence[d.Block]) -> str:
        """Return blocks, each with a blank line after it."""
        parts: list[str] = []
        for index, block in enumerate(content):
            following = content[index + 1] if index + 1 < len(content) else None
            if isinstance(block, d.PaperHeading) and isinstance(following, d.PaperReferences):
                continue
            if isinstance(block, d.PaperReferences):
                before = content[index - 1] if index else None
                title = before.content if isinstance(before, d.PaperHeading) else ()
                written = self._references(block, title)
            else:
                written = self._block(block)
            if written:
                parts.append(written + ("\n" if following and _goes_on(block, following) else "\n\n"))
        return "".join(parts)

    def _block(self, block: d.Block) -> str:
        write = getattr(self, f"_write_{type(block).__name__.removeprefix('Paper').lower()}")
        return str(write(block))

    def _write_paragraph(self, block: d.PaperParagraph) -> str:
        written = self.inline(block.content).strip(" \n")
        if not written:
            return ""
        if block.style:
            return f"\\{_PARAGRAPHS[block.style]}{{{written}}}"
        match block.content:
            case (d.PaperPicture(is_inline=False),) if not self._is_box:
                return f"\\begin{{pagefigure}}\n{written}\n\\end{{pagefigure}}"
        return written

    def _write_heading(self, block: d.PaperHeading) -> str:
        anchors = "".join(self._inline(part) for part in block.content if isinstance(part, d.PaperAnchor))
        rest = [part for part in block.content if not isinstance(part, d.PaperAnchor)]
        self._level = max(1, min(block.level - 1, self._level + 1))
        name = _SECTIONS[min(self._level, len(_SECTIONS)) - 1]
        written = self._boxed(lambda: self.inline(rest)).strip()
        if self._is_book and name == "section":
            words = "".join(
                part.words if isinstance(part, d.PaperFormula) else plain((part,)) for part in rest
            )
            anchors += f"\\pagecontents{{section}}{{{self._plain(rest)}}}{{{escape(words.strip())}}}"
        return f"\\{name}*{{{written}}}{anchors}\n{self._waiting_notes()}".rstrip()

    def _write_display(self, block: d.PaperDisplay) -> str:
        chosen = self._choose(block.tex, block.portable, block.page)
        anchors = ""
        numbers = []
        for row in block.rows:
            label = self._new_anchor(row.anchor)
            if row.number:
                numbers.append(f" \\tag*{{{escape(row.number)}}}" + (f"\\label{{{label}}}" if label else ""))
            else:
                anchors += f"\\pageanchor{{{label}}}" if label else ""
                numbers.append("")
        if not chosen:
            return f"{anchors}\\texttt{{{breakable(block.tex)}}}"
        return f"{anchors}{latex_display(chosen, numbers)}"

    def _write_code(self, block: d.PaperCode) -> str:
        lines = ["".join(text for _, text in line) for line in block.lines]
        if block.is_numbered:
            width = len(str(block.first + len(lines)))
            lines = [f"{number:>{width}}  {line}" for number, line in enumerate(lines, block.first)]
        title = f"\\pagelabel{{\\texttt{{{_code_spaces(block.title)}}}}}\n" if block.title else ""
        if self._is_box:
            return title + "".join(f"\\pagecodeline{{{_code_spaces(line)}}}" for line in lines)
        name = "pagecode" if block.style == "code" else "pageoutput"
        body = "\n".join(_code_line(line) for line in lines)
        return f"{title}\\begin{{{name}}}\n{body}\n\\end{{{name}}}"

    def _write_table(self, block: d.PaperTable) -> str:
        rows = [*block.head, *block.body]
        grid = cell_grid(rows, block.columns)
        written = [self._table_row(row) for row in grid]
        head, body = written[: len(block.head)], written[len(block.head) :]
        spec = column_types(grid, block.columns)
        middle = ["\\midrule"] if head and body else []
        is_long = len(rows) >= _LONG_ROWS and not self._is_box and not self._nested
        if is_long:
            lines = ["\\toprule", *head, *middle, "\\endhead", "\\bottomrule", "\\endfoot", *body]
            return "\n".join(
                [f"\\begin{{longtable}}{{{spec}}}", *lines, "\\end{longtable}", self._waiting_notes()]
            )
        lines = ["\\toprule", *head, *middle, *body, "\\bottomrule"]
        table = "\n".join([f"\\begin{{tabular}}{{{spec}}}", *lines, "\\end{tabular}"])
        written_table = f"\\begin{{pagetable}}\n{table}%\n\\end{{pagetable}}"
        if self._is_box:
            return written_table
        return (
            f"\\begin{{pagefigure}}\n{written_table}\n\\end{{pagefigure}}\n{self._waiting_notes()}".rstrip()
        )

    def _table_row(self, row: Sequence[d.PaperCell | None]) -> str:
        cells = []
        skipped = 0
        for cell in row:
            if skipped:
                skipped -= 1
                continue
            written = self._boxed(lambda cell=cell: self.blocks(cell.content).strip()) if cell else ""  # type: ignore[misc]
            written = written.replace("\n\n", " \\newline ").replace("\n", " ")
            if "\\href" not in written:
                written = written.replace("\\_", "\\_\\allowbreak{}")
            if cell and cell.is_header and written:
                written = f"\\textbf{{{written}}}"
            if cell and cell.columns > 1:
                written = f"\\multicolumn{{{cell.columns}}}{{{COLUMNS.get(cell.align, 'l')}}}{{{written}}}"
                skipped = cell.columns - 1
            elif written[:1] == "*":
                written = f"{{}}{written}"
            cells.append(written)
        return f"{' & '.join(cells)} \\\\"

    def _write_figure(self, block: d.PaperFigure) -> str:
        label = self._new_anchor(block.anchor)
        anchor = f"\\pageanchor{{{label}}}" if label else ""
        if not block.caption:
            return f"{anchor}\n{self.blocks(block.content)}".strip()
        caption = self._boxed(lambda: self.inline(block.caption)).strip()
        is_image = all(
            isinstance(part, d.PaperParagraph | d.PaperTable | d.PaperGrid) for part in block.content
        )
        if not is_image:
            content = self.blocks(block.content).strip()
            return f"{anchor}\\pagecaption{{{caption}}}\n{content}\n{self._waiting_notes()}".rstrip()
        content = self._boxed(lambda: self.blocks(block.content)).strip()
        figure = f"\\begin{{pagefigure}}\n{anchor}{content}\n\\pagecaption{{{caption}}}\n\\end{{pagefigure}}"
        return f"{figure}\n{self._waiting_notes()}".rstrip()

    def _write_grid(self, block: d.PaperGrid) -> str:
        columns = max(1, min(block.columns, 6))
        parts = []
        for part in block.content:
            written = self._boxed(lambda part=part: self._block(part)).strip()  # type: ignore[misc]
            parts.append(
                f"\\begin{{minipage}}[t]{{{0.96 / columns:.3f}\\linewidth}}\n{written}\n\\end{{minipage}}"
            )
        rows = [parts[start : start + columns] for start in range(0, len(parts), columns)]
        body = "\n\n".join("\\hfill\n".join(row) for row in rows)
        return f"{{\\noindent\n{body}\\par}}\n{self._waiting_notes()}".rstrip()

    def _write_items(self, block: d.PaperItems) -> str:
        is_numbered = block.first is not None
        if self._lists >= _MAX_LISTS or self._nested >= _MAX_NESTED:
            marks = (
                f"{block.first + i}. " if block.first is not None else "\\textbullet\\ " for i in range(10**9)
            )
            return "\n\n".join(
                mark + self._item(item) for mark, item in zip(marks, block.items, strict=False)
            )
        self._lists += 1
        self._numbered += is_numbered
        start = ""
        if is_numbered and block.first != 1:
            counter = f"enum{('i', 'ii', 'iii', 'iv')[self._numbered - 1]}"
            start = f"\\setcounter{{{counter}}}{{{(block.first or 0) - 1}}}\n"
        name = "enumerate" if is_numbered else "itemize"
        items = self._environment(lambda: "\n".join(f"\\item {self._item(item)}" for item in block.items))
        self._lists -= 1
        self._numbered -= is_numbered
        return f"\\begin{{{name}}}\n{start}{items}\n\\end{{{name}}}"

    def _item(self, content: Sequence[d.Block]) -> str:
        """Return a list item. Anchors before its first paragraph are moved into that paragraph."""
        return re.sub(r"\A((?:\\pageanchor\{[^{}]*\})+)\n\n", r"\1", self.blocks(content)).strip(" \n")

    def _environment(self, write: Callable[[], str]) -> str:
        self._nested += 1
        written = write()
        self._nested -= 1
        return written

    def _references(self, block: d.PaperReferences, title: Sequence[d.Inline]) -> str:
        items = tuple(
            (label, self._boxed(lambda content=content: self._item(content)))  # type: ignore[misc]
            for label, content in block.items
        )
        name = self._plain(title)
        self.works.append(ChapterWorks(self._title, name, items))
        return "".join(self._inline(part) for part in title if isinstance(part, d.PaperAnchor))

    def _write_terms(self, block: d.PaperTerms) -> str:
        items = "\n".join(
            f"\\item[{{{self._boxed(lambda term=term: self.inline(term))}}}] {self._item(content)}"  # type: ignore[misc]
            for term, content in block.items
        )
        return f"\\begin{{description}}\n{items}\n\\end{{description}}"

    def _write_callout(self, block: d.PaperCallout) -> str:
        label = self._new_anchor(block.anchor)
        anchor = f"\\pageanchor{{{label}}}" if label else ""
        title = self._boxed(lambda: self.inline(block.title)).strip()
        if self._nested >= _MAX_NESTED:
            return f"{anchor}\\pagelabel{{{title}}}\n{self.blocks(block.content)}".rstrip()
        content = self._environment(lambda: self.blocks(block.content)).strip()
        name = "callout"
        if block.kind == "proof":
            name = "prooflike"
        elif block.is_statement:
            name = "definitionlike" if block.kind in _DEFINITION_LIKE else "statement"
        body = f"\\begin{{{name}}}{{{title}}}{anchor}\n{content or '~'}\n\\end{{{name}}}"
        return f"{body}\n{self._waiting_notes()}".rstrip()

    def _write_quote(self, block: d.PaperQuote) -> str:
        if self._nested >= _MAX_NESTED:
            return self.blocks(block.content).strip()
        content = self._environment(lambda: self.blocks(block.content)).strip()
        return f"\\begin{{quote}}\n{content or '~'}\n\\end{{quote}}"

    def _write_rule(self, block: d.PaperRule) -> str:
        return "\\pagerule"


def _goes_on(block: d.Block, following: d.Block) -> bool:
    """Return whether a paragraph continues from `block` to `following`. This is the case if `following` is a
    display, or if `block` is a display and `following` starts with a lower-case letter."""
    if isinstance(block, d.PaperParagraph):
        return isinstance(following, d.PaperDisplay) and not block.style
    if not (isinstance(block, d.PaperDisplay) and isinstance(following, d.PaperParagraph)) or following.style:
        return False
    return plain(following.content[:1])[:1].islower()


def _code_spaces(text: str) -> str:
    """Return inline code with all its spaces preserved."""
    return escape_code(text).replace("  ", "\\ \\ ").replace("\n", " ")


def _code_line(text: str) -> str:
    r"""Return a line of code in alltt, where only `\`, `{` and `}` are syntax."""
    return "".join(_CODE_SYNTAX.get(sign, sign) for sign in without_control(text.expandtabs(4)))


def _anchor_name(name: str) -> str:
    """Return the LaTeX label of an anchor. Code points replace all but letters, digits and `-`."""
    return _OUTSIDE_NAME.sub(lambda found: f":{ord(found[0]):x}:", name)
