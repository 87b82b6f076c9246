"""The record of a build that found nothing wrong, by which the next one may know that nothing has changed.

It holds all that was read and written, with a stamp of all of it, and what was said. In any doubt there is
none: a link, a stamp so young that a later change might have the same, cells that may run.
"""

from __future__ import annotations

import datetime as dt
import os
import stat
import time
from collections.abc import Collection, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..base.storage.cache import open_cache
from ..base.storage.folder import NEW
from ..model.remote_images import RECORD
from ..project.program import program_folders
from ..project.report import BuildReport, Counts
from ..project.trust.seal import make_sealer
from .build_stamps import (
    FILES,
    PASSED_OVER,
    BuildComparison,
    encode_record,
    names_in,
    program_text,
    seal_purpose,
    stamp,
    stamps_digest,
)

_PARTS = (
    *("blogsmith.yaml", "content", "static", "themes", "layouts", "partials", "shortcodes", "plugins"),
    *("languages", "_freeze", RECORD),
)
"""What every build reads in the folder of a site."""
TICK_NS = 20_000_000
"""More than between two ticks of a file system's clock that counts parts of seconds."""
_COARSE_TICK_NS = 2_000_000_000
"""As much, of one that does not."""
_WAIT_S = 0.025
_SOURCES = (".md", ".markdown")


class StampDoubt(Exception):
    """Stamps cannot tell whether something has changed."""


@dataclass(frozen=True, slots=True)
class BuildStart:
    """What is noted before a build reads anything."""

    now_ns: int
    """By the clock of the file system."""
    device: int | None
    """Where the stamp of a folder tells that a name came or went: that of the site's folder, or nowhere."""
    names: tuple[str, ...]
    """In the folder of the site."""


@dataclass(frozen=True, slots=True)
class BuildExtent:
    """What a build depends on and has made, beside the usual."""

    reads_all: bool
    """Cells or plugins may read any file of the site."""
    variables: tuple[str, ...]
    """Of the environment."""
    output: Path | None
    """None: nothing was written."""
    until: dt.datetime | None
    """When the next post is to be published."""
    outline: str = ""
    """The key of the outline of the site; empty: there is none."""
    files: frozenset[str] = frozenset()
    """Where else a file may lie that it reads, relative to the root: bibliographies, styles, code
    that pages show parts of."""
    ended_s: float = 0.0
    """When the last file was written, by `time.monotonic`."""


@dataclass(slots=True)
class _Inventory:
    """All that must stay as it is. Lives while it is made."""

    root: str
    device: int | None
    paths: list[str] = field(default_factory=list)
    """What is compared by its stamp."""
    stamps: list[tuple[int, ...]] = field(default_factory=list)
    """Of each of them."""
    absent: list[str] = field(default_factory=list)
    """Where nothing may stand."""
    listed: dict[str, list[str]] = field(default_factory=dict)
    """Folder whose stamp does not tell → the names in it."""
    first_output: int = 0
    """Number of the first path in the output folder; all others come before it."""

    def add(self, path: str, before_ns: int) -> None:
        """One path; StampDoubt if what stands there was not changed clearly before a moment."""
        found = stamp(path)
        if not found:
            self.absent.append(path)
            return
        _check_stamp(found, before_ns)
        self.paths.append(path)
        self.stamps.append(found)

    def add_tree(self, folder: str, before_ns: int, *, is_program: bool = False) -> None:
        """A folder with all that is below it.

        is_program: Python adds its own folders there while the program starts.
        """
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        self._add_folder(folder, {entry.name for entry in entries}, before_ns, is_program=is_program)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                self.add(entry.path, before_ns)
            elif entry.name not in PASSED_OVER:
                self.add_tree(entry.path, before_ns, is_program=is_program)

    def _add_folder(self, folder: str, names: Set[str], before_ns: int, *, is_program: bool) -> None:
        is_told = os.lstat(folder).st_dev == self.device
        if is_told and not (is_program and _will_hold_bytecode(names)):
            try:
                self.add(folder, before_ns)
            except StampDoubt:
                # Python may have added its own folder just now
                if not is_program:
                    raise
            else:
                return
        self.listed[folder] = names_in(folder, self.root)


