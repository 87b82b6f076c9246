"""Writes an import to its folder, and merges it with changes that an author made there.

Three versions of each file are compared: the file in the folder, the version of the previous import, and the
version of this import. `import-report.json` records digests of the previous version. A file that the author
has not changed is replaced. A file that the author has changed is never overwritten or removed. If this
import's version of it differs from the previous one, too, it is written below `import-conflicts/`. When the
author removes it there, the conflict counts as merged.

The plan is recorded before the first file is written, so the next import can continue an interrupted one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ..api.importing import (
    TEMPORARY_PREFIX,
    Diagnostic,
    Folder,
    Progress,
    SiteError,
    lazy_pattern,
    open_folder,
)
from .model import SiteImport
from .source_files import BIBLIOGRAPHIES, FOLDERS, MACROS, source_root
from .write import RECORD, digest_content, record_text, replace_file, write_error

CONFLICTS = "import-conflicts"
"""Folder for new versions of files that an author changed in the new site."""
_SITE_PATHS = ("blogsmith.yaml", "content", "static", "themes", "plugins", "_freeze")
"""Files and folders of a blogsmith site."""
_WRITTEN = frozenset((".gitignore", "blogsmith.yaml", "_freeze", MACROS.name, BIBLIOGRAPHIES, *FOLDERS))
"""Files and folders that an import may write. A record with any other path is invalid."""
_DIGEST = lazy_pattern(r"[0-9a-f]{64}")
_OTHER = "other"
"""Replaces the digest of a path that is a folder or a link, or whose parent is a link or a file."""
_EDITED, _DELETED, _REMOVED = "changed here", "removed here", "changed here, removed from the source"
_CHANGED, _TRANSLATED = "changed in the source", "translated differently than before"


@dataclass(frozen=True, slots=True)
class Record:
    """Record of the files that earlier imports wrote to a folder. The state of a file is its digest; "" if
    the file does not exist."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Path in the folder → digest that the last complete import wrote."""
    pending: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Path → states that an interrupted import may have left."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Path of a page → digest of its source file."""

    def allowed_states(self, path: str) -> set[str]:
        """Return the states of a file that no author has changed."""
        return {self.files.get(path, ""), *self.pending.get(path, ())}


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that the import leaves unchanged."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Merge:
    """The plan of what an import writes to a folder."""

    is_again: bool
    """Whether an earlier import wrote to the folder."""
    added: tuple[str, ...]
    renewed: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[KeptFile, ...]
    """Files that were changed both here and in the source. Their new versions are below
    `import-conflicts/`."""
    kept: tuple[KeptFile, ...]
    """All other files that the import leaves unchanged, because an author changed or removed them."""
    writes: Mapping[str, str]
    """Path of each file to write → path of its content in the import."""
    removes: tuple[str, ...]
    record: Record
    """Record to store after all files are written."""


def read_record(into: Path) -> Record:
    """Return the record of the previous import; an empty one if there is none.

    Raise SiteError if the record is invalid, or if the folder contains a site that no import wrote, because
    the pages of that site would become part of the new one.
    """
    try:
        with open_folder(into) as top:
            record = _parse_record(top.read(RECORD))
    except FileNotFoundError:
        record = Record()
    except OSError as error:
        raise write_error(into, error) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "restore the file, or import into another folder and copy your changes"
        message = f'invalid record of the previous import: "{into / RECORD}"'
        raise SiteError(Diagnostic("file-exists", message, hint=hint)) from error
    found = [name for name in _SITE_PATHS if os.path.lexists(into / name)]
    if found and not (record.files or record.pending):
        message = f'"{into}" contains files of another site: "{found[0]}"'
        hint = "choose another folder, or empty this one"
        raise SiteError(Diagnostic("file-exists", message, hint=hint))
    return record


def _parse_record(text: bytes) -> Record:
    data = json.loads(text)
    files, pending = _strings(data["files"]), data.get("pending", {})
    states = {path: frozenset(map(str, each)) for path, each in pending.items()}
    for path in (*files, *states):
        parts = PurePosixPath(path.removeprefix(f"{CONFLICTS}/")).parts
        if not parts or parts[0] not in _WRITTEN or ".." in parts or "\0" in path:
            raise ValueError(path)
    for digest in (*files.values(), *(state for each in states.values() for state in each if state)):
        if not _DIGEST.fullmatch(digest):
            raise ValueError(digest)
    return Record(files, states, _strings(data.get("sources", {})))


def _strings(data: Mapping[str, Any]) -> dict[str, str]:
    return {path: str(digest) for path, digest in data.items()}


def source_digests(site: SiteImport) -> dict[str, str]:
    """Return the digest of the source file of each page. Pages without a file are left out."""
    found, root = {}, source_root(site.root)
    for page in site.pages:
        with suppress(OSError, ValueError):
            found[str(page.path)] = digest_content(root / page.source)
    return found


