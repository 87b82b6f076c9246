"""Files of a finished site, and what each is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from .template_views import PageView


class GeneratedFile(Struct, frozen=True):
    """A file that is made when it is called."""

    make: Callable[[], bytes]
    pages: tuple[PageView, ...]
    """What it is made from; beside these pages only the settings count."""
    texts: tuple[PageView, ...] = ()
    """Those of them whose texts it holds."""
    key: str = ""
    """Names all that it is made from; empty: that is `pages` and the settings."""
    is_joint: bool = False
    """Making it makes others as well, so one process makes all of them."""
    is_slow: bool = False
    """It may take a second, and any thread may make it."""

    def __call__(self) -> bytes:
        """Its bytes."""
        return self.make()


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of the finished site."""

    path: PurePosixPath
    """Relative to the output folder."""
    origin: str
    """What it is made from, in the author's words."""
    content: PageView | GeneratedFile | Callable[[], bytes] | Path
    """A page, what makes its bytes, or the file that is copied there."""


# What a finished page was made from, as it is kept to tell whether the page would be the same now.


class PageInputs(msgspec.Struct, frozen=True, array_like=True):
    """What a page was made from, beside what its key names."""

    texts: Mapping[str, bytes]
    """Source path of another page whose text was read for it → digest of that text."""
    loads: str = ""
    """Name of the row that says which templates were looked for; empty for what is made without any."""
    templates: bytes = b""
    """As `ThemeFiles.digest` gives it for these."""
