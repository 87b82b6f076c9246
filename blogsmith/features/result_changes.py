"""Recorded results that differ from those of an earlier commit although their code is the same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, SiteError
from ..cells.status import PageStatus
from ..freeze.record import CellRecord, PageRecord
from ..freeze.record_json import from_json
from ..freeze.repetition import run_differences, summary, text_differences
from ..freeze.store import OUTPUTS
from ..stages.git_dates import run_git


class ResultChange(Struct, frozen=True):
    """Result that changed."""

    line: int
    """1-based line in the post."""
    name: str
    """Name of the cell, or the value as it is written."""
    change: str
    """Old and new result, such as `42 → 43`."""
    causes: tuple[str, ...] = ()
    """Changed inputs, as far as they are recorded."""


def result_changes(root: Path, page: PageStatus, revision: str) -> Iterator[ResultChange]:
    """Yield the results of a page that changed since a commit while their own code did not. Raises
    `SiteError` `freeze-revision` if the commit does not exist."""
    old = _old_record(root, page.folder, revision)
    if old is None:
        return
    cells = [cell for session in old.sessions.values() for cell in session.cells]
    for cell in page.cells.cells:
        verdict = page.verdict.cells.get(cell.number)
        new = verdict.record if verdict else None
        before = _same_code(new, cells) if new else None
        if new is None or before is None:
            continue
        found = run_differences(before.run, new.run, 0.0)
        if found:
            yield ResultChange(cell.place.line, cell.name, summary(found), tuple(_causes(before, new)))
    yield from _value_changes(page, old)


def _value_changes(page: PageStatus, old: PageRecord) -> Iterator[ResultChange]:
    values = [value for session in old.sessions.values() for value in session.values]
    for value in page.cells.values:
        verdict = page.verdict.values.get(value.number)
        new = verdict.value if verdict else None
        if new is None:
            continue
        text = (new.expression, new.conversion, new.spec)
        same = [one for one in values if (one.expression, one.conversion, one.spec) == text]
        before = next((one for one in same if one.key == new.key), same[0] if len(same) == 1 else None)
        found = list(text_differences(before.text, new.text, 0.0)) if before else []
        if before and found:
            causes = () if before.key == new.key else ("the code before it",)
            yield ResultChange(
                value.origin.place(0).line, f"{{= {value.expression} =}}", summary(found), causes
            )


def _same_code(new: CellRecord, cells: list[CellRecord]) -> CellRecord | None:
    """Return the earlier record of a cell: a record with the same code, preferably with the same key,
    otherwise with the same label. None if no record, or no clear choice, remains."""
    same = [cell for cell in cells if cell.code == new.code]
    exact = [cell for cell in same if cell.key == new.key] or [
        cell for cell in same if cell.label == new.label
    ]
    return exact[0] if exact else same[0] if len(same) == 1 else None


def _causes(old: CellRecord, new: CellRecord) -> Iterator[str]:
    if old.options != new.options:
        yield "its options"
    elif old.key != new.key:
        yield "the code before it"
    for then, now in ((old.run.reads, new.run.reads), (old.run.modules, new.run.modules)):
        yield from (path for path in sorted(then.keys() & now.keys()) if then[path] != now[path])


def _old_record(root: Path, folder: PurePosixPath, revision: str) -> PageRecord | None:
    """Return the record in a folder of `_freeze/` as of a commit. None if the commit has no record there."""
    name = str(folder / OUTPUTS)
    try:
        data = run_git(root, "cat-file", "blob", f"{revision}:./{name}")
    except subprocess.CalledProcessError:
        return None
    found = from_json(data, name)
    return None if isinstance(found, Diagnostic) else found


def check_revision(root: Path, revision: str) -> None:
    """Raise `SiteError` `freeze-revision` if a commit does not exist, or git cannot be used."""
    try:
        run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        hint = "write a branch, a tag or a commit of the repository of the site, such as `HEAD~1`"
        message = f'revision not found: "{revision}"'
        raise SiteError(Diagnostic("freeze-revision", message, hint=hint)) from error
