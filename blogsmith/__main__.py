"""The command `blogsmith`, also as `python -m blogsmith`."""

# Not even `from __future__` may stand here: the folder we are started in may be a stranger's site, and while
# it is on the search path only what Python has loaded already may be imported.
# ruff: noqa: PTH100, PTH117, PTH118, PTH120
import gc
import os
import sys


def run() -> int:
    """Run the command line; its exit code, also when Ctrl-C comes while it is being imported."""
    try:
        _leave_working_folder()
        from .cli.main import main

        code = main()
        # the process ends, so nobody need look for dead cycles in all that a build has left
        gc.freeze()
        return code
    except KeyboardInterrupt:
        return 130


def _leave_working_folder() -> None:
    """Take the folder we are started in off the search path, where `-m` or a relative PYTHONPATH puts it.

    What is started for cells reads PYTHONPATH itself, as it stands.
    """
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if __name__ == "__main__" and not sys.flags.safe_path:
        first = sys.path.pop(0)
        if os.path.abspath(first) == ours:
            # a checkout that is not installed: found there, and by what we start too, but after all else
            sys.path.append(first)
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = {os.path.abspath(entry) for entry in named if not os.path.isabs(entry)} - {ours}
    here = os.path.join(os.path.abspath(""), "")
    sys.path[:] = [e for e in sys.path if e not in folders or not os.path.join(e, "").startswith(here)]


if __name__ == "__main__":
    sys.exit(run())
