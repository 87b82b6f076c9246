"""Fonts for letters that the font of a theme lacks: those that the settings name, then those of this machine.

The folders of the operating system are searched, without fontconfig, which only Linux has. Only the character
map of a font is read, and only if a title contains a letter that the theme's font lacks.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from ...model.social_cards import CardFace

_SUFFIXES = frozenset((".ttf", ".otf", ".ttc", ".otc"))
_COLLECTIONS = frozenset((".ttc", ".otc"))
_OUTLINES = frozenset(("glyf", "CFF ", "CFF2"))
"""Tables of fonts with outlines. Emoji fonts with images cannot be drawn in the size of a title."""
_TRIAL_PX = 12
_NONCHARACTER = "\uffff"
_UNLIKE_TEXT = (
    *("black", "bold", "condensed", "extra", "italic", "light", "medium", "mono", "narrow", "oblique"),
    *("display", "math", "semi", "serif", "symbol", "thin", "unifont"),
)
"""Parts of file names of fonts that are used only if no plain sans-serif font has the letter."""
_NO_LETTERS = ("adobeblank", "lastresort")
"""Parts of file names of fonts that draw an empty box for every letter."""


def machine_folders() -> tuple[Path, ...]:
    """Return the folders with the fonts of this machine and user."""
    home = Path.home()
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", home / "AppData/Local"))
        return Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts", local / "Microsoft/Windows/Fonts"
    if sys.platform == "darwin":
        return Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"
    return (
        Path("/usr/share/fonts"),
        Path("/usr/local/share/fonts"),
        home / ".local/share/fonts",
        home / ".fonts",
    )


@lru_cache(4)
def list_fonts(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the font files in these folders, plain sans-serif fonts first. Missing folders are skipped."""
    found = {file for folder in folders for file in _font_files(folder)}
    return tuple(sorted(found, key=_preference))


def _font_files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in names:
            if Path(name).suffix.lower() in _SUFFIXES and not any(
                part in name.lower() for part in _NO_LETTERS
            ):
                yield Path(parent, name)


def _preference(file: Path) -> tuple[int, bool, str, str]:
    name = file.name.lower()
    return sum(part in name for part in _UNLIKE_TEXT), "noto" not in name, name, str(file)


@lru_cache(8)
def find_faces(characters: frozenset[str], fonts: tuple[Path, ...]) -> tuple[CardFace, ...]:
    """Return the first fonts that together cover as many of these characters as possible."""
    found = []
    missing = {ord(char) for char in characters}
    for font in fonts:
        if not missing:
            break
        if _may_have(font, missing) and (supported := missing & _read_code_points(font)):
            missing -= supported
            found.append(CardFace(font, hashlib.sha256(font.read_bytes()).hexdigest()))
    return tuple(found)


def _may_have(font: Path, code_points: Iterable[int]) -> bool:
    """Return whether a font may have one of these characters. It may if it draws one of them differently from
    a missing character. Most fonts of a machine lack a rare letter, and reading their character maps takes
    twenty times as long."""
    from PIL import ImageFont

    try:
        drawn = ImageFont.truetype(font, _TRIAL_PX, layout_engine=ImageFont.Layout.BASIC)
        lacking = drawn.getmask(_NONCHARACTER)
        shapes = (drawn.getmask(chr(code)) for code in code_points)
        return any((shape.size, bytes(shape)) != (lacking.size, bytes(lacking)) for shape in shapes)
    except (OSError, ValueError):
        # fails for WOFF2 if FreeType has no decoder, for emoji as images, and for damaged files
        return font.suffix.lower() not in _SUFFIXES


@lru_cache(16)
def face_code_points(face: CardFace) -> frozenset[int]:
    """Return the code points of the characters that a font has."""
    return _read_code_points(face.path)


def _read_code_points(font: Path) -> frozenset[int]:
    """Return the code points of a font that can be drawn; none if it cannot be read."""
    from fontTools.ttLib import TTFont

    try:
        number = 0 if font.suffix.lower() in _COLLECTIONS else -1
        with font.open("rb") as stream, TTFont(stream, lazy=True, fontNumber=number) as opened:
            return frozenset(opened.getBestCmap() or ()) if _OUTLINES & {*opened.keys()} else frozenset()
    except Exception:
        # damaged fonts raise many kinds of exceptions, and other fonts may have the letters
        return frozenset()


def drawn_faces(text: str, faces: Sequence[CardFace]) -> tuple[tuple[CardFace, ...], str]:
    """Return the fonts that are necessary for the characters of `text`, and those characters that none of the
    fonts has."""
    used = []
    missing = {ord(char) for char in text}
    for face in faces:
        if supported := missing & face_code_points(face):
            missing -= supported
            used.append(face)
    return tuple(used), "".join(char for char in text if ord(char) in missing)
