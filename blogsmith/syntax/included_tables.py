"""Tables from data files: `{% include table.html file="d.csv" cap="…" id="tbl-x" columns="a, b" %}`.

A CSV or TSV file becomes the same tokens as a table in Markdown, with caption and number. The
first row is the header. Cells are plain text, except for formulas. Columns of numbers are aligned right.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.model import TextMap, format_suggestion, list_choices
from ..base.patterns import lazy_pattern
from ..model.documents import IncludedFile
from .included_code import check_arguments, find_included, part_setting
from .math.delimiters import RejectedFormula, find_formula
from .records import Shortcode, TableRecord, attach_record, get_record
from .shortcodes import TABLE, shows_file
from .state import PageState, get_page

ARGUMENTS = ("file", "cap", "id", "columns", "align")
MOST_CELLS = 10_000
_ALIGNMENTS = ("left", "center", "right")
_NUMBER = lazy_pattern(r"[+\-−]?[\d.,'\u202f ]*\d(?:[eE][+-]?\d+)?\s?[%‰]?")
_PUNCTUATION = lazy_pattern(r"([!-/:-@\[-`{-~])")
"""ASCII punctuation: plain text after a backslash (CommonMark 2.4)."""


def included_tables(state: StateCore) -> None:
    """Replace calls of `table.html` with tables (core rule, before the inline rules)."""
    page = get_page(state.env)
    calls = [token.type == "shortcode" and _is_call(token, page) for token in state.tokens]
    if any(calls):
        parts = (
            _table(token, page) if is_call else (token,)
            for token, is_call in zip(state.tokens, calls, strict=True)
        )
        state.tokens = [token for part in parts for token in part]


def _is_call(token: Token, page: PageState) -> bool:
    name = get_record(token, Shortcode).name
    return name == TABLE and shows_file(name, page)


def _table(token: Token, page: PageState) -> Sequence[Token]:
    """Return the tokens of the table; none after an error."""
    call = get_record(token, Shortcode)
    for mistake in call.mistakes:
        page.reporter.error("shortcode-argument", mistake.message, mistake.place, mistake.hint)
    check_arguments(call, ARGUMENTS, "data/results.csv", page)
    found = find_included(part_setting(call, "file"), page) if "file" in call.args else None
    rows = _read_rows(found, call, page) if found else None
    if not rows:
        return ()
    chosen = _choose_columns(rows[0], call, page)
    if not chosen:
        return ()
    rows = [[row[index] if index < len(row) else "" for index in chosen] for row in rows]
    aligns = _read_alignments(rows, call, page)
    opening = Token("table_open", "table", 1, block=True, map=token.map, level=token.level)
    caption = call.arg_maps.get("cap")
    name = call.id.replace("tab-", "tbl-", 1)
    attach_record(opening, TableRecord(0, id=name, caption=caption is not None))
    result = [opening]
    if caption is not None:
        result.append(_inline(caption, token))
    place = part_setting(call, "file").place
    start = place.line, place.column
    for section, tag, part in (("thead", "th", rows[:1]), ("tbody", "td", rows[1:])):
        if part:
            result.append(Token(f"{section}_open", section, 1, block=True))
            result += [cell for row in part for cell in _row(row, aligns, tag, start, token)]
            result.append(Token(f"{section}_close", section, -1, block=True))
    return [*result, Token("table_close", "table", -1, block=True, level=token.level)]


_SAVE_HINT = "close each quotation mark in it, or save it again as CSV"


def _read_rows(found: IncludedFile, call: Shortcode, page: PageState) -> list[list[str]] | None:
    """Return the rows of a file that are not empty, or None after reporting an error."""
    place = part_setting(call, "file").place
    first = found.text.partition("\n")[0]
    is_tabbed = PurePosixPath(found.path).suffix.lower() in (".tsv", ".tab")
    delimiter = "\t" if is_tabbed else ";" if first.count(";") > first.count(",") else ","
    try:
        lines = csv.reader(found.text.splitlines(keepends=True), delimiter=delimiter, strict=True)
        rows = [[" ".join(cell.split()) for cell in row] for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        page.reporter.error("include-file", f'invalid table in "{found.path}": {error}', place, _SAVE_HINT)
        return None
    if not rows:
        hint = "add a row with the names of the columns, and rows below it"
        page.reporter.error("include-file", f'missing rows in "{found.path}"', place, hint)
        return None
    if sum(map(len, rows)) > MOST_CELLS:
        hint = "write a smaller file, or link to this file"
        message = f'too many cells in "{found.path}": a table has at most {MOST_CELLS:,}'
        page.reporter.error("include-file", message, place, hint)
        return None
    return rows


def _choose_columns(names: Sequence[str], call: Shortcode, page: PageState) -> list[int]:
    """Return the indices of the columns to show, in order."""
    if not call.args.get("columns", "").strip():
        return list(range(len(names)))
    written = part_setting(call, "columns")
    chosen = []
    for name in filter(None, map(str.strip, call.args["columns"].split(","))):
        if name in names:
            chosen.append(list(names).index(name))
            continue
        near = page.reporter.nearest(name, names)
        hint = format_suggestion(near) or list_choices(names[:9])
        fix = page.reporter.correct(written.place, name, near)
        message = f'column not found in "{call.args["file"]}": "{name}"'
        page.reporter.error("include-region", message, written.place, hint, fix)
    return chosen


def _read_alignments(rows: Sequence[Sequence[str]], call: Shortcode, page: PageState) -> list[str]:
    """Return the alignment of each column: as written, otherwise right for numbers."""
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(rows[0])
    aligns = ["right" if any(column) and all(map(_is_number, column)) else "" for column in columns]
    words = [word.strip() for word in call.args.get("align", "").split(",")]
    if words == [""]:
        return aligns
    written = part_setting(call, "align")
    if len(words) != len(aligns) or not {*words} <= {*_ALIGNMENTS, ""}:
        message = f'invalid alignment "{call.args["align"]}": expected {len(aligns)} words'
        hint = "write `left`, `center` or `right` for each column"
        page.reporter.error("shortcode-argument", message, written.place, hint)
        return aligns
    return [word or align for word, align in zip(words, aligns, strict=True)]


def _is_number(cell: str) -> bool:
    return not cell or bool(_NUMBER.fullmatch(cell))


def _row(
    cells: Sequence[str], aligns: Sequence[str], tag: str, start: tuple[int, int], source: Token
) -> Iterator[Token]:
    yield Token("tr_open", "tr", 1, block=True)
    for text, align in zip(cells, aligns, strict=True):
        # screen readers would announce an empty header cell
        name = tag if text else "td"
        opening = Token(f"{name}_open", name, 1, block=True)
        if name == "th":
            opening.attrSet("scope", "col")
        if align:
            opening.attrSet("class", f"align-{align}")
        yield opening
        yield _inline(TextMap(_plain(text), (start,)), source)
        yield Token(f"{name}_close", name, -1, block=True)
    yield Token("tr_close", "tr", -1, block=True)


def _inline(text: TextMap, source: Token) -> Token:
    inline = Token("inline", "", 0, content=text.text, map=source.map, children=[], block=True)
    attach_record(inline, text)
    return inline


def _plain(text: str) -> str:
    """Return Markdown that prints a text as written, except for its formulas."""
    pieces, pos = [], 0
    while pos < len(text):
        found = find_formula(text, pos, len(text)) if text[pos] == "$" else None
        if found and not isinstance(found, RejectedFormula):
            pieces.append(text[pos : found.end])
            pos = found.end
            continue
        pieces.append(_PUNCTUATION.sub(r"\\\1", text[pos]))
        pos += 1
    return "".join(pieces)
