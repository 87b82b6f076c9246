"""Rehearsal of the host's commands on this machine, in a new environment and with a copy of the files in git.

Only a rehearsal shows that the lock can be installed, and that a build on another machine makes the same
pages. The commands run code of packages in the lock, so the caller must ensure that the user trusts the site.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ..api.publishing import MANIFEST, Diagnostic, Place, SiteError, first_names, lazy_pattern, open_folder
from .dependency_lock import LOCK
from .pages_branch import listed_files
from .pip_resolver import install_error, new_environment, run_pip

EXAMPLE_URL = "https://example.org"
"""URL of the site in commands, used if only the host knows the real URL."""
_LINE = lazy_pattern(rf"-r {LOCK} \(line (\d+)\)")
_MISMATCH = "DO NOT MATCH THE HASHES"
_MAX_LISTED_FILES = 5
"""Maximum number of differing files to list."""
_IGNORED_FOLDERS = frozenset({".git", ".blogsmith", ".venv", "node_modules", "__pycache__"})
"""Folders that are not copied if there is no repository."""


class CommandResult(Struct, frozen=True):
    """Result of one command."""

    command: str
    code: int
    """Exit code."""
    output: str
    """Output on stdout and stderr."""
    seconds: float


class HostMachine(Struct, frozen=True):
    """Imitation of the host, with a new environment and a copy of the site."""

    site: Path
    """The copy of the site."""
    programs: Path
    """Folder of the environment's programs."""
    state: Path
    """Folder for trust records and caches, used by this rehearsal only."""

    def run(self, command: str, **environment: str) -> CommandResult:
        """Run a command in a POSIX shell in the site, as the host does."""
        started = time.monotonic()
        more = {
            "PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "XDG_STATE_HOME": str(self.state),
            "VIRTUAL_ENV": str(self.programs.parent),
            **environment,
        }
        done = run_pip(["sh", "-eu", "-c", command], self.site, **more)
        output = f"{done.stdout}{done.stderr}"
        return CommandResult(command, done.returncode, output, time.monotonic() - started)


@contextmanager
def host_machine(folder: Path, base: Path, site: str, output: str) -> Iterator[HostMachine]:
    """Create an environment in `folder` and copy a site there.

    base: root of the repository, or of the site if there is none. site: folder of the site below `base`;
    empty if it is `base`. output: folder of built pages, which is not copied. Raises SiteError on failure.
    """
    if shutil.which("sh") is None:
        hint = "run the command in a POSIX shell, such as Git Bash on Windows"
        raise SiteError(Diagnostic("publish-install", 'program not found: "sh"', hint=hint))
    copy = folder / "checkout"
    copy_checkout(base, site, copy, output)
    python = new_environment(folder / "environment")
    yield HostMachine(copy / site, python.parent, folder / "state")


def copy_checkout(base: Path, site: str, target: Path, output: str) -> None:
    """Copy the files of a site that a checkout would contain, which are all files that git tracks or would
    add. The copy is a work tree of the same repository, because dates from git need its history."""
    source = base / site
    listed = listed_files(source)
    if listed is not None and not listed:
        hint = "run `git init` in the site, or remove the line of .gitignore that matches it"
        raise SiteError(Diagnostic("publish-git", "git ignores all files of the site", hint=hint))
    names = listed if listed is not None else tuple(_walk(source, output))
    with open_folder(source) as old, open_folder(target / site, make=True) as new:
        for name in names:
            path = PurePosixPath(name)
            # a tracked file may have been deleted
            if (source / path).is_symlink() or (source / path).is_file():
                with old.enter(path.parent) as there, new.enter(path.parent, make=True) as here:
                    there.copy(path.name, here, path.name)
    if (base / ".git").is_dir():
        with open_folder(target) as top:
            top.replace(".git", f"gitdir: {base / '.git'}\n".encode())


def install(machine: HostMachine, command: str, wheels: Path) -> CommandResult:
    """Run the command that installs the lock, and return its result. wheels: folder for downloaded files;
    files from earlier calls are used again. pip compares the digest of each file, so the folder need not be
    trusted."""
    kept = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    result = machine.run(command, **kept)
    if result.code == 0:
        return result
    open_folder(wheels, make=True, mode=0o700).close()
    download = f"{command.replace(' install ', ' download ', 1)} --quiet --retries 2"
    fetched = machine.run(f"{download} --dest {shlex.quote(str(wheels))}")
    if fetched.code == 0:
        return machine.run(command, **kept)
    # report a digest mismatch rather than an unreachable index
    return result if _MISMATCH in result.output else replace(fetched, command=command)


def install_problem(result: CommandResult, lock: str) -> Diagnostic:
    """Return the error for a failed installation. Its location is the requirement in the lock that caused the
    failure. lock: content of the lock."""
    # before its first error, pip also prints lines of packages that it has installed
    start = max(result.output.find(_MISMATCH), result.output.find("ERROR: "))
    found = _LINE.search(result.output, max(start, 0))
    lines = lock.split("\n")
    place, line = None, ""
    if found and int(found[1]) <= len(lines):
        line = lines[int(found[1]) - 1]
        place = Place(int(found[1]), 1, len(line.removesuffix("\\").rstrip()) or 1)
    if _MISMATCH in result.output:
        message = "the SHA-256 of a file in the package index differs from the lock"
        hint = "find the reason before you publish; run `blogsmith publish setup` to write a new lock"
    else:
        error = install_error(result.output, "cannot install the lock").diagnostics[0]
        message, hint = error.message, error.hint
    return Diagnostic("publish-install", message, LOCK, place, line, hint)


def different_files(one: Path, other: Path) -> tuple[str, ...]:
    """Return the paths of files that differ between two built sites, or exist in only one of them."""
    ours, theirs = _files(one), _files(other)
    return tuple(
        path
        for path in sorted({*ours, *theirs})
        if path not in ours or path not in theirs or ours[path].read_bytes() != theirs[path].read_bytes()
    )


def pages_problem(differing: Sequence[str]) -> Diagnostic:
    """Return the error that lists files that differ between the host's pages and those built here."""
    names = first_names(differing, _MAX_LISTED_FILES)
    message = f"the host would publish files that differ from those built here: {names}"
    hint = "run `blogsmith publish setup` to lock the versions installed here, and add all files to git"
    return Diagnostic("publish-pages", message, hint=hint)


def wheel_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the user's folder for downloaded wheels."""
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "blogsmith" / "wheels"


def _files(folder: Path) -> dict[str, Path]:
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    return {path: file for path, file in found.items() if path != MANIFEST}


def _walk(source: Path, output: str) -> Iterator[str]:
    """Yield the files below a folder, except those that never belong to a repository."""
    for folder, folders, names in os.walk(source):
        here = Path(folder)
        folders[:] = sorted(
            name for name in folders if name not in _IGNORED_FOLDERS and (here / name) != source / output
        )
        yield from ((here / name).relative_to(source).as_posix() for name in sorted(names))
