"""Records of posts that were renamed or moved, found by the digests of their code.

The folder of a record corresponds to the path of its post. If a post has no record, this module searches the
records of posts that no longer exist for the same code. A record that is found is used from its old folder.
It is copied to the folder of the post when the post's cells may run. Only `freeze prune` removes records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ..base.storage.file_names import SOURCES
from ..base.storage.folder import open_folder
from ..base.storage.tree import scan
from ..model.cells import PageCells
from ..model.results import CellRun, Uses
from .environment import Environment
from .keys import CANONICAL, KeyForm, session_keys
from .record import CellRecord, PageRecord, SessionRecord
from .store import FREEZE, OUTPUTS, ReadResult, read_folder

_CONTENT = "content"


class MovedRecord(Struct, frozen=True):
    """Record of a post that was found in the folder of an earlier path."""

    folder: PurePosixPath
    """Folder below `_freeze/`, relative to the site root."""
    found: ReadResult
    """The record, with the paths of files changed to their present locations."""


class _Orphan(Struct, frozen=True):
    """Record whose post does not exist."""

    folder: PurePosixPath
    found: ReadResult
    record: PageRecord
    items: Counter[Hashable]
    """Digests of the code of its cells, and its values."""

    @property
    def form(self) -> KeyForm:
        """Form of the keys of the first session, used for all, because sessions of one post rarely differ.
        `CANONICAL` if there is no session."""
        return next((session.form for session in self.record.sessions.values()), CANONICAL)


@dataclass(slots=True)
class OrphanedRecords:
    """Records whose posts no longer exist. Valid for one build; they are read from disk at the first
    request."""

    root: Path
    _records: tuple[_Orphan, ...] | None = None

    def find(self, page: PageCells, around: Environment) -> MovedRecord | None:
        """Return the record that contains most of the code of a page. None if no record contains half of
        it."""
        items: dict[KeyForm, Counter[Hashable]] = {}
        best, most = None, 0
        for orphan in self._orphans():
            form = orphan.form
            if form not in items:
                items[form] = Counter(_page_items(page, around, form))
            shared = _count_shared(items[form], orphan.items)
            if shared > most:
                best, most = orphan, shared
        if best is None:
            return None
        record = _move_paths(best.record, _post_folder(best.folder), page.path.parent)
        return MovedRecord(best.folder, ReadResult(record, best.found.diagnostics))

    def _orphans(self) -> tuple[_Orphan, ...]:
        if self._records is None:
            folders = sorted(folder for folder in _record_folders(self.root) if not self._has_post(folder))
            read = ((folder, read_folder(self.root, folder)) for folder in folders)
            self._records = tuple(
                _Orphan(folder, found, found.record, Counter(_recorded_items(found.record)))
                for folder, found in read
                if found.record is not None
            )
        return self._records

    def _has_post(self, folder: PurePosixPath) -> bool:
        place = self.root / _post_folder(folder)
        return any((place / f"{folder.name}{ending}").is_file() for ending in SOURCES)


def _record_folders(root: Path) -> Iterator[PurePosixPath]:
    try:
        with open_folder(root) as site, site.enter(FREEZE) as records:
            files = scan(records).files
    except OSError:
        return
    for path in map(PurePosixPath, files):
        if path.name == OUTPUTS and len(path.parts) > 1:
            yield PurePosixPath(FREEZE, path.parent)


def _post_folder(folder: PurePosixPath) -> PurePosixPath:
    """Return the folder of the post that the record in `folder` was made for."""
    return PurePosixPath(_CONTENT, *folder.parts[1:-1])


def _count_shared(items: Counter[Hashable], recorded: Counter[Hashable]) -> int:
    """Return how many cells and values of a page are in the record; 0 if they are fewer than half of either
    side."""
    shared = (items & recorded).total()
    return shared if 2 * shared >= max(items.total(), recorded.total()) else 0


def _page_items(page: PageCells, around: Environment, form: KeyForm) -> Iterator[Hashable]:
    for session in page.sessions():
        yield from session_keys(page, session, around.environment, around.figures, form).codes
    yield from ((value.expression, value.conversion, value.spec) for value in page.values)


def _recorded_items(record: PageRecord) -> Iterator[Hashable]:
    for session in record.sessions.values():
        yield from (cell.code for cell in session.cells)
        yield from ((value.expression, value.conversion, value.spec) for value in session.values)


def _move_paths(record: PageRecord, old: PurePosixPath, new: PurePosixPath) -> PageRecord:
    """Return the record with changed paths of files that were moved together with the post."""
    if old == new:
        return record

    def moved(path: str) -> str:
        return f"{new}/{path.removeprefix(f'{old}/')}" if path.startswith(f"{old}/") else path

    def files(paths: Mapping[str, str]) -> dict[str, str]:
        return dict(sorted((moved(path), digest) for path, digest in paths.items()))

    def uses(found: Uses | None) -> Uses | None:
        return found and replace(found, states=files(found.states))

    def run(found: CellRun) -> CellRun:
        return replace(
            found,
            reads=files(found.reads),
            modules=files(found.modules),
            absent=tuple(map(moved, found.absent)),
            uses=uses(found.uses),
        )

    def cell(found: CellRecord) -> CellRecord:
        return replace(found, run=run(found.run), depends=files(found.depends))

    def session(found: SessionRecord) -> SessionRecord:
        return replace(
            found,
            cells=tuple(map(cell, found.cells)),
            depends=files(found.depends),
            reads=files(found.reads),
            modules=files(found.modules),
            absent=tuple(map(moved, found.absent)),
            uses=uses(found.uses),
        )

    return PageRecord({name: session(part) for name, part in record.sessions.items()})
