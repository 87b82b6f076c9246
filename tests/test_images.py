"""Sizes of images, valid and invalid, and the HTML made from them."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path

import html5lib
import pytest
from msgspec.structs import replace
from PIL import Image

from blogsmith.base.storage.site_cache import NullCache
from blogsmith.model.pictures import ImageInfo
from blogsmith.render.dimensions import fit_attributes, fit_style, parse_length
from blogsmith.render.images import (
    ImageError,
    ImageSize,
    image_size,
    img_tag,
)
from blogsmith.rows.file_rows import ImageSizes
from tests.rows import each_row

INFO = ImageInfo("/a.png", 40, 20)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" %s><rect/></svg>'


def picture(kind: str, orientation: int = 1) -> bytes:
    """Return a 40 × 20 image with noise, so that its data is longer than its header."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    stream = io.BytesIO()
    Image.effect_noise((40, 20), 90).convert("RGB").save(stream, kind, exif=exif)
    return stream.getvalue()


def with_thumbnail() -> bytes:
    """Return a JPEG whose header contains another complete JPEG, as cameras write them."""
    small = picture("JPEG")
    app1 = b"\xff\xe2" + (len(small) + 2).to_bytes(2, "big") + small
    return small[:2] + app1 + small[2:]


def size_of(folder: Path, data: bytes, name: str) -> ImageSize:
    file = folder / name
    file.write_bytes(data)
    return replace(image_size(file), kind="")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "AVIF"])
def test_size(tmp_path: Path, kind: str) -> None:
    assert size_of(tmp_path, picture(kind), f"a.{kind}") == ImageSize(40, 20)
    assert size_of(tmp_path, picture(kind), "a.wrong") == ImageSize(40, 20)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(tmp_path: Path, kind: str, orientation: int) -> None:
    turned = ImageSize(20, 40) if orientation >= 5 else ImageSize(40, 20)
    assert size_of(tmp_path, picture(kind, orientation), "a.png") == turned


@pytest.mark.parametrize(
    "attributes, size",
    [
        ('width="40" height="20"', (40, 20)),
        ('width="40px" height="20.4px"', (40, 20)),
        ('width="72pt" height="1in"', (96, 96)),
        ('width="2.54cm" height="25.4mm" viewBox="0 0 1 1"', (96, 96)),
        ('viewBox="0 0 40 20"', (40, 20)),
        ('viewBox="-3,-4,40.0,20"', (40, 20)),
        ('width="80" viewBox="0 0 40 20"', (80, 40)),
        ('height="80" viewBox="0 0 40 20"', (160, 80)),
        ('width="100%" height="100%" viewBox="0 0 40 20"', (40, 20)),
        ('width="100%"', (None, None)),
        ('width="0" height="-5"', (None, None)),
        ('width="1e99" height="1e9"', (None, None)),
        ('viewBox="0 0 0 0"', (None, None)),
        ('viewBox="a b c d"', (None, None)),
        ("", (None, None)),
    ],
)
def test_svg_size(tmp_path: Path, attributes: str, size: tuple[int | None, int | None]) -> None:
    assert size_of(tmp_path, (SVG % attributes).encode(), "a.svg") == ImageSize(*size)


def test_svg_with_a_plain_doctype_and_another_encoding(tmp_path: Path) -> None:
    head = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
    text = head + "<!--" + "é" * 5000 + "-->" + SVG % 'width="4" height="2"'
    assert size_of(tmp_path, text.encode("utf-16"), "a.SVG") == ImageSize(4, 2)


def png_of(width: int, height: int) -> bytes:
    """Return the header of a PNG with this size."""
    import struct
    import zlib

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


ENTITIES = '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + SVG % 'width="&b;"'
OUTSIDE = '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + SVG % 'width="&a;"'


def nested_uses(levels: int, spelling: str = "href") -> bytes:
    """Return an SVG whose `levels` groups each use the one before ten times."""
    groups = [f'<g id="g{n}">{f"""<use {spelling}="#g{n - 1}"/>""" * 10}</g>' for n in range(1, levels + 1)]
    inner = f'<defs><rect id="g0" width="1" height="1"/>{"".join(groups)}</defs>'
    return (SVG % 'width="4" height="3"').replace("/>", f'>{inner}<use href="#g{levels}"/></svg>').encode()


