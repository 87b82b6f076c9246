"""Compare the results in `_freeze/` with those of the last commit: `make check-records`.

Only results count. Dates, durations, machines, versions and lists of absent modules may differ. If the run
added rows to a file of measurements, results drawn from them are meant to differ: the output lists their
records as not compared. Exit code: 1 if a result differs.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

PROVENANCE = frozenset(
    ("accepted", "absent", "date", "machine", "modules", "origin", "packages", "reads", "seal", "seconds")
)
"""Keys of a session or cell that are not part of its result."""


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
    one, other = (json.dumps(results(json.loads(text)), indent=1, sort_keys=True) for text in (old, new))
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
    return {key: results(part) for key, part in record.items() if key not in PROVENANCE}


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
