"""Videos: `<video>` with a poster and captions, silent loops instead of GIFs, players of other hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from ..base.diagnostics.model import Place
from ..base.patterns import lazy_pattern
from ..languages.tags import language_name
from ..model.pictures import ImageInfo, MediaFile, video_type
from .context import PageRendering
from .variants import LARGE_BYTES, middle_variant, use_variants


class WrittenPath(Struct, frozen=True):
    """A path as written by the author."""

    text: str
    place: Place


class VideoFile(Struct, frozen=True):
    """A video with the author's options."""

    source: WrittenPath
    poster: WrittenPath | None = None
    captions: WrittenPath | None = None
    lang: str = ""
    """Language of the captions; empty for that of the page."""
    is_loop: bool = False
    """Whether the video plays repeatedly without sound."""
    label: str = ""
    """Alternative text."""
    title: str = ""
    """Text of the link for browsers that cannot play the video; if empty, its URL is the text."""
    style: str = ""


def find_media(rendering: PageRendering, written: WrittenPath) -> MediaFile:
    """Return the file of a video or of captions. If it is not found, report an error and return a file with
    the URL as written."""
    found = rendering.tools.media(written.text, rendering.document)
    if isinstance(found, MediaFile):
        return found
    rendering.report_target(found, written.place)
    return MediaFile(found.local_url, is_captions=True)


def video_tag(rendering: PageRendering, film: VideoFile) -> str:
    """Return the `<video>` element."""
    found = find_media(rendering, film.source)
    poster = rendering.find_image(film.poster.text, film.poster.place) if film.poster else None
    size = _size(found, poster)
    # until the video is loaded, a poster of another shape would determine the aspect ratio
    shape = f"aspect-ratio:{size[0]}/{size[1]}" if size and poster and found.width_px else ""
    style = ";".join(filter(None, (film.style, shape)))
    attributes = [
        " controls",
        " muted loop playsinline" if film.is_loop else "",
        ' preload="metadata"',
        f' poster="{escape(_poster_url(rendering, poster))}"' if poster and poster.url else "",
        f' width="{size[0]}" height="{size[1]}"' if size else "",
        f' style="{escape(style)}"' if style else "",
        f' aria-label="{escape(film.label)}"' if film.label else "",
    ]
    if film.is_loop:
        rendering.widgets.add("loop")
    url, kind = escape(found.url), video_type(film.source.text)
    parts = [
        f"<video{''.join(attributes)}>",
        f'<source src="{url}" type="{kind}">' if kind else f'<source src="{url}">',
        *_track(rendering, film),
        f'<a href="{url}">{escape(film.title or found.url, quote=False)}</a>',
    ]
    return "\n".join((*parts, "</video>"))


def _size(found: MediaFile, poster: ImageInfo | None) -> tuple[int, int] | None:
    if found.width_px and found.height_px:
        return found.width_px, found.height_px
    if poster and poster.width_px and poster.height_px:
        return poster.width_px, poster.height_px
    return None


def _poster_url(rendering: PageRendering, poster: ImageInfo) -> str:
    variants = use_variants(rendering, poster) if poster.bytes > LARGE_BYTES else ()
    if not variants:
        return poster.url
    # `poster` accepts one URL, and every browser that plays current videos supports WebP
    chosen = middle_variant(variants, variants[-1].format)
    return f"{rendering.tools.config.base_path}/{chosen.path}"


def _track(rendering: PageRendering, film: VideoFile) -> list[str]:
    if film.captions is None:
        return []
    found = find_media(rendering, film.captions)
    if found.url and not found.is_captions:
        message = f'"{film.captions.text}" contains no captions: a WebVTT file starts with WEBVTT'
        hint = "write `WEBVTT` and an empty line at the top, and times such as `00:01.500`, not `00:01,500`"
        rendering.reporter.error("captions", message, film.captions.place, hint)
    if not found.url:
        return []
    tag = film.lang or rendering.document.front.lang or rendering.tools.config.lang
    lang, name = escape(tag), escape(language_name(tag))
    return [f'<track kind="captions" src="{escape(found.url)}" srclang="{lang}" label="{name}" default>']


# Videos on other hosts are embedded by the host's player, in its mode without tracking. A URL is parsed and
# never copied: only the ids of video and list and the start time reach the page.


_YOUTUBE_ID = lazy_pattern(r"[\w-]{11}", re.ASCII)
_LIST_ID = lazy_pattern(r"[\w-]{2,64}", re.ASCII)
_VIMEO_ID = lazy_pattern(r"\d{6,12}")
_TIME = lazy_pattern(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")

_PLAYER = "https://www.youtube-nocookie.com/embed/"


class HostedVideo(Struct, frozen=True):
    """A video or a playlist on another host."""

    provider: str
    """`youtube` or `vimeo`."""
    url: str
    """URL of the video's own page."""
    embed_url: str
    """URL of the player, in the host's mode without cookies or tracking."""
    host: str
    """Host name shown to the reader before the click."""
    poster_url: str
    """URL of the video's page without a start time. It identifies the local copy of the host's still
    image."""
    is_list: bool = False
    """Whether this is a playlist without a video to start with."""


def read_video(address: str, allow: Iterable[str]) -> HostedVideo | None:
    """Return the video at a URL, or None if no provider in `allow` serves it."""
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


def _youtube(host: str, path: str, query: dict[str, str]) -> HostedVideo | None:
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
    return HostedVideo("youtube", page, player, "youtube.com", poster_url)


def _youtube_list(playlist: str) -> HostedVideo:
    page = f"https://www.youtube.com/playlist?list={playlist}"
    player = f"{_PLAYER}videoseries?autoplay=1&list={playlist}"
    return HostedVideo("youtube", page, player, "youtube.com", page, is_list=True)


def _vimeo(host: str, path: str, query: dict[str, str]) -> HostedVideo | None:
    pieces = path.strip("/").removeprefix("video/").split("/")
    if host not in ("vimeo.com", "player.vimeo.com") or not _VIMEO_ID.fullmatch(pieces[0]):
        return None
    page = f"https://vimeo.com/{pieces[0]}"
    player = f"https://player.vimeo.com/video/{pieces[0]}?dnt=1&autoplay=1"
    return HostedVideo("vimeo", page, player, "vimeo.com", page)


def _seconds(text: str) -> int:
    """Return the seconds in `90`, `90s` or `1m30s`, or 0 if the time is invalid."""
    found = _TIME.fullmatch(text)
    if not found:
        return 0
    hours, minutes, seconds = (int(group[:6]) if group else 0 for group in found.groups())
    return hours * 3600 + minutes * 60 + seconds
