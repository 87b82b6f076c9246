"""Where the user's own records lie: outside every site. Read at each start, so it imports next to nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RECORD = "trusted.json"
"""Name of the record of trust in that folder."""


def state_folder() -> str:
    """The folder of the user's records: `$XDG_STATE_HOME/blogsmith`."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(_home(), ".local", "state")
    return os.path.join(state, "blogsmith")


def record_file() -> Path:
    """The user's record of trust."""
    from pathlib import Path

    return Path(state_folder()) / RECORD


def _home() -> str:
    home = os.path.expanduser("~")
    if home.startswith("~"):
        # as a path it would lie in the folder we are started in
        raise RuntimeError("the home of this user is not known")
    return home
