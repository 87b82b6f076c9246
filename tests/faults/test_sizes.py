"""Row 15: time and memory for ten thousand posts are bounded, and so is the size of one post."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.small_site import SVG, post
from tests.serve_process import PROGRAM
from tests.site_files import build, printed, put, put_bare

MOST_BYTES = 450 * 10**6
MOST_RATIO = 2.6
"""Limit on the ratio of times if the number of posts doubles. Quadratic growth would give 4."""


def test_row_15_a_post_of_twenty_megabytes_is_refused_in_words(tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": "title: T\n", "content/b.md": "[x](gone.md)\n"})
    put(root, {"content/a.md": "Words of a post. " * 1_200_000})
    report = build(root)
    told = [(found.path, found.code) for found in report.diagnostics]
    assert told == [("content/a.md", "file-too-large"), ("content/b.md", "link-missing")]
    assert "more than 10 MB" in printed(report)


def test_row_15_hundreds_of_pictures(tmp_path: Path) -> None:
    files = {f"content/posts/p{n}.svg": SVG.format(n + 1) for n in range(300)}
    text = "\n\n".join(f"![{n}](p{n}.svg)" for n in range(300))
    root = put_bare(
        tmp_path, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": post("A", 1, text), **files}
    )
    report = build(root)
    assert report.ok and report.images == 300
    assert len(list((root / "public/posts").glob("*.svg"))) == 300


def many_posts(root: Path, count: int) -> Path:
    """Write posts with formulas, code, links to other posts, tags and a series."""
    files = {}
    for n in range(count):
        body = (
            f"See [the next](p{(n + 1) % count}.md). $x_{{{n}}}^2$\n\n$$y = \\sqrt{{{n}}}$$\n\n"
            f"```python\nprint({n})\n```\n\n## End\n"
        )
        tags = f"tags: [t{n % 50}, u{n % 7}]\n"
        files[f"content/posts/p{n}.md"] = post(f"Post {n}", n % 28 + 1, body, tags)
    return put(root, {"blogsmith.yaml": "title: T\nbase_url: https://example.org\n", **files})


def taken(root: Path) -> tuple[float, int]:
    """Return the CPU seconds and the bytes of memory of a clean build."""
    with subprocess.Popen([PROGRAM, "build"], cwd=root, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.long
def test_row_15_ten_thousand_posts_are_twice_five_thousand(tmp_path: Path) -> None:
    half_s, _ = taken(many_posts(tmp_path / "half", 5000))
    whole_s, whole_bytes = taken(many_posts(tmp_path / "whole", 10_000))
    print(f"\n5,000 posts {half_s:.0f} s, 10,000 posts {whole_s:.0f} s, {whole_bytes / 1e6:.0f} MB")
    assert whole_bytes <= MOST_BYTES
    assert whole_s <= MOST_RATIO * half_s


@pytest.mark.long
def test_row_15_five_thousand_pictures(tmp_path: Path) -> None:
    files = {f"content/posts/p{n}.svg": SVG.format(n % 900 + 1) for n in range(5000)}
    for part in range(50):
        text = "\n\n".join(f"![{n}](p{n}.svg)" for n in range(100 * part, 100 * part + 100))
        files[f"content/posts/post{part}.md"] = post(f"P{part}", 1, text)
    _, peak = taken(put(tmp_path, {"blogsmith.yaml": "title: T\n", **files}))
    assert peak <= MOST_BYTES
    assert len(list((tmp_path / "public/posts").glob("*.svg"))) == 5000
