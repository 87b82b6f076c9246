"""Writes the new site. In its folder, only files that an import wrote are ever replaced.

`import-report.json` contains the digests of all written files. A second import produces identical bytes, and
fails as soon as an author has changed a file. The planned files are recorded before the first file is
written. So the next import continues an interrupted one, with the same result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path, PurePosixPath

from ..api.importing import (
    TEMPORARY_PREFIX,
    Diagnostic,
    Folder,
    Progress,
    SiteError,
    bundled_folder,
    first_names,
    lazy_pattern,
    open_folder,
    printable,
)
from .model import ImportedPage, SiteImport
from .source_files import open_file
from .text.data import format_yaml

RECORD = "import-report.json"
REPORT = "import-report.md"
_UNUSUAL = lazy_pattern(r"[^\n -~]+")
_SITE_PATHS = ("blogsmith.yaml", "content", "static", "themes", "plugins", "_freeze")
"""Files and folders of a blogsmith site."""
_MAX_NAMES = 10
"""Maximum number of files that an error message names."""


def site_files(site: SiteImport) -> dict[str, bytes | Path]:
    """Return the files of the new site, sorted by path: their bytes, or the file that contains them."""
    ignored = bundled_folder("starter").joinpath("gitignore").read_bytes()
    files: dict[str, bytes | Path] = {
        ".gitignore": ignored,
        "blogsmith.yaml": format_yaml(site.settings).encode(),
    }
    files |= {str(file.path): file.file for file in site.files}
    files |= {str(made.path): made.data for made in site.made}
    files |= {str(page.path): page_text(page).encode("utf-8", "replace") for page in site.pages}
    return dict(sorted(files.items()))


def page_text(page: ImportedPage) -> str:
    """Return the text of a page file."""
    head = f"---\n{format_yaml(page.front)}---\n\n" if page.front else ""
    return f"{head}{page.text.strip()}\n"


def write_site_files(
    files: Mapping[str, bytes | Path],
    into: Path,
    progress: Progress,
    written: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """Write a site to a folder, which is created if missing. Return the digest of each file, by path.

    written: digests that this import already wrote to the folder. Files of an earlier import that are not
    written again are removed. Raise SiteError before anything is written if a changed file would be
    replaced, or if the folder cannot be written.
    """
    done, digests = written or {}, _digests(files, written or {})
    try:
        record = _read_record(into)
        if written is None:
            _reject_changed_files(digests, into, record)
        with open_folder(into, make=True) as top:
            # record the planned files before anything can fail
            top.replace(RECORD, record_text({"files": {}, "pending": _allowed_digests(record, digests)}))
            # after a complete import, at most the reports may be incomplete
            _remove_leftovers(top, {*record.digests, *digests} if record.is_partial else (RECORD,))
            for number, (path, content) in enumerate(files.items()):
                progress("write", number, len(files))
                if done.get(path) != digests[path] and not _has_digest(into / path, {digests[path]}):
                    _replace(top, path, content)
            for path in sorted(record.digests.keys() - digests.keys()):
                _remove(top, path, into, record.digests[path])
            top.replace(RECORD, record_text({"files": digests}))
    except OSError as error:
        raise SiteError(
            Diagnostic("new-write", f'cannot write "{into}": {error.strerror or error}')
        ) from error
    return digests


def reject_other_site(into: Path) -> None:
    """Raise SiteError if the folder contains a site that no import wrote: its pages would become part of the
    new site."""
    if not _read_record(into).digests:
        found = [name for name in _SITE_PATHS if os.path.lexists(into / name)]
        if found:
            message = f'"{into}" contains files of another site: "{found[0]}"'
            raise SiteError(
                Diagnostic("file-exists", message, hint="choose another folder, or empty this one")
            )


def write_reports(reports: Mapping[str, bytes], into: Path) -> None:
    """Write the reports to a folder that contains the imported site."""
    try:
        with open_folder(into) as top:
            for name, data in reports.items():
                top.replace(name, data)
    except OSError as error:
        raise SiteError(
            Diagnostic("new-write", f'cannot write "{into}": {error.strerror or error}')
        ) from error


def record_text(data: Mapping[str, object]) -> bytes:
    """Return the JSON of a record."""
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    # escape control characters of terminals and invisible characters
    return _UNUSUAL.sub(lambda found: _escaped(found[0]), text).encode("utf-8")


def _escaped(text: str) -> str:
    return "".join(char if printable(char) == char else json.dumps(char)[1:-1] for char in text)


@dataclass(frozen=True, slots=True)
class _Record:
    """Digests of the files that earlier imports wrote to a folder."""

    digests: Mapping[str, frozenset[str]]
    """Path in the folder → digests of the contents that an import may have written there."""
    is_partial: bool
    """Whether the last import was interrupted."""


def _read_record(into: Path) -> _Record:
    """Read the record; return an empty one if there is none."""
    found: dict[str, frozenset[str]] = {}
    try:
        data = json.loads((into / RECORD).read_bytes())
        pending = data.get("pending", {})
        for path, digests in [*data["files"].items(), *pending.items()]:
            if _is_inside(str(path)):
                found[str(path)] = frozenset(map(str, digests if isinstance(digests, list) else [digests]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _Record({}, is_partial=False)
    return _Record(found, is_partial=bool(pending))


def _allowed_digests(record: _Record, digests: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the allowed digests of each file while the import is not complete."""
    every = dict(record.digests)
    for path, digest in digests.items():
        every[path] = every.get(path, frozenset()) | {digest}
    return {path: sorted(every[path]) for path in sorted(every)}


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and not path.startswith("/")