def start_build(root: Path) -> BuildStart | None:
    """To be called before a build; None if no record can be made."""
    name = f"{NEW}{os.urandom(6).hex()}"
    with suppress(OSError), open_cache(root) as folder:
        folder.set_time(0)
        folder.create(name).close()
        found = folder.status(name)
        folder.remove(name)
        after = folder.own_status()
        device = after.st_dev if after.st_mtime_ns else None
        names = tuple(names_in(str(root), str(root)))
        return BuildStart(found.st_mtime_ns, device, names) if found else None
    return None


def save_stamps(
    root: Path,
    question: str,
    now: dt.datetime,
    extent: BuildExtent,
    report: BuildReport,
    start: BuildStart,
    last: BuildComparison | None = None,
    written: Collection[str] | None = None,
) -> None:
    """Record a build that has just ended, if nothing it read may have changed since it began.

    last: what an edit has started from; it has not read what that found to be the same. written: as in
    `save_edit_stamps`.
    """
    folder = str(root)
    if extent.output is not None:
        # whatever is written there from now on has a later stamp
        time.sleep(max(0.0, extent.ended_s + _WAIT_S - time.monotonic()))
    try:
        found = _stamp_again(last, start, written) if last else _take_stock(folder, extent, start)
        if last:
            sources = [(number, found.stamps[number]) for number, _ in last.record["sources"]]
        else:
            sources = _stamps_of_sources(found, folder) if extent.outline else []
        record = {
            "question": question,
            "program": program_text(folder),
            "now": now.timestamp(),
            "until": extent.until.timestamp() if extent.until else None,
            "variables": {name: os.environ.get(name) for name in extent.variables},
            "root": folder,
            "reads_all": extent.reads_all,
            "listed": found.listed,
            "absent": found.absent,
            "paths": found.paths,
            "stamps": stamps_digest(found.stamps),
            "sources": sources,
            "outline": extent.outline,
            "output": str(extent.output or ""),
            "first_output": found.first_output,
            "output_stamps": stamps_digest(found.stamps[found.first_output :]),
            "report": _flatten(report),
        }
    except (StampDoubt, OSError):
        return
    text = encode_record(record)
    with suppress(OSError), open_cache(root) as cache:
        seal = make_sealer(seal_purpose(folder)).seal(text)
        cache.replace(FILES[extent.output is not None], seal + text, is_durable=False)


def save_edit_stamps(
    root: Path,
    now: dt.datetime,
    last: BuildComparison,
    outline: str,
    report: BuildReport,
    start: BuildStart,
    ended_s: float,
    written: Collection[str] | None,
) -> None:
    """Record an edit that has just been built.

    last: what it started from; outline, ended_s: as in `BuildExtent`. written: paths in the output folder
    that are others now, with the folders above them; None: any may be.
    """
    record = last.record
    until = record["until"]
    extent = BuildExtent(
        reads_all=record["reads_all"],
        variables=tuple(record["variables"]),
        output=Path(record["output"]),
        until=dt.datetime.fromtimestamp(until, dt.UTC) if until else None,
        outline=outline,
        ended_s=ended_s,
    )
    save_stamps(root, record["question"], now, extent, report, start, last, written)


def kept_report(kept: Mapping[str, Any]) -> BuildReport:
    """The report of a build in which nothing has changed, as its record has it."""
    diagnostics = msgspec.convert(kept["diagnostics"], tuple[Diagnostic, ...])
    exact = {"scheduled": tuple(kept["scheduled"]), "target": Path(kept["target"])}
    return BuildReport(**{**kept, **exact, "diagnostics": diagnostics, "ok": True})


