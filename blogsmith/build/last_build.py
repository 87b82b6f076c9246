"""Test whether any file has changed since the last build, by one row of the cache.

The row contains digests of the sizes and times of all files that the build read and wrote. `build` and
`check` compare them before they import the code that renders pages. They build in every doubtful case: after
an error, if a file is a link, if a file is so recent that a later save might have the same times, and if
cells may run.
"""

from __future__ import annotations

import datetime as dt
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..base.storage.folder import TEMPORARY_PREFIX
from ..base.storage.own_folder import OWN_FOLDER, open_own_folder
from ..base.storage.site_cache import CacheInterface, Row
from ..model.remote_images import RECORD as IMAGES_RECORD
from ..project.program import tools_digest
from ..project.report import BuildReport, Counts
from ..project.trust.place import record_file
from ..read.unread_files import find_unread_files

_KIND: Final = "build"
_SITE_ENTRIES = (
    *("blogsmith.yaml", "content", "static", "themes", "layouts", "partials", "shortcodes", "plugins"),
    *("languages", "_freeze", IMAGES_RECORD),
)
"""Entries of the site root that every build reads."""
_IGNORED_FOLDERS = frozenset({OWN_FOLDER, ".git", "node_modules", "__pycache__"})
"""Names of folders whose contents no build reads."""
_OUTPUTS = "files in "
_SPARE = 20
"""Number of stored results with other options. For example, `check FILE` stores a result for each file."""
_TICK_NS = 20_000_000
"""Time in nanoseconds that is longer than one tick of a file system clock with fractions of a second."""
_COARSE_TICK_NS = 2_000_000_000
"""Time in nanoseconds that is longer than one tick of a file system clock with whole seconds only."""


class BuildExtent(msgspec.Struct, frozen=True):
    """Files and conditions that a build depends on, in addition to the files that every build reads."""

    reads_all: bool
    """Whether cells or plugins may read any file of the site."""
    variables: tuple[str, ...] = ()
    """Names of the environment variables that the build reads."""
    output: str = ""
    """Path of the output folder, which is not read."""
    writes: bool = True
    """Whether the build writes the output folder; a check does not."""
    until_s: float | None = None
    """Time of the next publication or expiry of a post, in seconds since 1970; None if there is none."""
    files: tuple[str, ...] = ()
    """Paths, relative to the root, of other files that the build may read, such as bibliographies and
    included code."""
    unread: tuple[str, ...] = ()
    """Paths of the files for which the build reported that it did not read them."""


class BuildStart(msgspec.Struct, frozen=True):
    """State of the site before a build reads it."""

    now_ns: int
    """Time in nanoseconds, by the clock of the file system."""
    names: tuple[str, ...]
    """Names in the site root."""


class _Record(msgspec.Struct, frozen=True, array_like=True):
    extent: BuildExtent
    now_s: float
    variables: Mapping[str, str | None]
    inputs: bytes
    """Digest of the stamps of all files that were read."""
    outputs: bytes
    """Digest of the stamps of all files in the output folder."""
    report: Mapping[str, Any]


class _UncertainError(Exception):
    """Sizes and times cannot show reliably whether a file has changed."""


def start_build(root: Path) -> BuildStart | None:
    """Return the state before a build; None if times of files are unreliable on this disk."""
    name = f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}"
    with suppress(OSError), open_own_folder(root) as folder:
        folder.set_time(0)
        folder.create(name).close()
        found = folder.status(name)
        folder.remove(name)
        # otherwise the time of a folder would not show that entries were added or removed
        if found and folder.own_status().st_mtime_ns:
            return BuildStart(found.st_mtime_ns, tuple(_list_names(str(root))))
    return None


def find_last_report(root: Path, rows: CacheInterface, question: str, now: dt.datetime) -> BuildReport | None:
    """Return the report of the last build if a new one would be the same; otherwise None. question: options
    of the command line, as one string."""
    record = _read(rows, question)
    if record is None or not record.now_s <= now.timestamp() < (record.extent.until_s or float("inf")):
        return None
    if any(os.environ.get(name) != value for name, value in record.variables.items()):
        return None
    if record.extent.unread != find_unread_files(root):
        return None
    with suppress(_UncertainError, OSError):
        if record.inputs == _inputs_digest(root, rows.program, record.extent, None) and (
            not record.extent.writes or record.outputs == _outputs_digest(record.extent.output)
        ):
            return _restore(record.report)
    return None


def is_output_unchanged(rows: CacheInterface, output: Path) -> bool:
    """Return whether the last build wrote every file in the output folder; False if there is any doubt."""
    row = rows.get(_KIND, f"{_OUTPUTS}{output}")
    with suppress(_UncertainError, OSError):
        return row is not None and row.data == _outputs_digest(str(output))
    return False


def record_outputs(rows: CacheInterface, output: Path) -> None:
    """Record the sizes and times of the files in the output folder after a build."""
    with suppress(_UncertainError, OSError):
        rows.put(_KIND, f"{_OUTPUTS}{output}", Row("", _outputs_digest(str(output))))


