"""The changes of a build to the output folder, planned before any file is written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import Folder
from ..base.storage.tree import OpenFolderPath, OwnTree, ancestors, scan
from ..model.documents import Output
from .manifest import digest, read_manifest, read_partial
from .place import OutputPlace


class WritePlan(Struct, frozen=True):
    """The files of the old site and of the new one, and other files in the output folder. Paths are relative
    to this folder."""

    title: str
    """Name of the output folder in messages."""
    is_new: bool
    """Whether the output folder must be created."""
    outputs: Mapping[str, Output]
    """Files of the new site by path."""
    digests: Mapping[str, str]
    """Path → hex SHA-256 of each file of the new site: the new manifest."""
    old: Mapping[str, str]
    """The manifest of the last build; empty if there is none."""
    own: frozenset[str]
    """Files of the old manifest that exist in the folder."""
    unchanged: frozenset[str]
    """Files in `own` whose bytes are the same in the new site."""
    foreign: frozenset[str]
    """Files in the folder that are not in the old manifest, so they belong to somebody else."""
    foreign_folders: frozenset[str]
    """Folders without our files, to be kept."""
    partial: frozenset[str] = frozenset()
    """Files of the new site with only part of their content, because of errors."""
    has_same_notes: bool = True
    """Whether the old manifest marks the same files as partial as the new one."""

    @property
    def changed_files(self) -> list[str]:
        """Files to write, sorted."""
        return sorted(self.outputs.keys() - self.unchanged)

    @property
    def stale(self) -> list[str]:
        """Files of the old site that are not in the new one, sorted."""
        return sorted(self.own - self.outputs.keys())

    @property
    def replaced_file(self) -> str | None:
        """The only file to write, if nothing but its bytes changes; otherwise None."""
        changed = self.changed_files
        is_same = not self.stale and self.old.keys() == self.digests.keys() and self.has_same_notes
        is_plain = len(changed) == 1 and is_same
        return changed[0] if is_plain and changed[0] in self.own else None

    @property
    def is_empty(self) -> bool:
        """Whether the folder already equals the new site."""
        is_same = self.old == self.digests and self.has_same_notes
        return not self.is_new and not self.changed_files and is_same


def make_plan(
    outputs: Sequence[Output],
    place: OutputPlace,
    *,
    is_untouched: bool = False,
    partial: frozenset[str] = frozenset(),
) -> WritePlan:
    """Return the changes that turn the folder into the new site, without writing. is_untouched: the files in
    the manifest are known to be unchanged, so none is read. partial: paths of outputs with only part of their
    content, because of errors."""
    wanted = {str(output.path): output for output in outputs}
    digests = {path: digest(output) for path, output in sorted(wanted.items())}
    if not place.exists:
        none: frozenset[str] = frozenset()
        return WritePlan(
            title=place.title,
            is_new=True,
            outputs=wanted,
            digests=digests,
            old={},
            own=none,
            unchanged=none,
            foreign=none,
            foreign_folders=none,
            partial=partial,
        )
    with place.enter() as folder:
        old, old_partial = read_manifest(folder) or {}, read_partial(folder)
        tree = scan(folder)
        own = tree.files & old.keys()
        same = [path for path in sorted(own) if old[path] == digests.get(path)]
        unchanged = frozenset(same) if is_untouched else _unchanged_paths(folder, same, digests)
    found = _plan(place.title, wanted, digests, old, tree, own, unchanged)
    return replace(found, partial=partial, has_same_notes=old_partial == partial)


def _plan(
    title: str,
    wanted: Mapping[str, Output],
    digests: Mapping[str, str],
    old: Mapping[str, str],
    tree: OwnTree,
    own: frozenset[str],
    unchanged: frozenset[str],
) -> WritePlan:
    foreign = tree.files - own - {MANIFEST}
    return WritePlan(
        title=title,
        is_new=False,
        outputs=wanted,
        digests=digests,
        old=old,
        own=own,
        unchanged=unchanged,
        foreign=foreign,
        foreign_folders=(tree.folders - ancestors(old)) | ancestors(foreign),
    )


def _unchanged_paths(folder: Folder, paths: Iterable[str], new: Mapping[str, str]) -> frozenset[str]:
    with OpenFolderPath(folder) as descent:
        return frozenset(path for path in paths if new[path] == _digest_on_disk(descent, path))


def _digest_on_disk(descent: OpenFolderPath, path: str) -> str:
    """Return the digest of a file in the manifest; empty if a link, a pipe or something else has replaced
    it."""
    folder, name = descent.parent(path)
    try:
        with folder.open_file(name) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""
