"""Files of a finished site, with the pages and settings that each is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from .template_views import PageView


class GeneratedFile(Struct, frozen=True):
    """A file whose bytes are computed when the object is called."""

    make: Callable[[], bytes]
    pages: tuple[PageView, ...]
    """Pages that the file is made from; other than these it depends only on the settings."""
    text_pages: tuple[PageView, ...] = ()
    """Pages of `pages` whose text the file contains."""
    key: str = ""
    """Identifies everything that the file is made from; empty: `pages` and the settings."""
    is_joint: bool = False
    """Whether creating it creates other files too, so that one process must create all of them."""
    is_slow: bool = False
    """Whether creating it may need a second. Any thread may create it."""

    def __call__(self) -> bytes:
        """Return its bytes."""
        return self.make()


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of the finished site."""

    path: PurePosixPath
    """Path relative to the output folder."""
    origin: str
    """Description of its source, for the author."""
    content: PageView | GeneratedFile | Callable[[], bytes] | Path
    """A page, a function that returns the bytes, or the file to copy."""


# The inputs of a finished page, stored to decide whether the page would be the same now.


class PageInputs(msgspec.Struct, frozen=True, array_like=True):
    """Inputs of a page other than those that its key identifies."""

    text_digests: Mapping[str, bytes]
    """Source path of another page whose text was read → digest of that text."""
    templates_row: str = ""
    """Name of the row that lists the templates that were searched for; empty for a file made without
    templates."""
    templates: bytes = b""
    """Digest of these templates, as `ThemeFiles.digest` returns it."""
