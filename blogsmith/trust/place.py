"""Where the user's own records lie: outside every site. Read at each start, so it imports next to nothing."""

from __future__ import annotations

import os
from pathlib import Path


def record_file() -> Path:
    """The user's record of trust: `$XDG_STATE_HOME/blogsmith/trusted.json`."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "blogsmith" / "trusted.json"
