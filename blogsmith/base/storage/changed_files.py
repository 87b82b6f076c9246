"""What a watcher tells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """What is different on disk since the last report."""

    paths: frozenset[Path]
    """Files whose bytes or existence changed: absolute, below the root as it was given, or as given to
    `watch_also`. A file that is also reached through symbolic links is here under each of its names."""
    everything: bool = False
    """Whether the system lost events. `paths` is what a comparison of all files found; it may be empty, and
    a file that changed back and forth is not in it: look at everything."""
