"""`freeze accept`: accepts records that do not match their seals or have no seals."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

from ..base.diagnostics.model import Diagnostic, SiteError
from .record import PageRecord
from .record_json import find_record_edits, from_json
from .seals import sealed_json
from .store import (
    OUTPUTS,
    file_digest,
    freeze_lock,
    image_digests,
    is_outside_site,
    read_file,
    read_folder,
    write_page_folder,
)


def accept_record(root: Path, folder: PurePosixPath, date: str) -> tuple[str, ...]:
    """Seal the record in a folder of `_freeze/` in its present form.

    Return the names of the accepted parts; none if the record was intact. Sessions that were edited or had no
    seal are marked as accepted on `date`, until they run again.

    Raises `SiteError` `freeze-damaged` if the record cannot be read, or `freeze-write` if it cannot be
    written.
    """
    name = str(folder / OUTPUTS)
    with freeze_lock(root):
        try:
            data = b"" if is_outside_site(root, folder) else read_file(f"{root}/{name}")
        except OSError:
            data = b""
        if not data:
            return ()
        data = _with_image_digests(data, _decode(data, name), root / folder)
        record = _decode(data, name)
        edits = find_record_edits(data, record)
        unsealed = [key for key, session in record.sessions.items() if not session.sealed]
        bad_signature = () if edits else _remove_bad_signature(root, folder, data, record)
        if not edits and not unsealed:
            return bad_signature
        file = json.loads(data)
        for key in {*unsealed, *(edit.session for edit in edits if edit.session)}:
            _mark(file["sessions"][key], date)
        sealed = sealed_json(file, record.sessions)
        write_page_folder(root, folder, sealed, {}, image_digests(record))
    unsealed = [f'session "{key}", which had no seal' for key in unsealed]
    return (*map(str, edits), *bad_signature, *unsealed)


def _remove_bad_signature(
    root: Path, folder: PurePosixPath, data: bytes, record: PageRecord
) -> tuple[str, ...]:
    """Remove the signature of a record if the signature is not valid. Return a message about the removal;
    empty if nothing was removed."""
    found = read_folder(root, folder)
    if found.record or [error.code for error in found.diagnostics] != ["freeze-signature"]:
        return ()
    write_page_folder(root, folder, data, {}, image_digests(record))
    return ("the record without its signature, which was not valid",)


def _with_image_digests(data: bytes, record: PageRecord, folder: Path) -> bytes:
    """Return the record file with the digests of the images' present content."""
    for name, digest in image_digests(record).items():
        now = file_digest(f"{folder}/{name}")
        if now is not None and now != digest:
            entry = rb'("file": "%s",\s*"sha256": ")%s' % (re.escape(name).encode(), digest.encode())
            data = re.sub(entry, rb"\g<1>" + now.encode(), data)
    return data


def _decode(data: bytes, name: str) -> PageRecord:
    found = from_json(data, name)
    if isinstance(found, Diagnostic):
        raise SiteError(found)
    return found


def _mark(session: dict[str, Any], date: str) -> None:
    session["accepted"] = date
    for cell in session.get("cells", ()):
        for part in (cell, *cell.get("others", {}).values()):
            if "origin" in part:
                part["origin"]["accepted"] = date
