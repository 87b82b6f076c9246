r"""GFM tables whose cells may contain formulas: `| $p(a|b)$ |` is one cell.

A pipe separates cells unless it is escaped or inside a formula. In a code span, a pipe must be escaped, as in
GFM. `\|` inside a formula is the norm symbol of TeX. A line `: Caption {#tbl-x .class}` after the table is
its caption. Tables also work inside quotes and lists.

The numbers of a right-aligned column are aligned at their decimal points (`number_columns`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ..base.diagnostics.model import TextMap
from ..base.patterns import lazy_pattern
from .attributes import Attributes, parse_attributes
from .cells.values import value_end
from .lookahead import code_span_end, run_length
from .math.delimiters import RejectedFormula, find_formula
from .number_columns import column_paddings
from .records import TableRecord, attach_record
from .state import block_place, get_page, line_start, line_text

MAX_CELLS = 20_000
"""Maximum number of empty cells added to short rows of a page, so that 2 kB of source cannot become
megabytes."""

_DELIMITER = lazy_pattern(r"\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_OPENING = lazy_pattern(r"[`$\\{]")
"""Start of syntax that may contain a pipe that separates no cells (see `_step`)."""
_PIPE = lazy_pattern(r"\|")
_MARKER = lazy_pattern(r"(?:[-+*]|\d{1,9}[.)])[ \t]+")
_CAPTION = lazy_pattern(r":[ \t]+(\S.*?)[ \t]*(\{[#.][^{}]*\})?[ \t]*")


def split_row(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each cell of a row, without spaces at the ends."""
    cells, start, end = [], 0, len(text)
    for pos in _pipes(text):
        cells.append((start, pos))
        start = pos + 1
    cells.append((start, end))
    if not text[cells[0][0] : cells[0][1]].strip():
        cells.pop(0)
    if cells and not text[cells[-1][0] : cells[-1][1]].strip() and cells[-1][0] > 0:
        cells.pop()
    return [_trim(text, *cell) for cell in cells]


def _pipes(text: str) -> Iterator[int]:
    """Yield the indices of the pipes between cells."""
    if not _OPENING.search(text):
        yield from (found.start() for found in _PIPE.finditer(text))
        return
    yield from (start for start, _ in _steps(text) if text[start] == "|")


