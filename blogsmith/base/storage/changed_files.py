"""Report of a file watcher: the files that changed on disk."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class ChangedFiles(Struct, frozen=True):
    """Files that changed on disk since the last report."""

    paths: frozenset[Path]
    """Absolute paths of files whose bytes or existence changed. A path below one that was passed to
    `watch_also` begins with that path as given. A file that is also reached through symbolic links is listed
    under each of its names."""
    everything: bool = False
    """Whether the system lost events, so that the receiver must check everything. `paths` then contains the
    differences found by comparing all files; a file that changed and changed back is missing."""
