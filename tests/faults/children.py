"""Builds in a forked child process, interrupted at a chosen step.

The child shares the modules that the test has already imported, so it starts quickly.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from blogsmith.build.site import build_site
from blogsmith.project.report import BuildOptions
from tests.site_files import NOW
from tests.test_sites import tree

WATCHED = (
    *("open", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"),
    *("os.truncate", "os.utime", "shutil.rmtree", "shutil.copyfile", "os.listdir", "os.scandir"),
)
"""Prefixes and names of the audit events that Python raises before it accesses the disk."""
_LIBC = "ctypes.dlsym"
"""Audit event of functions that the writer calls through ctypes: exchanging folders and syncing the disk."""


def in_child(act: Callable[[], int]) -> int:
    """Run `act` in a forked process and return its exit code; negative if a signal ended it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # The test runner may have threads.
        child = os.fork()
    if child == 0:
        code = 70
        try:
            code = act()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _build(root: Path) -> int:
    # The link check is left out because it opens files itself.
    return 0 if build_site(root, BuildOptions(now=NOW)).ok else 1


def at_step(
    step: int, root: Path, happen: Callable[[], None], run: Callable[[Path], int] = _build
) -> Callable[[], int]:
    """Return a build that calls `happen` before the step-th operation on the site's folder."""

    def act() -> int:
        count = _watch(root, lambda number: happen() if number == step else None)
        code = run(root)
        _count_file(root).write_text(str(next(count)))
        return code

    return act


def _watch(root: Path, heard: Callable[[int], None]) -> itertools.count[int]:
    steps = itertools.count()
    inside = str(root)

    def is_of_site(arguments: tuple[object, ...]) -> bool:
        paths = (os.fsdecode(one) for one in arguments if isinstance(one, str | bytes | os.PathLike))
        return any(path.startswith(inside) for path in paths)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == _LIBC or (event in WATCHED and is_of_site(arguments)):
            heard(next(steps))

    sys.addaudithook(hook)
    return steps


def _count_file(root: Path) -> Path:
    return root.with_name(f"{root.name}.steps")


def steps_of(root: Path) -> int:
    """Build the site and return the number of operations on its folder."""
    assert in_child(at_step(-1, root, kill_self)) == 0
    return int(_count_file(root).read_text())


def kill_self() -> None:
    """Kill this process, as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def public(root: Path) -> dict[str, bytes]:
    """Return the files of the output folder, which visitors see."""
    return tree(root / "public") if (root / "public").is_dir() else {}


def litter(root: Path) -> set[str]:
    """Return entries of the site root that neither the author nor blogsmith put there on purpose."""
    known = {"public", ".blogsmith", "content", "static", "blogsmith.yaml", "layouts", "themes", "_freeze"}
    return {entry.name for entry in root.iterdir()} - known
