"""Records made from results that an imported notebook contains. Their cells never ran here."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ..model.cells import PageCells
from ..model.results import CellOutput, CellRun, Failure
from .environment import Environment
from .keys import code_digest, session_keys, start_key
from .record import CellRecord, PageRecord, SessionRecord
from .record_form import Origin

_ORIGIN = Origin(imported=True)
_MAIN = "main"


def imported_record(cells: Iterable[tuple[str, tuple[CellOutput, ...]]]) -> PageRecord:
    """Return a record with the results of a notebook. cells: code and outputs of each cell. Without cells,
    the record is empty."""
    records = tuple(_record(code, outputs) for code, outputs in cells)
    # keys of real runs are digests, so no run can have these keys
    session = SessionRecord(start_key("notebook", {}, ()), records, origin=_ORIGIN)
    return PageRecord({_MAIN: session} if records else {})


def _record(code: str, outputs: tuple[CellOutput, ...]) -> CellRecord:
    digest = code_digest(code)
    is_error = any(isinstance(output, Failure) for output in outputs)
    run = CellRun("error" if is_error else "ok", outputs)
    return CellRecord(key=digest, code=digest, run=run, origin=_ORIGIN)


def add_imported(
    record: PageRecord | None, imported: PageRecord, page: PageCells, around: Environment
) -> PageRecord | None:
    """Return `record` with results of a notebook added for those cells whose present code never ran here.
    None if there are no results at all."""
    main = record.sessions.get(_MAIN) if record else None
    other = imported.sessions.get(_MAIN)
    if record is None or main is None or other is None:
        sessions = {**imported.sessions, **(record.sessions if record else {})}
        return PageRecord(sessions) if sessions else record
    codes = session_keys(page, _MAIN, around.environment, around.figures, main.form).codes
    by_code = {cell.code: cell for cell in other.cells}
    cells, end = list(main.cells), 0
    for cell, code in zip(page.session_cells(_MAIN), codes, strict=True):
        same = next((n for n in range(end, len(cells)) if cells[n].code == code), -1)
        found = by_code.get(code_digest(cell.code))
        if same < 0 and found:
            # a record of code that is not on the page any more is that of this cell before it was edited
            is_edited = end < len(cells) and cells[end].code not in codes
            same = end
            cells[same : same + is_edited] = [replace(found, code=code)]
        end = max(end, same + 1)
    return PageRecord({**record.sessions, _MAIN: replace(main, cells=tuple(cells))})