def _take_stock(root: str, extent: BuildExtent, start: BuildStart) -> _Inventory:
    ended_ns = time.time_ns()
    found = _Inventory(root, start.device)
    output = str(extent.output) if extent.output else ""
    names = names_in(root, root)
    if any(os.path.join(root, name) != output for name in {*names} ^ {*start.names}):
        raise StampDoubt
    for folder in program_folders():
        found.add_tree(folder, start.now_ns, is_program=True)
    if extent.reads_all:
        found.listed[root] = names
    for path in (os.path.join(root, name) for name in (names if extent.reads_all else _PARTS)):
        if output and output.startswith(os.path.join(path, "")):
            raise StampDoubt
        if path == output:
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            found.add_tree(path, start.now_ns)
        else:
            found.add(path, start.now_ns)
    known = {*found.paths}
    for path in sorted(extent.files):
        if os.path.join(root, path) not in known:
            _add_way(found, root, path, start.now_ns)
    found.first_output = len(found.paths)
    if output:
        found.add_tree(output, ended_ns)
    return found


def _add_way(found: _Inventory, root: str, path: str, before_ns: int) -> None:
    """A file, with the folders that lead to it: one of them may become a link."""
    parts = path.split("/")
    for end in range(1, len(parts) + 1):
        place = os.path.join(root, *parts[:end])
        status = stamp(place)
        if end == len(parts) or not status:
            found.add(place, before_ns)
            return
        if stat.S_ISLNK(status[0]):
            raise StampDoubt


def _check_stamp(found: tuple[int, ...], before_ns: int) -> None:
    mode, _, modified_ns, changed_ns, _ = found
    tick_ns = TICK_NS if changed_ns % 1_000_000 else _COARSE_TICK_NS
    # what a link leads to may change, and lie anywhere
    if stat.S_ISLNK(mode) or max(modified_ns, changed_ns) > before_ns - tick_ns:
        raise StampDoubt


def _will_hold_bytecode(names: Set[str]) -> bool:
    """Whether Python may still add its own folder to one with these names."""
    return "__pycache__" not in names and any(name.endswith(".py") for name in names)


def _stamps_of_sources(found: _Inventory, root: str) -> list[tuple[int, tuple[int, ...]]]:
    """Number of a path → its stamp, of Markdown files and folders below `content`."""
    start = os.path.join(root, "content")
    paths = enumerate(found.paths[: found.first_output])
    return [
        (number, found.stamps[number])
        for number, path in paths
        if (path == start or path.startswith(os.path.join(start, "")))
        and _is_source(path, found.stamps[number][0])
    ]


def _is_source(path: str, mode: int) -> bool:
    return stat.S_ISDIR(mode) or path.endswith(_SOURCES)


def _stamp_again(last: BuildComparison, start: BuildStart, written: Collection[str] | None) -> _Inventory:
    """What there is after an edit; StampDoubt if what it has written is changing.

    Of all else the stamps are those from before it began: whatever was saved since then will be found to be
    another one by the next build.
    """
    ended_ns = time.time_ns()
    record = last.record
    count, paths = record["first_output"], record["paths"]
    absent, listed = record["absent"], record["listed"]
    found = _Inventory(
        record["root"], start.device, paths[:count], last.stamps[:count], absent, listed, first_output=count
    )
    for number, before in record["sources"]:
        if last.stamps[number] != before:
            _check_stamp(last.stamps[number], start.now_ns)
    for path, before in zip(paths[count:], last.stamps[count:], strict=True):
        if (written is None or path in written) and stamp(path) != before:
            found.add(path, ended_ns)
        else:
            found.paths.append(path)
            found.stamps.append(before)
    if len(found.paths) != len(paths):
        raise StampDoubt
    return found


def _flatten(report: BuildReport) -> dict[str, Any]:
    """What of a report the next build says again, if it finds nothing changed."""
    counts = {name: getattr(report, name) for name in Counts.__struct_fields__}
    diagnostics = msgspec.to_builtins(report.diagnostics)
    unchanged = report.unchanged + report.written
    return {
        **counts,
        "ran": 0,
        "diagnostics": diagnostics,
        "written": 0,
        "unchanged": unchanged,
        "removed": 0,
        "target": str(report.target or ""),
    }
