"""Dates of the last commits of files, for pages with `updated: git`.

The settings of a Git repository can name programs that git runs (`gpg.program`, `core.fsmonitor`, commands
for objects that a partial clone lacks). Therefore git runs only for sites that the user trusts, and with
these settings disabled. Source: git-config(1), git-log(1).
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic
from ..model.documents import Document
from ..project.context import SiteContext
from ..project.trust.consent import is_trusted

_TIMEOUT_S = 20.0
_OPTIONS = (
    *("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "-c", "gpg.program=false"),
)
GIT_FILES = (".git/HEAD", ".git/logs/HEAD", ".git/packed-refs")
"""Files that a commit changes, relative to the repository."""


class GitDates(Struct, frozen=True):
    """Dates of pages from the history of a site."""

    dates: Mapping[str, dt.datetime] = {}
    """Source path → date of the last commit that changed the file."""
    diagnostics: tuple[Diagnostic, ...] = ()


def read_git_dates(context: SiteContext, documents: Sequence[Document]) -> GitDates:
    """Return the dates of pages that request them. If no page requests a date, git does not run."""
    wanted = [document for document in documents if document.front.is_dated_by_git]
    if not wanted:
        return GitDates()
    # slow import, which few sites need
    import subprocess

    if not is_trusted(context.root, context.config):
        message = '"updated: git" has no effect because the site is not trusted to run git'
        return GitDates(
            {},
            tuple(
                _warning(one, message, "run `blogsmith trust` to allow programs of this site")
                for one in wanted
            ),
        )
    try:
        text = _log(context.root, [str(document.path) for document in wanted])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        message = f"git history not found: {_reason(error)}"
        return GitDates(
            {},
            tuple(
                _warning(one, message, "write the date, or commit the site to a Git repository")
                for one in wanted
            ),
        )
    return GitDates(_dates(text))


def git_files(root: Path) -> frozenset[str]:
    """Return the files in `GIT_FILES` as paths relative to the site root; empty if the site is in no
    repository."""
    for folder in (root, *root.resolve().parents):
        if (folder / ".git").is_dir():
            start = Path(os.path.relpath(folder, root))
            return frozenset(str(start / name) for name in GIT_FILES)
    return frozenset()


def _log(root: Path, paths: Sequence[str]) -> str:
    """Return the output of `git log`, newest commit first: NUL and date, then the files it changed."""
    command = ["log", "--format=%x00%aI", "--name-only", "--no-renames", "--relative"]
    options = ("--no-ext-diff", "--no-textconv", "-z", "--")
    return run_git(root, *command, *options, *paths).decode("utf-8", "replace")


def run_git(root: Path, *arguments: str) -> bytes:
    """Return the output of a git command in a folder. The programs in the repository's settings do not run.

    Raises `OSError` if git is not installed, or `subprocess.SubprocessError` if it fails.
    """
    import subprocess

    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", *_OPTIONS, *arguments],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    return done.stdout


def _dates(text: str) -> dict[str, dt.datetime]:
    """Parse the output of `git log -z`, where a NUL precedes each date and each name. Return a map from each
    path to the date of its newest commit."""
    dates: dict[str, dt.datetime] = {}
    moment: dt.datetime | None = None
    for part in text.split("\0"):
        word = part.strip("\n")
        try:
            moment = dt.datetime.fromisoformat(word)
        except ValueError:
            if word and moment:
                dates.setdefault(word, moment)
    return dates


def _reason(error: Exception) -> str:
    import subprocess

    if isinstance(error, FileNotFoundError):
        return "git is not installed"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"git takes longer than {_TIMEOUT_S:g} s"
    said = getattr(error, "stderr", b"") or b""
    return said.decode("utf-8", "replace").strip().partition("\n")[0] or type(error).__name__


def _warning(document: Document, message: str, hint: str) -> Diagnostic:
    place = document.front.places.get("updated")
    lines = document.source.text.split("\n")
    line = lines[place.line - 1] if place and place.line <= len(lines) else ""
    return Diagnostic("updated-git", message, str(document.path), place, line, hint, "warning")
