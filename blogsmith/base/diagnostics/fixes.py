"""Fixes as data: the characters to replace in a file so that a diagnostic no longer applies.

An edit contains the text that it removes. A command, or an editor with unsaved changes, can therefore check
that this text is still there before it applies the edit. A fix changes only the file that its diagnostic is
about.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class TextEdit(Struct, frozen=True, order=True):
    """A range of a file and its replacement."""

    line: int
    """1-based line where the range starts. The number of lines plus one means the end of the file."""
    column: int
    """1-based column in characters (not bytes) where the range starts."""
    old: str
    r"""Text to remove; `\n` matches any line ending. Empty for an insertion."""
    new: str
    r"""Text to insert; `\n` becomes the line ending of the file."""

    @property
    def end_line(self) -> int:
        """1-based line where the old text ends."""
        return self.line + self.old.count("\n")

    @property
    def end_column(self) -> int:
        """1-based column after the old text."""
        length = len(self.old) - (self.old.rfind("\n") + 1)
        return length + (1 if "\n" in self.old else self.column)

    def matches(self, lines: Sequence[str]) -> bool:
        """Return whether the old text is still at its position. lines: lines of the file, without line
        endings."""
        first, last = self.line - 1, self.end_line - 1
        if first < 0 or self.column < 1 or last > len(lines):
            return False
        # `lines` may lack the empty last line of a file that ends in a line ending
        text = "\n".join((*lines[first : last + 1], "") if last == len(lines) else lines[first : last + 1])
        at = self.column - 1
        return at <= len(text) and text.startswith(self.old, at)


class Fix(Struct, frozen=True):
    """Changes to the file of a diagnostic."""

    title: str
    r"""Title in the imperative, such as `write \softmax`."""
    edits: tuple[TextEdit, ...]
    """Edits in order of position; none overlaps another."""
    is_safe: bool = False
    """Whether the fix is certain, so that `check --fix` applies it. Other fixes are left to the author."""

    def fits(self, lines: Sequence[str]) -> bool:
        """Return whether all edits can be applied to a file with these lines."""
        return bool(self.edits) and all(edit.matches(lines) for edit in self.edits)


def make_replacement(
    line: int, column: int, old: str, new: str, *, title: str = "", is_safe: bool = False
) -> Fix:
    """Return a fix that replaces one range. title: empty for "write" and the new text, or "remove" and the
    old text if the new one is empty."""
    return Fix(title or _title(old, new), (TextEdit(line, column, old, new),), is_safe)


def _title(old: str, new: str) -> str:
    return f"write {new}" if new.strip() else f"remove {old}"
