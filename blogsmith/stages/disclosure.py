"""Selection of the files next to posts that are published, and warnings about private data in published
files.

Files next to posts are published, except for working files of authors (notebooks, code, backup copies), which
are published only if a page links to them. Under `static/` all files are published.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..base.patterns import lazy_pattern
from ..base.storage.site_cache import CacheInterface
from ..base.storage.stamps import make_stamp
from ..config.schema import Config
from ..model.documents import Asset
from ..project.load import LoadedSite
from ..rows.file_rows import StampedValues
from ..site.frame import RenderedDocument
from ..write.photos.cleaning import remaining_private_data
from ..write.photos.container import DamagedFileError

WORKING_FILE_SUFFIXES = frozenset(
    {".ipynb", ".py", ".pyi", ".pyc", ".r", ".rmd", ".qmd", ".jl", ".m", ".sh", ".env"}
    | {".bak", ".old", ".orig", ".rej", ".save"}
)
"""Suffixes of working files, in lower case."""

_KEY = lazy_pattern(rb"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----|^PuTTY-User-Key-File-")
_KEY_HEAD = 4096
_TEMPLATES = frozenset((".html", ".htm", ".xml", ".css", ".scss", ".js", ".json", ".txt"))
_FRONT_MATTER = lazy_pattern(rb"---[ \t]*\r?\n(?:[A-Za-z][\w-]*:|---)")
"""Beginning of an HTML or other file with front matter: a page of Jekyll or Eleventy."""
_DRAFT = lazy_pattern(
    rb"---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?(?:draft:[ \t]*true|published:[ \t]*false)[ \t]*\r?$", re.MULTILINE
)
_NO_TEMPLATE = "front matter has no effect because this file is not a page"
_TEMPLATE_HINT = "rename it to `{}`, as Markdown may contain HTML, or remove the lines between `---`"
_MAX_NOTEBOOK = 50_000_000
_HOME = lazy_pattern(rb"(?:(?:/home|/Users)/|[A-Za-z]:(?:\\|/){1,4}Users(?:\\|/){1,4})[\w.-]+")
"""Path of a user's home folder. Each backslash may be doubled, as in JSON, even twice."""

CheckDisclosure = Callable[[Asset, Config], tuple[Diagnostic, ...]]


def published_assets(
    loaded: LoadedSite, rendered: Iterable[RenderedDocument], config: Config
) -> Mapping[str, tuple[Asset, str]]:
    """Map the path of each file that is copied into the site to the file and its site path."""
    linked: set[str] | None = None
    found = {}
    for path, url in loaded.asset_urls.items():
        if is_working_file(path):
            # most sites have no working files
            linked = _linked_addresses(rendered, config) if linked is None else linked
            if config.base_path + quote(url) not in linked:
                continue
        if not _is_draft(loaded.assets[path]):
            found[path] = (loaded.assets[path], url)
    return found


def _is_draft(asset: Asset) -> bool:
    """Return whether an HTML file has front matter that marks it as a draft."""
    if asset.path.suffix.lower() not in (".html", ".htm"):
        return False
    try:
        with asset.file.open("rb") as stream:
            return _DRAFT.match(stream.read(_KEY_HEAD)) is not None
    except OSError:
        # the error is reported when the file is copied
        return False


def is_working_file(path: str) -> bool:
    """Return whether the file at this path is published only if a page links to it."""
    return path.startswith("content/") and PurePosixPath(path).suffix.lower() in WORKING_FILE_SUFFIXES


def _linked_addresses(rendered: Iterable[RenderedDocument], config: Config) -> set[str]:
    """Return URLs that pages and the menu link to, with base path."""
    menu = (quote(unquote(re.split("[#?]", item.url)[0])) for item in config.menu)
    found = {config.base_path + url for url in menu if url.startswith("/")}
    for item in rendered:
        found |= item.body.links
    return found


