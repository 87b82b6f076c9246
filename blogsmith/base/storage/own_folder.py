"""The folder `.blogsmith/` of a site: its lock, its mark of trust, schemas for editors. It holds no cache."""

from __future__ import annotations

from pathlib import Path

from .folder import Folder, open_folder

OWN_FOLDER = ".blogsmith"
"""The folder of a site for what concerns this machine only."""


def open_own_folder(root: Path | str, kind: str = ".", *, make: bool = True) -> Folder:
    """`.blogsmith/` of a site, or a folder in it; made if it is missing. OSError if it cannot be entered."""
    with open_folder(root) as site:
        return site.enter(f"{OWN_FOLDER}/{kind}", make=make)
