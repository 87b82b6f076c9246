"""Bootstrap alert boxes that become callouts, and others that stay."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from blogsmith.importers.html_blocks import convert_alert_boxes
from blogsmith.importers.model import ImportedPage
from tests.rows import each_row


def changed(text: str) -> str:
    page = ImportedPage(PurePosixPath("content/a.md"), {"title": "A"}, text, "a.md")
    return convert_alert_boxes(page).text


@pytest.mark.parametrize(
    ("html", "box"),
    [
        (
            '<div class="alert alert-block alert-info">\n    <b>Note:</b> inside $q$.\n</div>',
            "> [!INFO]\n>\n> **Note:** inside $q$.",
        ),
        (
            '<div class="alert alert-danger" role="alert"><p>One <code>x</code></p><p>Two</p></div>',
            "> [!DANGER]\n>\n> One <code>x</code>\n>\n> Two",
        ),
    ],
)
def test_boxes_are_callouts(html: str, box: str) -> None:
    text = changed(f"Text.\n\n{html}\n\nMore.\n")
    assert [line for line in text.split("\n") if line.startswith(">")] == box.split("\n")
    assert "<div" not in text


@each_row(
    "html",
    [
        '<div class="alert alert-info"><ul><li>a</li></ul></div>',
        '<div class="alert alert-info" id="x">a</div>',
        '<div class="alert">a</div>',
        '<div class="alert alert-info">never closed',
        '<p class="alert alert-info">a</p>',
        '```html\n<div class="alert alert-info">a</div>\n```',
    ],
)
def test_others_stay(html: str) -> None:
    assert changed(f"{html}\n") == f"{html}\n"
