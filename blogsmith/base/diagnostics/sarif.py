"""Diagnostics as a log of SARIF 2.1.0, which code hosting sites and editors read.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from .codes import CODES, MANUAL, documentation_of
from .fixes import Fix, TextEdit
from .json_report import encode
from .model import Diagnostic, Place

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SETTINGS = "blogsmith.yaml"
"""Stands for the site: a result without a file is shown nowhere."""


def format_sarif(diagnostics: Sequence[Diagnostic], folder: str, version: str) -> str:
    """The diagnostics in their order.

    folder: of the site below the top of its repository, with a slash at its end; version: of blogsmith.
    """
    codes = sorted({found.code for found in diagnostics})
    driver = {
        "name": "blogsmith",
        "version": version,
        "informationUri": MANUAL,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, codes.index(found.code), folder) for found in diagnostics],
    }
    return encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> Mapping[str, object]:
    return {"id": code, "shortDescription": {"text": CODES[code]}, "helpUri": documentation_of(code)}


def _result(found: Diagnostic, rule: int, folder: str) -> Mapping[str, object]:
    text = f"{found.message}\n{found.hint}" if found.hint else found.message
    file = _file(found, folder)
    where = {"artifactLocation": file, **({"region": _region_of(found)} if found.place else {})}
    return {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": found.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": where}],
        **({"fixes": [_fix(found.fix, file)]} if found.fix else {}),
    }


def _file(found: Diagnostic, folder: str) -> Mapping[str, object]:
    path = folder + (found.path or _SETTINGS)
    return {"uri": quote(path, errors="replace"), "uriBaseId": "%SRCROOT%"}


def _region_of(found: Diagnostic) -> Mapping[str, object]:
    place = found.place or Place(1)
    region = _region(place.line, place.column, place.line, found.end_column)
    return {**region, "snippet": {"text": found.source_line}} if found.source_line else region


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, object]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _fix(fix: Fix, file: Mapping[str, object]) -> Mapping[str, object]:
    replacements = [_replacement(edit) for edit in fix.edits]
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": file, "replacements": replacements}],
    }


def _replacement(edit: TextEdit) -> Mapping[str, object]:
    region = _region(edit.line, edit.column, edit.end_line, edit.end_column)
    return {"deletedRegion": region, "insertedContent": {"text": edit.new}}