def test_drawings_with_many_or_circular_uses_are_fine(tmp_path: Path) -> None:
    points = '<use xlink:href="#m"/>' * 100_000
    circle = '<g id="a"><use href="#b"/></g><g id="b">' + '<use href="#a"/>' * 20 + "</g>"
    names = 'xmlns:xlink="http://www.w3.org/1999/xlink" width="4" height="3"'
    for inner in (f'<path id="m"/>{points}', circle):
        data = (SVG % names).replace("/>", f">{inner}</svg>").encode()
        assert size_of(tmp_path, data, "a.svg") == ImageSize(4, 3)
    assert size_of(tmp_path, nested_uses(4), "a.svg") == ImageSize(4, 3)


@pytest.mark.parametrize(
    "name, data, message",
    [
        ("a.png", b"", '"a.png" is empty'),
        ("a.svg", b"", '"a.svg" is empty'),
        ("a.png", b"hello", "is not a PNG"),
        ("a.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not a PNG"),
        ("a.png", picture("PNG")[:20], "damaged"),
        ("a.png", picture("PNG")[:-20], '"a.png" is truncated: its end is missing'),
        ("a.jpg", picture("JPEG")[:-20], '"a.jpg" is truncated: its end is missing'),
        ("a.jpg", with_thumbnail()[:-20], '"a.jpg" is truncated: its end is missing'),
        ("a.webp", picture("WEBP")[:-20], "damaged"),
        ("a.avif", picture("AVIF")[:60], "damaged"),
        ("a.png", png_of(20_000, 20_000), '"a.png" has more than 178 million pixels'),
        ("a.svg", ENTITIES.encode(), 'declares the entity "a"'),
        ("a.svg", OUTSIDE.encode(), 'declares the entity "a"'),
        ("a.svg", b"<html/>", "no <svg> element"),
        ("a.svg", b"<svg width='4", "line 1"),
        ("a.svg", b"hello", "line 1"),
        ("a.svg", nested_uses(8), 'too many elements in "a.svg": more than 1,000,000 with "<use>"'),
        ("a.svg", b" " * 2_000_000, "no <svg> element"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(ImageError, match=message):
        size_of(tmp_path, data, name)


def test_whole_files_with_odd_ends_are_fine(tmp_path: Path) -> None:
    assert size_of(tmp_path, with_thumbnail(), "a.jpg") == ImageSize(40, 20)
    assert size_of(tmp_path, picture("JPEG") + b"film" * 50_000, "b.jpg") == ImageSize(40, 20)
    assert size_of(tmp_path, png_of(10_000, 10_000), "c.png") == ImageSize(10_000, 10_000)


def test_things_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "loop.png").symlink_to("loop.png")
    for name in ("pipe.png", "folder.svg"):
        with pytest.raises(ImageError, match=f'"{name}" is not a file'):
            image_size(tmp_path / name)
    for name in ("loop.png", "missing.png", "nul\0.png"):
        with pytest.raises(ImageError, match="cannot be read"):
            image_size(tmp_path / name)


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.svg"])
def test_sparse_giant_is_not_read(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as stream:
        stream.truncate(5_000_000_000)
    with pytest.raises(ImageError, match="larger than 200 MB"):
        image_size(tmp_path / name)


def test_tag_of_the_vocabulary() -> None:
    assert img_tag(INFO, "A b") == (
        '<img src="/a.png" width="40" height="20" loading="lazy" decoding="async" alt="A b">'
    )


def test_tag_with_everything() -> None:
    attrs = {"title": "t", "data-x": "1", "loading": "eager", "class": "b  c", "style": "width:60%;color:red"}
    dropped = {"src": "x", "alt": "x", "width": "9", "onload": "alert(1)", "ONERROR": "x", "a b": "x"}
    assert img_tag(INFO, "", classes=("a",), attrs={**attrs, **dropped}) == (
        '<img src="/a.png" width="40" height="20" loading="eager" decoding="async" alt=""'
        ' class="a b c" style="width:60%;color:red" data-x="1" title="t">'
    )


def test_tag_of_an_image_without_a_size() -> None:
    tag = img_tag(ImageInfo("/a.svg", None, None), "x")
    assert tag == '<img src="/a.svg" loading="lazy" decoding="async" alt="x">'


@each_row(
    "text, width",
    [
        ("60%", "60%"),
        (" 12.5em ", "12.5em"),
        ("300", "300px"),
        ("40ch", "40ch"),
        ("3rem", "3rem"),
        ("", None),
        ("60 %", None),
        ("-3px", None),
        ("1e9px", None),
        ("٣px", None),
        ("calc(1px)", None),
        ("60%;background:url(//x)", None),
    ],
)
def test_widths(text: str, width: str | None) -> None:
    length = parse_length(text)
    assert (length.css if length else None) == width
    assert fit_style(INFO, length, None) == (f"width:{width}" if width else "")


@each_row(
    "width, height, attributes, style",
    [
        ("", "", (40, 20), ""),
        ("10", "", (10, 5), ""),
        ("11px", "", (11, 6), ""),
        ("", "10", (20, 10), ""),
        ("10", "10", (10, 10), ""),
        ("50%", "", (40, 20), "width:50%"),
        ("", "50%", (40, 20), "width:auto;height:50%"),
        ("50%", "10", (40, 20), "width:50%;height:10px"),
        ("2em", "3em", (40, 20), "width:2em;height:3em"),
    ],
)
def test_size_of_a_tag(width: str, height: str, attributes: tuple[int, int], style: str) -> None:
    size = fit_attributes(INFO, parse_length(width), parse_length(height))
    assert ((size.info.width_px, size.info.height_px), size.style) == (attributes, style)


@pytest.mark.parametrize(
    "width, height, attributes, style",
    [
        ("10", "", (10, None), ""),
        ("", "10", (None, 10), "width:auto;height:10px"),
        ("10", "20", (10, 20), ""),
        ("50%", "", (None, None), "width:50%"),
    ],
)
def test_size_of_a_tag_without_a_ratio(
    width: str, height: str, attributes: tuple[int | None, int | None], style: str
) -> None:
    size = fit_attributes(ImageInfo("/a.svg", None, None), parse_length(width), parse_length(height))
    assert ((size.info.width_px, size.info.height_px), size.style) == (attributes, style)


@pytest.mark.parametrize(
    "width, height, style",
    [
        ("", "10", "width:20px"),
        ("", "10em", "width:auto;height:10em"),
        ("60%", "10", "width:60%;height:10px"),
    ],
)
def test_style_of_a_height(width: str, height: str, style: str) -> None:
    assert fit_style(INFO, parse_length(width), parse_length(height)) == style


def test_hostile_values_stay_in_their_attribute() -> None:
    hostile = '"><script>alert(1)</script>'
    info = ImageInfo(hostile, 1, 1)
    attrs = {"title": hostile, hostile: "x", "data-a onload": "x"}
    tag = img_tag(info, hostile, classes=(hostile,), attrs=attrs)
    tree = html5lib.parseFragment(tag, namespaceHTMLElements=False)
    (image,) = list(tree)
    assert image.tag == "img"
    assert set(image.attrib) == {"src", "width", "height", "loading", "decoding", "alt", "class", "title"}
    assert image.attrib["alt"] == image.attrib["title"] == hostile


def test_sizes_below_a_name_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a locale, a folder `ä` has an invalid name: sizes are measured, but not cached."""
    file = tmp_path / "\udcc3\udca4" / "a.svg"
    file.parent.mkdir()
    file.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"></svg>', "utf-8")
    sizes = ImageSizes(NullCache())
    found = sizes.measure(file)
    assert isinstance(found, ImageInfo) and (found.width_px, found.height_px) == (4, 3)
    # the file is old enough for its stamp to be trusted
    monkeypatch.setattr("blogsmith.rows.file_rows.time.time_ns", lambda: 2**62)
    sizes.save()
    assert sizes.values.take_new() == b""


def test_damaged_metadata_prints_no_warning_of_the_library(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "a camera" * 30
    stream = io.BytesIO()
    Image.new("RGB", (40, 20)).save(stream, "JPEG", exif=exif)
    data = bytearray(stream.getvalue())
    start = data.index(b"Exif")
    # offsets of EXIF values that point outside of the file
    data[start + 30 : start + 44] = b"\xff" * 14
    with warnings.catch_warnings(action="error"):
        assert size_of(tmp_path, bytes(data), "a.jpg") == ImageSize(40, 20)
