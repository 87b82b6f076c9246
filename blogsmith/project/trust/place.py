"""Location of the user's records, outside every site. Every start of the program reads it, so it imports
almost nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RECORD = "trusted.json"
"""File name of the record of trust."""


def state_folder() -> str:
    """Return the folder of the user's records: `$XDG_STATE_HOME/blogsmith`."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(_home(), ".local", "state")
    return os.path.join(state, "blogsmith")


def record_file() -> Path:
    """Return the file with the user's record of trust."""
    from pathlib import Path

    return Path(state_folder()) / RECORD


def _home() -> str:
    home = os.path.expanduser("~")
    if home.startswith("~"):
        # a relative path would be in the current folder
        raise RuntimeError("the home folder of this user is unknown")
    return home
