"""Record that a file watcher passes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """Files that changed on disk since the last report."""

    paths: frozenset[Path]
    """Files whose bytes or existence changed, as absolute paths in the root or in a path of `watch_also` as
    given. A file that is also reached through symbolic links is listed under each of its names."""
    everything: bool = False
    """Whether the system lost events, so that the receiver must check everything. `paths` then contains the
    differences found by comparing all files; a file that changed and changed back is missing."""