def _steps(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each code span, formula, value, escape and other character."""
    pos, end, literal = 0, len(text), -1
    while pos < end:
        found = find_formula(text, pos, end) if text[pos] in "$\\" and pos != literal else None
        if isinstance(found, RejectedFormula):
            # both dollars are text; between them, pipes separate cells
            literal, found = found.end - 1, None
        after = found.end if found else max(_step(text, pos, end), pos + 1)
        yield pos, after
        pos = after


def _step(text: str, pos: int, end: int) -> int:
    """Return the index after the code span, value, escape or character at `pos`."""
    char = text[pos]
    if char == "`":
        after = code_span_end(text, pos, end)
        # GFM: an unescaped pipe separates cells even inside a code span.
        if after > pos and not re.search(r"(?<!\\)\|", text[pos:after]):
            return after
        return pos + run_length(text, pos, end)
    if char == "{":
        return max(pos + 1, value_end(text, pos, end))
    return min(end, pos + 2) if char == "\\" else pos + 1


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t":
        start += 1
    while end > start and text[end - 1] in " \t":
        end -= 1
    return start, end


def alignments(line: str) -> list[str] | None:
    """Return `left`, `center`, `right` or `""` for each column, or None if `line` is not a delimiter row."""
    line = line.strip()
    if not _DELIMITER.fullmatch(line) or ("|" not in line and ":" not in line and line.startswith("- ")):
        return None
    columns = [cell.strip() for cell in line.strip("|").split("|")]
    names = {(True, True): "center", (False, True): "right", (True, False): "left"}
    return [names.get((c.startswith(":"), c.endswith(":")), "") for c in columns]


def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse header row, delimiter row and body rows (block rule)."""
    aligns = _header(state, start, end)
    if not aligns:
        return False
    if silent:
        return True
    parent, state.parentType = state.parentType, "table"
    index = len(state.tokens)
    opening = state.push("table_open", "table", 1)
    _push_section(state, "thead", [start], aligns)
    last = _body_end(state, start + 2, end, len(aligns))
    if last > start + 2:
        _push_section(state, "tbody", list(range(start + 2, last)), aligns)
    state.push("table_close", "table", -1)
    if "right" in aligns:
        _align_decimals(state.tokens[index:], aligns)
    opening.map = [start, last]
    state.parentType = parent
    state.line = _caption(state, index, last, end)
    return True


def _header(state: StateBlock, start: int, end: int) -> list[str] | None:
    """Return the alignments of the columns if a table starts at `start`, otherwise None."""
    second = start + 1
    if second >= end or state.sCount[second] < state.blkIndent:
        return None
    if state.is_code_block(start) or state.is_code_block(second):
        return None
    text = line_text(state, start)
    marker = _MARKER.match(text)
    # In a list item, the table begins after the list marker, and its second line is indented.
    if "|" not in text or (marker and state.sCount[second] - state.sCount[start] >= marker.end()):
        return None
    aligns = alignments(line_text(state, second))
    return aligns if aligns and len(aligns) == len(split_row(text)) else None


def _body_end(state: StateBlock, first: int, end: int, columns: int) -> int:
    parent_rules = state.md.block.ruler.getRules("blockquote")
    page = get_page(state.env)
    line = first
    while line < end:
        if state.sCount[line] < state.blkIndent or state.isEmpty(line) or state.is_code_block(line):
            break
        if any(rule(state, line, end, True) for rule in parent_rules) or _is_caption(state, line):
            break
        page.added_cells += max(0, columns - len(split_row(line_text(state, line))))
        if page.added_cells > MAX_CELLS:
            _warn_short(state, line, columns)
            break
        line += 1
    return line


def _push_section(state: StateBlock, tag: str, lines: list[int], aligns: list[str]) -> None:
    state.push(f"{tag}_open", tag, 1).map = [lines[0], lines[-1] + 1]
    for line in lines:
        state.push("tr_open", "tr", 1).map = [line, line + 1]
        text = line_text(state, line)
        cells = split_row(text)
        _check_surplus(state, line, cells, len(aligns))
        for column, align in enumerate(aligns):
            cell = cells[column] if column < len(cells) else (len(text), len(text))
            _push_cell(state, line, cell, "th" if tag == "thead" else "td", align)
        state.push("tr_close", "tr", -1)
    state.push(f"{tag}_close", tag, -1)


def _align_decimals(tokens: list[Token], aligns: list[str]) -> None:
    """Align the numbers of right-aligned columns at their decimal points."""
    cells = [pair for pair in pairwise(tokens) if pair[0].type in ("td_open", "th_open")]
    # the first row is the header
    for column in (number for number, align in enumerate(aligns) if align == "right"):
        body = cells[len(aligns) + column :: len(aligns)]
        paddings = column_paddings([inline.content for _, inline in body])
        for (opening, inline), padding in zip(body, paddings, strict=True):
            if padding is not None:
                opening.attrSet("data-pad", padding.end)
                if padding.is_inside:
                    inline.meta["padding"] = padding


def _warn_short(state: StateBlock, line: int, columns: int) -> None:
    """Warn that the table ends here because too many cells are missing."""
    place = block_place(state, line_start(state, line), max(1, len(line_text(state, line))))
    message = f"too many missing cells on this page, over {MAX_CELLS:,}: the table ends before this row"
    hint = f"write all {columns} cells of each row, including empty ones"
    get_page(state.env).reporter.warn("table-cells", message, place, hint)


def _check_surplus(state: StateBlock, line: int, cells: list[tuple[int, int]], columns: int) -> None:
    """Warn about cells after the last column, which GFM drops."""
    if len(cells) > columns:
        start, stop = cells[columns][0], cells[-1][1]
        get_page(state.env).reporter.warn(
            "table-cells",
            f"too many cells: this row has {len(cells)}, the table {columns}; the last are not shown",
            block_place(state, line_start(state, line) + start, max(1, stop - start)),
            "write `\\|` for a pipe that does not separate cells",
        )


def _push_cell(state: StateBlock, line: int, cell: tuple[int, int], tag: str, align: str) -> None:
    text = line_text(state, line)[slice(*cell)]
    if tag == "th" and not text:
        # Screen readers would announce an empty header cell.
        tag = "td"
    opening = state.push(f"{tag}_open", tag, 1)
    if tag == "th":
        opening.attrSet("scope", "col")
    if align:
        opening.attrSet("class", f"align-{align}")
    place = block_place(state, line_start(state, line) + cell[0])
    inline = state.push("inline", "", 0)
    inline.map = [line, line + 1]
    inline.content = _unescape_code(text)
    inline.children = []
    attach_record(inline, TextMap(inline.content, ((place.line, place.column),)))
    state.push(f"{tag}_close", tag, -1)


def _unescape_code(text: str) -> str:
    r"""Return `text` with `\|` in code spans replaced by a pipe. Elsewhere the escape rule or TeX handles
    it."""
    if "`" not in text or "\\|" not in text:
        return text
    pieces = (text[start:end] for start, end in _steps(text))
    return "".join(piece.replace("\\|", "|") if piece.startswith("`") else piece for piece in pieces)


def _is_caption(state: StateBlock, line: int) -> bool:
    return bool(_CAPTION.fullmatch(line_text(state, line)))


def _caption(state: StateBlock, index: int, last: int, end: int) -> int:
    """Read a caption after the table, which ends before the line `last`, and at most one empty line. Return
    the line after the caption, or after the table if there is no caption."""
    opening = state.tokens[index]
    line = last + 1 if last < end and state.isEmpty(last) else last
    if line >= end or state.sCount[line] < state.blkIndent or state.is_code_block(line):
        attach_record(opening, TableRecord(0))
        return last
    found = _CAPTION.fullmatch(line_text(state, line))
    if not found:
        attach_record(opening, TableRecord(0))
        return last
    listed = _caption_attributes(found[2] or "")
    text = found[1] if listed or not found[2] else found[0][found.start(1) :].rstrip()
    name = listed.id.replace("tab-", "tbl-", 1) if listed else ""
    for class_name in listed.classes if listed else ():
        opening.attrJoin("class", class_name)
    attach_record(opening, TableRecord(0, id=name, caption=True))
    place = block_place(state, line_start(state, line) + found.start(1))
    caption = Token("inline", "", 0, content=text, map=[line, line + 1], children=[], block=True)
    caption.level = opening.level + 1
    attach_record(caption, TextMap(text, ((place.line, place.column),)))
    state.tokens.insert(index + 1, caption)
    return line + 1


def _caption_attributes(text: str) -> Attributes | None:
    """Return the label and the classes of a table, or None if the list contains anything else."""
    found = parse_attributes(text)
    is_known = found and not found.pairs and (not found.id or found.id.startswith(("tbl-", "tab-")))
    return found if is_known else None


def table_rules(md: MarkdownIt) -> None:
    """Replace the stock rule."""
    md.block.ruler.at("table", table, {"alt": ["paragraph", "reference"]})
