"""Whether what a server gave is a picture that a site can publish: by its bytes, not by what it is called.

A copy is served from the site's own address. So nothing passes that a browser could take for a page: an SVG
that holds scripts, HTML or addresses elsewhere is refused, not mended, for then it would not be the picture
that its author made.
"""

from __future__ import annotations

import codecs
import io
import re
from xml.parsers import expat

from ...base.patterns import lazy_pattern
from ...base.storage.temporary import nameless_file
from ...render.images import ImageProblem, picture_size
from ...render.svg.active_content import active_content
from ...render.svg.metadata import svg_size
from ..download import Downloaded

_MAGIC = (
    (lazy_pattern(rb"\x89PNG\r\n\x1a\n"), ".png"),
    (lazy_pattern(rb"\xff\xd8\xff"), ".jpg"),
    (lazy_pattern(rb"GIF8[79]a"), ".gif"),
    (lazy_pattern(rb"RIFF....WEBP", re.DOTALL), ".webp"),
    (lazy_pattern(rb"....ftypavi[fs]", re.DOTALL), ".avif"),
)
"""How a file of each format begins."""
_BINARY = frozenset(("", "application/octet-stream", "binary/octet-stream"))
"""What servers say of files that they do not know."""
_OF_SVG = frozenset(("text/plain", "text/xml", "application/xml"))
"""What servers say besides of an SVG; raw.githubusercontent.com among them."""
_SVG_NAME = "http://www.w3.org/2000/svg svg"


class PictureRefused(Exception):
    """Why this is no picture for the site, in the author's words."""


def picture_suffix(found: Downloaded) -> str:
    """The suffix of the format that the bytes have; PictureRefused if they are no sound picture."""
    suffix = next((suffix for magic, suffix in _MAGIC if magic.match(found.data)), "")
    is_image = found.media_type.startswith("image/") or found.media_type in _BINARY
    is_text = found.data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
    if not suffix and is_text and (is_image or found.media_type in _OF_SVG):
        _check_svg(found.data)
        return ".svg"
    if not is_image:
        raise PictureRefused(f"the server sends {found.media_type[:80]}, not a picture")
    if not suffix:
        raise PictureRefused("it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image")
    with nameless_file() as file:
        file.write(found.data)
        file.flush()
        file.seek(0)
        try:
            picture_size(file, "it")
        except ImageProblem as problem:
            raise PictureRefused(str(problem)) from problem
    return suffix


def _check_svg(data: bytes) -> None:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PictureRefused("it is an SVG in another encoding than UTF-8") from error
    names: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        if not names:
            names.append(name)

    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        raise PictureRefused("it is no SVG image, or is damaged") from error
    if names != [_SVG_NAME]:
        raise PictureRefused("it is no SVG image")
    try:
        svg_size(io.BytesIO(data))
    except ValueError as error:
        raise PictureRefused(f"it is no SVG image that can be shown: {error}") from error
    active = active_content(data, "picture.svg")
    if active:
        raise PictureRefused(f"it is not safe to publish: {active[0].message}")
