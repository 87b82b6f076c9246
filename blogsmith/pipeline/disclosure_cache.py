"""What published files give away, as far as they have changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..base.diagnostics.model import Diagnostic
from ..base.storage.stamps import FileStamp
from ..config.schema import Config
from ..model.documents import Asset
from .disclosure import leaks


class DisclosureCache:
    """Belongs to one preview, and is used by one thread."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[FileStamp, str, tuple[Diagnostic, ...]]] = {}
        self._stamps: Mapping[str, FileStamp] = {}

    def forget(self, changed: Collection[str]) -> None:
        """Files that were saved: their stamps may be the same."""
        for path in changed:
            self._known.pop(path, None)

    def use_stamps(self, stamps: Mapping[str, FileStamp]) -> None:
        """The files as they are now. stamps: as in `SiteFiles`."""
        self._stamps = stamps
        self._known = {path: known for path, known in self._known.items() if path in stamps}

    def leaks_of(self, asset: Asset, config: Config) -> tuple[Diagnostic, ...]:
        """As `leaks`."""
        path, mode = str(asset.path), config.images.metadata
        stamp = self._stamps[path]
        known = self._known.get(path)
        if known is None or known[:2] != (stamp, mode):
            known = self._known[path] = (stamp, mode, leaks(asset, config))
        return known[2]
