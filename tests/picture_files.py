"""Images as authors have them: scenes, drawings, photos with a profile; and broken ones."""

from __future__ import annotations

import io
from random import Random
from typing import Any

from PIL import Image, ImageCms, ImageDraw, ImageFilter


def scene(width: int = 1600, height: int = 1200) -> Image.Image:
    """Return soft colours with some grain, as in a photo."""
    size = width // 2, height // 2
    # Pillow's own noise differs each time
    noise = Image.frombytes("L", size, Random(7).randbytes(size[0] * size[1]))
    grain = noise.point(lambda value: 64 + value // 2).filter(ImageFilter.GaussianBlur(3))
    channels = (Image.linear_gradient("L"), Image.radial_gradient("L"), grain)
    return Image.merge("RGB", [channel.resize((width, height)) for channel in channels])


def drawing(width: int = 1600, height: int = 1200) -> Image.Image:
    """Return lines and areas in five colours."""
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    for number in range(24):
        x, y = (number * 173) % (width - 300), (number * 97) % (height - 200)
        pen.rectangle(
            (x, y, x + 260, y + 150), outline=("red", "blue", "black", "green")[number % 4], width=3
        )
    return image


def file_of(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """Return the image as a file."""
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def web_profile() -> bytes:
    """Return the default profile of browsers."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def wide_profile() -> bytes:
    """Return an RGB profile that is not sRGB, by its name."""
    return web_profile().replace(b"s\0R\0G\0B", b"w\0i\0d\0e").replace(b"sRGB", b"wide")
