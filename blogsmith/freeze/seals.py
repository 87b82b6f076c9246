"""Seals of recorded results: digests that detect an edited or damaged record.

The file has a seal over all its bytes. Each session and each cell also has a seal. It shows where an edit is,
and stays valid when another session of the page is recorded. Seals detect accidental changes by editors,
merges and replacements, but not forgeries, because anyone can compute them. Sessions recorded before seals
existed have none.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

_HEAD = re.compile(rb'\{\n "schema": [0-9]+,\n "seal": "([0-9a-f]{64})",\n')
"""Matches the start of a sealed file."""
_UNSET = "0" * 64
_PART_SEAL = re.compile(rb'"seal": "([0-9a-f]{32})"')


class Edit(Struct, frozen=True):
    """Edited part of a record, which does not match its seal."""

    session: str = ""
    """Name of the session; empty if only the file as a whole does not match."""
    cell: int = 0
    """1-based number of the cell in the session; 0 if another part of the session was edited."""
    label: str = ""
    """Label of the cell; may be empty."""
    line: int = 0
    """1-based line of the seal in the file; 0 if the seal was not found."""

    def __str__(self) -> str:
        if self.cell:
            return f'cell "{self.label}"' if self.label else f'cell {self.cell} of session "{self.session}"'
        return f'session "{self.session}"' if self.session else "the file"


def sealed_json(file: dict[str, Any], sealed: Collection[str]) -> bytes:
    """Return the bytes of a record file with seals. If `sealed` is empty, the file gets no seals. file: the
    record in its on-disk form; seals are added to it. sealed: names of the sessions that get seals."""
    # Only text that can be written is sealed: unpaired surrogates become U+FFFD.
    file = json.loads(_dump(file))
    for name, session in file["sessions"].items():
        if name in sealed:
            for cell in session.get("cells", ()):
                cell["seal"] = _part_seal(cell)
            session["seal"] = _part_seal(session, name)
    if not sealed:
        return _dump(file)
    data = _dump({**file, "seal": _UNSET})
    return data.replace(_UNSET.encode(), _file_seal(data).encode(), 1)


def _dump(file: Mapping[str, Any]) -> bytes:
    # ASCII escapes would make most languages unreadable.
    text = json.dumps(file, ensure_ascii=False, indent=1, sort_keys=True)
    return (text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") + "\n").encode()


def is_intact(data: bytes, *, is_sealed: bool) -> bool:
    """Return whether the bytes of a file match its seal. A file without any seal counts as intact. is_sealed:
    whether a session of the file has a seal, so that the file must have one too."""
    head = _HEAD.match(data)
    if head is None:
        return not is_sealed
    whole = hashlib.sha256(data[: head.start(1)])
    whole.update(_UNSET.encode())
    whole.update(memoryview(data)[head.end(1) :])
    return whole.hexdigest().encode() == head[1]


def find_edits(data: bytes) -> list[Edit]:
    """Return the parts of a file that do not match their seals. data: a valid record file for which
    `is_intact` is False."""
    found: list[Edit] = []
    # an edited cell still contains its seal
    lines = {seal[1].decode(): data.count(b"\n", 0, seal.start()) + 1 for seal in _PART_SEAL.finditer(data)}
    for name, session in json.loads(data)["sessions"].items():
        edited = list(_edited_cells(name, session, lines)) if session.get("seal") else []
        if not edited and session.get("seal", "") != _part_seal(session, name):
            edited = [Edit(name, line=lines.get(session.get("seal", ""), 0))]
        found += edited
    return found or [Edit()]


def _edited_cells(name: str, session: Mapping[str, Any], lines: Mapping[str, int]) -> Iterator[Edit]:
    for number, cell in enumerate(session.get("cells", ()), 1):
        seal = cell.get("seal", "")
        if seal != _part_seal(cell):
            yield Edit(name, number, cell.get("label", ""), lines.get(seal, 0))


def _part_seal(part: Mapping[str, Any], name: str = "") -> str:
    content = {key: value for key, value in part.items() if key != "seal"}
    text = json.dumps([name, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _file_seal(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
