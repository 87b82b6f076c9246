"""Diagnostics for other programs: a JSON object, SARIF, and commands of GitHub Actions.

All output is ASCII, so a hostile string cannot control a terminal, and no encoding of a stream can corrupt
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from .codes import CODES, documentation_url
from .fixes import Fix, TextEdit
from .format import printable
from .model import Diagnostic, Place

VERSION = 1
"""Version of the JSON format. Adding a field does not change the number; changing the meaning of a field does
change it."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def format_json(diagnostics: Sequence[Diagnostic], root: str, version: str, manual: str = "") -> str:
    """Return a JSON report with the diagnostics in the order given. root: site root. version: version of
    blogsmith. manual: URL of the manual, empty if there is none."""
    severities = [found.severity for found in diagnostics]
    return encode(
        {
            "version": VERSION,
            "tool": {"name": "blogsmith", "version": version},
            "root": root,
            "errors": severities.count("error"),
            "warnings": severities.count("warning"),
            "diagnostics": [describe(found, manual) for found in diagnostics],
        }
    )


def describe(found: Diagnostic, manual: str = "") -> Mapping[str, object]:
    """Return one diagnostic as JSON data, with null for unknown values. manual: URL of the manual; if it is
    empty, the data has no field `documentation`."""
    return {
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "path": found.path or None,
        "range": _range(found.place, found.end_column) if found.place else None,
        "source": found.source_line or None,
        "hint": found.hint or None,
        "fixes": [_fix(found.fix)] if found.fix else [],
        **({"documentation": documentation_url(manual, found.code)} if manual else {}),
    }


def encode(value: object) -> str:
    """Return a value as JSON without characters that a terminal could interpret and without lone
    surrogates."""
    text = json.dumps(_well_formed(value), indent=2)
    return text.replace("\x7f", "\\u007f")


def _well_formed(value: object) -> object:
    """Return JSON data with lone surrogates replaced by U+FFFD. They come from file names that are not
    UTF-8."""
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


# Diagnostics as a log of SARIF 2.1.0, which code hosting sites and editors read.
#
# Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SETTINGS = "blogsmith.yaml"
"""File assigned to findings without a file, because SARIF viewers show only results with a file."""


def format_sarif(diagnostics: Sequence[Diagnostic], folder: str, version: str, manual: str = "") -> str:
    """Return a SARIF log with the diagnostics in the order given.

    folder: path of the site in its repository, with a slash at its end. version: version of blogsmith.
    manual: URL of the manual, empty if there is none.
    """
    codes = sorted({found.code for found in diagnostics})
    driver = {
        "name": "blogsmith",
        "version": version,
        **({"informationUri": manual} if manual else {}),
        "rules": [_rule(code, manual) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, codes.index(found.code), folder) for found in diagnostics],
    }
    return encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str, manual: str) -> Mapping[str, object]:
    help_uri = {"helpUri": documentation_url(manual, code)} if manual else {}
    return {"id": code, "shortDescription": {"text": CODES[code]}, **help_uri}


def _result(found: Diagnostic, rule: int, folder: str) -> Mapping[str, object]:
    text = f"{found.message}\n{found.hint}" if found.hint else found.message
    file = _file(found, folder)
    where = {"artifactLocation": file, **({"region": _source_region(found)} if found.place else {})}
    return {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": found.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": where}],
        **({"fixes": [_sarif_fix(found.fix, file)]} if found.fix else {}),
    }


def _file(found: Diagnostic, folder: str) -> Mapping[str, object]:
    path = folder + (found.path or _SETTINGS)
    return {"uri": quote(path, errors="replace"), "uriBaseId": "%SRCROOT%"}


def _source_region(found: Diagnostic) -> Mapping[str, object]:
    place = found.place or Place(1)
    region = _region(place.line, place.column, place.line, found.end_column)
    return {**region, "snippet": {"text": found.source_line}} if found.source_line else region


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, object]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _sarif_fix(fix: Fix, file: Mapping[str, object]) -> Mapping[str, object]:
    replacements = [_replacement(edit) for edit in fix.edits]
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": file, "replacements": replacements}],
    }


def _replacement(edit: TextEdit) -> Mapping[str, object]:
    region = _region(edit.line, edit.column, edit.end_line, edit.end_column)
    return {"deletedRegion": region, "insertedContent": {"text": edit.new}}


# Diagnostics as workflow commands for the GitHub Actions runner, which shows them next to the lines of a
# change.
#
# No text of an author can end a command or begin another: it is escaped, here and by `printable`. Source:
# GitHub Actions, workflow commands for a runner.


_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def format_annotations(diagnostics: Sequence[Diagnostic], folder: str) -> str:
    """Return one line for each diagnostic, in the order given. folder: path of the site in its repository,
    with a slash at its end."""
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
