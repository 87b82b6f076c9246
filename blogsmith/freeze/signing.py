"""Signs recorded results: on request with `freeze sign`, and after a run if the user has set a key."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import Diagnostic, SiteError
from .record import PageRecord
from .signatures import KEY_VARIABLE, SIGNATURE, find_signer, make_signature
from .store import (
    OUTPUTS,
    freeze_lock,
    image_digests,
    last_date,
    read_file,
    read_folder,
    read_signers,
    write_page_folder,
)


def sign_record(root: Path, folder: PurePosixPath, key: str) -> str | None:
    """Sign the record in a folder of `_freeze/`.

    Return the name of the signer; empty if the site lists no signers. None if there is no record.

    key: as in `make_signature`.

    Raises `SiteError` if the record is damaged, cannot be signed or cannot be written, or if the site's list
    of signers does not contain the key.
    """
    name = str(folder / OUTPUTS)
    with freeze_lock(root):
        found = read_folder(root, folder, verifies=False)
        if found.diagnostics:
            raise SiteError(*found.diagnostics)
        if found.record is None:
            return None
        data = read_file(f"{root}/{name}")
        signature = make_signature(data, key)
        signers = read_signers(root)
        signer = find_signer(data, signature, signers, last_date(found.record), name) if signers else ""
        if isinstance(signer, Diagnostic) and signer.severity == "error":
            raise SiteError(signer)
        write_page_folder(root, folder, data, {}, image_digests(found.record), signature)
    return signer if isinstance(signer, str) else ""


def sign_new_record(
    root: Path, folder: PurePosixPath, record: PageRecord, new: Set[str], environ: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """Sign a record after a run, if the user has set a key and all results in the record are from this run.

    Results of other runs are signed only on request. If a record already has a signature, it has not changed
    and is not signed again.

    Return the errors of `sign_record`. If there are any, the record stays unsigned.

    new: names of the sessions that ran. environ: environment of the builder.
    """
    key = environ.get(KEY_VARIABLE, "")
    is_new = new >= record.sessions.keys() and not any(
        cell.origin for session in record.sessions.values() for cell in session.cells
    )
    if key and is_new and not (root / folder / SIGNATURE).exists():
        try:
            sign_record(root, folder, key)
        except SiteError as error:
            return error.diagnostics
    return ()