def record_build(
    root: Path,
    rows: CacheInterface,
    question: str,
    now: dt.datetime,
    extent: BuildExtent,
    report: BuildReport,
    start: BuildStart,
) -> None:
    """Record a build that has just ended, unless a file that it read may have changed since its start.
    question: options of the command line, as one string."""
    kept = rows.get(_KIND, f"{_OUTPUTS}{extent.output}")
    try:
        changed = {*_list_names(str(root))} ^ {*start.names}
        if any(os.path.join(root, name) != extent.output for name in changed):
            return
        if extent.unread != find_unread_files(root):
            return
        record = _Record(
            extent,
            now.timestamp(),
            {name: os.environ.get(name) for name in extent.variables},
            _inputs_digest(root, rows.program, extent, start.now_ns),
            kept.data if extent.writes and kept else b"",
            _flatten(report),
        )
        data = msgspec.msgpack.encode(record)
    except (_UncertainError, OSError, UnicodeError):
        # paths may not be encodable, see `is_text`
        return
    rows.put(_KIND, question, Row(rows.program, data))
    rows.remove_others(_KIND, (question, f"{_OUTPUTS}{extent.output}"), _SPARE)


def _read(rows: CacheInterface, question: str) -> _Record | None:
    row = rows.get(_KIND, question)
    if row is None or row.key != rows.program:
        return None
    try:
        return msgspec.msgpack.decode(row.data, type=_Record)
    except msgspec.MsgspecError:
        return None


def _inputs_digest(root: Path, program: str, extent: BuildExtent, before_ns: int | None) -> bytes:
    """Return the digest of the stamps of all inputs. before_ns: raise `_UncertainError` if an input may have
    changed at this time or later; None accepts any time."""
    top = str(root)
    names = _list_names(top)
    lines = [program, tools_digest(), str(os.stat(top).st_ino)]
    _add_path(lines, str(record_file()), "", None)
    for name in names if extent.reads_all else (name for name in names if name in _SITE_ENTRIES):
        path = os.path.join(top, name)
        if path != extent.output:
            _add_path(lines, path, extent.output, before_ns)
    for path in extent.files:
        _add_path(lines, os.path.join(top, path), "", before_ns)
    return blake2b(_encode("\n".join(lines)), digest_size=16).digest()


def _outputs_digest(output: str) -> bytes:
    lines: list[str] = []
    _add_folder(lines, output, "", None)
    return blake2b(_encode("\n".join(lines)), digest_size=16).digest()


def _add_path(lines: list[str], path: str, passed_over: str, before_ns: int | None) -> None:
    """Add a line for a file, or for every file and folder below a folder. passed_over: path of the output
    folder, which is not read; raise `_UncertainError` if it is below the folder."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        lines.append(f"{path}\0")
        return
    if stat.S_ISDIR(found.st_mode):
        _check_age(found, before_ns)
        _add_folder(lines, path, passed_over, before_ns)
    else:
        lines.append(_line(path, found, before_ns))


def _add_folder(lines: list[str], folder: str, passed_over: str, before_ns: int | None) -> None:
    lines.append(f"{folder}/")
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.path == passed_over:
            raise _UncertainError
        if not entry.is_dir(follow_symlinks=False):
            lines.append(_line(entry.name, entry.stat(follow_symlinks=False), before_ns))
        elif entry.name not in _IGNORED_FOLDERS:
            # the names in a folder are compared too, so the folder's time matters only while a build runs
            if before_ns is not None:
                _check_age(entry.stat(follow_symlinks=False), before_ns)
            _add_folder(lines, entry.path, passed_over, before_ns)


def _line(name: str, found: os.stat_result, before_ns: int | None) -> str:
    """Return a line that differs after a change of the file: name, mode, size, times of change, inode. Raise
    `_UncertainError` for a symbolic link, or if the last change of the file is not clearly before
    `before_ns`; None: any time is accepted."""
    # the target of a link may change, and may be outside the site
    if stat.S_ISLNK(found.st_mode):
        raise _UncertainError
    _check_age(found, before_ns)
    return f"{name}\0{found.st_mode} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def _check_age(found: os.stat_result, before_ns: int | None) -> None:
    """Raise `_UncertainError` unless the last change is clearly before a time."""
    if before_ns is not None:
        tick_ns = _TICK_NS if found.st_ctime_ns % 1_000_000 else _COARSE_TICK_NS
        if max(found.st_mtime_ns, found.st_ctime_ns) > before_ns - tick_ns:
            raise _UncertainError


def _list_names(root: str) -> list[str]:
    """Return the names of entries in the site root that are not hidden."""
    return sorted(name for name in os.listdir(root) if name[0] != "." and name not in _IGNORED_FOLDERS)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _flatten(report: BuildReport) -> dict[str, Any]:
    """Return the parts of a report that stay true while nothing changes."""
    return {
        **{name: getattr(report, name) for name in Counts.__struct_fields__},
        "executed_cells": 0,
        "diagnostics": msgspec.to_builtins(report.diagnostics),
        "written": 0,
        "unchanged": report.unchanged + report.written,
        "removed": 0,
        "target": str(report.target or ""),
        "left_out": dict(report.left_out),
    }


def _restore(kept: Mapping[str, Any]) -> BuildReport:
    exact = {
        "diagnostics": msgspec.convert(kept["diagnostics"], tuple[Diagnostic, ...]),
        "scheduled": tuple(kept["scheduled"]),
        "missing": tuple(kept["missing"]),
        "target": Path(kept["target"]),
    }
    return BuildReport(**{**kept, **exact, "ok": True})
