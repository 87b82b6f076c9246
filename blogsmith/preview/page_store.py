"""Pages of the previous preview, so that a browser shows the first page immediately. Also media types of
files.

A page is served only while its source is unchanged. When the whole site has been read, the preview compares
each page with its current inputs.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from mimetypes import MimeTypes
from pathlib import Path
from types import MappingProxyType

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..base.storage.site_cache import Row, open_site_cache
from ..base.version import __version__
from ..model.generated_files import PageInputs
from ..project.bundled_folders import bundled_folder

# Types that some versions of the standard library lack or define differently.
_OURS = MappingProxyType(
    {
        ".avif": "image/avif",
        ".js": "text/javascript",
        ".json": "application/json",
        ".mjs": "text/javascript",
        ".ico": "image/x-icon",
        ".wasm": "application/wasm",
        ".webmanifest": "application/manifest+json",
        ".webp": "image/webp",
        ".woff": "font/woff",
        ".woff2": "font/woff2",
        ".whl": "application/zip",
        ".xml": "application/xml",
    }
)
_TEXTS = frozenset(("application/json", "application/xml", "application/manifest+json"))
_NAMES = MappingProxyType({"atom.xml": "application/atom+xml", "feed.json": "application/feed+json"})


def media_type(name: str) -> str:
    """Return the media type of a file, with a charset for text. For an unknown suffix, return the media type
    of binary data."""
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    # Use only the tables of the library, because those of the system differ.
    known = _NAMES.get(name) or _OURS.get(suffix) or MimeTypes().guess_type(f"x{suffix}")[0]
    if known is None:
        return "application/octet-stream"
    return f"{known}; charset=utf-8" if known.startswith("text/") or known in _TEXTS else known


_MAX_PAGE_BYTES = 64 * 1024 * 1024
"""Maximum size of one page in bytes."""


class StoredPage(msgspec.Struct, frozen=True, array_like=True):
    """One page of the previous preview."""

    path: str
    """Decoded path of the page's URL."""
    version: str
    source: str
    """Source path of the page; empty for a generated page."""
    digest: str
    """SHA-256 of the source file in hex."""
    compressed: bytes
    """HTML, compressed with zlib."""
    key: str = ""
    """Key as returned by `OutputKeys.key`; empty if the inputs of the page are unknown."""
    inputs: PageInputs = PageInputs({})
    problems: tuple[Diagnostic, ...] = ()
    """Diagnostics about content that the page's Content-Security-Policy blocks."""

    @property
    def data(self) -> bytes:
        """Content of the page; empty if it is damaged."""
        try:
            return zlib.decompressobj().decompress(self.compressed, _MAX_PAGE_BYTES)
        except zlib.error:
            return b""


class StoredPages:
    """Stored pages of one site. Each method opens the cache for itself, so that any thread may call it."""

    def __init__(self, root: Path, settings: str) -> None:
        """Create the store without opening the cache. settings: string that identifies the command line
        options that pages depend on."""
        self._root = root
        self._key = f"{__version__} {settings}"
        self._saved: dict[str, tuple[str, str, str]] = {}
        """Path of a page → version, key and digest that were last saved."""

    def page(self, path: str) -> StoredPage | None:
        """Return the page at a path if its source has not changed, otherwise None."""
        with open_site_cache(self._root) as rows:
            row = rows.get("served page", path)
        page = self._decode(row) if row else None
        if page is None:
            return None
        return page if not page.source or self._digest(page.source) == page.digest else None

    def all_pages(self) -> Mapping[str, StoredPage]:
        """Return all pages by path, including those whose sources have changed."""
        found: dict[str, StoredPage] = {}
        with open_site_cache(self._root) as rows:
            for path, row in rows.rows("served page").items():
                page = self._decode(row)
                if page:
                    found[path] = page
        return found

    def file(self, path: str) -> tuple[str, Path] | None:
        """Return (media type, file on disk) for the URL path `path` of a file that is copied unchanged; None
        if there is no such file."""
        with open_site_cache(self._root) as rows:
            row = rows.get("served file", path)
        if row is None or row.key != self._key:
            return None
        file = Path(row.data.decode("utf-8", "surrogateescape"))
        return (media_type(path), file) if self._is_public(file) else None

    def save(
        self, pages: Iterable[StoredPage], paths: Collection[str], files: Iterable[tuple[str, Path]]
    ) -> None:
        """Store pages, and the paths of files that are copied unchanged. Errors are ignored. pages: pages
        made in this preview. paths: paths of all current pages; other stored pages are removed. files: (URL
        path, file)."""
        with open_site_cache(self._root) as rows:
            for page in pages:
                names = (page.version, page.key, page.digest)
                if self._saved.get(page.path) != names:
                    rows.put("served page", page.path, Row(self._key, msgspec.msgpack.encode(page)))
                    self._saved[page.path] = names
            rows.remove_others("served page", paths)
            places = dict(files)
            for path, file in places.items():
                data = str(file).encode("utf-8", "surrogateescape")
                rows.put("served file", path, Row(self._key, data))
            rows.remove_others("served file", places.keys())

    def _decode(self, row: Row) -> StoredPage | None:
        if row.key != self._key:
            return None
        try:
            return msgspec.msgpack.decode(row.data, type=StoredPage)
        except msgspec.MsgspecError:
            return None

    def _digest(self, source: str) -> str:
        file = self._root / source
        with suppress(OSError, ValueError, RuntimeError):
            if file.resolve().is_relative_to(self._root):
                return hashlib.sha256(file.read_bytes()).hexdigest()
        return ""

    def _is_public(self, file: Path) -> bool:
        """Return whether a file is in a folder whose files are published, without a symbolic link in its
        path."""
        with suppress(OSError, RuntimeError, ValueError):
            if file.resolve() == file:
                themes = (self._root / "themes", bundled_folder("themes").resolve())
                inside = [
                    self._root / "static",
                    *(folder for one in themes for folder in one.glob("*/static")),
                ]
                return any(file.is_relative_to(folder) for folder in inside)
        return False
