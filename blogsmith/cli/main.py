"""Entry point of the command line. It sets up the clock and the terminal, and returns an exit code.

Exit codes: 0 success, 1 the site has errors, 2 wrong usage, 3 stale results under `--frozen`, 70 internal
error, 130 interrupted. Results go to stdout, messages to stderr. Commands import their modules when they run,
so that `--help` and shell completion are fast.
"""

from __future__ import annotations

import sys

from ..base.version import __version__
from . import terminal

# For `--version` alone, importing `typing` would take longer than everything else.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .clock import CommandClock


_VERSION = (["--version"], ["-V"])
"""Arguments that this module handles itself, for speed. With further arguments, `commands` prints the same
version."""


def main(argv: Sequence[str] | None = None, clocks: CommandClock | None = None) -> int:
    terminal.prepare_streams()
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        return _run_command(arguments, clocks)
    except SystemExit as finished:  # click exits like this after completion, or if stdout is closed
        return finished.code if isinstance(finished.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from .failures import report_failure

        return report_failure(error, verbose=any(map(_is_verbose, arguments)))


def _run_command(arguments: list[str], clocks: CommandClock | None) -> int:
    """Run a command and return its exit code. Import only what the command needs."""
    if arguments in _VERSION:
        terminal.print_line(f"blogsmith {__version__}")
        return 0
    from .clock import CommandClock
    from .commands import cli

    outcome = cli.main(arguments, prog_name="blogsmith", standalone_mode=False, obj=clocks or CommandClock())
    return outcome if isinstance(outcome, int) else 0


def _is_verbose(argument: str) -> bool:
    """Return whether the argument is `-v`, or a group of short options that contains it, such as `-qv`."""
    is_short = argument.startswith("-") and not argument.startswith("--")
    return argument == "--verbose" or (is_short and "v" in argument)
