"""Scripts of random edits. A build with a cache must give the same result as one without."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hypothesis import strategies as st

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.build.last_build import find_last_report
from blogsmith.project.program import open_rows
from blogsmith.project.report import BuildReport
from blogsmith.project.trust.consent import trust
from tests.faults.children import at_step, in_child, kill_self
from tests.preview_sites import built
from tests.site_files import NOW, build
from tests.test_preview_line import PLUGINS, POSTS, edits, write

KEPT = "the cache of the site"
"""Placeholder in an `Edit` for the path of the edited file."""
FOLDER = "_freeze"
CELL = """\
---
title: Cell
date: 2026-01-01
---
```python
#| label: fig-one
#| fig-cap: One
#| fig-alt: a square
from pathlib import Path
from unittest.mock import patch
class Picture:
    def _repr_svg_(self):
        return '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>'
Picture()
```
"""
READER = """\
---
title: Reader
date: 2026-01-04
---
```{python}
total = sum(int(line) for line in open("numbers.txt"))
print(total)
```
It is {= total =}, see [](../cell.md).
"""
RECORDS = ("delete", "truncate", "age", "redraw")
"""Changes to the records of cells."""
MOST_STEPS = 300
"""Slightly more than the accesses of a build to the site folder. A later kill has no effect."""

Edit = tuple[str, str | None]
"""A path or `KEPT`, and the new content; None deletes it. `_freeze` and one of `RECORDS`: all records."""


@dataclass(frozen=True, slots=True)
class Step:
    """The changes to a site between two comparisons."""

    is_mended: bool
    """Whether the original files are restored first, since random edits hardly ever fix an error."""
    edits: tuple[Edit, ...]
    before: int | Literal["two"] | None
    """A build that runs first: it is killed at this access to the site folder, or two run in parallel."""


_LAYOUTS = (
    ("layouts/post.html", "<!DOCTYPE html><title>{{ page.title }}</title>{{ page.content }}"),
    ("layouts/post.html", None),
)
_CELLS = (
    ("content/posts/cell.md", CELL),
    ("content/posts/cell.md", CELL.replace('"3"', '"5"')),
    ("content/posts/cell.md", CELL.replace("Picture()\n", "Picture(1)\n")),
    ("content/posts/cell.md", CELL.replace("date:", "execute: off\ndate:")),
    ("content/posts/cell.md", None),
    ("content/posts/d/index.md", READER),
    ("content/posts/d/index.md", READER.replace("print(total)", "print(total + 1)")),
    ("content/posts/d/numbers.txt", "1\n2\n"),
    ("content/posts/d/numbers.txt", "3\n"),
    ("content/posts/d/numbers.txt", None),
)
FIRST: tuple[Edit, ...] = (*POSTS.items(), ("content/posts/d/numbers.txt", "1\n"))
"""The initial site of a script."""
_RECORDS = tuple((FOLDER, what) for what in RECORDS)
_CACHES = ((KEPT, "not what anybody kept"), (KEPT, None))
EDITS = st.one_of(
    edits,
    edits,
    st.sampled_from((*PLUGINS, *_LAYOUTS, *_CACHES)),
    st.sampled_from((*_CELLS, *_RECORDS)),
)
STEPS = st.builds(
    Step,
    st.sampled_from((False, True)),
    st.lists(EDITS, min_size=1, max_size=3).map(tuple),
    st.one_of(st.none(), st.none(), st.none(), st.just("two"), st.integers(0, MOST_STEPS)),
)


def compare(root: Path) -> BuildReport:
    """Build with and without the cache; both must report and write the same."""
    report = _build_again(root)
    _expect_clean(root, report, _clean_build(root))
    return report


def play(script: list[Step], root: Path) -> None:
    """Run a script, and compare after each step. At the end no temporary file may be left."""
    edit(root, FIRST)
    compare(root)
    for step in script:
        edit(root, FIRST if step.is_mended else ())
        edit(root, step.edits)
        if step.before is not None:
            build_at_odds(root, step.before)
        first = _build_again(root)
        clean = _clean_build(root)
        _expect_clean(root, first, clean, is_first=True)
        # older than a tick of the clock: now stamps may answer
        time.sleep(0.06)
        for _ in range(2):
            _expect_clean(root, _build_again(root), clean)
        checks = [build(root, write=False, use_cache=kept) for kept in (True, False)]
        assert checks[0].diagnostics == checks[1].diagnostics
    shutil.rmtree(root.with_name("fresh"), ignore_errors=True)
    shutil.rmtree(root)


def edit(root: Path, changes: tuple[Edit, ...]) -> None:
    """Make the edits of one step. Trust the site if the edits change code."""
    for path, text in changes:
        if path == FOLDER:
            edit_records(root, text or "")
            continue
        write(cache_path(root) if path == KEPT else root / path, text)
        if path.startswith("plugins/") or any(word in (text or "") for word in ("plugins", "```")):
            trust(root)


def edit_records(root: Path, what: str) -> None:
    """Apply one of `RECORDS` to the records of all cells."""
    if what == "delete":
        shutil.rmtree(root / FOLDER, ignore_errors=True)
    for file in sorted((root / FOLDER).rglob("*.*")):
        data = file.read_bytes()
        if what == "truncate":
            file.write_bytes(data[: len(data) // 2])
        elif what == "age":
            file.write_bytes(data.replace(b"2026", b"2025"))
        elif what == "redraw":
            file.write_bytes(data.replace(b'width="4"', b'width="9"'))


def build_at_odds(root: Path, what: int | Literal["two"]) -> None:
    """Run a build that is killed at its n-th access to the site folder, or two builds in parallel."""
    if what == "two":
        build_twice_at_once(root)
    else:
        code = in_child(at_step(what, root, kill_self, _remember))
        assert code in (0, -signal.SIGKILL)


def build_twice_at_once(root: Path) -> None:
    """Run two builds with the same cache in parallel."""
    context = multiprocessing.get_context("fork")
    running = [context.Process(target=build, args=(root,), kwargs={"use_cache": True}) for _ in range(2)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0, 0]


def _remember(root: Path) -> int:
    build(root, use_cache=True)
    return 0


def _build_again(root: Path) -> BuildReport:
    """Build as the command does: from the last build if nothing changed, otherwise with the cache."""
    return unchanged(root) or build(root, use_cache=True, request_digest="the same", output=root / "public")


def unchanged(root: Path) -> BuildReport | None:
    """Return the last report of these tests, if nothing has changed since."""
    with open_rows(root) as rows:
        return find_last_report(root, rows, "the same", NOW)


def _clean_build(root: Path) -> BuildReport:
    return build(root, output=root.with_name("fresh"))


def _expect_clean(root: Path, report: BuildReport, clean: BuildReport, *, is_first: bool = False) -> None:
    """Check that both builds reported and wrote the same.

    is_first: this build may have replaced damaged records and reports it; the clean build then found valid
    ones.
    """
    unequal = ("freeze-damaged",) if is_first else ()
    told, expected = (
        [found for found in one.diagnostics if found.code not in unequal] for one in (report, clean)
    )
    assert told == expected
    assert report.ok == clean.ok
    if report.ok:
        assert built(root / "public") == built(root.with_name("fresh"))
        names = ("pages", "formulas", "code_blocks", "images", "drafts", "scheduled", "cells")
        assert [getattr(report, name) for name in names] == [getattr(clean, name) for name in names]