def plan_merge(digests: Mapping[str, str], sources: Mapping[str, str], old: Record, into: Path) -> Merge:
    """Compare an import with the files in its folder, and return the plan. digests: path → digest of each
    file of the import. sources: path of a page → digest of its source file. old: record of the previous
    import."""
    states = _States(into)
    plan = _Plan()
    for path in sorted({*digests, *old.files, *old.pending}):
        if path.startswith(f"{CONFLICTS}/"):
            continue
        new, before, here = digests.get(path, ""), old.files.get(path, ""), states.find(path)
        offer = f"{CONFLICTS}/{path}"
        files = {path: new} if new else {}
        if here == new:
            pass
        elif here in old.allowed_states(path):
            plan.change(path, new, is_new=not here)
        elif not new:
            files = {path: before} if before else {}
            plan.kept += [KeptFile(path, _REMOVED)] if before else []
        elif new == before and not (offer in old.files and states.find(offer)):
            plan.kept.append(KeptFile(path, _EDITED if here else _DELETED))
        else:
            is_same = path in sources and sources[path] == old.sources.get(path)
            reason = f"{_EDITED if here else _DELETED}, {_TRANSLATED if is_same else _CHANGED}"
            plan.conflicts.append(KeptFile(path, reason))
            if states.find(offer) in {new, "", *old.allowed_states(offer)}:
                plan.files[offer] = new
                plan.writes |= {} if states.find(offer) == new else {offer: path}
            else:
                # the author is editing the last offer, so this version is offered later
                files = {path: before} if before else {}
        plan.files |= files
    offers = {path for path in (*old.files, *old.pending) if path.startswith(f"{CONFLICTS}/")}
    for offer in sorted(offers - plan.files.keys()):
        if states.find(offer) and states.find(offer) in old.allowed_states(offer):
            plan.removes.append(offer)
    # of a file that is not merged yet, the next import gives the same reason
    last = {each.path: old.sources.get(each.path, "") for each in plan.conflicts if each.path in sources}
    return plan.finish(Record(plan.files, {}, {**sources, **last}), is_again=bool(old.files))


@dataclass(slots=True)
class _Plan:
    """A merge under construction."""

    files: dict[str, str] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)
    removes: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    conflicts: list[KeptFile] = field(default_factory=list)
    kept: list[KeptFile] = field(default_factory=list)

    def change(self, path: str, new: str, *, is_new: bool) -> None:
        """Plan to write or remove a file that no author has changed. new: digest of the new version; empty to
        remove the file. is_new: whether the file does not exist yet."""
        if not new:
            self.removes.append(path)
            return
        self.writes[path] = path
        self.added += [path] if is_new else []

    def finish(self, record: Record, *, is_again: bool) -> Merge:
        """Return the finished plan."""
        own = [path for path, content in self.writes.items() if path == content]
        return Merge(
            is_again,
            tuple(self.added),
            tuple(path for path in own if path not in self.added),
            tuple(path for path in self.removes if not path.startswith(f"{CONFLICTS}/")),
            tuple(self.conflicts),
            tuple(self.kept),
            self.writes,
            tuple(self.removes),
            record,
        )


class _States:
    """Digests of the files in a folder, each read once."""

    def __init__(self, into: Path) -> None:
        self._into = into
        self._known: dict[str, str] = {}

    def find(self, path: str) -> str:
        """Return the digest of a file, "" if it does not exist, or `_OTHER`."""
        if path not in self._known:
            self._known[path] = self._read(PurePosixPath(path))
        return self._known[path]

    def _read(self, path: PurePosixPath) -> str:
        try:
            with (
                open_folder(self._into) as top,
                top.enter(path.parent) as folder,
                folder.open_file(path.name) as file,
            ):
                return digest_content(file)
        except FileNotFoundError:
            return ""
        except OSError:
            return _OTHER


def apply_merge(
    merge: Merge, old: Record, files: Mapping[str, bytes | Path], into: Path, progress: Progress
) -> None:
    """Write and remove the planned files. Afterwards, the caller must write the reports, because they contain
    the new record. Raise SiteError if the folder cannot be written."""
    pending = {path: sorted(states) for path, states in old.pending.items()}
    for path, content in merge.writes.items():
        pending[path] = sorted({*pending.get(path, ()), merge.record.files[content]})
    for path in merge.removes:
        pending[path] = sorted({*pending.get(path, ()), ""})
    try:
        with open_folder(into, make=True) as top:
            if pending:
                data = {"files": old.files, "pending": pending, "sources": old.sources}
                top.replace(RECORD, record_text(data))
            # after a complete import, at most the reports may be incomplete
            _remove_leftovers(top, pending if old.pending else (RECORD,))
            for number, (path, content) in enumerate(merge.writes.items()):
                progress("write", number, len(merge.writes))
                # an incomplete file would look like a change of the author
                replace_file(top, path, files[content], is_durable=merge.is_again)
            for path in merge.removes:
                _remove(top, PurePosixPath(path))
    except OSError as error:
        raise write_error(into, error) from error


def _remove_leftovers(top: Folder, paths: Iterable[str]) -> None:
    """Remove incomplete files that an interrupted import left."""
    for place in sorted({PurePosixPath(path).parent for path in (*paths, RECORD)}):
        with suppress(OSError), top.enter(place) as folder:
            for name, _ in folder.entries():
                if name.startswith(TEMPORARY_PREFIX):
                    folder.remove(name)


def _remove(top: Folder, place: PurePosixPath) -> None:
    """Remove a file, and then its folders that are empty."""
    with suppress(FileNotFoundError), top.enter(place.parent) as folder:
        folder.remove(place.name)
    with suppress(OSError):
        for parent in place.parents[:-1]:
            with top.enter(parent.parent) as above:
                above.remove_folder(parent.name)