def disclosures(
    assets: Mapping[str, tuple[Asset, str]], config: Config, look: CheckDisclosure
) -> Iterator[Diagnostic]:
    """Yield warnings for published files that contain private data. look: `check_disclosure`, or a function
    that caches its results."""
    for asset, _ in assets.values():
        yield from look(asset, config)


def check_disclosure(asset: Asset, config: Config) -> tuple[Diagnostic, ...]:
    """Return warnings for a published file. There are none if it cannot be read."""
    try:
        with asset.file.open("rb") as stream:
            head = stream.read(_KEY_HEAD)
            if _KEY.search(head):
                return (
                    _private_file_warning(
                        asset, "this file contains a private key", "remove it from the site"
                    ),
                )
            if asset.path.suffix.lower() == ".env":
                return (
                    _private_file_warning(asset, "this file may contain secrets", "remove it from the site"),
                )
            if asset.path.suffix.lower() == ".ipynb" and asset.size <= _MAX_NOTEBOOK:
                return _notebook_leaks(asset, head + stream.read())
            if asset.path.suffix.lower() in _TEMPLATES and _FRONT_MATTER.match(head):
                return (
                    _warning(
                        "foreign-file",
                        asset,
                        _NO_TEMPLATE,
                        _TEMPLATE_HINT.replace("{}", f"{asset.path.stem}.md"),
                    ),
                )
            return _picture_leaks(asset, stream) if config.images.metadata == "clean" else ()
    except OSError:
        # the error is reported when the file is copied
        return ()


def _notebook_leaks(asset: Asset, text: bytes) -> tuple[Diagnostic, ...]:
    found = _HOME.search(text)
    if not found:
        return ()
    folder = found[0].decode("utf-8", "replace").replace("\\\\", "\\")
    message = f'this notebook contains the path "{folder}" of a user'
    return (_private_file_warning(asset, message, "clear its outputs before you publish it"),)


def _picture_leaks(asset: Asset, stream: io.BufferedReader) -> tuple[Diagnostic, ...]:
    try:
        told = remaining_private_data(stream)
    except DamagedFileError:
        message = "this image is damaged, so its metadata cannot be removed"
        return (_warning("image-metadata", asset, message, "save it again with an image editor"),)
    if not told:
        return ()
    message = f"this file reveals {_join_words(told)}, which blogsmith cannot remove"
    return (_warning("image-metadata", asset, message, "remove it with a tool such as `exiftool`"),)


def _join_words(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _private_file_warning(asset: Asset, message: str, hint: str) -> Diagnostic:
    return _warning("private-file", asset, f"{message}, and is published", hint)


def _warning(code: str, asset: Asset, message: str, hint: str) -> Diagnostic:
    return Diagnostic(code, message, str(asset.path), hint=hint, severity="warning")


# Warnings about published files are cached, and computed again only for changed files.


class DisclosureCache:
    """Cache of these warnings, for one build or one preview."""

    def __init__(self, rows: CacheInterface) -> None:
        self._values = StampedValues(rows, "disclosure", _DisclosureResult)

    def forget(self, changed: Collection[str]) -> None:
        """Drop the results for files that were saved, whose stamps may be the same as before."""
        for path in changed:
            self._values.forget(path)

    def check(self, asset: Asset, config: Config) -> tuple[Diagnostic, ...]:
        """Return the cached or computed result of `check_disclosure`."""
        path, mode = str(asset.path), config.images.metadata
        try:
            stamp = make_stamp(asset.file.stat(), with_changed=True)
        except OSError:
            return check_disclosure(asset, config)
        known = self._values.find(path, stamp)
        if known is None or known.mode != mode:
            known = _DisclosureResult(mode, check_disclosure(asset, config))
            self._values.put(path, stamp, known)
        return known.found

    def save(self, files: Container[str]) -> None:
        """Store the results. files: paths of all files of the site."""
        self._values.save(files.__contains__)


class _DisclosureResult(msgspec.Struct, frozen=True, array_like=True):
    mode: str
    """Value of the setting `images.metadata`."""
    found: tuple[Diagnostic, ...]
