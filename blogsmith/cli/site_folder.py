"""The site root for a command, and paths in the form that messages print."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CONFIG_FILE = "blogsmith.yaml"


def find_site_folder(start: str) -> str | None:
    """Return the nearest folder that contains the settings file: `start`, an absolute path, or a folder above
    it. None if there is none."""
    while not os.path.isfile(os.path.join(start, CONFIG_FILE)):
        start, before = os.path.dirname(start), start
        if start == before:
            return None
    return start


def format_path(path: Path | str) -> str:
    """Return a path inside the current folder relative to that folder. Return any other path unchanged."""
    here, text = os.getcwd(), str(path)
    return "." if text == here else text.removeprefix(os.path.join(here, ""))
