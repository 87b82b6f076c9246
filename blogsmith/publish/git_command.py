"""git, run in the repository of a site that the user trusts.

The settings of a repository can name programs (`core.fsmonitor`, hooks), so nothing here runs for a site that
is not trusted, and calls that only read switch these off too. Source: git(1), git-config(1).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError

_TIMEOUT_S = 600.0
_ACCESS = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS")
"""Variables with which the user has set up access to remotes; other ones would name another repository."""
_READING = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")


def run_git(
    root: Path,
    *words: str,
    only_reads: bool = True,
    text: str = "",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run git in a folder. text: its standard input. SiteError if git is missing."""
    if shutil.which("git") is None:
        raise SiteError(Diagnostic("publish-git", "program not found: git", hint="install git"))
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept = {name: os.environ[name] for name in _ACCESS if name in os.environ}
    return subprocess.run(
        ["git", "--no-pager", *(_READING if only_reads else ()), *words],
        cwd=root,
        env={**own, **kept, "LC_ALL": "C", **(environment or {})},
        # a push may ask for a password at the terminal, which git opens itself
        input=text,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=_TIMEOUT_S,
        check=False,
    )


def listed_files(folder: Path) -> Sequence[str] | None:
    """Return the files below a folder that git knows or would add; None if it is in no repository."""
    if shutil.which("git") is None:
        return None
    done = run_git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return None if done.returncode else [name for name in done.stdout.split("\0") if name]


def git_error(done: subprocess.CompletedProcess[str], problem: str, hint: str) -> SiteError:
    """Return the error of a call of git, with the reason that git gives."""
    lines = [line.strip() for line in done.stderr.strip().split("\n") if line.strip()]
    reason = next(
        (line for line in lines if line.startswith(("fatal:", "error:", "!"))), lines[-1] if lines else ""
    )
    return SiteError(Diagnostic("publish-git", f"{problem}: {reason or 'git gives no reason'}", hint=hint))
