"""The folder `.blogsmith/` of a site, which contains its lock, its trust marker and schemas for editors.

The cache is not in it: see `cache_file.py`.
"""

from __future__ import annotations

from pathlib import Path

from .folder import Folder, open_folder

OWN_FOLDER = ".blogsmith"
"""Folder in the site root for files that belong to this machine only."""


def open_own_folder(root: Path | str, kind: str = ".", *, make: bool = True) -> Folder:
    """Open `.blogsmith/` of a site, or the folder `kind` in it. OSError if that fails. make: create missing
    folders."""
    with open_folder(root) as site:
        return site.enter(f"{OWN_FOLDER}/{kind}", make=make)
