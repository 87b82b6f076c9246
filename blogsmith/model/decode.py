r"""Decoding of text files: UTF-8 without byte order mark, with `\n` as line ending.

Other encodings are not guessed, because some guesses would be wrong. Bytes that cannot be decoded are an
error with the byte offset.
"""

from __future__ import annotations

import codecs

from ..base.diagnostics.fixes import make_replacement
from ..base.diagnostics.model import Diagnostic, Place, SiteError

_HINT = "save the file as UTF-8"
# UTF-32 first: its little-endian mark starts with that of UTF-16
_OTHER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decode(data: bytes, path: str) -> str:
    """Return the text of a file. SiteError with the 0-based byte offset of the first invalid byte."""
    for mark, name in _OTHER_MARKS:
        if data.startswith(mark):
            message = f"the file is {name}, not UTF-8 (byte order mark at byte offset 0)"
            raise SiteError(Diagnostic("encoding", message, path, hint=_HINT))
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        offset = start + error.start
        message = f"byte 0x{data[offset]:02x} at byte offset {offset} is not UTF-8"
        raise SiteError(_fault(data, start, offset, message, path)) from error
    if "\0" in text:
        offset = data.index(b"\0")
        raise SiteError(_fault(data, start, offset, f"NUL character at byte offset {offset}", path))
    return normalize_line_ends(text)


def normalize_line_ends(text: str) -> str:
    r"""Return `text` with CRLF and CR alone replaced by `\n`."""
    # searching for one character is faster than for two
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _fault(data: bytes, start: int, offset: int, message: str, path: str) -> Diagnostic:
    """Return the diagnostic for the byte at `offset`. Its source line shows � instead of bytes that are not
    UTF-8."""
    before = normalize_line_ends(data[start:offset].decode("utf-8"))
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    end = min(
        (at for at in (data.find(b"\n", offset), data.find(b"\r", offset)) if at >= 0), default=len(data)
    )
    shown = before[before.rfind("\n") + 1 :] + data[offset:end].decode("utf-8", "replace")
    is_nul = data[offset] == 0
    hint = "remove the character" if is_nul else _HINT
    fix = make_replacement(line, column, "\0", "", title=hint, is_safe=True) if is_nul else None
    return Diagnostic("encoding", message, path, Place(line, column), shown, hint, fix=fix)
