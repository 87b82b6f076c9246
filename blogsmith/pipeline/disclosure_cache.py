"""What published files give away, as far as they have changed."""

from __future__ import annotations

from collections.abc import Collection, Container

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..base.storage.site_cache import Rows
from ..base.storage.stamps import stamp_of
from ..config.schema import Config
from ..model.documents import Asset
from .disclosure import leaks
from .rows.stamped_values import StampedValues


class DisclosureCache:
    """Belongs to one pipeline."""

    def __init__(self, rows: Rows) -> None:
        self._values = StampedValues(rows, "disclosure", _Leaks)

    def forget(self, changed: Collection[str]) -> None:
        """Files that were saved: their stamps may be the same."""
        for path in changed:
            self._values.forget(path)

    def leaks_of(self, asset: Asset, config: Config) -> tuple[Diagnostic, ...]:
        """As `leaks`."""
        path, mode = str(asset.path), config.images.metadata
        try:
            stamp = stamp_of(asset.file.stat(), with_changed=True)
        except OSError:
            return leaks(asset, config)
        known = self._values.find(path, stamp)
        if known is None or known.mode != mode:
            known = _Leaks(mode, leaks(asset, config))
            self._values.keep(path, stamp, known)
        return known.found

    def save(self, files: Container[str]) -> None:
        """Keep what was found. files: paths of all files of the site."""
        self._values.save(files.__contains__)


class _Leaks(msgspec.Struct, frozen=True, array_like=True):
    mode: str
    """As in the setting `images.metadata`."""
    found: tuple[Diagnostic, ...]
