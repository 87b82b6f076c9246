"""Published images: their pixels and orientation, and no private data of the author."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from blogsmith.write.photos.cleaning import clean_bytes, clean_stream, read_published, remaining_private_data
from blogsmith.write.photos.container import BLOCK, DamagedFileError
from tests.photo_files import KINDS, MARK, animation, box, exif_data, film, noise, photo, pixels, segment
from tests.rows import each_row, examples

ORIENTATION = 0x0112


@each_row("kind", KINDS)
def test_private_data_go_and_pixels_stay(kind: str) -> None:
    data = photo(kind)
    clean = clean_bytes(data)
    assert MARK in data and MARK not in clean
    assert pixels(clean) == pixels(data)
    assert clean_bytes(clean) == clean


@each_row("kind", ["JPEG", "PNG", "WEBP"])
@each_row("orientation", range(1, 9))
def test_orientation_stays_alone(kind: str, orientation: int) -> None:
    with Image.open(io.BytesIO(clean_bytes(photo(kind, orientation)))) as image:
        assert dict(image.getexif()) == ({} if orientation == 1 else {ORIENTATION: orientation})


@each_row("orientation", range(1, 9))
def test_avif_is_shown_the_same_way_up(orientation: int) -> None:
    data = photo("AVIF", orientation)
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(clean_bytes(data))) as after:
        assert after.getexif().get(ORIENTATION) == before.getexif().get(ORIENTATION)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_colours_and_density_stay(kind: str) -> None:
    data = photo(kind)
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(clean_bytes(data))) as after:
        assert after.info["icc_profile"] == before.info["icc_profile"]
        assert after.info.get("dpi") == before.info.get("dpi")


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_animations_run_on(kind: str) -> None:
    data = animation(kind)
    clean = clean_bytes(data)
    assert MARK in data and MARK not in clean
    assert len(pixels(clean)) == 3 and pixels(clean) == pixels(data)
    with Image.open(io.BytesIO(clean)) as image:
        assert image.info["loop"] == 0


def test_a_cmyk_picture_keeps_what_says_how_its_colours_are_meant() -> None:
    stream = io.BytesIO()
    noise().convert("CMYK").save(stream, "JPEG", exif=exif_data())
    clean = clean_bytes(stream.getvalue())
    assert b"Adobe" in clean and MARK not in clean
    assert pixels(clean) == pixels(stream.getvalue())


def test_a_thumbnail_of_jfif_goes() -> None:
    data = photo("JPEG")
    thumbnail = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\2\1" + b"SECRET")
    clean = clean_bytes(data[:2] + thumbnail + data[20:])
    assert MARK not in clean and pixels(clean) == pixels(data)


def test_what_has_nothing_private_stays_byte_for_byte() -> None:
    for kind in KINDS:
        stream = io.BytesIO()
        noise().save(stream, kind)
        clean = clean_bytes(stream.getvalue())
        assert clean_stream(io.BytesIO(clean)) is None


@each_row("data", [b"", b"\xff", b"plain text", b"<svg/>", b"%PDF-1.7 SECRET", b"GIF", bytes(99)])
def test_other_files_are_copied(data: bytes) -> None:
    assert clean_bytes(data) == data


@each_row("kind", KINDS)
def test_every_cut_is_survived(kind: str) -> None:
    data = photo(kind)
    for end in range(0, len(data), 7):
        clean_bytes(data[:end])


@pytest.mark.parametrize("kind", KINDS)
@examples(150)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6))
def test_every_flaw_is_survived(kind: str, flaws: list[tuple[int, int]]) -> None:
    data = bytearray(_PHOTOS[kind])
    for at, value in flaws:
        data[at % len(data)] = value
    clean = clean_bytes(bytes(data))
    # an animation or a jumble may grow by what says which way up, and by nothing else
    assert len(clean) <= len(data) + 100
    assert clean_bytes(clean) == clean


_PHOTOS = {kind: photo(kind) for kind in KINDS}


@each_row(
    "data",
    [
        pytest.param(b"\xff\xd8\xff\xe1\xff\xff" + MARK, id="a JPEG whose segment reaches beyond its end"),
        pytest.param(b"\xff\xd8\xff\xe1\x00\x01" + MARK, id="a JPEG with an impossible length"),
        pytest.param(b"\x89PNG\r\n\x1a\n\xff\xff\xff\xffIHDR" + MARK, id="a PNG of 4 GB, it says"),
        pytest.param(b"RIFF\xff\xff\xff\x7fWEBPVP8 " + MARK, id="a WebP of 2 GB, it says"),
        pytest.param(
            box(b"ftyp", b"avif\0\0\0\0") + b"\0\0\0\1meta\xff" + bytes(7), id="an AVIF of 2^63 bytes"
        ),
        pytest.param(box(b"ftyp", b"avif\0\0\0\0") + b"\0\0\0\3meta", id="a box shorter than its head"),
    ],
)
def test_lengths_that_lie(data: bytes) -> None:
    assert clean_bytes(data) == data
    with pytest.raises(DamagedFileError):
        remaining_private_data(io.BytesIO(data))


def test_a_picture_in_many_pieces_ends() -> None:
    pieces = b"\x89PNG\r\n\x1a\n" + (b"\0\0\0\0aaAa" + bytes(4)) * 1_100_000
    assert clean_bytes(pieces) == pieces


def test_exif_data_that_overlap_the_picture_leave_it_alone() -> None:
    data = photo("AVIF")
    # entries of `iloc`: the picture, then the EXIF data, 14 bytes each with the place in the last eight
    first = data.index(b"iloc") + 12
    overlapping = data[: first + 20] + data[first + 6 : first + 14] + data[first + 28 :]
    assert clean_bytes(overlapping) == overlapping


def test_large_files_are_read_in_blocks(tmp_path: Path) -> None:
    file = tmp_path / "giant.jpg"
    with file.open("wb") as stream:
        stream.write(photo("JPEG")[:-10])
        stream.truncate(300_000_000)
    with file.open("rb") as stream:
        assert max(len(block) for block in read_published(stream)) <= BLOCK


def test_what_cannot_be_taken_out_is_told() -> None:
    # EXIF data are a TIFF without a picture
    told = remaining_private_data(io.BytesIO(exif_data().tobytes().removeprefix(b"Exif\0\0")))
    assert told[0] == "where it was taken" and "a serial number" in told
    assert remaining_private_data(io.BytesIO(film(located=True))) == ("where it was taken",)
    assert remaining_private_data(io.BytesIO(film(located=False))) == ()
    for kind in KINDS:
        assert remaining_private_data(io.BytesIO(photo(kind))) == ()
