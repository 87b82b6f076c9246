"""Addresses of videos on other hosts: who serves them, and the privacy-mode player.

An address is taken apart, never passed on: only the ids of video and list and the start time reach the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from ..base.patterns import lazy_pattern

_YOUTUBE_ID = lazy_pattern(r"[\w-]{11}", re.ASCII)
_LIST_ID = lazy_pattern(r"[\w-]{2,64}", re.ASCII)
_VIMEO_ID = lazy_pattern(r"\d{6,12}")
_TIME = lazy_pattern(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")

_PLAYER = "https://www.youtube-nocookie.com/embed/"


class Video(Struct, frozen=True):
    """A video or a playlist that another host serves."""

    provider: str
    """`youtube` or `vimeo`."""
    url: str
    """The video's own page."""
    embed_url: str
    """The player, in the host's mode without cookies or tracking."""
    host: str
    """As shown to the reader before the click."""
    poster_url: str
    """The page for which its host names a still picture: the same for every start time."""
    is_list: bool = False
    """A playlist, none of whose videos comes first."""


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
    playlist = query.get("list", "")
    playlist = playlist if _LIST_ID.fullmatch(playlist) else ""
    if host == "youtu.be":
        name = pieces[0]
    elif host in ("youtube.com", "youtube-nocookie.com", "music.youtube.com"):
        if pieces in (["playlist"], ["embed", "videoseries"]):
            return _youtube_list(playlist) if playlist else None
        name = query.get("v", "") if pieces[0] == "watch" else pieces[-1] if len(pieces) == 2 else ""
    else:
        return None
    if not _YOUTUBE_ID.fullmatch(name):
        return None
    start = _seconds(query.get("t") or query.get("start") or "")
    more = f"&list={playlist}" if playlist else ""
    page = f"https://www.youtube.com/watch?v={name}{more}{f'&t={start}s' if start else ''}"
    player = f"{_PLAYER}{name}?autoplay=1{more}{f'&start={start}' if start else ''}"
    poster_url = f"https://www.youtube.com/watch?v={name}"
    return Video("youtube", page, player, "youtube.com", poster_url)


def _youtube_list(playlist: str) -> Video:
    page = f"https://www.youtube.com/playlist?list={playlist}"
    player = f"{_PLAYER}videoseries?autoplay=1&list={playlist}"
    return Video("youtube", page, player, "youtube.com", page, is_list=True)


def _vimeo(host: str, path: str, query: dict[str, str]) -> Video | None:
    pieces = path.strip("/").removeprefix("video/").split("/")
    if host not in ("vimeo.com", "player.vimeo.com") or not _VIMEO_ID.fullmatch(pieces[0]):
        return None
    page = f"https://vimeo.com/{pieces[0]}"
    player = f"https://player.vimeo.com/video/{pieces[0]}?dnt=1&autoplay=1"
    return Video("vimeo", page, player, "vimeo.com", page)


def _seconds(text: str) -> int:
    """`90`, `90s`, `1m30s` → 90; 0 if it is no time."""
    found = _TIME.fullmatch(text)
    if not found:
        return 0
    hours, minutes, seconds = (int(group[:6]) if group else 0 for group in found.groups())
    return hours * 3600 + minutes * 60 + seconds
