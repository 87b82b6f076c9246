"""The command `blogsmith`, also as `python -m blogsmith`."""

# ruff: noqa: PTH100, PTH117, PTH120

import os
import sys


def run() -> int:
    """Run the command line; its exit code, also when Ctrl-C comes while it is being imported."""
    try:
        _leave_working_folder()
        from .cli import main

        return main()
    except KeyboardInterrupt:
        return 130


def _leave_working_folder() -> None:
    """Take the folder we are started in off the search path, where an empty or relative PYTHONPATH puts it.

    It may be a stranger's site. What is started for cells reads PYTHONPATH itself, as it stands.
    """
    # with what Python has loaded already: anything else could come from there
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = {os.path.abspath(entry) for entry in named if not os.path.isabs(entry)}
    folders.discard(os.path.dirname(os.path.dirname(__file__)))
    here = os.path.abspath("")
    sys.path[:] = [
        entry for entry in sys.path if entry not in folders or os.path.relpath(entry, here).startswith("..")
    ]


if __name__ == "__main__":
    sys.exit(run())
