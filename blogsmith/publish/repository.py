"""The git repository of a site. Its files are read directly, because git could run programs of an untrusted
site.

Source: gitrepository-layout(5), git-config(1).
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ..api.publishing import lazy_pattern, open_folder

_MOST_BYTES = 200_000
_SECTION = lazy_pattern(r'\s*\[\s*remote\s+"origin"\s*\]\s*(?:[#;].*)?', re.IGNORECASE)
_URL = lazy_pattern(r"\s*url\s*=\s*(.*?)\s*", re.IGNORECASE)
_WEB = lazy_pattern(
    r"(?:(?:https?|ssh|git)://)(?:[^@/\s]*@)?([A-Za-z0-9.-]+)(?::\d+)?/(.+?)(?:\.git)?/?", re.IGNORECASE
)
_SCP = lazy_pattern(r"(?:[^@/\s]+@)?([A-Za-z0-9.-]+):(?!/)(.+?)(?:\.git)?/?")
_PART = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_HEAD = lazy_pattern(r"ref: refs/heads/([^\s~^:?*\[\\\x00-\x1f\x7f]+)\s*")


class Repository(Struct, frozen=True):
    """Data read from the files of a git repository."""

    root: Path | None = None
    """Root folder of the repository; None if there is none."""
    host: str = ""
    """Host of the remote `origin`, in lower case; empty if there is none or its URL is not supported."""
    path: str = ""
    """Path of the repository at the remote's host: groups and name, such as `owner/name`."""
    branch: str = "main"
    """The branch that is checked out."""

    @property
    def owner(self) -> str:
        """The first part of `path`."""
        return self.path.partition("/")[0]

    @property
    def name(self) -> str:
        """The last part of `path`."""
        return self.path.rpartition("/")[2]


def find_repository(site: Path) -> Repository:
    """Return the repository that contains the site. Its root is the folder of the site or the nearest parent
    folder with a repository. site: absolute path."""
    for folder in (site, *site.parents):
        git = folder / ".git"
        if git.is_dir() and not git.is_symlink():
            host, path = parse_remote(_read(git, "config"))
            found = _HEAD.fullmatch(_read(git, "HEAD"))
            return Repository(folder, host, path, found[1] if found else "main")
        if git.is_file():
            # in a work tree or submodule, the settings are elsewhere
            return Repository(folder)
    return Repository()


def parse_remote(config: str) -> tuple[str, str]:
    """Return (host, path) of the remote `origin` from the content of `.git/config`; empty strings if there is
    no such remote."""
    is_origin, url = False, ""
    for line in config.split("\n"):
        if line.lstrip().startswith("["):
            is_origin = _SECTION.fullmatch(line) is not None
        elif is_origin and not url and (found := _URL.fullmatch(line)):
            url = found[1]
    found = _WEB.fullmatch(url) or _SCP.fullmatch(url)
    if found is None or not all(_PART.fullmatch(part) for part in found[2].split("/")):
        return "", ""
    return found[1].lower(), found[2]


def has_large_files(root: Path) -> bool:
    """Return whether files of a repository are stored with Git LFS, according to its `.gitattributes`."""
    return "filter=lfs" in _read(root, ".gitattributes")


def _read(folder: Path, name: str) -> str:
    with suppress(OSError), open_folder(folder) as opened:
        return opened.read(name, _MOST_BYTES).decode("utf-8", "replace")
    return ""
