"""Copies of images: smaller, upright, in the right colours, without private data."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image, ImageChops, ImageOps, ImageStat

from blogsmith.config.schema import Images
from blogsmith.model.pictures import ImageFormat, ImageInfo, ImageVariant
from blogsmith.render.variants import variants_of
from blogsmith.rows.file_rows import measure_image
from blogsmith.stages.pictures import make_copies
from blogsmith.write.photos.encoder import ImageEncodingError, encode_variants
from tests.photo_files import MARK, exif_data
from tests.picture_files import drawing, file_of, scene, web_profile, wide_profile
from tests.rows import each_row

INFO = ImageInfo("/a/Some Photo.JPG", 3000, 2000, bytes=400_000, digest="d" * 64)


def wanted(width: int, height: int, kind: ImageFormat = "webp") -> ImageVariant:
    return ImageVariant(f"{width}.{kind}", "/a.png", width, height, kind)


def copy_of(data: bytes, one: ImageVariant) -> Image.Image:
    (copy,) = encode_variants(io.BytesIO(data), [one])
    return Image.open(io.BytesIO(copy))


def difference(first: Image.Image, second: Image.Image) -> float:
    """Return the root mean square difference of two images of the same size, 0 to 255."""
    found = ImageStat.Stat(ImageChops.difference(first.convert("RGB"), second.convert("RGB")))
    return max(found.rms)


def test_which_copies() -> None:
    paths = [one.path for one in variants_of(INFO, Images())]
    digest = paths[0].split("-")[2]
    assert paths == [f"assets/pictures/some-photo-{digest}-{width}.webp" for width in (480, 800, 1200, 1600)]
    assert [(one.width_px, one.height_px) for one in variants_of(INFO, Images(widths=(300,)))] == [(300, 200)]


@each_row(
    "natural, widths",
    [
        (5000, [480, 800, 1200, 1600]),
        (1600, [480, 800, 1200, 1600]),
        # two copies of almost the same size are useless
        (1300, [480, 800, 1300]),
        (900, [480, 900]),
        (480, [480]),
        (100, [100]),
    ],
)
def test_widths_of_copies(natural: int, widths: list[int]) -> None:
    info = ImageInfo("/a.png", natural, natural, digest="d")
    assert [one.width_px for one in variants_of(info, Images())] == widths


def test_copies_in_two_formats() -> None:
    found = variants_of(INFO, Images(widths=(800,), formats=("avif", "webp")))
    assert [one.path.rpartition(".")[2] for one in found] == ["avif", "webp"]


def test_no_copies() -> None:
    assert variants_of(INFO, Images(responsive=False)) == ()
    assert variants_of(ImageInfo("/a.svg", None, None, digest="d"), Images()) == ()
    assert variants_of(ImageInfo("/a.png", 900, 900), Images()) == ()


@pytest.mark.parametrize(
    ("make", "has_copies"),
    [
        (lambda: file_of(scene()), True),
        (lambda: file_of(scene(), "JPEG", quality=95), True),
        (lambda: file_of(scene(), "WEBP", quality=95), True),
        (lambda: file_of(scene(200, 100)), False),
        (lambda: file_of(scene(), "GIF"), False),
        (lambda: file_of(scene(), "PNG", save_all=True, append_images=[drawing()]), False),
        (lambda: file_of(scene(), "WEBP", save_all=True, append_images=[drawing()]), False),
    ],
    ids=["png", "jpeg", "webp", "small", "gif", "moving png", "moving webp"],
)
def test_which_pictures_have_copies(tmp_path: Path, make: Callable[[], bytes], has_copies: bool) -> None:
    data = make()
    file = tmp_path / "a.png"
    file.write_bytes(data)
    info = measure_image(file)
    assert isinstance(info, ImageInfo)
    assert (bool(info.digest), info.bytes) == (has_copies, len(data))


@pytest.mark.parametrize("kind", ["webp", "avif", "jpeg"])
def test_copies_look_like_the_original(kind: ImageFormat) -> None:
    image = scene()
    copy = copy_of(file_of(image), wanted(400, 300, kind))
    assert copy.format == kind.upper()
    assert difference(copy, image.resize((400, 300), Image.Resampling.LANCZOS)) < 6


def test_a_large_picture_is_served_small() -> None:
    data = file_of(scene(2400, 1600))
    assert len(data) > 300_000
    (copy,) = encode_variants(io.BytesIO(data), [wanted(800, 533)])
    assert len(copy) <= 150_000


def test_a_drawing_stays_crisp() -> None:
    image = drawing()
    copy = copy_of(file_of(image), wanted(1600, 1200))
    assert difference(copy, image) == 0


def test_a_photo_in_grey_is_no_drawing() -> None:
    grey = Image.effect_noise((800, 600), 60)
    files = file_of(grey), file_of(grey.convert("RGB"), "JPEG", quality=98)
    first, second = (encode_variants(io.BytesIO(data), [wanted(800, 600)])[0] for data in files)
    assert len(first) < 1.1 * len(second)


@each_row("orientation", range(1, 9))
def test_copies_are_upright(orientation: int) -> None:
    image = scene(600, 400)
    exif = exif_data(orientation)
    turned = orientation >= 5
    data = file_of(image, "JPEG", quality=95, exif=exif)
    copy = copy_of(data, wanted(200, 300) if turned else wanted(300, 200))
    upright = Image.open(io.BytesIO(data))
    shown = ImageOps.exif_transpose(upright).resize(copy.size)
    assert difference(copy, shown) < 8
    assert not copy.getexif()


@pytest.mark.parametrize("kind", ["webp", "avif", "jpeg"])
def test_copies_tell_nothing(kind: ImageFormat) -> None:
    data = file_of(scene(600, 400), "JPEG", exif=exif_data(), comment=MARK, xmp=b"<x>SECRET</x>")
    (copy,) = encode_variants(io.BytesIO(data), [wanted(200, 300, kind)])
    assert MARK in data
    assert MARK not in copy


@each_row("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK", "YCbCr"])
def test_colors_of_every_mode(mode: str) -> None:
    grey = Image.linear_gradient("L").resize((400, 200))
    image = grey.convert("I").point(lambda value: value * 257).convert("I;16") if mode == "I;16" else grey
    image = image if mode in ("I;16", "L") else grey.convert("RGB").convert(mode)
    kind = "JPEG" if mode in ("CMYK", "YCbCr") else "PNG"
    copy = copy_of(file_of(image, kind), wanted(100, 50))
    # black-and-white images represent grey by dots
    assert difference(copy, grey.resize((100, 50))) < (60 if mode == "1" else 6)


def test_transparency_is_kept() -> None:
    image = scene(600, 400).convert("RGBA")
    image.putalpha(Image.linear_gradient("L").resize((600, 400)))
    copy = copy_of(file_of(image), wanted(300, 200))
    assert copy.mode == "RGBA"
    shown = image.getchannel("A").resize((300, 200)).convert("RGB")
    assert difference(copy.getchannel("A").convert("RGB"), shown) < 3
    flat = copy_of(file_of(image), wanted(300, 200, "jpeg"))
    # JPEG has no transparency: these areas appear as on a white page
    assert ImageStat.Stat(flat.crop((0, 0, 300, 3))).mean[0] > 240


def test_a_profile_that_says_something_is_kept() -> None:
    profile = wide_profile()
    copy = copy_of(file_of(scene(600, 400), icc_profile=profile), wanted(300, 200))
    assert copy.info["icc_profile"] == profile
    plain = copy_of(file_of(scene(600, 400), icc_profile=web_profile()), wanted(300, 200))
    assert "icc_profile" not in plain.info


def test_same_picture_same_bytes() -> None:
    data, sizes = file_of(scene(600, 400)), [wanted(300, 200), wanted(150, 100, "avif")]
    first, second = (encode_variants(io.BytesIO(data), sizes) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"hello",
        lambda whole: whole[:-9000],
        lambda whole: whole.replace(b"IDAT", b"IDAX", 1),
    ],
    ids=["empty", "text", "cut off", "without data"],
)
def test_what_cannot_be_decoded_is_published_as_it_is(damage: Callable[[bytes], bytes]) -> None:
    data = damage(file_of(scene()))
    with pytest.raises(ImageEncodingError):
        encode_variants(io.BytesIO(data), [wanted(80, 60)])
    assert make_copies(data, data, [wanted(80, 60)]) == [data]


def test_no_copy_is_larger_than_its_original() -> None:
    data, published = file_of(scene(800, 600)), bytes(5000)
    copies = make_copies(data, published, [wanted(800, 600), wanted(80, 60)])
    assert copies[0] == published
    assert len(copies[1]) < len(published)


def test_no_copy_is_larger_than_a_wider_one() -> None:
    data = file_of(drawing())
    narrow, wide = make_copies(data, bytes(10**6), [wanted(1300, 975), wanted(1600, 1200)])
    assert narrow == wide


@pytest.mark.parametrize("size", [(20_000, 2), (2, 20_000), (1, 1)])
def test_pictures_of_odd_shapes(size: tuple[int, int]) -> None:
    data = file_of(Image.new("RGB", size, "red"))
    info = ImageInfo("/a.png", *size, bytes=len(data), digest="d")
    made = make_copies(data, data, variants_of(info, Images()))
    assert made
    assert all(len(copy) <= len(data) for copy in made)


def test_a_picture_of_very_many_pixels_is_not_decoded() -> None:
    data = file_of(Image.new("1", (9000, 9000)))
    with pytest.raises(ImageEncodingError, match="more than 64 million pixels"):
        encode_variants(io.BytesIO(data), [wanted(800, 800)])


def test_a_photo_of_very_many_pixels_is_decoded_small() -> None:
    data = file_of(Image.new("RGB", (9000, 9000), "teal"), "JPEG")
    assert copy_of(data, wanted(800, 800)).size == (800, 800)


@each_row("name", ['a"><script>.png', "../../b.png", "图.png", "a b%20c.PNG", "x" * 300 + ".png", ".png"])
def test_names_of_copies_are_plain(name: str) -> None:
    info = ImageInfo(f"/posts/{quote(name)}", 900, 600, bytes=10**6, digest="d" * 64)
    for one in variants_of(info, Images()):
        assert re.fullmatch(r"assets/pictures/[a-z0-9-]{1,41}-[0-9a-f]{12}-\d+\.webp", one.path)
