"""The command `blogsmith`, also as `python -m blogsmith`."""

from __future__ import annotations

import sys


def run() -> int:
    """Run the command line; its exit code, also when Ctrl-C comes while it is being imported."""
    try:
        from .cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
