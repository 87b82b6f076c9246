r"""Numbers of the rows of displays, as in TeX, and the ids of their anchors.

`math.numbering` selects the rows with a number:

- `labelled`: rows with a label or `\tag`;
- `all`: all rows, except those with `\notag` or in a starred environment;
- `none`: only rows with `\tag`.

The id of a row comes from its label, otherwise from its content. An anchor therefore does not change when an
equation is inserted before it.
"""

from __future__ import annotations

from hashlib import blake2b

from markdown_it.token import Token
from msgspec.structs import replace

from ...base.diagnostics.fixes import Fix, TextEdit, make_replacement
from ...base.diagnostics.model import Place, Reporter
from ...base.patterns import lazy_pattern
from ..records import Math, RowMark, Subequations, attach_record, get_record
from ..references.labels import Label, PageNumbers, SubequationCounter
from ..references.references import label_id
from ..state import DisplayRow, DisplayStructure

_DEFINES = lazy_pattern(
    r"\\(?:(?:re|provide)?newcommand|providecommand|g?def|let|DeclareMathOperator)(?![A-Za-z])"
)
_PRINTS_NOTHING = lazy_pattern(r"\\definecolor\{[^{}]*\}\{[^{}]*\}\{[^{}]*\}|\\require\{[^{}]*\}")
_NUMBERED = lazy_pattern(r"\\(label|tag)(?![A-Za-z])")


def number_display(token: Token, numbers: PageNumbers) -> None:
    """Set the numbers and ids of the rows of display math."""
    math = get_record(token, Math)
    structure = numbers.page.options.split_rows(math.tex, numbers.macros)
    numbers.macros = structure.macros
    for mistake in (found for row in structure.rows for found in row.mistakes):
        place = math.origin.place(mistake.offset, mistake.length)
        numbers.page.reporter.error(mistake.code, mistake.message, place, mistake.hint)
    marks = [_row_mark(row, structure.environment, math, numbers) for row in structure.rows]
    if math.label:
        marks = _label_block(marks, structure, math, numbers)
    if len(marks) == len(structure.rows):
        marks = [_anchor_row(mark, row, numbers) for mark, row in zip(marks, structure.rows, strict=True)]
    attach_record(token, replace(math, rows=tuple(marks)))


def _row_mark(row: DisplayRow, environment: str, math: Math, numbers: PageNumbers) -> RowMark:
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
            cause = _notag_word(math) if row.notag else f"the `*` of `{environment}`"
            fix = _numbering_fix(math, environment, row.notag)
            _warn_unnumbered(row.label or "", cause, place, numbers.page.reporter, fix)
        name = numbers.add(Label(name, "eq", "Equation", number, place))
    return RowMark(number, name, row.bare_tag)


def _only_defines(row: DisplayRow, environment: str) -> bool:
    """Return whether a display only contains definitions and prints nothing."""
    return not environment and not _PRINTS_NOTHING.sub("", row.content)


def _numbering_fix(math: Math, environment: str, notag: bool) -> Fix | None:
    r"""Return a fix that makes a display numbered, or None if there is no clear one. notag: whether `\notag`
    removed the number, instead of a star."""
    if notag:
        at = math.tex.find("\\notag")
        place = math.origin.place(max(0, at), len("\\notag"))
        is_one = at >= 0 and math.tex.count("\\notag") == 1
        return make_replacement(place.line, place.column, "\\notag", "") if is_one else None
    edits = []
    for word in ("begin", "end"):
        written = f"\\{word}{{{environment}}}"
        if math.tex.count(written) != 1:
            return None
        place = math.origin.place(math.tex.index(written), len(written))
        edits.append(TextEdit(place.line, place.column, written, written.replace("*", "")))
    return Fix(f"remove the * of {environment}", tuple(edits))


def _notag_word(math: Math) -> str:
    return "`\\nonumber`" if "\\nonumber" in math.tex else "`\\notag`"


