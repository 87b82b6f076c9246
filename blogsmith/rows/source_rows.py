"""Digests of sources, kept with the stamps of their files: a build reads only those that are new or saved.

The text of another one is read when it is asked for, which a page that is taken from its row never does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import cast

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import Rows, is_text
from ..base.storage.stamps import FileStamp, stamp_of
from ..model.decode import decode
from ..model.documents import Source
from .stamped_values import StampedValues


class KeptSources:
    """Belongs to one pipeline."""

    def __init__(self, rows: Rows) -> None:
        self._values = StampedValues(rows, "sources", str)
        """Source path → digest of the source."""
        self._new: dict[str, FileStamp] = {}
        """Stamps of files that are read now, from before that."""

    def find(self, path: PurePosixPath, file: Path) -> Source | None:
        """The source in a file that is as it was; None: it is to be read.

        Its text may raise SiteError or OSError when it is read: the file may be another one by then.
        """
        name = str(path)
        with suppress(OSError, ValueError):
            stamp = stamp_of(file.stat(), with_changed=True)
            digest = self._values.find(name, stamp)
            if digest:
                # a dataclass knows no fields that take more than they give
                text = cast("str", partial(_read_text, path, file, digest))
                return Source(path, text, digest)
            if is_text(name):
                self._new[name] = stamp
        return None

    def save(self, sources: Iterable[Source]) -> None:
        """Keep what was read. sources: all there are."""
        digests = {str(source.path): source.digest for source in sources}
        for name, stamp in self._new.items():
            if name in digests:
                self._values.keep(name, stamp, digests[name])
        self._values.save(digests.__contains__)


def _read_text(path: PurePosixPath, file: Path, digest: str) -> str:
    problem = "was saved while the site was being built"
    try:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() == digest:
            return decode(data, str(path))
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    raise SiteError(Diagnostic("unreadable", problem, str(path), hint="build again"))
