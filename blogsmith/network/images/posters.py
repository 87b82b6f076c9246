"""Still pictures of videos at other hosts: which picture a video has, as its host says by oEmbed.

Source: https://oembed.com. The answer is data from a stranger: the picture may come only from the host's own
servers for pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import quote, urlsplit

import msgspec

from ...base.patterns import lazy_pattern
from ...model.remote_images import remote_address
from ...render.videos import read_video
from ..download import Downloaded, DownloadRefused

_ENDPOINTS: Mapping[str, str] = MappingProxyType(
    {
        "youtube": "https://www.youtube.com/oembed?format=json&url=",
        "vimeo": "https://vimeo.com/api/oembed.json?width=1280&url=",
    }
)
_PICTURE_HOSTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "youtube": re.compile(r"(?:[\w-]+\.)*(?:ytimg|ggpht)\.com"),
        "vimeo": re.compile(r"(?:[\w-]+\.)*vimeocdn\.com"),
    }
)
_SMALL = lazy_pattern(r"/(?:hq|mq|sd)?default\.jpg\Z")
"""Name of YouTube's small pictures; most videos have one of 1280 pixels, too."""
_LARGE = "/maxresdefault.jpg"
_MAX_ANSWER = 100_000

Get = Callable[[str], Downloaded]


class _Answer(msgspec.Struct):
    thumbnail_url: str = ""


def download_poster(url: str, get: Get) -> Downloaded | None:
    """Download the still picture of the video at `url`; None if no known host has a video there.

    get: what downloads. DownloadRefused says why there is no picture.
    """
    video = read_video(url, _ENDPOINTS)
    if video is None:
        return None
    answer = get(_ENDPOINTS[video.provider] + quote(url, safe=""))
    address = _picture_address(answer.data, _PICTURE_HOSTS[video.provider])
    if _SMALL.search(address):
        try:
            return get(_SMALL.sub(_LARGE, address))
        except DownloadRefused:
            # videos of low resolution have no large one
            pass
    return get(address)


def _picture_address(answer: bytes, hosts: re.Pattern[str]) -> str:
    try:
        written = msgspec.json.decode(answer[:_MAX_ANSWER], type=_Answer).thumbnail_url
    except (msgspec.MsgspecError, UnicodeDecodeError):
        written = ""
    if not written:
        raise DownloadRefused("its host names no picture for it")
    address = remote_address(written)
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.port or not hosts.fullmatch(parts.hostname or ""):
        raise DownloadRefused(f"its host names a picture at {written[:100]!r}, not on a server of its own")
    return address
