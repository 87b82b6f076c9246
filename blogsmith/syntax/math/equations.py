r"""Numbers of displays, row by row as TeX does it, and the ids of their anchors.

A row has a number when it carries a label or `\tag` (`labelled`), unless its environment is starred
or it says `\notag` (`all`), or only by `\tag` (`none`). Its id comes from its label; without one, from
its content. So an anchor never moves when an equation is put in above it.
"""

from __future__ import annotations

from hashlib import blake2b

from markdown_it.token import Token
from msgspec.structs import replace

from ...base.diagnostics.fixes import Fix, TextEdit, exchange
from ...base.diagnostics.model import Place, Reporter
from ...base.patterns import lazy_pattern
from ..records import Math, RowMark, Subequations, attach_record, record_of
from ..references.labels import Label, Letters, Numbers
from ..references.references import label_id
from ..state import DisplayRow, DisplayStructure

_DEFINES = lazy_pattern(
    r"\\(?:(?:re|provide)?newcommand|providecommand|g?def|let|DeclareMathOperator)(?![A-Za-z])"
)
_PRINTS_NOTHING = lazy_pattern(r"\\definecolor\{[^{}]*\}\{[^{}]*\}\{[^{}]*\}|\\require\{[^{}]*\}")
_NUMBERED = lazy_pattern(r"\\(label|tag)(?![A-Za-z])")


def number_display(token: Token, numbers: Numbers) -> None:
    """Give the rows of a display their numbers and ids."""
    math = record_of(token, Math)
    structure = numbers.page.options.split_rows(math.tex, numbers.macros)
    numbers.macros = structure.macros
    for mistake in (found for row in structure.rows for found in row.mistakes):
        place = math.origin.place(mistake.offset, mistake.length)
        numbers.page.reporter.error(mistake.code, mistake.message, place, mistake.hint)
    marks = [_mark(row, structure.environment, math, numbers) for row in structure.rows]
    if math.label:
        marks = _label_block(marks, structure, math, numbers)
    if len(marks) == len(structure.rows):
        marks = [_anchor_row(mark, row, numbers) for mark, row in zip(marks, structure.rows, strict=True)]
    attach_record(token, replace(math, rows=tuple(marks)))


def _mark(row: DisplayRow, environment: str, math: Math, numbers: Numbers) -> RowMark:
    number = row.tag or ""
    is_off = environment.endswith("*") or row.notag
    if not number and not is_off and numbers.numbering != "none":
        is_counted = numbers.numbering == "all" and not _only_defines(row, environment)
        wanted = is_counted or row.label or (numbers.letters and numbers.letters.labelled)
        number = numbers.next_equation() if wanted else ""
    name = label_id(row.label) if row.label else ""
    if name:
        place = math.origin.place(row.label_offset, row.label_length)
        if is_off and not number and numbers.numbering != "none":
            cause = "\\notag" if row.notag else f"the * of {environment}"
            fix = _number_again(math, environment, row.notag)
            _warn_unnumbered(row.label or "", cause, place, numbers.page.reporter, fix)
        name = numbers.add(Label(name, "eq", "Equation", number, place))
    return RowMark(number, name, row.bare_tag)


def _only_defines(row: DisplayRow, environment: str) -> bool:
    """Whether a display prints nothing, since definitions are all of it."""
    return not environment and not _PRINTS_NOTHING.sub("", row.content)


def _number_again(math: Math, environment: str, notag: bool) -> Fix | None:
    """A fix that takes away what keeps a display from having a number, if that is clear."""
    if notag:
        at = math.tex.find("\\notag")
        place = math.origin.place(max(0, at), len("\\notag"))
        is_one = at >= 0 and math.tex.count("\\notag") == 1
        return exchange(place.line, place.column, "\\notag", "") if is_one else None
    edits = []
    for word in ("begin", "end"):
        written = f"\\{word}{{{environment}}}"
        if math.tex.count(written) != 1:
            return None
        place = math.origin.place(math.tex.index(written), len(written))
        edits.append(TextEdit(place.line, place.column, written, written.replace("*", "")))
    return Fix(f"take the * of {environment} away", tuple(edits))


def _warn_unnumbered(
    label: str, cause: str, place: Place, reporter: Reporter, fix: Fix | None = None
) -> None:
    hint = f"take {cause} away, or give it a \\tag{{…}}"
    message = f"label {label} stands at a formula without a number"
    reporter.warn("label-unnumbered", message, place, hint, fix)


def _label_block(
    marks: list[RowMark], structure: DisplayStructure, math: Math, numbers: Numbers
) -> list[RowMark]:
    """`{#eq:x}` behind a display names its first numbered row; if no row has one, the display as a whole."""
    place = math.label_place or math.origin.place(0)
    if any(mark.number or mark.id for mark in marks):
        at = next((i for i, mark in enumerate(marks) if mark.number and not mark.id), -1)
        if at < 0:
            taken = next(mark.id for mark in marks if mark.id)
            numbers.page.reporter.error(
                "label-twice", f"this formula has the label {taken} already", place, "keep one of them"
            )
            return marks
        name = numbers.add(Label(math.label, "eq", "Equation", marks[at].number, place))
        return [*marks[:at], replace(marks[at], id=name), *marks[at + 1 :]]
    is_off = all(row.notag for row in structure.rows)
    if is_off:
        _warn_unnumbered(math.label, "\\notag", place, numbers.page.reporter)
    number = "" if is_off or numbers.numbering == "none" else numbers.next_equation()
    return [RowMark(number, numbers.add(Label(math.label, "eq", "Equation", number, place)))]


def _anchor_row(mark: RowMark, row: DisplayRow, numbers: Numbers) -> RowMark:
    """A number without a label is an anchor too; equal rows are told apart by their order."""
    if mark.id or not mark.number or row.label or not row.content:
        return mark
    name = "eq-" + blake2b(row.content.encode("utf-8", "replace"), digest_size=4).hexdigest()
    uses = numbers.contents[name] = numbers.contents.get(name, 0) + 1
    return replace(mark, id=name if uses == 1 else f"{name}-{uses}")


def begin_letters(token: Token, numbers: Numbers) -> None:
    """`subequations` open: their label gets the number they share."""
    found = record_of(token, Subequations)
    numbers.letters = None
    letters = Letters(bool(found.label))
    if found.label:
        letters.number = "" if numbers.numbering == "none" else numbers.next_equation()
        place = found.label_place or numbers.page.line_place(0)
        name = numbers.add(Label(label_id(found.label), "eq", "Equation", letters.number, place))
        if name:
            token.attrs["id"] = name
    numbers.letters = letters


def end_letters(token: Token, numbers: Numbers) -> None:
    """`subequations` close."""
    numbers.letters = None


def read_inline(token: Token, numbers: Numbers) -> None:
    """Macros that a formula in a line defines; it has no number, so a label or tag in it is a mistake."""
    math = record_of(token, Math)
    if _DEFINES.search(math.tex):
        numbers.macros = numbers.page.options.split_rows(math.tex, numbers.macros).macros
    else:
        check_inline(math, numbers.page.reporter)


def check_inline(math: Math, reporter: Reporter) -> None:
    """Report a label or tag in a formula that stands in a line, a heading, a title or a caption."""
    found = _NUMBERED.search(math.tex)
    if not found:
        return
    place = math.origin.place(found.start(), len(found[0]))
    hint = "write the formula as $$ … $$ in a paragraph of its own"
    if found[1] == "tag":
        reporter.error("math-syntax", "\\tag works in displays only", place, hint)
    else:
        reporter.warn("label-unnumbered", "\\label stands in a formula without a number", place, hint)
