"""Compare the results in `_freeze/` with those of the last commit: `make check-records`.

Only results count. Dates, durations, machines, versions and lists of absent modules may differ. So may
rounding errors by a factor of two, because processors add in different orders: numbers below 1e-4 in
scientific notation. If the run added rows to a file of measurements, results drawn from them are meant to
differ: the output lists their records as not compared. Exit code: 1 if a result differs.
"""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

PROVENANCE = frozenset(
    ("accepted", "absent", "date", "machine", "modules", "origin", "packages", "reads", "seal", "seconds")
)
"""Keys of a session or cell that are not part of its result."""
_SMALL = re.compile(r"(\d(?:\.\d+)?e-(?:0[5-9]|[1-9]\d))(?!\d)")
"""A number below 1e-4, as an error is printed."""


def main() -> int:
    status = _git("status", "--porcelain", "--untracked-files=all", "--", "_freeze", "content")
    changed = {line[3:]: line[:2] for line in status.splitlines()}
    measured = [path for path in changed if path.endswith(".jsonl")]
    code = 0
    for path, state in changed.items():
        if PurePosixPath(path).name != "outputs.json":
            continue
        old = "{}" if state == "??" else _git("show", f"HEAD:{path}")
        new = Path(path).read_text("utf-8") if Path(path).exists() else "{}"
        if rows := next((rows for rows in measured if _draws(path, rows, new)), None):
            print(f"not compared: {path} ({rows} has new rows)")
        elif different := list(differences(old, new)):
            print(f"different results: {path}", *different, sep="\n")
            code = 1
        else:
            print(f"same results with other versions: {path}")
    return code


def _draws(path: str, rows: str, record: str) -> bool:
    """Return whether the record's post produced or reads these measured rows."""
    post = PurePosixPath("content", *PurePosixPath(path).parts[1:-1])
    return PurePosixPath(rows).parent in (post, post.parent) or rows in record


def differences(old: str, new: str) -> Iterator[str]:
    """Yield the lines of a diff of two records without provenance; none if the results are equal."""
    before, after = (results(json.loads(text)) for text in (old, new))
    pair = (before, _with_rounding_of(before, after))
    one, other = (json.dumps(part, indent=1, sort_keys=True) for part in pair)
    return difflib.unified_diff(one.splitlines(), other.splitlines(), "committed", "now", lineterm="", n=2)


def results(record: Any) -> Any:
    """Return a record, or a part of it, without provenance and with the file digests of whole sessions.

    A cell lists only files that no earlier cell used, so the lists change if an earlier cell does not run.
    """
    if isinstance(record, list):
        return [results(part) for part in record]
    if not isinstance(record, dict):
        return record
    if "sessions" in record:
        sessions = record["sessions"].items()
        return {name: {**results(session), "files": _files(session)} for name, session in sessions}
    # records of older versions have no empty `uses`
    parts = {
        key: part for key, part in record.items() if key not in PROVENANCE and (key, part) != ("uses", {})
    }
    return {key: results(part) for key, part in parts.items()}


def _with_rounding_of(old: Any, new: Any) -> Any:
    """Return `new` with the rounding errors of `old` where they differ by a factor of two at most."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: _with_rounding_of(old.get(key), part) for key, part in new.items()}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [_with_rounding_of(*parts) for parts in zip(old, new, strict=True)]
    if isinstance(old, str) and isinstance(new, str):
        (words, others) = (_SMALL.split(text) for text in (old, new))
        is_alike = len(words) == len(others) and words[::2] == others[::2]
        numbers = zip(words[1::2], others[1::2], strict=True) if is_alike else ()
        if is_alike and all(_is_near(float(one), float(other)) for one, other in numbers):
            return old
    return new


def _is_near(one: float, other: float) -> bool:
    return one <= 2 * other and other <= 2 * one


def _files(session: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in (session, *session.get("cells", ())):
        found |= part.get("reads", {}) | part.get("modules", {})
    return found


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


if __name__ == "__main__":
    sys.exit(main())