def _warn_unnumbered(
    label: str, cause: str, place: Place, reporter: Reporter, fix: Fix | None = None
) -> None:
    hint = f"remove {cause}, or add `\\tag{{…}}`"
    message = f'label "{label}" is on a formula without a number'
    reporter.warn("label-unnumbered", message, place, hint, fix)


def _label_block(
    marks: list[RowMark], structure: DisplayStructure, math: Math, numbers: PageNumbers
) -> list[RowMark]:
    """Apply the label `{#eq:x}` after a display to its first numbered row, or to the whole display if no row
    is numbered. Return the marks of all rows."""
    place = math.label_place or math.origin.place(0)
    if any(mark.number or mark.id for mark in marks):
        at = next((i for i, mark in enumerate(marks) if mark.number and not mark.id), -1)
        if at < 0:
            taken = next(mark.id for mark in marks if mark.id)
            numbers.page.reporter.error(
                "label-twice",
                f'duplicate label: this formula already has "{taken}"',
                place,
                "keep one of the labels",
            )
            return marks
        name = numbers.add(Label(math.label, "eq", "Equation", marks[at].number, place))
        return [*marks[:at], replace(marks[at], id=name), *marks[at + 1 :]]
    is_off = all(row.notag for row in structure.rows)
    if is_off:
        _warn_unnumbered(math.label, _notag_word(math), place, numbers.page.reporter)
    number = "" if is_off or numbers.numbering == "none" else numbers.next_equation()
    return [RowMark(number, numbers.add(Label(math.label, "eq", "Equation", number, place)))]


def _anchor_row(mark: RowMark, row: DisplayRow, numbers: PageNumbers) -> RowMark:
    """Return the row, with an id from its content if it has a number but no label. Rows with equal content
    get different ids."""
    if mark.id or not mark.number or row.label or not row.content:
        return mark
    name = "eq-" + blake2b(row.content.encode("utf-8", "replace"), digest_size=4).hexdigest()
    uses = numbers.contents[name] = numbers.contents.get(name, 0) + 1
    return replace(mark, id=name if uses == 1 else f"{name}-{uses}")


def begin_subequations(token: Token, numbers: PageNumbers) -> None:
    """Start `subequations`, whose equations share a number. If `subequations` has a label, references to the
    label show this number."""
    found = get_record(token, Subequations)
    numbers.letters = None
    letters = SubequationCounter(bool(found.label))
    if found.label:
        letters.number = "" if numbers.numbering == "none" else numbers.next_equation()
        place = found.label_place or numbers.page.line_place(0)
        name = numbers.add(Label(label_id(found.label), "eq", "Equation", letters.number, place))
        if name:
            token.attrs["id"] = name
    numbers.letters = letters


def end_subequations(token: Token, numbers: PageNumbers) -> None:
    """End `subequations`, so that later equations have numbers of their own."""
    numbers.letters = None


def read_inline(token: Token, numbers: PageNumbers) -> None:
    """Record the macros that an inline formula defines. Report labels and tags in it, which have no effect
    there."""
    math = get_record(token, Math)
    if _DEFINES.search(math.tex):
        numbers.macros = numbers.page.options.split_rows(math.tex, numbers.macros).macros
    else:
        check_inline(math, numbers.page.reporter)


def check_inline(math: Math, reporter: Reporter) -> None:
    """Report a label or tag in a formula without a number: inline, or in a heading, title or caption."""
    found = _NUMBERED.search(math.tex)
    if not found:
        return
    place = math.origin.place(found.start(), len(found[0]))
    hint = "remove it, or write the formula as `$$ … $$` in a paragraph of its own"
    if found[1] == "tag":
        reporter.error("math-syntax", '"\\tag" is only allowed in display math', place, hint)
    else:
        reporter.warn("label-unnumbered", '"\\label" is in a formula without a number', place, hint)
