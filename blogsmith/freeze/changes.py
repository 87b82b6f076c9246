"""Finds the reasons why a recorded session is stale, as messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from ..base.storage.path_states import NONE, is_outside
from ..model.cells import Cell, PageCells
from ..model.results import Uses
from .environment import Environment
from .keys import SessionKeys, environment_digests
from .matching import Match
from .record import SessionRecord, module_files


class _FileChange(Struct, frozen=True):
    index: int
    """Index of the recorded cell that used the file. -1 if values before all cells, or the page itself, used
    it."""
    who: str
    """Name of the cell that used the file, such as `cell load`."""
    use: str
    """How the cell used the file: `read`, `imports`, `depends on`, or a phrase for a module that would now be
    imported."""
    path: str
    what: str
    """Change of the file: `has changed`, `is gone` or `is new`."""


@dataclass(frozen=True, slots=True)
class StaleReasons:
    """Compares one session of a page with its record, to find out why it is stale."""

    page: PageCells
    cells: Sequence[Cell]
    """Cells of the session that are set to run."""
    keys: SessionKeys
    record: SessionRecord
    around: Environment
    matches: Sequence[Match | None]
    _files: list[_FileChange] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_files", list(self._file_changes()))

    def cell_reasons(self, position: int) -> list[str]:
        """Return why the key of a cell differs from the key in its record. The cell must have a record."""
        match = self.matches[position]
        record = self.record.cells[match.index] if match else None
        found = [*self._own_changes(position), *self.earlier_reasons(position, may_be_empty=True)]
        if record is not None and record.origin is not None and not found:
            return ["it could not run when the rest of its session last changed"]
        return found or ["it was recorded under other conditions"]

    def earlier_reasons(self, position: int, *, may_be_empty: bool = False) -> list[str]:
        """Return why the keys of cells before the one at `position`, which are a part of its key, differ from
        the recorded ones. may_be_empty: whether the caller has another reason already, so that the result may
        be empty."""
        found = [*self._start(), *self._earlier_changes(position), *self._removed_cells(position)]
        if not found and self._is_reordered(position):
            found.append("the session was recorded in another order")
        return found if found or may_be_empty else ["it was recorded under other conditions"]

    def file_reasons(self, index: int, *, own: bool = True) -> list[str]:
        """Return messages about changed files that the recorded cell at `index`, or an earlier cell, used.

        own: whether the messages are shown at the cell at `index`. If False, they are shown at something
        after that cell, such as a value.
        """
        if not self._files:
            return []
        kept = index >= 0 and own and self.record.cells[index].origin is not None
        found = []
        for change in self._files:
            mine = own and change.index == index
            # If a cell has a result from an earlier run, all its files are in its own record and do not
            # matter for other cells.
            others = self.record.cells[change.index].origin is None if change.index >= 0 else True
            if mine or (change.index <= index and others and not kept):
                who = "it" if mine else change.who
                found.append(f"{change.path}, which {who} {change.use}, {change.what}")
        return list(dict.fromkeys(found))

    def _own_changes(self, position: int) -> Iterator[str]:
        match = self.matches[position]
        if match is None:
            return
        record = self.record.cells[match.index]
        if record.code != self.keys.codes[position]:
            yield "its code has changed"
        yield from _option_changes(record.options, self.keys.options[position])

    def _start(self) -> Iterator[str]:
        if self.record.start == self.keys.start:
            return
        now, then = environment_digests(self.around.environment), self.record.environment
        for name in sorted(now.keys() | then.keys()):
            if now.get(name) != then.get(name):
                what = "has changed" if name in now and name in then else "is no longer set"
                yield f"the environment variable {name} {'is now set' if name not in then else what}"
        if now == then:
            kernel = "the kernel or " if self.page.engine == "jupyter" else ""
            is_drawing = bool(self.cells) and self.cells[0].is_drawing
            what = "`math.macros`" if is_drawing else f"{kernel}`depends` of the page"
            yield f"{what} has changed"

    def _earlier_changes(self, position: int) -> Iterator[str]:
        for earlier in range(position):
            name = cell_name(self.cells[earlier])
            if self.matches[earlier] is None:
                yield f"{name} before it is new"
            elif any(self._own_changes(earlier)):
                yield f"{name} before it has changed"

    def _removed_cells(self, position: int) -> Iterator[str]:
        match = self.matches[position] if position < len(self.matches) else None
        end = match.index if match else len(self.record.cells)
        taken = {match.index for match in self.matches if match}
        for index in range(end):
            if index not in taken:
                label = self.record.cells[index].label
                yield f"cell {label} before it is gone" if label else "a cell before it is gone"

    def _is_reordered(self, position: int) -> bool:
        so_far = [match.index for match in self.matches[: position + 1] if match]
        behind = [match.index for match in self.matches[position + 1 :] if match]
        return so_far != sorted(so_far) or min(behind, default=len(self.record.cells)) < max(
            so_far, default=-1
        )

    def _file_changes(self) -> Iterator[_FileChange]:
        patterns = self.page.depends
        for path, what in self._compare_files(self.record.depends, patterns):
            yield _FileChange(-1, "the page", "depends on", path, what)
        early = self.record
        yield from self._used_file_changes(
            -1, "a value in the text", early.reads, early.modules, early.absent
        )
        yield from self._use_changes(-1, "a value in the text", early.uses)
        for index, record in enumerate(self.record.cells):
            run = record.run
            used = run.reads or run.modules or run.absent or run.uses
            if not (used or record.depends or "depends" in record.options):
                continue
            cell = self._find_cell(index)
            if cell is None:  # The cell was removed, so the cells after it have other keys anyway.
                continue
            who = cell_name(cell)
            yield from self._used_file_changes(index, who, run.reads, run.modules, run.absent)
            yield from self._use_changes(index, who, run.uses)
            for path, what in self._compare_files(record.depends, cell.options.depends):
                yield _FileChange(index, who, "depends on", path, what)

    def _used_file_changes(
        self,
        index: int,
        who: str,
        reads: Mapping[str, str],
        modules: Mapping[str, str],
        absent: Sequence[str],
    ) -> Iterator[_FileChange]:
        for use, files in (("read", reads), ("imports", modules)):
            for path, what in self._compare_files(files):
                yield _FileChange(index, who, use, path, what)
        for path in (path for stem in absent for path in module_files(stem)):
            if self.around.digest_of(path) is not None:
                yield _FileChange(index, who, "would now import in place of another", path, "is new")

    def _use_changes(self, index: int, who: str, uses: Uses | None) -> Iterator[_FileChange]:
        for path, use, what in state_changes(uses, self.around):
            yield _FileChange(index, who, use, path, what)

    def _compare_files(
        self, recorded: Mapping[str, str], patterns: Sequence[str] = ()
    ) -> Iterator[tuple[str, str]]:
        for path, digest in recorded.items():
            now = self.around.digest_of(path)
            if now != digest:
                yield path, "is gone" if now is None else "has changed"
        found = {path for pattern in patterns for path in self.around.matches(pattern, self.page.path)}
        for path in sorted(found - recorded.keys()):
            yield path, "is new"

    def _find_cell(self, index: int) -> Cell | None:
        for cell, match in zip(self.cells, self.matches, strict=True):
            if match and match.index == index:
                return cell
        return None


def state_changes(uses: Uses | None, around: Environment) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each path and variable whose state has changed, how it was used, and the change. A
    path outside the site that does not exist on this machine is not compared."""
    if uses is None:
        return
    for key, then in uses.states.items():
        now = around.state_of(key, then)
        if now == then or (now == NONE and is_outside(key)):
            continue
        if then == NONE:
            yield key, "searched for", "is new"
        else:
            use = "lists" if then.startswith("names ") or key.endswith("/") else "uses"
            yield key, use, "is gone" if now == NONE else "has changed"
    now_set = variable_digests(set(uses.variables) & set(around.passed), around.passed)
    for name, digest in now_set.items():
        if uses.variables[name] != digest:
            yield f"the environment variable {name}", "reads", "has changed"


def variable_digests(names: Collection[str], values: Mapping[str, str | None]) -> dict[str, str]:
    """Map variables to short digests of their values. The digest of a variable that is not set is empty."""
    found = {name: value for name in names if (value := values[name]) is not None}
    return dict(sorted({**dict.fromkeys(names, ""), **environment_digests(found)}.items()))


def cell_name(cell: Cell) -> str:
    """Return the name of a cell for messages: `cell load` if it has a label, otherwise `cell 3`."""
    return f"cell {cell.label or cell.number}"


def _option_changes(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(then.keys() | now.keys()):
        old, new = then.get(name, ""), now.get(name, "")
        if old == new:
            continue
        if name == "depends" and new:
            yield f'it now depends on "{new}"'
        elif name == "needs" and new:
            yield f'it now needs "{new}"'
        else:
            now_set = f"is now {new}" if new else "is no longer set"
            yield f"its `{name}` " + (f"changed from {old} to {new}" if old and new else now_set)
