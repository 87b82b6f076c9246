"""Smaller copies of images as files of the site, made on request and cached between builds.

All copies of an image are made together, so that it is decoded only once. The name of a cached copy contains
a digest of the original, the size, and the versions of the libraries, so a cached copy is never stale.
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
from ..base.storage.site_cache import read_bytes, remove_other_rows, store_bytes
from ..config.schema import Config
from ..model.generated_files import GeneratedFile
from ..model.pictures import ImageInfo, ImageVariant
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..render.variants import LARGE_BYTES, variant_of
from ..site.images import Measure
from ..site.permalinks import output_path
from ..write.photos.cleaning import clean_bytes
from ..write.photos.encoder import ImageEncodingError, encode_variants, encoder_version

_KIND: Final = "pictures"
_SPARE = 500
"""Number of unused copies to keep in the cache, such as those of drafts and other branches."""
_SHARED_PX = 1200
"""Width of images in link previews of social networks, in pixels."""


class ImageCopies:
    """Maker of the smaller copies of a site's images."""

    def __init__(self, context: SiteContext, variants_by_image: Mapping[str, Sequence[ImageVariant]]) -> None:
        """Prepare the copies without making them. variants_by_image: name and digest of an image → its
        copies."""
        self._root = context.root
        self._base_path = context.config.base_path
        self._cleans = context.config.images.metadata == "clean"
        self._all_of = variants_by_image
        self._lock = Lock()
        """Lock for the preview, where several threads may request copies at the same time."""

    @cached_property
    def version(self) -> str:
        """Digest of everything that copies depend on, except for the original image."""
        return hashlib.sha256(f"{encoder_version()} {self._cleans}".encode()).hexdigest()[:12]

    def make(self, variant: ImageVariant, source: Path) -> bytes:
        """Return one copy. Raises SiteError if the original cannot be read."""
        with self._lock:
            kept = read_bytes(self._root, _KIND, self._name(variant))
            return kept if kept is not None else self._make_all(variant, source)

    def _make_all(self, variant: ImageVariant, source: Path) -> bytes:
        try:
            data = source.read_bytes()
        except OSError as error:
            message = f'image "{source.name}" cannot be read: {error.strerror or error}'
            raise SiteError(Diagnostic("image-unreadable", message, hint="check its permissions")) from error
        wanted = self._all_of[_picture_name(variant)]
        original = clean_bytes(data) if self._cleans else data
        made: dict[str, bytes] = {}
        for one, copy in zip(wanted, make_copies(data, original, wanted), strict=True):
            made[self._name(one)] = copy
        store_bytes(self._root, _KIND, made)
        return made[self._name(variant)]

    def files(
        self, originals: Mapping[PurePosixPath, tuple[str, Path]]
    ) -> Iterator[tuple[PurePosixPath, str, GeneratedFile]]:
        """Yield path in the finished site, description of the origin, and content of each copy.

        The first copies of all images precede the other copies. Making the first copy of an image makes all
        its copies. originals: path of an original in the finished site → description of its origin, and its
        file. Copies of other images are omitted.
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
        """Remove cached copies that the site no longer uses, except for the `_SPARE` youngest."""
        names = {self._name(one) for wanted in self._all_of.values() for one in wanted}
        remove_other_rows(self._root, _KIND, names, _SPARE)

    def _name(self, variant: ImageVariant) -> str:
        return f"{self.version}-{PurePosixPath(variant.path).name}"


def _picture_name(variant: ImageVariant) -> str:
    """Return the prefix that the names of all copies of an image share."""
    return variant.path.rpartition("-")[0]


def make_copies(data: bytes, published: bytes, wanted: Sequence[ImageVariant]) -> list[bytes]:
    """Return the copies of an image in the order of `wanted`. A copy that cannot be made, or that does not
    have fewer bytes than `published`, is replaced by `published`, the published original. A copy that has
    more bytes than a wider copy is replaced by the wider one; this happens with drawings, which get smooth
    edges. Browsers detect the format of an image from its bytes, whatever its file name."""
    try:
        made = encode_variants(io.BytesIO(data), wanted)
    except ImageEncodingError:
        return [published] * len(wanted)
    lightest: dict[str, bytes] = {}
    found: dict[ImageVariant, bytes] = {}
    for one, copy in sorted(zip(wanted, made, strict=True), key=lambda pair: -pair[0].width_px):
        best = lightest.get(one.format, published)
        found[one] = lightest[one.format] = copy if len(copy) < len(best) else best
    return [found[one] for one in wanted]


def plan_copies(used: Iterable[ImageVariant], context: SiteContext) -> ImageCopies | None:
    """Return the maker of the copies that pages use, or None if they use none."""
    all_of: dict[str, list[ImageVariant]] = defaultdict(list)
    # an image next to two posts has the same copies for both
    for one in {one.path: one for one in sorted(set(used), reverse=True)}.values():
        all_of[_picture_name(one)].append(one)
    return ImageCopies(context, all_of) if all_of else None


def plan_share_images(
    views: Iterable[PageView], loaded: LoadedSite, config: Config, measure: Measure
) -> dict[str, ImageVariant]:
    """Map the URL of each large page image to the smaller copy for social networks."""
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


def add_share_images(
    views: Sequence[PageView], shared: Mapping[str, ImageVariant], base_path: str
) -> list[PageView]:
    """Return the pages. A page whose image is in `shared` gets the URL of the smaller copy as its image for
    social networks."""
    return [
        replace(view, card=f"{base_path}/{one.path}") if (one := shared.get(view.image)) else view
        for view in views
    ]
