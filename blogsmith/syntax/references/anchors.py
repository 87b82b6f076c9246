"""All ids of a parsed page, so that links to it can be checked before it is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from ...base.diagnostics.model import TextMap
from ...base.patterns import lazy_pattern
from ...model.cells import Cell
from ..records import (
    Callout,
    CitationEntry,
    Fence,
    Figure,
    Heading,
    Math,
    NoteItem,
    NoteRef,
    Shortcode,
    TableRecord,
)

_RAW_ID = lazy_pattern(r"<[A-Za-z][^<>]*?\s(?:id|name)\s*=\s*[\"']?([^\s\"'<>]+)")
_NAMED = frozenset((Callout, Fence, Figure, Heading, Shortcode, TableRecord))


def anchors(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the ids of headings, labels, notes, references, figures and the author's own HTML."""
    found: set[str] = set()
    _add_ids(tokens, found)
    return frozenset(found - {""})


def _add_ids(tokens: Sequence[Token], found: set[str]) -> None:
    for token in tokens:
        if "id" in token.attrs:
            found.add(str(token.attrs["id"]))
        # Most tokens have no records, and a page of tables has tens of thousands of tokens.
        if token.meta:
            for record in token.meta.values():
                kind = type(record)
                if kind in _NAMED:
                    found.add(record.id)
                    if kind is Heading:
                        found.add(record.old_id)
                elif kind is not TextMap:
                    found.update(_record_ids(record))
        if token.type in ("html_block", "html_inline"):
            found.update(_RAW_ID.findall(token.content))
        if token.children:
            _add_ids(token.children, found)


def _cell_ids(cell: Cell) -> Iterator[str]:
    """Yield the ids of a cell: `cell-x`, or `x` if it never runs; and `fig-x` or `tbl-x` for its output."""
    if cell.label and cell.options.include and (cell.options.eval or cell.options.echo):
        yield f"cell-{cell.label}" if cell.options.eval else cell.label
    if cell.figure_number or cell.table_number:
        yield cell.label


def _record_ids(record: object) -> Iterator[str]:
    if isinstance(record, Cell):
        yield from _cell_ids(record)
    elif isinstance(record, Math):
        yield from (row.id for row in record.rows)
    elif isinstance(record, NoteItem):
        yield f"fn-{record.number}"
    elif isinstance(record, NoteRef):
        yield f"fnref-{record.number}" if record.use == 1 else f"fnref-{record.number}-{record.use}"
    elif isinstance(record, tuple):
        yield from (f"ref-{entry.key}" for entry in record if isinstance(entry, CitationEntry))
