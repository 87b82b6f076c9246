"""Images as cameras and programs write them, with private data that is easy to find."""

from __future__ import annotations

import io
import zlib

from PIL import Image
from PIL.PngImagePlugin import PngInfo

MARK = b"SECRET"
"""Marker in all data that must not be published."""
KINDS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF")


def exif_data(orientation: int = 6) -> Image.Exif:
    """Return EXIF data: camera, owner, serial number, maker notes and a location."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F], exif[0x013B] = "SECRET camera", "SECRET owner"
    exif.get_ifd(0x8769).update({0xA431: "SECRET serial", 0x927C: b"SECRET notes" * 20})
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 1.0), 29: "SECRET date"})
    return exif


def photo(kind: str, orientation: int = 6) -> bytes:
    """Return a 60 × 40 image with all kinds of private data of its format, and a colour profile."""
    stream, options = io.BytesIO(), dict[str, object]()
    if kind != "GIF":
        options |= {"exif": exif_data(orientation), "icc_profile": b"profile" * 20}
    if kind in ("JPEG", "WEBP", "AVIF"):
        options["xmp"] = b"<x:xmpmeta>SECRET</x:xmpmeta>"
    if kind in ("JPEG", "GIF"):
        options["comment"] = b"SECRET comment"
    if kind == "PNG":
        texts = PngInfo()
        texts.add_text("Author", "SECRET")
        texts.add_itxt("XML:com.adobe.xmp", "SECRET", zip=False)
        options |= {"pnginfo": texts, "dpi": (300, 300)}
    if kind == "JPEG":
        options |= {"dpi": (300, 300), "progressive": True}
    noise().save(stream, kind, **options)
    return with_more(kind, stream.getvalue())


def noise(size: tuple[int, int] = (60, 40)) -> Image.Image:
    """Return an image whose data are longer than its header."""
    return Image.effect_noise(size, 90).convert("RGB")


def with_more(kind: str, data: bytes) -> bytes:
    """Add private data that Pillow cannot write."""
    if kind == "JPEG":
        photoshop = segment(0xED, b"Photoshop 3.0\x00SECRET")
        thumbnail = segment(0xE0, b"JFXX\x00\x10SECRET")
        # phones append a second image after the end
        return data[:20] + thumbnail + photoshop + data[20:] + b"\xff\xd8SECRET\xff\xd9"
    if kind == "PNG":
        end = data.rindex(b"IEND") - 4
        return data[:end] + chunk(b"tIME", bytes(7)) + chunk(b"caBX", MARK) + data[end:] + b"SECRET rest"
    if kind in ("WEBP", "GIF"):
        return data + b"SECRET rest"
    return data


def segment(marker: int, content: bytes) -> bytes:
    """Return a segment of a JPEG."""
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content


def chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    sum_ = zlib.crc32(name + content).to_bytes(4, "big")
    return len(content).to_bytes(4, "big") + name + content + sum_


def pixels(data: bytes) -> list[bytes]:
    """Return every frame of an image, decoded."""
    with Image.open(io.BytesIO(data)) as image:
        frames = []
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            frames.append(image.tobytes())
        return frames


def animation(kind: str) -> bytes:
    """Return three frames in an endless loop, with a comment or EXIF data."""
    frames = [noise() for _ in range(3)]
    stream = io.BytesIO()
    options: dict[str, object] = {"comment": b"SECRET"} if kind == "GIF" else {"exif": exif_data()}
    frames[0].save(
        stream, kind, save_all=True, append_images=frames[1:], duration=70, loop=0, lossless=True, **options
    )
    return stream.getvalue()


def film(*, located: bool) -> bytes:
    """Return the boxes of an MP4 without audio and video data."""
    notes = box(b"udta", box(b"\xa9xyz", b"\x00\x0f\x15\xc7+48.1+016.3/")) if located else b""
    return box(b"ftyp", b"isom\0\0\0\0isom") + box(b"moov", box(b"mvhd", bytes(100)) + notes)


def box(name: bytes, content: bytes) -> bytes:
    """Return a box of an ISO file."""
    return (len(content) + 8).to_bytes(4, "big") + name + content
