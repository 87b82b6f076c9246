"""Posts whose names are one but for their ending: their results would be recorded in one folder."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath


def fold_name(name: str) -> str:
    """The name as a file system that ignores case and Unicode form sees it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def twin_posts(paths: Iterable[PurePosixPath]) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """(earlier, later) of each two Markdown files that come to one place under `_freeze/`.

    That is their path without the ending. In it lies `outputs.json`, so a post `p/outputs.json.md` cannot be
    recorded beside `p.md`.
    """
    first: dict[str, PurePosixPath] = {}
    for path in paths:
        own = fold_name(str(path.with_suffix("")))
        twin = first.setdefault(own, path)
        # two files of one name are told as such, where the folder is listed
        if twin is not path and fold_name(str(twin)) != fold_name(str(path)):
            yield twin, path
    for own, path in first.items():
        if own.endswith("/outputs.json") and (parent := first.get(own.removesuffix("/outputs.json"))):
            yield parent, path
