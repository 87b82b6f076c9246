"""The site root for a command, and paths as messages print them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CONFIG_FILE = "blogsmith.yaml"


def find_site_folder(start: str) -> str | None:
    """Return the nearest folder at or above `start`, an absolute path, that contains the settings file, or
    None."""
    while not os.path.isfile(os.path.join(start, CONFIG_FILE)):
        start, before = os.path.dirname(start), start
        if start == before:
            return None
    return start


def format_path(path: Path | str) -> str:
    """Return the path relative to the current folder if it is this folder or inside it, otherwise
    unchanged."""
    here, text = os.getcwd(), str(path)
    return "." if text == here else text.removeprefix(os.path.join(here, ""))
