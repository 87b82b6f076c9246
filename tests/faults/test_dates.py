"""Row 19: unusual dates and times have one meaning, or are reported as errors at their position."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.faults.children import public
from tests.site_files import build, printed, put, put_bare

LayOut = Callable[[Path, Mapping[str, str | bytes]], Path]
GOOD = {
    "0001-01-01": "1 January 1",
    "0999-12-31": "31 December 999",
    "1582-10-10": "10 October 1582",
    "1900-01-01": "1 January 1900",
    "1969-12-31": "31 December 1969",
    "1970-01-01": "1 January 1970",
    "2000-02-29": "29 February 2000",
    "2024-02-29": "29 February 2024",
    "2025-03-30 02:30": "30 March 2025",
    "2025-10-26 02:30": "26 October 2025",
    "2026-05-31T23:59:59+14:00": "31 May 2026",
    "2026-01-01T00:00:00-12:00": "1 January 2026",
    "2026-01-01 00:00:00.999999": "1 January 2026",
}
BAD = (
    *("2026-02-30", "2026-13-01", "2026-00-01", "2026-01-00", "0000-01-01", "10000-01-01", "-0001-01-01"),
    *(
        "2023-02-29",
        "2016-12-31T23:59:60",
        "2026-01-01T25:00",
        "yesterday",
        "01/02/2026",
        "2026-13",
        "20260101x",
    ),
    *("20260101x", "1e9", "2026-01-01T00:00+25:00", "{year: 2026}", "[2026-01-01]", "true"),
)


def site(root: Path, date: str, zone: str = "Europe/Berlin", lay_out: LayOut = put_bare) -> Path:
    text = f"---\ntitle: Post\ndate: {date}\ntags: [x]\n---\nWords\n"
    config = f"title: T\nbase_url: https://example.org\ntimezone: {zone}\n"
    return lay_out(root, {"blogsmith.yaml": config, "content/posts/a.md": text})


@pytest.mark.parametrize("date", GOOD)
def test_row_19_a_date_at_an_edge_is_a_date(date: str, tmp_path: Path) -> None:
    root = site(tmp_path, date, lay_out=put)
    report = build(root)
    assert report.ok, printed(report)
    page = public(root)["posts/a/index.html"].decode()
    assert f">{GOOD[date]}<" in page
    assert date[:10] in page or date[:10] in public(root)["sitemap.xml"].decode()


@pytest.mark.parametrize("date", BAD)
def test_row_19_what_is_no_date_is_told(date: str, tmp_path: Path) -> None:
    (found, *_) = build(site(tmp_path, date)).diagnostics
    assert (found.path, found.severity) == ("content/posts/a.md", "error")
    assert found.place and found.place.line == 3


@pytest.mark.parametrize(
    ("date", "zone", "is_out"),
    [
        # The tests run at 2026-06-01 12:00 UTC.
        ("2026-06-01", "UTC", True),
        ("2026-06-02", "UTC", False),
        ("2026-06-02", "Pacific/Kiritimati", True),
        ("2026-06-01 12:00:00", "UTC", True),
        ("2026-06-01 12:00:01", "UTC", False),
        ("2026-06-01 13:30", "Europe/Berlin", True),
        ("2026-06-01T12:30:00+01:00", "UTC", True),
        ("2999-01-01", "UTC", False),
        ("9999-12-31", "UTC", False),
        ("9999-12-31T23:59:59-12:00", "UTC", False),
        ("9999-12-31T23:59:59-12:00", "Pacific/Kiritimati", False),
        ("0001-01-01T00:00:00+14:00", "Etc/GMT+12", True),
    ],
)
def test_row_19_what_lies_ahead_is_not_published(date: str, zone: str, is_out: bool, tmp_path: Path) -> None:
    root = site(tmp_path, date, zone)
    report = build(root)
    assert report.ok, printed(report)
    assert ("posts/a/index.html" in public(root)) is is_out
    assert report.scheduled == (() if is_out else ("content/posts/a.md",))
    assert is_out == any(b"<p>Words</p>" in data for data in public(root).values())
    assert build(root, future=True).ok
    assert "posts/a/index.html" in public(root)
