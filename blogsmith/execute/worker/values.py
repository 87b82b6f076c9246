"""Values in forms that pages can show: text, and richer formats that an object provides."""

from __future__ import annotations

import sys
from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING

from . import figures

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .streams import StreamOutput

_TEXT_METHODS = (("text/html", "_repr_html_"), ("text/latex", "_repr_latex_"))
_IMAGE_METHODS = (
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
)
# Suffix of the type of an image for dark pages in a bundle.
_DARK = ";scheme=dark"
# An object with this attribute has every attribute: a mock or a proxy. Its formats mean nothing.
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
        """Send all formats of an object.

        kind: `value` or `display`.
        """
        if figures.show(shown, kind) or (kind == "value" and figures.is_part(shown)):
            return
        text, binary = self.bundle(shown)
        self._output.emit({"event": "display", "kind": kind, "text": text, "binary": binary})

    def bundle(self, shown: object) -> tuple[dict[str, str], dict[str, str]]:
        """Return MIME type → text and MIME type → base64, in the order of the tables.

        Plain text is always included.
        """
        offered = self._offered_forms(shown)
        text = {"text/plain": self._plain(shown, offered.get("text/plain"))}
        for mime, _ in _TEXT_METHODS:
            if isinstance(value := offered.get(mime), str) and self._fits(shown, mime, value):
                text[mime] = value
        binary = {}
        for mime, _ in _IMAGE_METHODS:
            if data := _base64(mime, offered.get(mime)):
                binary[mime] = data
                # On its own it would be an image that light pages cannot show.
                if dark := _base64(mime, offered.get(mime + _DARK)):
                    binary[mime + _DARK] = dark
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
        return offered

    def _call(self, shown: object, method: str, **arguments: object) -> Any:
        """Call a method of this name and return its result without metadata.

        None if it does not exist or fails.
        """
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
        return value[0] if isinstance(value, tuple) and value else value

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
    # one more character than can fit is enough
    data = text[: size + 1].encode("utf-8", "replace")
    return text if len(data) <= size else data[:size].decode("utf-8", "ignore") + "…"


def _has_formats(shown: object) -> bool:
    """Return whether an object may provide richer formats. Classes have the methods of their instances."""
    return not isinstance(shown, type) and getattr(shown, _CANARY, None) is None


def _base64(mime: str, value: object) -> str:
    """Return base64.

    Methods return bytes, SVG is a string, and bundles contain base64 already. Empty if invalid.
    """
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
