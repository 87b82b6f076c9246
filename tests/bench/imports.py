"""How long an import takes, or how well real sites are imported, with a line for each given folder.

    python -m tests.bench.imports [--posts N] [--rounds N] [--base PROGRAM]
    python -m tests.bench.imports FOLDER...
    python -m tests.bench.imports --numbers PAPER.tex...

`import_times` describes the first form, and `paper_numbers` the last one.

Every site is imported to a temporary folder, built, and compared with its source. The columns: pages; pages
without build errors; for each kind, items of the source, and how many of them are missing in the new pages
although the report does not mention them; share of the formulas that are neither missing nor shown as TeX;
items left unchanged; CPU time. A folder may also be the source of a LaTeX paper.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult

from .import_times import print_times
from .paper_numbers import print_numbers

COLUMNS = (
    "site",
    "system",
    "pages",
    "clean",
    "errors",
    "formulas",
    "typeset",
    "code",
    "images",
    "words",
    "left",
    "s",
)
COUNTED = ("formulas", "code", "images", "words")
SHOWN = 3
"""Differences of a site that are printed below the table."""


def row_of(folder: Path, done: ImportResult, seconds: float) -> list[str]:
    """Return one line of the table; `5189/2` means that 2 of 5189 are missing."""
    pages = done.check.pages
    has: Counter[str] = Counter()
    for page in pages:
        has.update(page.counts)
    missing: Counter[str] = Counter()
    for difference in done.check.differences:
        missing[difference.what] += difference.count
    cells = [f"{has[kind]}/{missing[kind]}" if missing[kind] else str(has[kind]) for kind in COUNTED]
    clean = sum(page.errors == 0 for page in pages)
    left = sum(notice.kind == "left" for notice in done.site.all_notices)
    numbers = [str(number) for number in (len(pages), clean, done.check.errors)]
    bad = missing["formulas"] + done.check.formula_errors
    typeset = f"{100 - 100 * bad / has['formulas']:.2f} %" if has["formulas"] else "–"
    cells.insert(1, typeset)
    return [folder.name, done.title, *numbers, *cells, str(left), f"{seconds:.1f}"]


def import_folder(folder: Path) -> tuple[list[str], Iterator[str]]:
    """Import a folder; return its line of the table, and its first differences and errors."""
    options = ImportOptions(now=dt.datetime.now(dt.UTC), dry_run=True)
    start = time.process_time()
    try:
        done = import_site(folder, folder.parent / f"{folder.name}-blogsmith", options, lambda *_: None)
    except SiteError as error:
        return [folder.name, "-"], iter([found.message for found in error.diagnostics])
    return row_of(folder, done, time.process_time() - start), _examples(done)


def _examples(done: ImportResult) -> Iterator[str]:
    for one in done.check.differences[:SHOWN]:
        yield f"{one.source}:{one.line} missing {one.what}: {one.text[:80]}"
    errors = [found for found in done.check.diagnostics if found.severity == "error"]
    for found in errors[:SHOWN]:
        yield f"{found.path}:{found.place.line if found.place else 0} {found.code}: {found.message[:80]}"


def main(arguments: Sequence[str]) -> int:
    """Print the times, or the table followed by examples of differences and errors."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.imports")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--posts", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--base", default="", metavar="PROGRAM", help="Another version of blogsmith.")
    parser.add_argument("--numbers", action="store_true", help="Compare the numbers of papers with LaTeX.")
    options = parser.parse_args(arguments)
    if options.numbers:
        return int(not print_numbers([paper.resolve() for paper in options.folders]))
    if options.folders:
        _print_table(options.folders)
    else:
        print_times(options.posts, options.rounds, options.base)
    return 0


def _print_table(folders: Sequence[Path]) -> None:
    rows, notes = [list(COLUMNS)], []
    for folder in folders:
        row, examples = import_folder(folder.resolve())
        rows.append(row + [""] * (len(COLUMNS) - len(row)))
        notes += [f"{folder.name}: {example}" for example in examples]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(*notes, sep="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
