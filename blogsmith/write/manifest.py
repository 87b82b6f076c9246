"""The manifest: the list, in the output folder, of the files that blogsmith wrote there.

Only files in the manifest may be replaced and deleted. All other files in the folder belong to somebody else.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import Folder
from ..model.documents import Output

IN_PLACE_STAGE = ".blogsmith-new"
"""Folder inside the output folder where `in_place.py` stages new files."""

Item = TypeVar("Item")

_FORMAT = 1
_NO_NAMES = frozenset({"", ".", ".."})
"""Names that make a path absolute, let it leave the folder, or leave it unnormalized."""


def manifest_bytes(digests: Mapping[str, str], partial: Collection[str] = ()) -> bytes:
    """Return the content of a manifest. digests: path → hex SHA-256. partial: paths of files with only part
    of their content, because of errors."""
    # `json.dumps` with an indent takes ten times as long
    files = ",\n".join(f"{json.dumps(path)}: {json.dumps(value)}" for path, value in sorted(digests.items()))
    lines = [f'"format": {_FORMAT}', f'"files": {{\n{files}\n}}' if files else '"files": {}']
    if partial:
        lines.append(f'"partial": {json.dumps(sorted(partial), indent=0)}')
    return "{{\n{}\n}}\n".format(",\n".join(lines)).encode("ascii")


def read_manifest(folder: Folder) -> dict[str, str] | None:
    """Return path → hex SHA-256 of the files in the manifest of `folder`, or None if there is no manifest.
    SiteError if it is invalid."""
    return _read(folder, _files)


def read_partial(folder: Folder) -> frozenset[str]:
    """Return the paths that the manifest of `folder` marks as partial. SiteError if the manifest is
    invalid."""
    return _read(folder, _partial) or frozenset()


def _read(folder: Folder, read: Callable[[Any], Item]) -> Item | None:
    found = folder.status(MANIFEST)
    if found is None or not stat.S_ISREG(found.st_mode):
        return None
    try:
        return read(json.loads(folder.read(MANIFEST)))
    except (ValueError, RecursionError) as error:
        problem = f"damaged list of output files {MANIFEST}: {error}"
        hint = f'delete the folder "{folder.path.name}" and build again'
        raise SiteError(Diagnostic("output-folder", problem, hint=hint)) from error


def digest(output: Output) -> str:
    """Return the hex SHA-256 of the content of an output."""
    if output.digest:
        return output.digest
    if output.data is not None:
        return hashlib.sha256(output.data).hexdigest()
    assert output.file is not None, "an output has data or a file"
    with output.file.open("rb") as stream:
        if output.is_cleaned:
            from .photos.cleaning import read_published

            total = hashlib.sha256()
            for block in read_published(stream):
                total.update(block)
            return total.hexdigest()
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(data: Any) -> dict[str, str]:
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ValueError("unsupported format version")
    files = data.get("files")
    if not isinstance(files, dict):
        raise ValueError('missing "files"')
    for path, value in files.items():
        if not isinstance(value, str) or not is_inside(path):
            raise ValueError(f'invalid entry "{path}"')
    return files


def _partial(data: Any) -> frozenset[str]:
    names = data.get("partial", ()) if isinstance(data, dict) else ()
    return frozenset(name for name in names if isinstance(name, str))


def is_inside(path: str) -> bool:
    """Return whether `path` is a normalized relative path that stays in its folder."""
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))
