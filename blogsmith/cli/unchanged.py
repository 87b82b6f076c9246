"""A build in which nothing has changed but texts: what else the last one said is said again.

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

    from ..pipeline.build_stamps import BuildComparison
    from ..project.report import BuildReport
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


def answer_build(
    root: str,
    question: str,
    clocks: Clocks,
    *,
    write: bool,
    quiet: bool = False,
    options: Mapping[str, Any] | None = None,
) -> int | None:
    """The exit code of a build in which nothing has changed but texts, after it has been reported; else None.

    quiet: only errors are. options: those of the command line that were given, fields of `BuildOptions`.
    """
    from ..pipeline.build_stamps import compare_build

    last = compare_build(root, question, clocks.now_s, write=write)
    if last is None:
        return None
    report: Any = _restore_report(last.report)
    if last.changed:
        report = _build_edit(root, last, clocks, {"question": question, **(options or {})})
    if report is None:
        return None
    print_report(report, clocks.seconds() - clocks.started, write=write, quiet=quiet)
    return 0


def _restore_report(kept: dict[str, Any]) -> Any:
    if not kept["diagnostics"]:
        return SimpleNamespace(**kept, ok=True)
    from ..pipeline.build_record import kept_report

    return kept_report(kept)


def _build_edit(
    root: str, last: BuildComparison, clocks: Clocks, options: Mapping[str, Any]
) -> BuildReport | None:
    """A build after an edit of texts; None if all is to be built."""
    from .garbage import no_collections

    with no_collections():
        from pathlib import Path

        from ..pipeline.page_edit import build_edit
        from ..project.report import BuildOptions

        settings = BuildOptions(now=clocks.now(), remembers=True, **options)
        return build_edit(Path(root), settings, last)
