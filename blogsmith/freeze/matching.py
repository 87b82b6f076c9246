"""Matches recorded cells with the cells of a page after some were added, removed, moved or changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from ..model.cells import Cell
from .keys import SessionKeys
from .record import CellRecord


class Match(Struct, frozen=True):
    """Recorded cell that corresponds to a cell of the page."""

    index: int
    """Index of the recorded cell in its session."""
    known: bool = True
    """Whether the two cells have the same key, label or code. False if only their positions correspond."""


def match_cells(
    cells: Sequence[Cell], keys: SessionKeys, records: Sequence[CellRecord]
) -> tuple[Match | None, ...]:
    """Return the matching record for each of `cells`, or None if it has none. cells: those cells of a session
    that run."""
    if len(cells) == len(records) and all(r.key == key for r, key in zip(records, keys.cells, strict=True)):
        return tuple(Match(index) for index in range(len(records)))
    found: dict[int, Match] = {}
    labels = [cell.label for cell in cells]
    _pair(keys.cells, [record.key for record in records], found)
    _pair(labels, [record.label for record in records], found)
    _pair(keys.codes, [record.code for record in records], found)
    for position, index in _match_by_position(cells, records, found):
        found[position] = Match(index, known=False)
    return tuple(found.get(position) for position in range(len(cells)))


def _pair(wanted: Sequence[Hashable], offered: Sequence[Hashable], found: dict[int, Match]) -> None:
    """Add matches between equal, non-empty items, in order. wanted: items of the page. offered: items of the
    record. Skip items that already have a match."""
    taken = {match.index for match in found.values()}
    free = defaultdict(list)
    for index, thing in enumerate(offered):
        if thing and index not in taken:
            free[thing].append(index)
    for position, thing in enumerate(wanted):
        if position not in found and free.get(thing):
            found[position] = Match(free[thing].pop(0))


def _match_by_position(
    cells: Sequence[Cell], records: Sequence[CellRecord], found: dict[int, Match]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of indices that match the remaining cells with the remaining records in order, if both are
    between the same matched neighbours."""
    taken = {match.index for match in found.values()}
    before = -1
    for position, cell in enumerate(cells):
        if position in found:
            before = found[position].index
            continue
        index = before + 1
        # Cells with different labels are different cells.
        if index < len(records) and index not in taken and not (cell.label and records[index].label):
            before = index
            yield position, index
