"""The command `blogsmith`, also as `python -m blogsmith`."""

# Not even `from __future__` may be imported here. The current folder may be an untrusted site, and while it
# is on the search path, only modules that Python has already loaded may be imported.
# ruff: noqa: PTH100, PTH117, PTH118, PTH120
import gc
import os
import sys


def run() -> int:
    """Run the command line and return its exit code. Return 130 if Ctrl-C interrupts it, even during
    imports."""
    try:
        _remove_working_folder_from_path()
        from .cli.main import main

        code = main()
        # The process ends here, so a search for garbage cycles would be wasted time.
        gc.freeze()
        return code
    except KeyboardInterrupt:
        return 130


def _remove_working_folder_from_path() -> None:
    """Remove the current folder from the search path, where `-m` or a relative PYTHONPATH puts it.

    Processes started for cells read PYTHONPATH themselves, unchanged.
    """
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if __name__ == "__main__" and not sys.flags.safe_path:
        first = sys.path.pop(0)
        if os.path.abspath(first) == ours:
            # The folder is a checkout that is not installed. We and our child processes must find it, but
            # last.
            sys.path.append(first)
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = {os.path.abspath(entry) for entry in named if not os.path.isabs(entry)} - {ours}
    here = os.path.join(os.path.abspath(""), "")
    sys.path[:] = [e for e in sys.path if e not in folders or not os.path.join(e, "").startswith(here)]


if __name__ == "__main__":
    sys.exit(run())
