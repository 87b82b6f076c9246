"""Converts printed text to what a terminal shows at the end, such as only the last state of a progress bar.

Colours remain as escape sequences. Cursor movements between lines are removed, because a page has no cursor.
"""

from __future__ import annotations

import re

_COLOR = re.compile(r"\x1b\[[0-9;:]*m")
# Titles and links: OSC and related sequences, which end with a bell or with ESC \.
_STRING = re.compile(r"\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?")
# Colours, cursor movement, erasing: CSI; or any other sequence of two or three characters.
_SEQUENCE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~]?)"
_ERASE = re.compile(r"\x1b\[([0-2]?)K")
# Control characters that neither print nor are handled here. Tab and newline are not included.
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
_PIECE = re.compile(rf"{_SEQUENCE}|[^\x1b]")
_MOVES = re.compile(r"[\r\b]|\x1b(?!\[[0-9;:]*m)")
_RESET = ("\x1b[0m", "\x1b[m")


def apply_carriage_returns(text: str) -> str:
    """Return `text` with carriage returns, backspaces and erasures applied, line by line."""
    if _CONTROL.search(text) or "\x1b" in text:
        text = _CONTROL.sub("", _STRING.sub("", text))
    if not _MOVES.search(text):
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_apply_to_line(line) if _MOVES.search(line) else line for line in lines)


def cut(text: str, limit_bytes: int) -> tuple[str, int]:
    """Return the start of `text` that has at most `limit_bytes` in UTF-8, and the number of bytes cut off."""
    if len(text) * 4 <= limit_bytes:
        return text, 0
    data = text.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return text, 0
    kept = data[: max(0, limit_bytes)].decode("utf-8", "ignore")
    return kept, len(data) - len(kept.encode("utf-8"))


def _apply_to_line(line: str) -> str:
    """Return a line as a terminal shows it, with each character in its colour."""
    if "\x1b" not in line and "\b" not in line:
        return _apply_overwrites(line)
    row: list[tuple[str, str]] = []
    at, color = 0, ""
    for piece in _PIECE.findall(line):
        if piece == "\r":
            at = 0
        elif piece == "\b":
            at = max(0, at - 1)
        elif _COLOR.fullmatch(piece):
            color = "" if piece in _RESET else color + piece
        elif erase := _ERASE.fullmatch(piece):
            row = _erase(row, at, erase[1])
        elif not piece.startswith("\x1b"):
            row += [(" ", "")] * (at - len(row))
            row[at : at + 1] = [(piece, color)]
            at += 1
    return _row_text(row, color)


def _apply_overwrites(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown


def _erase(row: list[tuple[str, str]], at: int, what: str) -> list[tuple[str, str]]:
    """Return the line with a part erased, as by the terminal's `K` sequence. at: column of the cursor. what:
    argument of the sequence: `1` erases up to the cursor, `2` the whole line, anything else from the cursor
    on."""
    if what == "1":
        return [(" ", "")] * min(at + 1, len(row)) + row[at + 1 :]
    return [] if what == "2" else row[:at]


def _row_text(row: list[tuple[str, str]], last: str) -> str:
    """Return the characters of a line, each with its colour, as text with escape sequences. last: colour that
    the next line continues with."""
    pieces: list[str] = []
    now = ""
    for character, color in [*row, ("", last)]:
        if color != now:
            # The colour is the sum of all sequences so far. If the new one does not extend the current one,
            # reset first.
            pieces += [color[len(now) :]] if color.startswith(now) else [_RESET[0], color]
            now = color
        pieces.append(character)
    return "".join(pieces)
