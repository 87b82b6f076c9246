"""The cache of a site as the pipeline uses it: rows of another program count as missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..base.storage.site_cache import Rows, open_site_cache
from .program import program_digest


@contextmanager
def open_rows(root: Path) -> Iterator[Rows]:
    """The rows of the site at `root`; what cannot be read or written is not kept, see `Rows.problem`."""
    with open_site_cache(root, program_digest) as rows:
        yield rows
