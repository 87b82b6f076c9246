"""The JSON Schemas that blogsmith ships: files next to this one, generated from the tables that the readers
use.

A site may have copies in `.blogsmith/schema/`; the first line of its settings then names one for the author's
editor. A copy matches the version of blogsmith that builds the site, and the editor needs no network.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..storage.own_folder import OWN_FOLDER, open_own_folder

SCHEMAS = ("config", "front-matter", "cell")
"""Names of the schemas of `blogsmith.yaml`, of the front matter of a post, and of the `#|` lines of a
cell."""
FOLDER = Path(__file__).parent / "json"
KIND = "schema"
"""Name of the schemas' folder in `.blogsmith/`."""
_MODELINE = f"$schema={OWN_FOLDER}/{KIND}/".encode()
_SEARCHED_BYTES = 1000
"""Number of bytes at the start of the settings that are searched for the line that names a schema."""


def schema_text(name: str) -> str:
    """Return the schema called `name` as JSON text."""
    return (FOLDER / f"{name}.json").read_text("utf-8")


def read_schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


def copy_schemas(root: Path) -> None:
    """Copy the schemas to `.blogsmith/` of the site, if that folder can be written."""
    with suppress(OSError), open_own_folder(root, KIND) as folder:
        for name in SCHEMAS:
            file, data = f"{name}.json", schema_text(name).encode()
            if folder.status(file) is None or folder.read(file) != data:
                folder.replace(file, data)


def update_schemas(settings: Path) -> None:
    """Update the copies if the settings refer to one of them. settings: file in the site root."""
    try:
        with settings.open("rb") as stream:
            head = stream.read(_SEARCHED_BYTES)
    except OSError:
        return
    if _MODELINE in head:
        copy_schemas(settings.parent)
