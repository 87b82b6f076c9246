"""Publishes the built site on a branch that GitHub Pages serves, using only git to commit and push.

The author's checkout does not change: the commit is made from a temporary index, and its objects are in a
temporary folder until they are pushed. The new commit follows the last one of the branch, which blogsmith
must also have made. Source: git-commit-tree(1), git-push(1), gitformat-index(5).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from ..api.publishing import MANIFEST, Diagnostic, SiteError, open_folder

BRANCH = "gh-pages"
_TRAILER = "Published-by: blogsmith"


class BranchUpdate(Struct, frozen=True):
    """A commit that is ready to be pushed."""

    root: Path
    """Root folder of the repository."""
    remote: str
    branch: str
    commit: str
    """Hash of the commit; empty if the branch already has exactly these files."""
    is_first: bool
    """Whether the branch does not exist at the remote yet."""
    changes: tuple[str, ...]
    """One line for each changed file: letter of git's status (A, M, D), tab, path."""
    environment: Mapping[str, str]
    """Environment variables that make git find the new objects."""
    source: str
    """Shortened hash of the commit that the pages are built from, with a `+` if there are uncommitted
    changes."""


def plan_update(
    root: Path, pages: Path, url: str, work: Path, remote: str = "origin", branch: str = BRANCH
) -> BranchUpdate:
    """Make a commit that contains the files below `pages` and follows the last commit of a branch. Do not
    push it.

    url: URL of the published site; empty if unknown. work: temporary folder, which must exist until the push.
    Raises `SiteError` if the remote does not exist, or if blogsmith did not make the last commit of the
    branch.
    """
    _check_remote(root, remote)
    objects, index = work / "objects", work / "index"
    open_folder(objects, make=True).close()
    own = _read(root, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    found: Mapping[str, str] = {
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": own,
        "GIT_INDEX_FILE": str(index),
    }
    parent = _fetch(root, remote, branch, found)
    _add_host_files(pages, url)
    tree = _write_tree(root, pages, found)
    source = _source(root)
    if not parent:
        changes = tuple(
            f"A\t{name}" for name in _read(root, "ls-tree", "-r", "--name-only", tree, more=found).split("\n")
        )
    elif _read(root, "rev-parse", f"{parent}^{{tree}}", more=found) == tree:
        return BranchUpdate(root, remote, branch, "", False, (), found, source)
    else:
        _check_published(root, parent, branch, found)
        difference = _read(root, "diff-tree", "-r", "--no-renames", "--name-status", parent, tree, more=found)
        changes = tuple(difference.split("\n"))
    message = f"Publish the site\n\nBuilt from {source}.\n\n{_TRAILER}"
    parents = ("-p", parent) if parent else ()
    made = run_git(root, "commit-tree", tree, *parents, "-m", message, environment=found)
    if made.returncode:
        hint = 'run `git config --global user.name "NAME"` and `git config --global user.email "EMAIL"`'
        raise git_error(made, "cannot commit the pages", hint)
    return BranchUpdate(root, remote, branch, made.stdout.strip(), not parent, changes, found, source)


def push_update(update: BranchUpdate) -> None:
    """Push the commit without force. Raise SiteError if the remote rejects it, for example because the branch
    has changed."""
    # push to the URL: with the name of the remote, git would record the commit in this repository, which
    # lacks its objects
    url = _read(update.root, "remote", "get-url", "--push", update.remote)
    done = run_git(
        *(update.root, "push", "--porcelain", url, f"{update.commit}:refs/heads/{update.branch}"),
        only_reads=False,
        environment=update.environment,
    )
    if done.returncode:
        lines = f"{done.stdout}\n{done.stderr}"
        if "non-fast-forward" in lines or "fetch first" in lines or "stale info" in lines:
            hint = "run the command again to compare with the new content"
            raise _error(f'the branch "{update.branch}" has changed while the site was built', hint)
        raise git_error(
            done, f'cannot push to "{update.remote}"', "check that you have write access to this repository"
        )


def _add_host_files(pages: Path, url: str) -> None:
    """Add files to `pages` that GitHub needs, such as a file that contains the domain of the site."""
    host = urlsplit(url).hostname or ""
    with open_folder(pages) as folder:
        # without this file, GitHub would process the pages with Jekyll
        folder.replace(".nojekyll", b"")
        if folder.status(MANIFEST):
            folder.remove(MANIFEST)
        if host and not host.endswith(".github.io") and folder.status("CNAME") is None:
            folder.replace("CNAME", f"{host}\n".encode())


def _check_remote(root: Path, remote: str) -> None:
    if run_git(root, "rev-parse", "--git-dir").returncode:
        raise _error(
            "the site is not in a git repository", "run `git init`, then `git remote add origin URL`"
        )
    if remote not in _read(root, "remote").split("\n"):
        raise _error(f'remote not found: "{remote}"', f"run `git remote add {remote} URL`")


def _fetch(root: Path, remote: str, branch: str, found: Mapping[str, str]) -> str:
    """Fetch the last commit of the branch from the remote. Return its hash; empty if there is no branch."""
    listed = run_git(root, "ls-remote", "--exit-code", remote, f"refs/heads/{branch}", only_reads=False)
    if listed.returncode == 2:
        return ""
    if listed.returncode:
        raise git_error(
            listed,
            f'cannot reach remote "{remote}"',
            "connect to the network, or check the URL of the remote",
        )
    commit = listed.stdout.split()[0]
    words = (
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--refmap=",
        remote,
        f"refs/heads/{branch}",
    )
    fetched = run_git(root, *words, only_reads=False, environment=found)
    if fetched.returncode:
        raise git_error(fetched, f'cannot fetch branch "{branch}" of "{remote}"', "run the command again")
    return commit


def _check_published(root: Path, parent: str, branch: str, found: Mapping[str, str]) -> None:
    if _TRAILER in _read(root, "log", "-1", "--format=%B", parent, more=found).split("\n"):
        return
    hint = f"add `--branch NAME` with another branch, or run `git push origin --delete {branch}`"
    raise _error(f'the branch "{branch}" has content that blogsmith did not publish', hint)


def _write_tree(root: Path, pages: Path, found: Mapping[str, str]) -> str:
    """Return the hash of a tree that contains all files below a folder. Git does not convert their line
    ends."""
    names = sorted(file.relative_to(pages).as_posix() for file in pages.rglob("*") if file.is_file())
    words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    hashes = run_git(root, *words, text="".join(f"{pages / name}\n" for name in names), environment=found)
    if hashes.returncode:
        raise git_error(hashes, "cannot store the pages", "read the reason in the message of git")
    entries = "".join(
        f"100644 {blob}\t{name}\0" for blob, name in zip(hashes.stdout.split(), names, strict=True)
    )
    added = run_git(root, "update-index", "-z", "--index-info", text=entries, environment=found)
    if added.returncode:
        raise git_error(added, "cannot add the pages", "read the reason in the message of git")
    return _read(root, "write-tree", more=found)


def _source(root: Path) -> str:
    done = run_git(root, "rev-parse", "--short", "HEAD")
    if done.returncode:
        return "files without a commit"
    return done.stdout.strip() + ("+" if _read(root, "status", "--porcelain") else "")


def _read(root: Path, *words: str, more: Mapping[str, str] | None = None) -> str:
    done = run_git(root, *words, environment=more)
    if done.returncode:
        raise git_error(done, f"git {words[0]} failed", "read the reason in the message of git")
    return done.stdout.strip()


def _error(message: str, hint: str) -> SiteError:
    return SiteError(Diagnostic("publish-git", message, hint=hint))


# Calls of git in the repository of a site that the user trusts. The settings of a repository can name
# programs (`core.fsmonitor`, hooks), so git is never run for an untrusted site, and calls that only read
# disable these programs too. Source: git(1), git-config(1).


_TIMEOUT_S = 600.0
_ACCESS = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS")
"""Environment variables that give git access to remotes as this user. Git's other variables are removed,
because they could select another repository."""
_READING = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")


def run_git(
    root: Path,
    *words: str,
    only_reads: bool = True,
    text: str = "",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run git in a folder. only_reads: whether the command changes nothing. text: standard input. Raises
    SiteError if git is missing."""
    if shutil.which("git") is None:
        raise SiteError(Diagnostic("publish-git", 'program not found: "git"', hint="install git"))
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept = {name: os.environ[name] for name in _ACCESS if name in os.environ}
    return subprocess.run(
        ["git", "--no-pager", *(_READING if only_reads else ()), *words],
        cwd=root,
        env={**own, **kept, "LC_ALL": "C", **(environment or {})},
        # git opens the terminal itself to prompt for a password, so stdin can be used
        input=text,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=_TIMEOUT_S,
        check=False,
    )


def listed_files(folder: Path) -> Sequence[str] | None:
    """Return the files below a folder that git tracks or would add; None if the folder is not in a
    repository."""
    if shutil.which("git") is None:
        return None
    done = run_git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return None if done.returncode else [name for name in done.stdout.split("\0") if name]


def git_error(done: subprocess.CompletedProcess[str], problem: str, hint: str) -> SiteError:
    """Return the error for a failed call of git, with the reason from git's output."""
    lines = [line.strip() for line in done.stderr.strip().split("\n") if line.strip()]
    reason = next(
        (line for line in lines if line.startswith(("fatal:", "error:", "!"))), lines[-1] if lines else ""
    )
    return SiteError(Diagnostic("publish-git", f"{problem}: {reason or 'git gives no reason'}", hint=hint))
