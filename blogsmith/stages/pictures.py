"""Copies of pictures as files of the site: made when they are asked for, and kept from build to build.

All copies of one picture are made together, for it is decoded once. What is kept in `.blogsmith/pictures/` is
named by the copy and by the libraries that made it, so it is never out of date.
"""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Final
from urllib.parse import unquote

from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import keep_bytes, keep_only, read_bytes
from ..config.schema import Config
from ..model.generated_files import GeneratedFile
from ..model.pictures import ImageInfo, PictureVariant
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..render.variants import LARGE_BYTES, variant_of
from ..site.images import Measure
from ..site.permalinks import output_path
from ..write.photos.cleaning import clean_bytes
from ..write.photos.encoder import PictureProblem, encode_variants, encoder_version

_KIND: Final = "pictures"
_SPARE = 500
"""Copies that are kept although the site has them no more: of drafts, and of other branches."""
_SHARED_PX = 1200
"""What networks show of the picture of a page."""


class PictureCopies:
    """Makes the copies of one site."""

    def __init__(self, context: SiteContext, all_of: Mapping[str, Sequence[PictureVariant]]) -> None:
        """all_of: picture, by its name and digest → its copies."""
        self._root = context.root
        self._base_path = context.config.base_path
        self._cleans = context.config.images.metadata == "clean"
        self._all_of = all_of
        self._lock = Lock()
        """A preview is asked for several at once, and has other things to do."""

    @cached_property
    def version(self) -> str:
        """Names all that copies depend on beside the original, in a few letters."""
        return hashlib.sha256(f"{encoder_version()} {self._cleans}".encode()).hexdigest()[:12]

    def make(self, variant: PictureVariant, source: Path) -> bytes:
        """One copy; SiteError if the original cannot be read."""
        with self._lock:
            kept = read_bytes(self._root, _KIND, self._name(variant))
            return kept if kept is not None else self._make_all(variant, source)

    def _make_all(self, variant: PictureVariant, source: Path) -> bytes:
        try:
            data = source.read_bytes()
        except OSError as error:
            message = f"{source.name} cannot be read: {error.strerror or error}"
            raise SiteError(Diagnostic("image-unreadable", message)) from error
        wanted = self._all_of[_picture_name(variant)]
        original = clean_bytes(data) if self._cleans else data
        made: dict[str, bytes] = {}
        for one, copy in zip(wanted, copies_of(data, original, wanted), strict=True):
            made[self._name(one)] = copy
        keep_bytes(self._root, _KIND, made)
        return made[self._name(variant)]

    def files(
        self, originals: Mapping[PurePosixPath, tuple[str, Path]]
    ) -> Iterator[tuple[PurePosixPath, str, GeneratedFile]]:
        """Path, origin and content of each copy; one of each picture first, which is the one that takes time.

        originals: where an original lies in the finished site → its origin and its file.
        """
        numbered = [
            (number, one) for wanted in self._all_of.values() for number, one in enumerate(sorted(wanted))
        ]
        for _, one in sorted(numbered):
            source = output_path(unquote(one.source).removeprefix(self._base_path))
            if source not in originals:
                continue
            origin, file = originals[source]
            key, make = f"{self.version} {one.path}", partial(self.make, one, file)
            path = PurePosixPath(one.path)
            yield path, f"a copy of {origin}", GeneratedFile(make, (), key=key, is_slow=True)

    def keep_only_planned(self) -> None:
        """Forget copies that the site has no more, but for some."""
        names = {self._name(one) for wanted in self._all_of.values() for one in wanted}
        keep_only(self._root, _KIND, names, _SPARE)

    def _name(self, variant: PictureVariant) -> str:
        return f"{self.version}-{PurePosixPath(variant.path).name}"


def _picture_name(variant: PictureVariant) -> str:
    """What all copies of one picture begin with."""
    return variant.path.rpartition("-")[0]


def copies_of(data: bytes, published: bytes, wanted: Sequence[PictureVariant]) -> list[bytes]:
    """The copies of a picture; in place of one that is no smaller, or cannot be made, what is published.

    A drawing made smaller has smooth edges and may weigh more than a larger copy: then that one is taken.
    Browsers tell what a picture is by its first bytes, whatever its name ends with.
    """
    try:
        made = encode_variants(io.BytesIO(data), wanted)
    except PictureProblem:
        return [published] * len(wanted)
    lightest: dict[str, bytes] = {}
    found: dict[PictureVariant, bytes] = {}
    for one, copy in sorted(zip(wanted, made, strict=True), key=lambda pair: -pair[0].width_px):
        best = lightest.get(one.format, published)
        found[one] = lightest[one.format] = copy if len(copy) < len(best) else best
    return [found[one] for one in wanted]


def picture_copies(used: Iterable[PictureVariant], context: SiteContext) -> PictureCopies | None:
    """What makes the copies that pages name; None if there are none."""
    all_of: dict[str, list[PictureVariant]] = defaultdict(list)
    # a picture that lies beside two posts has the same copies
    for one in {one.path: one for one in sorted(set(used), reverse=True)}.values():
        all_of[_picture_name(one)].append(one)
    return PictureCopies(context, all_of) if all_of else None


def shared_pictures(
    views: Iterable[PageView], loaded: LoadedSite, config: Config, measure: Measure
) -> dict[str, PictureVariant]:
    """Address of each large picture that stands for a page → the copy that networks are given of it."""
    addresses = {view.image for view in views if view.image.startswith("/")}
    if not addresses or not config.images.responsive:
        return {}
    files = {f"{config.base_path}{url}": path for path, url in loaded.asset_urls.items()}
    found = {}
    for address in sorted(addresses):
        path = files.get(unquote(address))
        info = measure(loaded.assets[path].file) if path else ""
        if isinstance(info, ImageInfo) and info.digest and info.bytes > LARGE_BYTES and info.width_px:
            width = min(_SHARED_PX, info.width_px)
            found[address] = variant_of(replace(info, url=address), width, "jpeg")
    return found


def with_shared_pictures(
    views: Sequence[PageView], shared: Mapping[str, PictureVariant], base_path: str
) -> list[PageView]:
    """The pages with the addresses of these copies."""
    return [
        replace(view, card=f"{base_path}/{one.path}") if (one := shared.get(view.image)) else view
        for view in views
    ]
