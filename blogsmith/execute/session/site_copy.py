"""Copy of a site in a temporary folder, where cells can run without changing the site."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

_TOOLS = frozenset(
    (
        *(".git", ".hg", ".svn", ".blogsmith", "_freeze", ".venv", ".cache", ".tox", ".nox"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "node_modules"),
    )
)
"""Names of folders that contain no sources of posts: history, caches and installed packages."""


def copy_site(root: Path, target: Path, exclude: Collection[Path] = ()) -> Path:
    """Copy the files of a site to the new folder `target`, and return it.

    Links are copied as links; those to files of the site point to the copies. Environments of Python, caches
    and recorded results are left out.

    exclude: further folders to leave out, absolute.
    """
    for folder, files in _walk(root, exclude):
        here = target / folder.relative_to(root)
        here.mkdir(parents=True)
        for name in files:
            _copy_file(folder / name, here / name, root, target)
    return target


def _walk(root: Path, excluded: Collection[Path]) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders of a site with the names of their files and links."""
    for path, folders, files in os.walk(root):
        here = Path(path)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(
            name for name in folders if name not in links and not _is_left_out(here / name, excluded)
        )
        yield here, sorted([*files, *links])


def _is_left_out(folder: Path, excluded: Collection[Path]) -> bool:
    return folder.name in _TOOLS or folder in excluded or (folder / "pyvenv.cfg").exists()


def _copy_file(source: Path, copy: Path, root: Path, target: Path) -> None:
    status = source.lstat()
    if stat.S_ISLNK(status.st_mode):
        there = source.resolve()
        copy.symlink_to(target / there.relative_to(root) if there.is_relative_to(root) else there)
    elif stat.S_ISREG(status.st_mode):
        # with its time, which a cell may read
        shutil.copy2(source, copy)
