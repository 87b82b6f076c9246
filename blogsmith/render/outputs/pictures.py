"""Images that cells draw, as figures of the page and as files in its folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from msgspec import Struct

from ...base.diagnostics.model import TextMap
from ...base.patterns import lazy_pattern
from ...model.cells import Cell
from ...model.pictures import ImageInfo
from ...model.results import DARK, Blob, Display
from ..context import PageRendering
from ..figure_frame import figure_attributes, figure_caption, inline_html, plain_argument
from ..schemes import scheme_pair
from ..svg.active_content import is_harmless
from ..svg.metadata import svg_description
from ..variants import picture_tag

_EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        "image/svg+xml": ".svg",
        "image/png": ".png",
        "image/jpeg": ".jpg",
        "image/webp": ".webp",
        "image/gif": ".gif",
    }
)
"""MIME type of an image → file extension. If an output has several, the first type in this order is shown."""
_NAME = lazy_pattern(r"\w[\w.-]{0,200}")
# A script in an SVG does not run in an `<img>`, but runs if a reader opens the file. Character references in
# a tag can hide each of these words. A comment may match too, so a file that matches is parsed.
_ACTIVE = lazy_pattern(
    rb"<(?:[\w.-]+:)?(?:script|foreignobject|iframe|handler|listener)\b"
    rb"|[\s\"'/]on[a-z]+\s*=|javascript:|<!entity|<[^<>]*&(?:#|tab;|newline;|colon;)|\0",
    re.IGNORECASE,
)

_ACTIVE_PROBLEM = "the SVG contains a script, foreign elements or entities"


class CellImage(Struct, frozen=True):
    """An image in one or two colour schemes."""

    kind: str
    """MIME type of the image."""
    light: Blob
    dark: Blob | None = None
    alt: str = ""
    """Alternative text that the value contains; empty if it has none."""
    button: str = ""
    """HTML of the button that makes the value interactive; may be empty."""


def find_image(output: Display) -> CellImage | None:
    """Return the image of an output, or None if it has none."""
    for kind in _EXTENSIONS:
        light, dark = output.data.get(kind), output.data.get(kind + DARK)
        if isinstance(light, Blob):
            return CellImage(kind, light, dark if isinstance(dark, Blob) else None)
    return None


def cell_name(cell: Cell) -> str:
    """Return the name of the cell for messages, with its label in quotes."""
    return f'cell "{cell.label}"' if cell.label else cell.name


def render_figures(rendering: PageRendering, cell: Cell, pictures: Sequence[CellImage]) -> Iterator[str]:
    """Yield a `<figure>` for each image. The first one has the id, the last one the caption."""
    if not pictures:
        return
    options = cell.options
    caption = option_text(cell, "fig-cap", options.fig_cap)
    alts = _alts(rendering, cell, pictures, plain_argument(rendering, caption) if options.fig_cap else "")
    if not all(alts) and not cell.is_drawing:
        hint = "add a line `#| fig-alt: …` that describes the image"
        rendering.reporter.warn(
            "cell-alt", f"missing alt text for the image of {cell_name(cell)}", cell.place, hint
        )
    for number, (picture, alt) in enumerate(zip(pictures, alts, strict=True), 1):
        is_last = number == len(pictures)
        is_target = number == 1 and (cell.figure_number or cell.is_drawing)
        name = figure_attributes(cell.label if is_target else "")
        kind, draw = ("diagram", _drawing) if cell.is_drawing else ("output output-image", _image)
        image = draw(rendering, cell, picture, number, alt)
        words = inline_html(rendering, caption) if is_last and options.fig_cap else ""
        text = figure_caption(rendering, cell.figure_number, words) if is_last else ""
        shown = f"{image}{picture.button}{text}"
        yield f'<figure class="{kind}"{name}>{shown}</figure>\n'


def _alts(rendering: PageRendering, cell: Cell, pictures: Sequence[CellImage], caption: str) -> list[str]:
    """Return the alternative text of each image: the author's, otherwise the image's own, otherwise the
    caption."""
    alts = []
    for number, picture in enumerate(pictures, 1):
        own = "" if cell.options.fig_alt else _svg_description(rendering, picture) or picture.alt
        alt = own or cell.options.fig_alt or caption
        # one text by the author describes all images, so numbers distinguish them
        part = ""
        if alt and not own and len(pictures) > 1:
            place = rendering.language.translate("{number} of {total}", number=number, total=len(pictures))
            part = f" ({place})"
        alts.append(alt + part)
    return alts


def _svg_description(rendering: PageRendering, picture: CellImage) -> str:
    """Return the title and description in an image's SVG; empty for other formats."""
    content = _content(rendering, picture.light) if picture.kind == "image/svg+xml" else None
    if content is None:
        return ""
    try:
        with BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
            return svg_description(stream)
    except OSError:  # the error is reported when the image is measured
        return ""


