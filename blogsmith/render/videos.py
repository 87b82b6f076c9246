"""Addresses of videos on other hosts: who serves them, and the privacy-mode player.

An address is taken apart, never passed on: only the video's id and start time reach the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from ..base.patterns import lazy_pattern

_YOUTUBE_ID = lazy_pattern(r"[\w-]{11}", re.ASCII)
_VIMEO_ID = lazy_pattern(r"\d{6,12}")
_TIME = lazy_pattern(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


class Video(Struct, frozen=True):
    """A video another host serves."""

    provider: str
    """`youtube` or `vimeo`."""
    url: str
    """The video's own page."""
    embed_url: str
    """The player, in the host's mode without cookies or tracking."""
    host: str
    """As shown to the reader before the click."""


def read_video(address: str, allow: Iterable[str]) -> Video | None:
    """The video at `address`, or None if no provider in `allow` serves it."""
    try:
        parts = urlsplit(address.strip())
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
        has_port = bool(parts.port)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or parts.username or has_port:
        return None
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    for name, read in (("youtube", _youtube), ("vimeo", _vimeo)):
        video = read(host, parts.path, query)
        if video and name in allow:
            return video
    return None


def _youtube(host: str, path: str, query: dict[str, str]) -> Video | None:
    pieces = path.strip("/").split("/")
    if host == "youtu.be":
        name = pieces[0]
    elif host in ("youtube.com", "youtube-nocookie.com", "music.youtube.com"):
        name = query.get("v", "") if pieces[0] == "watch" else pieces[-1] if len(pieces) == 2 else ""
    else:
        return None
    if not _YOUTUBE_ID.fullmatch(name):
        return None
    start = _seconds(query.get("t") or query.get("start") or "")
    page = f"https://www.youtube.com/watch?v={name}{f'&t={start}s' if start else ''}"
    player = f"https://www.youtube-nocookie.com/embed/{name}?autoplay=1{f'&start={start}' if start else ''}"
    return Video("youtube", page, player, "youtube.com")


def _vimeo(host: str, path: str, query: dict[str, str]) -> Video | None:
    pieces = path.strip("/").removeprefix("video/").split("/")
    if host not in ("vimeo.com", "player.vimeo.com") or not _VIMEO_ID.fullmatch(pieces[0]):
        return None
    name = pieces[0]
    return Video(
        "vimeo",
        f"https://vimeo.com/{name}",
        f"https://player.vimeo.com/video/{name}?dnt=1&autoplay=1",
        "vimeo.com",
    )


def _seconds(text: str) -> int:
    """`90`, `90s`, `1m30s` → 90; 0 if it is no time."""
    found = _TIME.fullmatch(text)
    if not found:
        return 0
    hours, minutes, seconds = (int(group[:6]) if group else 0 for group in found.groups())
    return hours * 3600 + minutes * 60 + seconds
