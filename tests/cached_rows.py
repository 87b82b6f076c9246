"""Helpers to read and replace rows of the cache of a site."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.base.storage.site_cache import Kind, Row
from blogsmith.project.program import open_rows


def row_names(root: Path, kind: Kind) -> set[str]:
    """Return the names of all rows of a kind."""
    with closing(sqlite3.connect(cache_path(root))) as cache:
        return {name for (name,) in cache.execute("SELECT name FROM rows WHERE kind = ?", (kind,))}


def read_row(root: Path, kind: Kind, name: str) -> Row:
    """Return an existing row."""
    with open_rows(root) as rows:
        row = rows.get(kind, name)
    assert row is not None
    return row


def replace_data(root: Path, kind: Kind, name: str, data: bytes) -> None:
    """Replace the data of an existing row under the same key."""
    change_row(root, kind, name, Row(read_row(root, kind, name).key, data))


def change_row(root: Path, kind: Kind, name: str, row: Row) -> None:
    """Replace a row."""
    with open_rows(root) as rows:
        assert rows.put(kind, name, row)


def change_cache(root: Path, statement: str, *values: object) -> int:
    """Change the database directly. Return the number of changed rows."""
    with closing(sqlite3.connect(cache_path(root))) as cache, cache:
        return cache.execute(statement, values).rowcount
