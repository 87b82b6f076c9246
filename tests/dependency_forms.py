"""Forms of code that depends on more than its own text, and the manual's tables made from them.

A file of `tests/dependencies/` has one form after a line `=== name | effect | row of the manual`. The effect
is a change (`followed`, `unnoticed`) or a reason (`unrepeatable`). Forms without a row are in the tests only.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "dependencies"
_FORM = re.compile(r"^=== (?P<head>.*)\n(?P<code>(?:(?!=== ).*\n?)*)", re.MULTILINE)


class Form(NamedTuple):
    """One form of code."""

    name: str
    effect: str
    row: str
    """Row of the manual; may be empty."""
    code: str


def read_forms(name: str) -> list[Form]:
    """Return the forms of one file."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    found = []
    for match in _FORM.finditer(text):
        head = [*match["head"].split(" | "), "", ""]
        found.append(Form(head[0], head[1], head[2], match["code"].strip("\n") + "\n"))
    return found


def dependencies(_: object = ()) -> str:
    """Return the manual's table of all forms that have a row."""
    effects = {"followed": "stale", "unrepeatable": "not repeatable", "unnoticed": "not noticed"}
    rows = [
        f"| {form.row} | {effect} |"
        for name, effect in effects.items()
        for form in read_forms(name)
        if form.row
    ]
    return "\n".join(["| a cell depends on | result |", "|:--|:--|", *rows])
