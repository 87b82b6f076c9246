"""A build in which nothing has changed: what the last one said is said again.

For `build` and `check` without options that is decided before anything is imported that is slow to import.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

from .site_folder import find_site_folder
from .summary import print_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .clock import Clocks

_PLAIN = {"build": True, "check": False}
"""Command → whether it writes the site."""
NO_OPTIONS = "[]"
"""What is asked by a command without options."""


def answer_plain_command(arguments: list[str], clocks: Clocks) -> int | None:
    """The exit code of `build` or `check`; None if that has to run, or it is not all that was typed."""
    if len(arguments) != 1 or arguments[0] not in _PLAIN:
        return None
    root = find_site_folder(os.path.realpath(""))
    return answer_build(root, NO_OPTIONS, clocks, write=_PLAIN[arguments[0]]) if root else None


def name_question(options: Mapping[str, object]) -> str:
    """A name of what is asked of a build: the options that were given."""
    return repr(sorted((name, value) for name, value in options.items() if value))


def answer_build(root: str, question: str, clocks: Clocks, *, write: bool) -> int | None:
    """The exit code of a build in which nothing has changed, after it has been reported; else None."""
    from ..pipeline.build_stamps import unchanged_build

    kept = unchanged_build(root, question, clocks.now().timestamp(), write=write)
    if kept is None:
        return None
    report: Any = SimpleNamespace(**kept, ok=True)
    if kept["diagnostics"]:
        from ..pipeline.build_record import kept_report

        report = kept_report(kept)
    print_report(report, clocks.seconds() - clocks.started, write=write)
    return 0
