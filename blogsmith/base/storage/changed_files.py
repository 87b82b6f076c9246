"""The report of a file watcher."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """Files that changed on disk since the last report."""

    paths: frozenset[Path]
    """Files whose bytes or existence changed. Paths are absolute, below the root or a path of `watch_also` as
    given. A file that is also reached through symbolic links is listed under each of its names."""
    everything: bool = False
    """Whether the system lost events. Then `paths` contains what a comparison of all files found. It may be
    empty, and lacks files that changed back and forth, so everything must be checked."""
