"""Whether nothing has changed since the last build: stamps of all it read and all it wrote, nothing else.

It is asked before anything that is slow to import, so this imports no more than it needs. In any doubt the
answer is no: a link, a stamp so young that a later change might have the same, cells that may run. The record
is made after a build that found nothing wrong, and is sealed as rows are: it names what is printed.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..diagnostics.model import Diagnostic, Place
from ..project.program import program_digest, tools_digest
from ..project.report import BuildReport, Counts
from ..storage.cache import open_cache
from ..storage.folder import NEW
from ..trust.place import record_file
from ..trust.seal import make_sealer, read_sealer

FILES = {True: "built.json", False: "checked.json"}
"""Whether a site was written → the file of the record."""
_FORMAT = 1
_SEAL_BYTES = 32
_MOST_BYTES = 16 << 20
_PARTS = (
    *("blogsmith.yaml", "content", "static", "themes", "layouts", "partials", "shortcodes", "plugins"),
    "_freeze",
)
"""What every build reads in the folder of a site."""
_PASSED_OVER = frozenset({".blogsmith", ".git", "node_modules", "__pycache__"})
_TICK_NS = 50_000_000
"""More than between two ticks of a file system's clock that counts parts of seconds."""
_COARSE_TICK_NS = 2_000_000_000
"""As much, of one that does not."""
_WAIT_S = 0.06


class StampDoubt(Exception):
    """Stamps cannot tell whether something has changed."""


@dataclass(frozen=True, slots=True)
class BuildStart:
    """What is noted before a build reads anything."""

    now_ns: int
    """By the clock of the file system."""
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


def start_build(root: Path) -> BuildStart | None:
    """To be called before a build; None if no record can be made."""
    name = f"{NEW}{os.urandom(6).hex()}"
    with suppress(OSError), open_cache(root) as folder:
        folder.create(name).close()
        found = folder.status(name)
        folder.remove(name)
        return BuildStart(found.st_mtime_ns, _names(root)) if found else None
    return None


def save_stamps(
    root: Path, question: str, now: dt.datetime, extent: BuildExtent, report: BuildReport, start: BuildStart
) -> None:
    """Record a build that has just ended, if nothing it read may have changed since it began."""
    output = extent.output
    try:
        if extent.output is not None:
            # whatever is written there from now on has a later stamp
            time.sleep(_WAIT_S)
        changed = {*_names(root)} ^ {*start.names}
        if any(root / name != output for name in changed):
            raise StampDoubt
        inputs = _digest(_inputs(root, output, reads_all=extent.reads_all), start.now_ns)
        outputs = _digest(_tree(output, ""), time.time_ns()) if output else ""
    except (StampDoubt, OSError):
        return
    record = {
        "question": question,
        "program": _program(root),
        "now": now.timestamp(),
        "until": extent.until.timestamp() if extent.until else None,
        "reads_all": extent.reads_all,
        "variables": {name: os.environ.get(name) for name in extent.variables},
        "inputs": inputs,
        "output": str(output) if output else "",
        "outputs": outputs,
        "report": _flatten(report),
    }
    text = json.dumps(record).encode("utf-8", "surrogatepass")
    with suppress(OSError), open_cache(root) as folder:
        seal = make_sealer(_purpose(root)).seal(text)
        folder.replace(FILES[output is not None], seal + text)


def unchanged_build(root: Path, question: str, now: dt.datetime, *, write: bool) -> BuildReport | None:
    """The report of the last build, if another one would say and write the same; None in any doubt."""
    record = _read(root, FILES[write])
    if record is None:
        return None
    with suppress(StampDoubt, OSError, ValueError, KeyError, TypeError, AttributeError):
        until = record["until"]
        if record["question"] != question or now.timestamp() < record["now"]:
            return None
        if until is not None and now.timestamp() >= until:
            return None
        if any(os.environ.get(name) != value for name, value in record["variables"].items()):
            return None
        output = Path(record["output"]) if record["output"] else None
        if output and _digest(_tree(output, "")) != record["outputs"]:
            return None
        if _digest(_inputs(root, output, reads_all=record["reads_all"])) != record["inputs"]:
            return None
        return _unflatten(record["report"]) if record["program"] == _program(root) else None
    return None


