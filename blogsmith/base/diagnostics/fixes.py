"""Fixes as data: which characters of a file to exchange, so that a diagnostic is no more.

An edit names the text that it takes away: its user, a command or an editor with unsaved text, can
see that the text still stands there. Only text of the file that a diagnostic is about is changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class TextEdit(Struct, frozen=True, order=True):
    """One stretch of a file and what stands there afterwards."""

    line: int
    """1-based line of the file where it starts; one behind the last line is the end of the file."""
    column: int
    """1-based column in characters (not bytes) where it starts."""
    old: str
    """The text that goes; \\n stands for any line end. Empty: an insertion."""
    new: str
    """The text that comes; \\n stands for the line end of the file."""

    @property
    def end_line(self) -> int:
        """1-based line where the old text ends."""
        return self.line + self.old.count("\n")

    @property
    def end_column(self) -> int:
        """1-based column right behind the old text."""
        length = len(self.old) - (self.old.rfind("\n") + 1)
        return length + (1 if "\n" in self.old else self.column)

    def stands_in(self, lines: Sequence[str]) -> bool:
        """Whether the old text stands at its place. lines: those of the file, without line ends."""
        first, last = self.line - 1, self.end_line - 1
        if first < 0 or self.column < 1 or last > len(lines):
            return False
        # a file that ends in a line end has an empty line behind it, which `lines` may lack
        text = "\n".join((*lines[first : last + 1], "") if last == len(lines) else lines[first : last + 1])
        at = self.column - 1
        return at <= len(text) and text.startswith(self.old, at)


class Fix(Struct, frozen=True):
    """What to change in the file of a diagnostic."""

    title: str
    """What it does, in the imperative: `write \\softmax`."""
    edits: tuple[TextEdit, ...]
    """In the order of their places; none overlaps another."""
    is_safe: bool = False
    """The meaning is certain, so `check --fix` applies it. Others are proposals, which an author chooses."""

    def fits(self, lines: Sequence[str]) -> bool:
        """Whether all of it can be applied to a file with these lines."""
        return bool(self.edits) and all(edit.stands_in(lines) for edit in self.edits)


def exchange(line: int, column: int, old: str, new: str, *, title: str = "", is_safe: bool = False) -> Fix:
    """A fix that exchanges one stretch of text. title: by default "write" and the new text, or "remove"."""
    return Fix(title or _title(old, new), (TextEdit(line, column, old, new),), is_safe)


def _title(old: str, new: str) -> str:
    return f"write {new}" if new.strip() else f"remove {old}"
