"""Copies of images from other hosts, and the record of these copies. Downloads, validates and stores them.

A copy is stored under `static/remote/<host>/`, so it is published like any image, without camera metadata.
Its name consists of the last part of the URL's path and the beginning of the SHA-256 of the whole URL.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, unquote, urlsplit
from xml.parsers import expat

import msgspec
from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...base.storage.folder import open_folder
from ...base.storage.temporary import nameless_file
from ...model.remote_images import (
    COPIES,
    FETCH_COMMAND,
    RECORD,
    ImageCopy,
    format_record,
    normalize_remote_url,
)
from ...model.slugs import slugify
from ...render.films import read_video
from ...render.images import ImageError, open_image_size
from ...render.svg.active_content import active_content
from ...render.svg.metadata import svg_size
from ..connection import Downloaded, DownloadError

State = Literal["new", "missing", "changed", "there"]
_MAX_STEM_LENGTH = 60
"""Maximum number of characters of the URL in the name of a copy."""


class CopyError(Exception):
    """An image that cannot be copied; the message is the reason."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class FetchResult(Struct, frozen=True):
    """Result of downloading an image."""

    copy: ImageCopy
    size: int
    """Size in bytes."""


def copy_state(root: Path, copy: ImageCopy | None) -> State:
    """Return whether the copy of an image is not recorded, missing, changed or unchanged."""
    if copy is None:
        return "new"
    try:
        data = _read(root, copy.path)
    except OSError:
        return "missing"
    return "there" if hashlib.sha256(data).hexdigest() == copy.sha256 else "changed"


def fetch_copy(
    root: Path,
    address: str,
    known: ImageCopy | None,
    get: Callable[[str], Downloaded],
    *,
    renew: bool = False,
) -> FetchResult:
    """Download the image at a URL, or the poster of the video there, and write it to the folder for copies.

    known: recorded copy; None if there is none. If its content differs from the downloaded image, raise
    CopyError unless `renew`. get: function that downloads a URL. Raises CopyError if the image cannot be
    downloaded or is not an image, and OSError if it cannot be written.
    """
    try:
        found = download_poster(address, get) or get(address)
        suffix = image_suffix(found)
    except DownloadError as refused:
        raise CopyError(str(refused), refused.hint) from refused
    except ImageRejectedError as refused:
        raise CopyError(str(refused)) from refused
    digest = hashlib.sha256(found.data).hexdigest()
    if known and known.sha256 != digest and not renew:
        hint = f"inspect the image, then run `{FETCH_COMMAND} --renew` to replace the copy"
        raise CopyError(f"the image differs from the one recorded in {RECORD}", hint)
    is_same = known is not None and known.sha256 == digest and known.path.endswith(suffix)
    path = known.path if known and is_same else copy_path(address, suffix)
    _write(root, PurePosixPath(path), found.data)
    return FetchResult(ImageCopy(path, digest), len(found.data))


def copy_path(address: str, suffix: str) -> str:
    """Return the path of the copy of a URL, relative to the root of the site."""
    parts = urlsplit(address)
    stem = slugify(PurePosixPath(unquote(parts.path)).stem)[:_MAX_STEM_LENGTH].strip("-") or "image"
    host = "".join(sign if sign.isalnum() or sign in ".-" else "-" for sign in parts.netloc)
    digest = hashlib.sha256(address.encode()).hexdigest()
    return f"{COPIES}/{host}/{stem}-{digest[:8]}{suffix}"


def write_record(root: Path, copies: Mapping[str, ImageCopy]) -> None:
    """Write the record of URLs and their copies. Raise OSError if that fails."""
    data = format_record(copies)
    with open_folder(root) as site:
        if site.status(RECORD) is None or site.read(RECORD) != data:
            site.replace(RECORD, data)


def _read(root: Path, path: str) -> bytes:
    place = PurePosixPath(path)
    with open_folder(root) as site, site.enter(place.parent) as folder:
        return folder.read(place.name)


def _write(root: Path, path: PurePosixPath, data: bytes) -> None:
    with open_folder(root) as site, site.enter(path.parent, make=True) as folder:
        folder.replace(path.name, data)


# Posters of videos on other hosts, found by oEmbed. Source: https://oembed.com. The answer is not trusted: an
# image is accepted only from the image servers of the same host.


_ENDPOINTS: Mapping[str, str] = MappingProxyType(
    {
        "youtube": "https://www.youtube.com/oembed?format=json&url=",
        "vimeo": "https://vimeo.com/api/oembed.json?width=1280&url=",
    }
)
_THUMBNAIL_HOSTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "youtube": re.compile(r"(?:[\w-]+\.)*(?:ytimg|ggpht)\.com"),
        "vimeo": re.compile(r"(?:[\w-]+\.)*vimeocdn\.com"),
    }
)
_SMALL = lazy_pattern(r"/(?:hq|mq|sd)?default\.jpg\Z")
"""Regular expression of YouTube's small images. Most videos also have an image of 1280 pixels."""
_LARGE = "/maxresdefault.jpg"
_MAX_ANSWER = 100_000