def remove_stamps(root: Path) -> None:
    """Forget the last build and the last check."""
    for name in FILES.values():
        with suppress(OSError), open_cache(root, make=False) as folder:
            folder.remove(name)


def _purpose(root: Path) -> str:
    return f"stamps {_FORMAT} of {root}"


def _read(root: Path, name: str) -> dict[str, Any] | None:
    sealer = read_sealer(_purpose(root))
    if sealer is None:
        return None
    with suppress(OSError, ValueError, RecursionError), open_cache(root, make=False) as folder:
        data = folder.read(name, _MOST_BYTES)
        seal, text = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
        found = json.loads(text.decode("utf-8", "surrogatepass")) if sealer.holds(seal, text) else None
        return found if isinstance(found, dict) else None
    return None


def _program(root: Path) -> str:
    """The program, what the user trusts, and which folder this is."""
    trusted = ""
    with suppress(OSError):
        trusted = _stamp("", record_file().stat())
    return f"{program_digest()} {tools_digest()} {root.stat().st_ino} {trusted}"


def _names(root: Path) -> tuple[str, ...]:
    return tuple(sorted(name for name in (entry.name for entry in os.scandir(root)) if _counts(name)))


def _counts(name: str) -> bool:
    return name not in _PASSED_OVER and not name.startswith(".")


def _inputs(root: Path, output: Path | None, *, reads_all: bool) -> Iterator[tuple[str, os.stat_result]]:
    for name in _names(root) if reads_all else _PARTS:
        path = root / name
        if path == output:
            continue
        if output and path in output.parents:
            raise StampDoubt
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if path.is_symlink():
            raise StampDoubt
        yield name, status
        if path.is_dir():
            yield from _tree(path, name)


def _tree(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder with what the file system says of it."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_symlink():
            # what it leads to may change, and lie anywhere
            raise StampDoubt
        path = f"{prefix}/{entry.name}"
        yield path, entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False) and entry.name not in _PASSED_OVER:
            yield from _tree(Path(entry.path), path)


def _digest(stamps: Iterator[tuple[str, os.stat_result]], before_ns: int | None = None) -> str:
    """Of all stamps; StampDoubt if one is not clearly older than a moment."""
    total = hashlib.blake2b(digest_size=16)
    for path, status in stamps:
        total.update(_stamp(path, status).encode("utf-8", "surrogateescape"))
        if before_ns is not None:
            youngest_ns = max(status.st_mtime_ns, status.st_ctime_ns)
            tick_ns = _TICK_NS if status.st_ctime_ns % 1_000_000 else _COARSE_TICK_NS
            if youngest_ns > before_ns - tick_ns:
                raise StampDoubt
    return total.hexdigest()


def _stamp(path: str, status: os.stat_result) -> str:
    numbers = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return f"{path}\0{' '.join(map(str, numbers))}\n"


def _flatten(report: BuildReport) -> dict[str, Any]:
    counts = {field.name: getattr(report, field.name) for field in fields(Counts)}
    diagnostics = [asdict(found) for found in report.diagnostics]
    unchanged = report.unchanged + report.written
    return {
        "counts": counts,
        "diagnostics": diagnostics,
        "unchanged": unchanged,
        "target": str(report.target),
    }


def _unflatten(kept: Mapping[str, Any]) -> BuildReport:
    counts = {**kept["counts"], "scheduled": tuple(kept["counts"]["scheduled"]), "ran": 0}
    diagnostics = tuple(
        Diagnostic(**{**found, "place": Place(**found["place"]) if found["place"] else None})
        for found in kept["diagnostics"]
    )
    return BuildReport(
        **counts,
        diagnostics=diagnostics,
        ok=True,
        unchanged=kept["unchanged"],
        target=Path(kept["target"]),
    )
