"""Quarto's shortcodes, such as `{{< video … >}}`, and the files that `{{< include file >}}` inserts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern
from ..source_files import read_text
from ..text.containers import import_comment
from ..text.data import one_line, split_yaml_front_matter
from ..text.math import tex_macros
from .cells import NoticeCallback
from .source import resolve

SHORTCODE = lazy_pattern(r"\{\{<\s*(?P<name>[\w-]+)\s*(?P<rest>[\s\S]*?)\s*>\}\}")
_ESCAPED_CALL = lazy_pattern(r"\{\{\{<([\s\S]*?)>\}\}\}")
_WATCH = lazy_pattern(r"(?:https?:)?//(?:www\.)?(?:youtube(?:-nocookie)?\.com/embed/|youtu\.be/)([\w-]+)")
_VIMEO = lazy_pattern(r"(?:https?:)?//player\.vimeo\.com/video/(\d+)")
_DROPPED = {
    **dict.fromkeys(("pagebreak", "brand"), "has no effect in HTML"),
    **dict.fromkeys(("lipsum", "placeholder"), "is removed because it only inserts filler content"),
}
_VIDEO_SUFFIXES = (".mp4", ".webm", ".mov", ".m4v", ".ogv")


class QuartoShortcodes:
    """Translator for the shortcodes of one page."""

    def __init__(self, meta: Mapping[str, Any], resolve: Callable[[str], str], note: NoticeCallback) -> None:
        """Create a translator.

        meta: front matter and settings for `{{< meta >}}`. resolve: function that returns the URL of a link
        in the new site.
        """
        self._meta = meta
        self._resolve = resolve
        self._note = note

    def translate(self, text: str) -> str:
        """Translate every shortcode of a masked text."""
        # no call is closed after the last end, so the rest needs no search
        end = text.rfind(">}}") + 4 if "{{<" in text and ">}}" in text else 0
        return _ESCAPED_CALL.sub(r"`{{<\1>}}`", SHORTCODE.sub(self._one, text[:end])) + text[end:]

    def _one(self, found: re.Match[str]) -> str:
        if found.string[found.start() - 1 : found.start()] == "{":
            return found[0]
        words, values = _arguments(found["rest"])
        name = found["name"]
        if name == "video" and words:
            return self._video(words[0], values, found[0])
        if name in ("meta", "var", "env") and words:
            return self._value(name, words[0], found[0])
        if name == "kbd" and (words or values):
            keys = words[0] if words else next(iter(values.values()))
            return "+".join(f"[[{key.strip()}]]" for key in re.split(r"[-+](?=.)", keys))
        if name in _DROPPED:
            self._note("dropped", f'shortcode "{name}" {_DROPPED[name]}', found[0])
            return ""
        if name in ("fa", "bi", "iconify"):
            self._note("dropped", "icon is omitted", found[0], hint="write its character, or add an image")
            return ""
        if name == "version":
            return "Quarto"
        message = f'unsupported shortcode "{name}"'
        hints = {"embed": "copy the cell of the notebook", "include": "add the missing file"}
        hint = hints.get(name, "replace it with its output, or with a shortcode of blogsmith")
        self._note("left", message, found[0], hint=hint)
        return untranslated_code(found[0], message)

    def _video(self, address: str, values: Mapping[str, str], text: str) -> str:
        title = values.get("title", "")
        caption = f' data-caption="{escape(title)}"' if title else ""
        if found := _WATCH.match(address):
            address = f"https://www.youtube.com/watch?v={found[1]}"
        elif found := _VIMEO.match(address):
            address = f"https://vimeo.com/{found[1]}"
        elif not re.match(r"https?://(?:www\.)?(?:youtube\.com|vimeo\.com)/", address):
            if re.match(r"https?://", address) or not address.lower().endswith(_VIDEO_SUFFIXES):
                self._note(
                    "changed", "video becomes a link", text, hint="copy the video to the folder of the page"
                )
                return f"[{title or address}]({address})"
            address = self._resolve(address)
        return f'\n<div class="video-embed" data-src="{escape(address)}"{caption}></div>\n'

    def _value(self, name: str, key: str, text: str) -> str:
        value: Any = self._meta if name == "meta" else self._meta.get("\0var")
        for part in key.replace("\\.", ".").split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if found := one_line(value):
            return found
        self._note("left", f'unknown value "{key}" in shortcode "{name}"', text, hint="write the value")
        return untranslated_code(text, f'unknown value in shortcode "{name}"')


def untranslated_code(text: str, what: str) -> str:
    """Return the source of a shortcode as a code span, followed by a comment. what: text of the comment."""
    return f"`{' '.join(text.split())}`{import_comment(what)}"


def _arguments(text: str) -> tuple[list[str], dict[str, str]]:
    try:
        parts = shlex.split(text.replace("'", "\\'") if text.count("'") % 2 else text)
    except ValueError:
        parts = text.split()
    words, values = [], {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and re.fullmatch(r"[\w-]+", key):
            values[key] = value
        else:
            words.append(part)
    return words, values


_INCLUDE = lazy_pattern(r"\{\{<\s*include\s*([^\s>][^>\n]*?)\s*>\}\}")
_DEEPEST = 10
_MAX_INCLUDES = 200
_MAX_CHARACTERS = 1_000_000
"""Maximum number of includes of a page, and of characters that they may insert; files that include each other
could grow without limit."""
_MARKUP = (".tex", ".ltx")
_DEFINITION = lazy_pattern(r"\s*\\(?:new|renew|provide|def|Declare|let)")


@dataclass(slots=True)
class IncludedText:
    """A text whose includes are replaced by the content of the files."""

    text: str
    own: str
    """Text of the document itself. Includes are removed, but not their line breaks, so that the number of
    lines does not change."""
    inserted: list[str] = field(default_factory=list)
    """Content of each included file."""
    files: dict[PurePosixPath, str | None] = field(default_factory=dict)
    """Included path → its text; None if it cannot be read."""
    macros: dict[str, str] = field(default_factory=dict)
    """Macros of included TeX files that contain only definitions."""


def expand_includes(text: str, path: PurePosixPath, root: Path, note: NoticeCallback) -> IncludedText:
    """Replace all includes in a document, including those in included files."""
    found = IncludedText(text, text)
    found.text = _expand(text, path, root, note, found, 0)
    found.own = _INCLUDE.sub(
        lambda match: match[0] if found.files.get(_target(match, path)) is None else "", text
    )
    return found


def _target(match: re.Match[str], path: PurePosixPath) -> PurePosixPath:
    return resolve(match[1].strip("\"'"), path)


def _read(target: PurePosixPath, root: Path) -> str | None:
    file = (root / target).resolve()
    return read_text(file) if file.is_relative_to(root.resolve()) else None


def _expand(
    text: str, path: PurePosixPath, root: Path, note: NoticeCallback, found: IncludedText, depth: int
) -> str:
    def substitute(match: re.Match[str]) -> str:
        target = _target(match, path)
        if target not in found.files:
            found.files[target] = _read(target, root)
        inner = found.files[target]
        if inner is None:
            note("missing", f'included file not found: "{match[1]}"', match[0])
            return "" if match[1].endswith(_MARKUP) else match[0]
        size = sum(map(len, found.inserted)) + len(inner)
        if depth == _DEEPEST or len(found.inserted) == _MAX_INCLUDES or size > _MAX_CHARACTERS:
            note("left", f'too many included files: "{match[1]}" is not inserted', match[0])
            return match[0]
        macros = tex_macros(inner)
        if target.suffix in _MARKUP or (macros and not _without_macros(inner)):
            found.macros |= macros
            return ""
        _, body, _ = split_yaml_front_matter(inner)
        found.inserted.append(_INCLUDE.sub("", body))
        return _expand(body.strip("\n"), target, root, note, found, depth + 1)

    return _INCLUDE.sub(substitute, text)


def _without_macros(text: str) -> str:
    """Return a text without macro definitions, comments and delimiters of divs and display math."""
    text = re.sub(r"<!--[\s\S]*?-->|^:{3,}.*$|\$\$|^%.*$", "", text, flags=re.MULTILINE)
    lines = (line for line in text.split("\n") if line.strip())
    return "\n".join(line for line in lines if not _DEFINITION.match(line))
