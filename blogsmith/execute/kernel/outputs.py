"""Converts outputs of a kernel to the frames that a worker would send."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..session.terminal_text import cut
from .requests import KernelReply, Message

Frame = dict[str, object]

TEXT_FORMATS = ("text/plain", "text/html", "text/latex", "text/markdown")
"""Text formats of a value, by MIME type. If a value has no plain text, the first of its other formats is used
as plain text."""
IMAGE_FORMATS = ("image/svg+xml", "image/png", "image/jpeg", "image/webp", "image/gif")
_TEXT_FALLBACKS = ("text/markdown", "application/json", "application/javascript")
_MAX_IMAGE_BYTES = 64 * 1024 * 1024
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_PLACE = re.compile(r'File "<cell (\d+)>", line (\d+)')
_KINDS: Mapping[str, str] = MappingProxyType({"execute_result": "value", "display_data": "display"})


class Outputs:
    """Outputs of one cell."""

    def __init__(self, send: Callable[[Frame], None], text_bytes: int) -> None:
        self._send = send
        self._limit = self._left = text_bytes
        self._clear_first = False
        self.error: Mapping[str, Any] | None = None
        """Content of the last message that reported an exception."""

    def add_message(self, message: Message) -> None:
        """Forward a message. Messages other than outputs are ignored."""
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "clear_output":
            self._clear_first = True
            if not content.get("wait"):
                self._clear()
        elif kind == "stream":
            self._clear()
            self._print(content)
        elif kind in _KINDS:
            self._clear()
            self._show("display", content, {"kind": _KINDS[kind]})
        elif kind == "update_display_data":
            self._show("update", content, {})
        elif kind == "error":
            self._clear()
            self.error = content

    def _clear(self) -> None:
        if self._clear_first:
            self._clear_first = False
            self._left = self._limit
            self._send({"event": "clear"})

    def _print(self, content: Mapping[str, Any]) -> None:
        name = "stderr" if content.get("name") == "stderr" else "stdout"
        kept, over = cut(str(content.get("text") or ""), self._left)
        if kept:
            self._left -= len(kept.encode("utf-8", "replace"))
            self._send({"event": "stream", "name": name, "text": kept})
        if over:
            self._left = 0
            self._send({"event": "dropped", "name": name, "bytes": over})

    def _show(self, event: str, content: Mapping[str, Any], more: Frame) -> None:
        text, binary = _supported_formats(content.get("data") or {}, self._limit)
        name = str((content.get("transient") or {}).get("display_id") or "")
        self._send({"event": event, "id": name, "text": text, "binary": binary, **more})


def _supported_formats(data: Mapping[str, Any], limit: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the formats of a value that a page supports: first the text formats, then the images in base64.
    limit: maximum number of characters. Longer plain text is cut; longer strings in other formats are left
    out."""
    plain = next((kind for kind in ("text/plain", *_TEXT_FALLBACKS) if kind in data), "")
    texts = {kind: _text(data[kind]) for kind in TEXT_FORMATS if kind in data}
    texts |= {kind: json.dumps(value) for kind, value in data.items() if _is_data(kind, value)}
    if plain:
        texts = {"text/plain": cut(_text(data[plain]), limit)[0], **_other_formats(texts, limit)}
    found = {kind: _encode_image(kind, _text(data[kind])) for kind in IMAGE_FORMATS if kind in data}
    return texts, {kind: encoded for kind, encoded in found.items() if 0 < len(encoded) < _MAX_IMAGE_BYTES}


def _is_data(kind: str, value: object) -> bool:
    """Return whether a format contains data of a chart, or data of a type that a plugin may show."""
    return kind.startswith("application/vnd.") and "widget-view" not in kind and isinstance(value, dict)


def _other_formats(texts: Mapping[str, str], limit: int) -> dict[str, str]:
    return {kind: text for kind, text in texts.items() if kind != "text/plain" and len(text) <= limit}


def _text(value: object) -> str:
    return value if isinstance(value, str) else "".join(map(str, value)) if isinstance(value, list) else ""


def _encode_image(kind: str, written: str) -> str:
    # SVG is the only image format that is not sent in base64.
    is_text = kind == "image/svg+xml"
    return base64.b64encode(written.encode("utf-8", "replace")).decode() if is_text else written


def read_failure(error: Mapping[str, Any]) -> Frame:
    """Return an exception as the fields of `runs.Failure`. error: content of the message or reply that
    reports the exception. The line is known only if the kernel names locations as `<cell 2>`."""
    name = str(error.get("ename") or "Error")
    message = _ANSI.sub("", str(error.get("evalue") or ""))
    text = _ANSI.sub("", "\n".join(map(str, error.get("traceback") or ()))).strip("\n")
    text = text or (f"{name}: {message}" if message else name)
    places = _PLACE.findall(text)
    cell, line = map(int, places[-1]) if places else (0, 0)
    return {"name": name, "message": message, "text": f"{text}\n", "cell": cell, "line": line}


def end_fields(reply: KernelReply, error: Mapping[str, Any] | None, *, python: bool) -> Frame:
    """Return the fields `status`, `problem` and `failure` of the frame that ends a cell. error: see
    `Outputs.error`. python: whether the kernel runs Python."""
    if reply.status == "died":
        return {"status": "died", "problem": reply.problem, "failure": None}
    if reply.status == "ok":
        asked = any(part.get("source") == "ask_exit" for part in reply.content.get("payload") or ())
        problem = "it ends its kernel" if asked else ""
        return {"status": "exit" if asked else "ok", "problem": problem, "failure": None}
    if error is None and not (reply.content.get("ename") or reply.content.get("evalue")):
        error = {"ename": "Interrupted", "evalue": "the kernel interrupted the cell"}
    failure = read_failure(error or reply.content)
    if python and failure["name"] == "SystemExit":
        problem = f"it calls sys.exit({failure['message']})"
        return {"status": "exit", "problem": problem, "failure": failure}
    return {"status": "error", "problem": "", "failure": failure}
