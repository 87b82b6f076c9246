"""The files in `data/` of a Hugo site, which shortcodes show."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from ..source_files import read_text
from ..text.data import load_data
from ..text.loose_yaml import DataTextError, load_yaml
from .config import FORMS, HugoConfig
from .mounts import mounted_files, mounts_of


def read_data(root: Path, config: HugoConfig) -> dict[str, Any]:
    """Names of folders and files, without endings → what they hold; what cannot be read is left out."""
    found: dict[str, Any] = {}
    for file in mounted_files(root, mounts_of(config, "data")):
        text = read_text(root / file.path) if file.path.suffix.lower() in FORMS else None
        if text is not None:
            _store_value(found, file.place, _load(text, file.path.suffix.lower()))
    return found


def _load(text: str, suffix: str) -> Any:
    try:
        if suffix == ".json":
            # the reader of settings wants a mapping; data may be a list
            return json.loads(text)
        return load_yaml(text) if suffix in (".yaml", ".yml") else load_data(text, FORMS[suffix])
    except (DataTextError, ValueError, RecursionError):
        return None


def _store_value(found: dict[str, Any], place: PurePosixPath, value: Any) -> None:
    for folder in place.parent.parts:
        inner = found.setdefault(folder, {})
        if not isinstance(inner, dict):
            return
        found = inner
    if value is not None:
        found.setdefault(place.stem, value)
