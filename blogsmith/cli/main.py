"""The command line: where the clock and the terminal enter, and where an outcome becomes an exit code.

Exit codes: 0 done, 1 the site has errors, 2 wrong usage, 3 stale results under `--frozen`, 70 an internal
error, 130 interrupted. Results go to stdout, messages to stderr. What a command needs is imported when it
runs, so that `--help` and shell completion stay quick.
"""

from __future__ import annotations

import sys

from ..base.version import __version__
from . import terminal

# for `--version` alone it would take longer to import `typing` than all the rest
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .clock import Clocks


_VERSION = (["--version"], ["-V"])
"""What `commands` answers by the same words where more was typed."""


def main(argv: Sequence[str] | None = None, clocks: Clocks | None = None) -> int:
    """Run one command; its exit code."""
    terminal.prepare_streams()
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        return _answer(arguments, clocks)
    except SystemExit as finished:  # click ends completion and writing to a closed pipe this way
        return finished.code if isinstance(finished.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from .failures import report_failure

        return report_failure(error, verbose=any(map(_is_verbose, arguments)))


def _answer(arguments: list[str], clocks: Clocks | None) -> int:
    """The exit code; nothing is imported that the answer does not need."""
    if arguments in _VERSION:
        terminal.print_line(f"blogsmith {__version__}")
        return 0
    from .clock import Clocks
    from .commands import cli

    outcome = cli.main(arguments, prog_name="blogsmith", standalone_mode=False, obj=clocks or Clocks())
    return outcome if isinstance(outcome, int) else 0


def _is_verbose(argument: str) -> bool:
    """Whether it is `-v`, also among other short options as in `-qv`."""
    is_short = argument.startswith("-") and not argument.startswith("--")
    return argument == "--verbose" or (is_short and "v" in argument)
