"""Files of a finished site, each with the pages and settings that it is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from ..base.diagnostics.model import Diagnostic
from .template_views import PageView


class GeneratedFile(Struct, frozen=True):
    """A file whose bytes are computed when the record is called like a function."""

    make: Callable[[], bytes]
    pages: tuple[PageView, ...]
    """Pages that the file is made from. Apart from these, it depends only on the settings."""
    text_pages: tuple[PageView, ...] = ()
    """Pages whose text the file contains, not only their titles or dates; a subset of `pages`."""
    key: str = ""
    """String that changes with everything the file is made from; empty: the pages and settings are compared
    instead."""
    is_joint: bool = False
    """Whether creating it creates other files too, so that one process must create all of them."""
    is_current: Callable[[], bool] | None = None
    """Function that returns whether the file is still made from what `key` names; None if it always is."""
    is_slow: bool = False
    """Whether creating it may take about a second. Any thread may create it."""
    report: Callable[[], tuple[bytes, tuple[Diagnostic, ...]]] | None = None
    """Function that returns the same bytes as `make`, with diagnostics; None if the file has no
    diagnostics."""

    def __call__(self) -> bytes:
        return self.make()


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of the finished site."""

    path: PurePosixPath
    """Path relative to the output folder."""
    origin: str
    """Description of the page, file or feature that it comes from, for messages."""
    content: PageView | GeneratedFile | Callable[[], bytes] | Path
    """A page to render, a function that returns the bytes, or a file to copy."""


# Inputs of a finished page, stored so that the next build can compare them.


class PageInputs(msgspec.Struct, frozen=True, array_like=True):
    """Inputs of a page that its cache key does not identify."""

    text_digests: Mapping[str, bytes]
    """Source path of another page whose text was read → digest of that text."""
    templates_row: str = ""
    """Name of the cache row that lists the templates searched for; empty for a file made without
    templates."""
    templates: bytes = b""
    """Digest of the templates in that row, as `ThemeFiles.digest` returns it."""
