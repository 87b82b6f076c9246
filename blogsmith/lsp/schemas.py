"""The JSON Schemas of settings, front matter and cell options that ship, each read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ..schema.files import read_schema


@cache
def settings_schema() -> Mapping[str, Any]:
    """Of `blogsmith.yaml`."""
    return read_schema("config")


@cache
def head_schema() -> Mapping[str, Any]:
    """Of the front matter of a page."""
    return read_schema("front-matter")


@cache
def options_schema() -> Mapping[str, Any]:
    """Of the options of a cell."""
    return read_schema("cell")
