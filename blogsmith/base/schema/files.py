"""The JSON Schemas that ship: files beside this one, made from the tables that the program reads by.

A site may have those of the version that builds it in `.blogsmith/schema/`, where the first line of its
settings names one: such a copy is there without a network, and fits.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..storage.own_folder import OWN_FOLDER, open_own_folder

SCHEMAS = ("config", "front-matter", "cell")
"""Of `blogsmith.yaml`, of the head of a post, and of the `#|` lines of a cell."""
FOLDER = Path(__file__).parent / "json"
KIND = "schema"
"""Folder in `.blogsmith/`."""
_MODELINE = f"$schema={OWN_FOLDER}/{KIND}/".encode()
_LOOKED_AT = 1000
"""Bytes at the start of the settings in which editors look for the line."""


def schema_text(name: str) -> str:
    """The text of one of the schemas."""
    return (FOLDER / f"{name}.json").read_text("utf-8")


def read_schema(name: str) -> dict[str, Any]:
    """One of the schemas as data."""
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


def keep_schemas(root: Path) -> None:
    """Copy the schemas into the site's `.blogsmith/`, if that can be written."""
    with suppress(OSError), open_own_folder(root, KIND) as folder:
        for name in SCHEMAS:
            file, data = f"{name}.json", schema_text(name).encode()
            if folder.status(file) is None or folder.read(file) != data:
                folder.replace(file, data)


def update_schemas(settings: Path) -> None:
    """The same, for a site whose settings, a file at its root, name one of the copies."""
    try:
        with settings.open("rb") as stream:
            head = stream.read(_LOOKED_AT)
    except OSError:
        return
    if _MODELINE in head:
        keep_schemas(settings.parent)