def option_text(cell: Cell, key: str, text: str) -> TextMap:
    """Return the text of an option with its position, or with that of the cell if the former is not known."""
    place = cell.options.places.get(key, cell.place)
    starts = ((place.line, place.column),) * (text.count("\n") + 1)
    return cell.options.texts.get(key) or TextMap(text, starts)


def _image(rendering: PageRendering, cell: Cell, picture: CellImage, number: int, alt: str) -> str:
    """Return the `<img>`, or a `<picture>` if the cell drew another version for dark pages. number: position
    of the image in the cell, from 1."""
    rendering.images += 1
    light = _place_picture(rendering, cell, picture.light, picture.kind, f"{number}")
    if picture.dark is None:
        return picture_tag(rendering, light, light, alt)
    dark = _place_picture(rendering, cell, picture.dark, picture.kind, f"{number}-dark")
    return scheme_pair(rendering, light, dark, alt)


def _drawing(rendering: PageRendering, cell: Cell, picture: CellImage, number: int, alt: str) -> str:
    """Return the SVG that LaTeX has drawn, as a part of the page."""
    # the CSS parser is imported here: it takes as long as rendering a page
    from ..svg.drawings import sanitize_tex_drawing

    content = _content(rendering, picture.light)
    rendering.diagrams += 1
    try:
        # this call makes the page depend on the file
        rendering.tools.picture(rendering.document, f"picture-{number}.svg", content or b"")
        svg = content.read_bytes() if isinstance(content, Path) else content or b""
        if _ACTIVE.search(svg):
            raise ValueError(_ACTIVE_PROBLEM)
        drawing = sanitize_tex_drawing(svg.decode("utf-8"), f"diagram-{rendering.diagrams}--")
    except (OSError, ValueError) as error:
        hint = "remove `\\special` from the code, or run the cell again if the record is damaged"
        message = f'invalid "{cell.language}" drawing: {error}'
        rendering.reporter.error("cell-picture", message, cell.place, hint)
        return ""
    return drawing.html("", rendering.language, alt)


def _place_picture(rendering: PageRendering, cell: Cell, blob: Blob, kind: str, number: str) -> ImageInfo:
    """Add the image to the page's files and return it. Its name contains a digest of the content."""
    content = _content(rendering, blob)
    digest = f"-{blob.digest[:8]}"
    stem = PurePosixPath(blob.name).stem or f"{cell.label or f'cell-{cell.number}'}-{number}"
    # the name of a recorded file already contains the digest
    name = f"{stem.removesuffix(digest)}{digest}{_EXTENSIONS[kind]}"
    if content is None or not _NAME.fullmatch(name):
        found: ImageInfo | str = f'its file "{blob.name or name}" is not recorded'
    elif kind == "image/svg+xml" and _is_active(content):
        found = _ACTIVE_PROBLEM
    else:
        found = rendering.tools.picture(rendering.document, name, content)
    if isinstance(found, str):
        message = f"image of {cell_name(cell)} cannot be shown: {found}"
        rendering.reporter.error("cell-picture", message, cell.place, "run the cell again")
        return ImageInfo("", None, None)
    if content is not None:
        rendering.cell_images[name] = content
    return found


def _is_active(content: Path | bytes) -> bool:
    try:
        data = content if isinstance(content, bytes) else content.read_bytes()
    except OSError:  # the error is reported when the image is measured
        return False
    return _ACTIVE.search(data) is not None and not is_harmless(data)


def _content(rendering: PageRendering, blob: Blob) -> Path | bytes | None:
    """Return the image as bytes or as the path of the recorded file. None if the recorded name is not a plain
    file name."""
    if blob.data is not None:
        return blob.data
    folder = rendering.results.folder
    return folder / blob.name if folder and _NAME.fullmatch(blob.name) else None
