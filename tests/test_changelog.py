"""The form of CHANGELOG.md: sections in one order, one sentence an entry."""

from __future__ import annotations

import re

from tests.docs_sources import ROOT
from tests.rows import each_row

TEXT = (ROOT / "CHANGELOG.md").read_text("utf-8")
KINDS = ("Breaking", "Added", "Changed", "Fixed", "Notes")
ENTRIES = [" ".join(entry.split()) for entry in re.findall(r"^- (.*(?:\n  .*)*)", TEXT, re.MULTILINE)]
VERSION = re.compile(r"Unreleased|\d+\.\d+\.\d+ — \d{4}-\d{2}-\d{2}")


def test_breaking_changes_come_first() -> None:
    versions = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert versions[0][0] == "Unreleased"
    for version, text in versions:
        assert VERSION.fullmatch(version)
        kinds = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]


@each_row("entry", ENTRIES)
def test_an_entry_is_one_sentence(entry: str) -> None:
    plain = re.sub(r"`[^`]*`|\([^)]*\)", "code", entry)
    assert len(ENTRIES) > 250
    assert not re.search(r"[.!?]\)? +[A-Z`]", plain.replace(" … ", " "))
