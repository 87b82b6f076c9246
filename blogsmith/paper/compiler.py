"""Typst's compiler, which runs on the files of one document in a process of its own.

All files are in a temporary folder, the root of the compiler, so a document can read only these files,
installed fonts, and packages of Typst. The compiler returns the PDF as bytes: a killed process leaves no
partial file.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ..api.books import Diagnostic, SiteError, extra_install_command, lazy_pattern, open_folder

_PLACE = lazy_pattern(r"─ (?:.*[/\\])?([\w.-]+):(\d+):\d+")
_NO_FONT = lazy_pattern(r'the text `"(.+?)"` could not be displayed')
_FONT_SUFFIXES = (".woff2", ".woff", ".ttf", ".otf")
_VARIABLE = lazy_pattern(r"var\(\s*--[\w-]+\s*,\s*([^()]+)\)")
_RASTER = (".webp", ".avif")
_DRAWN = (".svg", ".png", ".jpg", ".jpeg", ".gif")
_JPEG_QUALITY = 92
MAIN = "main.typ"
_REJECTED = 3
"""Exit code of the process if the compiler rejects the document."""
# A process of its own: Typst starts threads, and a fork of a process with them would wait for them forever.
_PROGRAM = f"""
import json, sys, typst
asked = json.load(sys.stdin)
try:
    made = typst.Compiler(**asked["compiler"]).compile(**asked["compile"])
except typst.TypstError as error:
    json.dump([error.message, error.diagnostic], sys.stderr)
    sys.exit({_REJECTED})
sys.stdout.buffer.write(made)
"""


class CompileFailedError(Exception):
    """The compiler rejected the document."""

    def __init__(self, message: str, places: tuple[tuple[str, int], ...]) -> None:
        super().__init__(message)
        self.message = message
        self.places = places
        """(File, line) of each location in the compiler's message. Lines are counted from 1."""


FontKind = Literal["text", "code", "math"]


class Font(Struct, frozen=True):
    """A font that the compiler can read."""

    family: str
    kind: FontKind


def require_compiler() -> None:
    """Raise SiteError if Typst is not installed."""
    try:
        import typst  # noqa: F401
    except ImportError:
        hint = f"run `{extra_install_command('pdf')}`"
        raise SiteError(Diagnostic("pdf-compiler", 'missing package "typst"', hint=hint)) from None


def compiler_version() -> str:
    """Return the version of Typst, which must be installed."""
    return version("typst")


def compile_folder(root: Path, timestamp: int, *, is_accessible: bool, use_system_fonts: bool) -> bytes:
    """Return the PDF of the document in a folder. Raise CompileFailedError if the compiler rejects the
    document, and SiteError if its process is killed.

    is_accessible: whether to enforce PDF/UA-1. The PDF is tagged in any case.
    """
    asked = {
        "compiler": {
            "input": str(root / MAIN),
            "root": str(root),
            "font_paths": [str(root)],
            "ignore_system_fonts": not use_system_fonts,
        },
        "compile": {
            "format": "pdf",
            "pdf_standards": ["ua-1"] if is_accessible else [],
            "timestamp": timestamp,
        },
    }
    run = subprocess.run(
        [sys.executable, "-P", "-c", _PROGRAM], input=json.dumps(asked).encode(), capture_output=True
    )
    if run.returncode == 0:
        return run.stdout
    if run.returncode != _REJECTED:
        hint = "free memory, or make a PDF of fewer posts"
        message = f'invalid exit code of Typst: "{run.returncode}"'
        raise SiteError(Diagnostic("pdf-compile", message, hint=hint))
    answer: list[str] = json.loads(run.stderr)
    message = answer[0]
    raise CompileFailedError(message, tuple((name, int(line)) for name, line in _PLACE.findall(answer[1])))


def add_font(root: Path, file: Path, name: str) -> Font | None:
    """Add a font to the folder in a format that the compiler reads. Return None if `file` is not a font."""
    if file.suffix.lower() not in _FONT_SUFFIXES:
        return None
    try:
        font, data = _convert_font(file.read_bytes())
    except OSError:
        return None
    suffix = ".otf" if data[:4] == b"OTTO" else ".ttf"
    if data:
        add_file(root, f"{name}{suffix}", data)
    return font if font.family else None


@lru_cache(maxsize=16)
def _convert_font(data: bytes) -> tuple[Font, bytes]:
    """Return (font, its uncompressed bytes). The name and the bytes are empty if the font is damaged."""
    from fontTools.ttLib import TTFont, TTLibError

    target = io.BytesIO()
    try:
        with TTFont(io.BytesIO(data), lazy=True, recalcBBoxes=False, recalcTimestamp=False) as font:
            names = font["name"]
            family = names.getDebugName(16) or names.getDebugName(1) or ""
            kind: FontKind = "math" if "MATH" in font else "code" if font["post"].isFixedPitch else "text"
            font.flavor = None
            font.save(target, reorderTables=False)
    except (OSError, TTLibError, KeyError):
        return Font("", "text"), b""
    return Font(family, kind), target.getvalue()


def add_file(root: Path, name: str, data: bytes) -> None:
    """Write a file to the folder of the document."""
    with open_folder(root) as folder:
        folder.replace(name, data, is_durable=False)


def add_image(root: Path, name: str, data: bytes, suffix: str) -> str:
    """Add an image and return its file name; empty if the format is unsupported or the image is damaged."""
    if suffix == ".svg":
        text = _VARIABLE.sub(r"\1", data.decode("utf-8", "replace"))
        data = text.encode()
    elif suffix in _RASTER:
        converted = convert_image(data)
        if converted is None:
            return ""
        data, suffix = converted
    elif suffix not in _DRAWN:
        return ""
    add_file(root, f"{name}{suffix}", data)
    return f"{name}{suffix}"


def convert_drawing(root: Path, name: str) -> bytes:
    """Return an SVG file of the folder as a PDF of its size. Raise CompileFailedError if Typst rejects it."""
    source = f'#set page(width: auto, height: auto, margin: 0pt)\n#image("{name}")\n'
    add_file(root, MAIN, source.encode())
    return compile_folder(root, 0, is_accessible=False, use_system_fonts=True)


def convert_image(data: bytes) -> tuple[bytes, str] | None:
    """Convert a WebP or AVIF image to JPEG, or to PNG if it may be transparent. Return the bytes and the
    suffix of the new file; None if the image is damaged."""
    from PIL import Image, UnidentifiedImageError

    target = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data)) as image:
            if "A" in image.getbands() or image.mode == "P":
                image.convert("RGBA").save(target, "PNG")
                return target.getvalue(), ".png"
            image.convert("RGB").save(target, "JPEG", quality=_JPEG_QUALITY, subsampling=0)
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError):
        return None
    return target.getvalue(), ".jpg"


def missing_text(message: str) -> str:
    """Return the text for which the compiler has no font, if that is the error in `message`; otherwise an
    empty string."""
    found = _NO_FONT.search(message)
    return found[1] if found else ""


def families(fonts: Sequence[Font | None], kind: FontKind, fallback: str) -> tuple[str, ...]:
    """Return the font families of a kind, followed by `fallback`, a font of the compiler."""
    found = [font.family for font in fonts if font and font.kind == kind]
    return tuple(dict.fromkeys([*found, fallback]))
