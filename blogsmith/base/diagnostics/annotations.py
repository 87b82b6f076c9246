"""Diagnostics as commands to the runner of GitHub Actions, which shows them beside the lines of a change.

Nothing of an author's text can end a command or begin another: that is escaped, here and by `printable`.
Source: GitHub Actions, workflow commands for a runner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .format import printable
from .model import Diagnostic

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def format_annotations(diagnostics: Sequence[Diagnostic], folder: str) -> str:
    """One line each, in their order.

    folder: of the site below the top of its repository, with a slash at its end.
    """
    return "\n".join(_annotation(found, folder) for found in diagnostics)


def _annotation(found: Diagnostic, folder: str) -> str:
    properties = ",".join(f"{name}={_escape(value)}" for name, value in _properties(found, folder))
    text = printable(found.message)
    if found.hint:
        text += f"\nhint: {printable(found.hint)}"
    return f"::{found.severity} {properties}::{text.translate(_DATA)}"


def _properties(found: Diagnostic, folder: str) -> Iterator[tuple[str, str]]:
    if found.path:
        yield "file", folder + found.path
    if found.path and found.place:
        place = found.place
        yield "line", str(place.line)
        yield "endLine", str(place.line)
        yield "col", str(place.column)
        yield "endColumn", str(found.end_column)
    yield "title", f"blogsmith: {found.code}"


def _escape(value: str) -> str:
    return printable(value).translate(_PROPERTY)
