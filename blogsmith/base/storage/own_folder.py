"""The folder `.blogsmith/` of a site: its lock, its trust marker, schemas for editors. It contains no
cache."""

from __future__ import annotations

from pathlib import Path

from .folder import Folder, open_folder

OWN_FOLDER = ".blogsmith"
"""Folder in the site root for files that belong to this machine only."""


def open_own_folder(root: Path | str, kind: str = ".", *, make: bool = True) -> Folder:
    """Open `.blogsmith/` of a site, or a folder in it; create it if it is missing. OSError if that fails."""
    with open_folder(root) as site:
        return site.enter(f"{OWN_FOLDER}/{kind}", make=make)