Get = Callable[[str], Downloaded]


class _Answer(msgspec.Struct):
    thumbnail_url: str = ""


def download_poster(url: str, get: Get) -> Downloaded | None:
    """Download the poster of the video at `url`. Return None if the URL is not one of a supported video host.
    Raise DownloadError if there is no poster. get: function that downloads a URL."""
    video = read_video(url, _ENDPOINTS)
    if video is None:
        return None
    answer = get(_ENDPOINTS[video.provider] + quote(url, safe=""))
    address = _thumbnail_url(answer.data, _THUMBNAIL_HOSTS[video.provider])
    if _SMALL.search(address):
        try:
            return get(_SMALL.sub(_LARGE, address))
        except DownloadError:
            # Low-resolution videos have no large image.
            pass
    return get(address)


def _thumbnail_url(answer: bytes, hosts: re.Pattern[str]) -> str:
    try:
        written = msgspec.json.decode(answer[:_MAX_ANSWER], type=_Answer).thumbnail_url
    except (msgspec.MsgspecError, ValueError, RecursionError):
        written = ""
    if not written:
        raise DownloadError("its host provides no poster image")
    address = normalize_remote_url(written)
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.port or not hosts.fullmatch(parts.hostname or ""):
        raise DownloadError(
            f'its host names the poster image "{written[:100]}", which is not on its own servers'
        )
    return address


# Checks whether a server sent an image that the site can publish. The content decides, not the name. A copy
# is served from the site's own origin, so a browser must not be able to interpret it as a page. An SVG with
# scripts, HTML or external URLs is rejected and not repaired, because a repaired image would differ from the
# original.


_MAGIC = (
    (lazy_pattern(rb"\x89PNG\r\n\x1a\n"), ".png"),
    (lazy_pattern(rb"\xff\xd8\xff"), ".jpg"),
    (lazy_pattern(rb"GIF8[79]a"), ".gif"),
    (lazy_pattern(rb"RIFF....WEBP", re.DOTALL), ".webp"),
    (lazy_pattern(rb"....ftypavi[fs]", re.DOTALL), ".avif"),
)
"""Pattern of the first bytes of each format, with its suffix."""
_UNKNOWN_MEDIA_TYPES = frozenset(("", "application/octet-stream", "binary/octet-stream"))
"""Media types that servers send for unknown files."""
_SVG_MEDIA_TYPES = frozenset(("text/plain", "text/xml", "application/xml"))
"""Media types that servers such as raw.githubusercontent.com send for SVG, in addition to that of SVG."""
_SVG_NAME = "http://www.w3.org/2000/svg svg"


class ImageRejectedError(Exception):
    """A file that is not an image for the site; the message is the reason."""


def image_suffix(found: Downloaded) -> str:
    """Return the suffix of the image format. Raise ImageRejectedError if the content is not a valid image."""
    suffix = next((suffix for magic, suffix in _MAGIC if magic.match(found.data)), "")
    is_image = found.media_type.startswith("image/") or found.media_type in _UNKNOWN_MEDIA_TYPES
    is_text = found.data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
    if not suffix and is_text and (is_image or found.media_type in _SVG_MEDIA_TYPES):
        _check_svg(found.data)
        return ".svg"
    if not is_image:
        raise ImageRejectedError(f'the server sends "{found.media_type[:80]}", not an image')
    if not suffix:
        raise ImageRejectedError("the file is not a PNG, JPEG, GIF, WebP, AVIF or SVG image")
    with nameless_file() as file:
        file.write(found.data)
        file.flush()
        file.seek(0)
        try:
            open_image_size(file, "it")
        except ImageError as problem:
            raise ImageRejectedError(str(problem)) from problem
    return suffix


def _check_svg(data: bytes) -> None:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImageRejectedError("the SVG image is not encoded in UTF-8") from error
    names: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        if not names:
            names.append(name)

    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        raise ImageRejectedError("the file is not a valid SVG image") from error
    if names != [_SVG_NAME]:
        raise ImageRejectedError("the file is not an SVG image")
    try:
        svg_size(io.BytesIO(data))
    except ValueError as error:
        raise ImageRejectedError(f"the SVG image cannot be shown: {error}") from error
    active = active_content(data, "picture.svg")
    if active:
        raise ImageRejectedError(f"the SVG image is not safe to publish: {active[0].message}")
