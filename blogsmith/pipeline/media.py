"""What films and captions tell of themselves, read from the beginning of their files."""

from __future__ import annotations

from pathlib import Path

from ..model.media import MediaFile

_BOM = b"\xef\xbb\xbf"
_CAPTIONS = b"WEBVTT"
_BLANKS = b" \t\r\n"


def measure_media(file: Path) -> MediaFile:
    """A film or a file of captions, without its address; nothing is known of one that cannot be read."""
    # few sites have one
    from ..write.photos.container import ByteReader
    from ..write.photos.films import film_size

    try:
        with file.open("rb") as stream:
            head = stream.read(16).removeprefix(_BOM)
            # WebVTT 4.1: the word, then a blank or the end
            behind = head[len(_CAPTIONS) : len(_CAPTIONS) + 1]
            if head.startswith(_CAPTIONS) and (not behind or behind in _BLANKS):
                return MediaFile(is_captions=True)
            size = film_size(ByteReader(stream))
    except OSError:  # told when it is copied
        size = None
    return MediaFile(width_px=size[0], height_px=size[1]) if size else MediaFile()
