"""Diagnostics as one JSON object, for editors and other programs. The manual says what its fields mean.

All of it is ASCII: what a hostile text holds reaches no terminal, and no encoding of a stream can spoil it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from .codes import documentation_of
from .fixes import Fix, TextEdit
from .model import Diagnostic, Place

VERSION = 1
"""Of the form below; a field may be added, none will change its meaning without another number."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def format_json(diagnostics: Sequence[Diagnostic], root: str, version: str) -> str:
    """The diagnostics in their order. root: folder of the site; version: of blogsmith."""
    severities = [found.severity for found in diagnostics]
    return encode(
        {
            "version": VERSION,
            "tool": {"name": "blogsmith", "version": version},
            "root": root,
            "errors": severities.count("error"),
            "warnings": severities.count("warning"),
            "diagnostics": [describe(found) for found in diagnostics],
        }
    )


def describe(found: Diagnostic) -> Mapping[str, object]:
    """One diagnostic; null stands for what is not known."""
    return {
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "path": found.path or None,
        "range": _range(found.place, found.end_column) if found.place else None,
        "source": found.source_line or None,
        "hint": found.hint or None,
        "fixes": [_fix(found.fix)] if found.fix else [],
        "documentation": documentation_of(found.code),
    }


def encode(value: object) -> str:
    """JSON without a character that a terminal could obey, or that is none in Unicode."""
    text = json.dumps(_well_formed(value), indent=2)
    return text.replace("\x7f", "\\u007f")


def _well_formed(value: object) -> object:
    """With U+FFFD for surrogates, as in the name of a file that is not UTF-8."""
    match value:
        case str():
            return _SURROGATES.sub("\ufffd", value)
        case Mapping():
            return {key: _well_formed(inner) for key, inner in value.items()}
        case list():
            return [_well_formed(inner) for inner in value]
    return value


def _range(place: Place, end_column: int) -> Mapping[str, object]:
    return {
        "start": {"line": place.line, "column": place.column},
        "end": {"line": place.line, "column": end_column},
    }


def _fix(fix: Fix) -> Mapping[str, object]:
    return {"title": fix.title, "safe": fix.is_safe, "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: TextEdit) -> Mapping[str, object]:
    return {
        "range": {
            "start": {"line": edit.line, "column": edit.column},
            "end": {"line": edit.end_line, "column": edit.end_column},
        },
        "old": edit.old,
        "new": edit.new,
    }
