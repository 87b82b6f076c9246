"""What a build changes in the output folder, decided before anything is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model import Output
from .manifest import MANIFEST, digest, file_digest, read_manifest


@dataclass(frozen=True, slots=True)
class Tree:
    """The contents of a folder, as paths relative to it with forward slashes."""

    files: frozenset[str] = frozenset()
    """Everything that is not a real folder; links to folders are files here."""
    folders: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """The old site, the new one, and whose file is whose. Paths are relative to `target`."""

    target: Path
    outputs: Mapping[str, Output]
    """The new site by path."""
    digests: Mapping[str, str]
    """Path → hex SHA-256 of the new site: the new manifest."""
    old: Mapping[str, str]
    """The old manifest; empty if there is none."""
    own: frozenset[str]
    """Files in the folder that the old manifest names."""
    unchanged: frozenset[str]
    """Those of `own` that the new site has with the same bytes."""
    foreign: frozenset[str]
    """Files that are not ours."""
    foreign_folders: frozenset[str]
    """Folders that stay even without a file of ours."""

    @property
    def changed(self) -> list[str]:
        """Files to write, sorted."""
        return sorted(self.outputs.keys() - self.unchanged)

    @property
    def stale(self) -> list[str]:
        """Files of the old site that the new one lacks, sorted."""
        return sorted(self.own - self.outputs.keys())

    @property
    def is_done(self) -> bool:
        """True if the folder already is the new site."""
        return self.target.is_dir() and not self.changed and self.old == self.digests


def make_plan(outputs: Sequence[Output], target: Path) -> Plan:
    """Compare the new site with the folder as it is. Reads files, writes none."""
    wanted = {str(output.path): output for output in outputs}
    digests = {path: digest(output) for path, output in sorted(wanted.items())}
    old = read_manifest(target) or {}
    tree = scan(target)
    own = tree.files & old.keys()
    foreign = tree.files - own - {MANIFEST}
    return Plan(
        target=target,
        outputs=wanted,
        digests=digests,
        old=old,
        own=own,
        unchanged=frozenset(p for p in own if old[p] == digests.get(p) == _digest_on_disk(target / p)),
        foreign=foreign,
        foreign_folders=(tree.folders - ancestors(old)) | ancestors(foreign),
    )


def scan(folder: Path) -> Tree:
    """What is in `folder`, no link followed; empty if there is no such folder."""
    files: set[str] = set()
    folders: set[str] = set()
    if not folder.is_dir():
        return Tree()
    for parent, names, others in os.walk(folder, onerror=_raise):
        here = Path(parent).relative_to(folder).as_posix()
        prefix = "" if here == "." else f"{here}/"
        links = {name for name in names if Path(parent, name).is_symlink()}
        files.update(prefix + name for name in [*others, *links])
        folders.update(prefix + name for name in names if name not in links)
    return Tree(frozenset(files), frozenset(folders))


def ancestors(paths: Iterable[str]) -> frozenset[str]:
    """Every folder on the way to one of `paths`."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _digest_on_disk(file: Path) -> str:
    """The digest of a file of ours; empty for a link somebody put in its place."""
    return "" if file.is_symlink() or not file.is_file() else file_digest(file)


def _raise(error: OSError) -> None:
    raise error
