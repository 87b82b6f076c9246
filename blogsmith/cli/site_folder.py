"""The folder of the site that a command works on, and paths as they are typed here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CONFIG_FILE = "blogsmith.yaml"


def find_site_folder(start: str) -> str | None:
    """The nearest folder at or above `start`, a whole path, that holds the configuration, or None."""
    while not os.path.isfile(os.path.join(start, CONFIG_FILE)):
        start, before = os.path.dirname(start), start
        if start == before:
            return None
    return start


def format_path(path: Path | str) -> str:
    """The path as the author would type it here: relative if it is below the current folder."""
    here, text = os.getcwd(), str(path)
    return "." if text == here else text.removeprefix(os.path.join(here, ""))
