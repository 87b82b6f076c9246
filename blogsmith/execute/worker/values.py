"""Formats of values that pages can show: text, and richer formats that the value itself provides."""

from __future__ import annotations

import sys
from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING

from . import figures
from .interactive import interactive_forms, json_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .streams import StreamOutput

_MARKDOWN = "text/markdown"
_TEXT_METHODS = (
    ("text/html", "_repr_html_"),
    ("text/latex", "_repr_latex_"),
    (_MARKDOWN, "_repr_markdown_"),
)
_IMAGE_METHODS = (
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
)
# Suffix of an image's type in a bundle, for dark pages.
_DARK = ";scheme=dark"
# A mock or a proxy has every attribute, also this one; its formats mean nothing.
_CANARY = "_blogsmith_no_object_has_this_"


class Values:
    """Display of values in one session."""

    def __init__(self, output: StreamOutput, text_bytes: int) -> None:
        self._output = output
        self._text_bytes = text_bytes

    def display(self, *objects: object) -> None:
        """Show objects immediately; the builtin `display`."""
        for shown in objects:
            self.show(shown, "display")

    def show(self, shown: object, kind: str) -> None:
        """Send all formats of an object. kind: `value` or `display`."""
        if figures.show(shown, kind) or (kind == "value" and figures.is_part(shown)):
            return
        text, binary = self.bundle(shown)
        self._output.emit({"event": "display", "kind": kind, "text": text, "binary": binary})

    def bundle(self, shown: object) -> tuple[dict[str, str], dict[str, str]]:
        """Return two dicts: MIME type → text, and MIME type → base64, in the order of the tables. Plain text
        is always included."""
        offered = self._offered_forms(shown)
        text = {"text/plain": self._plain(shown, offered.get("text/plain"))}
        for mime, _ in _TEXT_METHODS:
            if isinstance(value := offered.get(mime), str) and self._fits(shown, mime, value):
                text[mime] = value
        for mime, value in offered.items():
            # Plugins and scripts of pages read these.
            # An author's object may offer anything, also under keys that are not text.
            is_data = isinstance(mime, str) and mime.startswith(("application/vnd.", "text/vnd."))
            if is_data and (written := self._data(shown, mime, value)):
                text[mime] = written
        binary = {}
        for mime, _ in _IMAGE_METHODS:
            if data := _base64(mime, offered.get(mime)):
                binary[mime] = data
                # Without a light image, light pages would show the dark one.
                if dark := _base64(mime, offered.get(mime + _DARK)):
                    binary[mime + _DARK] = dark
        if len(text) > 2 or binary:
            # A page shows it only if there is nothing richer.
            text.pop(_MARKDOWN, None)
        return text, binary

    def latex(self, shown: object) -> str:
        """Return TeX without dollar signs. Empty if the object provides none."""
        if not _has_formats(shown):
            return ""
        value = self._call(shown, "_repr_latex_")
        return _without_dollars(value) if isinstance(value, str) else ""

    def _offered_forms(self, shown: object) -> dict[str, Any]:
        if not _has_formats(shown):
            return {}
        methods = (*_TEXT_METHODS, *_IMAGE_METHODS)
        offered = {mime: self._call(shown, method) for mime, method in methods}
        bundle = self._call(shown, "_repr_mimebundle_", include=None, exclude=None)
        if isinstance(bundle, dict):
            offered.update(bundle)
        # marimo's protocol: one pair of a type and its data
        pair = getattr(shown, "_mime_", None) and self._call(shown, "_mime_", whole=True)
        if isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str):
            offered[pair[0]] = pair[1]

        def complain(method: str, error: Exception) -> None:
            self._complain(shown, method, error)

        return interactive_forms(shown, offered, complain) or offered

    def _data(self, shown: object, mime: str, value: object) -> str:
        """Return a format that is neither text nor an image, as a string. Empty if it does not fit."""
        try:
            written = value if isinstance(value, str) else json_text(value)
        except (ValueError, TypeError, RecursionError) as error:
            self._complain(shown, mime, error)
            return ""
        return written if self._fits(shown, mime, written) else ""

    def _call(self, shown: object, method: str, *, whole: bool = False, **arguments: object) -> Any:
        """Call a method of `shown` and return its result; metadata in the result is dropped unless `whole` is
        set. None if the method does not exist or fails."""
        call: Callable[..., Any] | None = getattr(shown, method, None)
        if not callable(call):
            return None
        try:
            value = call(**arguments)
        except MemoryError:
            raise
        except Exception as error:
            self._complain(shown, method, error)
            return None
        return value[0] if isinstance(value, tuple) and value and not whole else value

    def _plain(self, shown: object, offered: object) -> str:
        if isinstance(offered, str):
            text = offered
        else:
            try:
                text = repr(shown)
            except MemoryError:
                raise
            except Exception as error:
                self._complain(shown, "__repr__", error)
                text = f"<{type(shown).__name__} object>"
        return cut(text, self._text_bytes)

    def _fits(self, shown: object, mime: str, value: str) -> bool:
        if len(value) <= self._text_bytes:
            return True
        reason = f"{len(value)} characters are more than the limit of {self._text_bytes}"
        print(f"{mime} of {type(shown).__name__} is left out: {reason}", file=sys.stderr)
        return False

    def _complain(self, shown: object, method: str, error: Exception) -> None:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        print(f"{type(shown).__name__}.{method} failed: {said}", file=sys.stderr)


def cut(text: str, size: int) -> str:
    """Return at most `size` bytes of UTF-8, followed by an ellipsis if something was cut."""
    # read one character more than can fit, to see whether something is cut
    data = text[: size + 1].encode("utf-8", "replace")
    return text if len(data) <= size else data[:size].decode("utf-8", "ignore") + "…"


def _has_formats(shown: object) -> bool:
    """Return whether an object may provide richer formats. False for a class, because its methods work only
    on its instances. Also False for an object that answers to any attribute name, such as a mock."""
    return not isinstance(shown, type) and getattr(shown, _CANARY, None) is None


def _base64(mime: str, value: object) -> str:
    """Return the data of an image as base64. Methods return bytes, SVG is a string, and bundles contain
    base64 already. Empty if `value` is invalid."""
    if isinstance(value, str):
        try:
            value = value.encode("utf-8", "replace") if mime == "image/svg+xml" else a2b_base64(value)
        except ValueError:
            return ""
    return b2a_base64(value, newline=False).decode("ascii") if isinstance(value, bytes) else ""


def _without_dollars(text: str) -> str:
    text = text.strip()
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\[", "\\]"), ("\\(", "\\)")):
        if len(text) >= len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing):
            return text[len(opening) : -len(closing)].strip()
    return text