def _digests(files: Mapping[str, bytes | Path], written: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each file, by path. Copied files of the source are not read again."""
    found: dict[str, str] = {}
    for path, content in files.items():
        known = written.get(path) if isinstance(content, Path) else None
        try:
            found[path] = known or _digest(content)
        except OSError as error:
            message = f'cannot read "{content!s}": {error.strerror or error}'
            hint = "import again: the source changed during the import"
            raise SiteError(Diagnostic("import-source", message, hint=hint)) from error
    return found


def _reject_changed_files(digests: Mapping[str, str], into: Path, record: _Record) -> None:
    changed = []
    for path, digest in digests.items():
        target = into / path
        if not target.exists() and not target.is_symlink():
            continue
        if not _has_digest(target, {digest} | record.digests.get(path, frozenset())):
            changed.append(path)
    if changed:
        message = f'"{into}" contains files that were changed, or that no import wrote'
        hint = f"choose another folder, or remove: {first_names(changed, _MAX_NAMES)}"
        raise SiteError(Diagnostic("file-exists", message, hint=hint))


def _remove_leftovers(top: Folder, paths: Iterable[str]) -> None:
    """Remove incomplete files that an interrupted import left."""
    for place in sorted({PurePosixPath(path).parent for path in paths}):
        with suppress(OSError), top.enter(place) as folder:
            for name, _ in folder.entries():
                if name.startswith(TEMPORARY_PREFIX):
                    folder.remove(name)


def _has_digest(file: Path, digests: Container[str]) -> bool:
    """Return whether a regular file has one of these digests."""
    try:
        return not file.is_symlink() and file.is_file() and _digest(file) in digests
    except OSError:
        return False


def _replace(top: Folder, path: str, content: bytes | Path) -> None:
    place = PurePosixPath(path)
    # not durable: after a power failure, its digest shows that the copy is incomplete
    with top.enter(place.parent, make=True) as folder, _stream(content) as stream:
        folder.replace(place.name, stream, is_durable=False)


def _remove(top: Folder, path: str, into: Path, digests: Container[str]) -> None:
    """Remove a file of an earlier import, unless it was changed, and folders that become empty."""
    place = PurePosixPath(path)
    if not _has_digest(into / path, digests):
        return
    with top.enter(place.parent) as folder:
        folder.remove(place.name)
    with suppress(OSError):
        for parent in place.parents[:-1]:
            with top.enter(parent.parent) as above:
                above.remove_folder(parent.name)


def _digest(content: bytes | Path) -> str:
    with _stream(content) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _stream(content: bytes | Path) -> BufferedReader | BytesIO:
    return BytesIO(content) if isinstance(content, bytes) else open_file(content)
