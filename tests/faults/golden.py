"""Digests of the output of test sites, as the last release built them.

`golden/<site>.txt` has a line for each output file. `golden/changes.txt` lists intended changes since then:
a pattern of paths, and the words that announce the change in CHANGELOG.md. Each release renews the
digests with `python -m tests.regen golden`, which empties that list.
"""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import blogsmith
from tests.faults.children import public
from tests.site_files import build
from tests.test_sites import FOLDER, copied

GOLDEN = Path(__file__).parent / "golden"
CHANGES = GOLDEN / "changes.txt"
SITES = ("blog", "everything")
HEADER = """\
# What pages have that the last release made differently: a pattern of paths, then words of CHANGELOG.md.
# `python -m tests.regen golden` empties this list; see ../golden.py.
"""


def digests(root: Path) -> dict[str, str]:
    """Return the digest of each output file, with the version number of blogsmith replaced."""
    version = blogsmith.__version__.encode()
    files = {path: data.replace(version, b"VERSION") for path, data in public(root).items()}
    del files[".blogsmith-manifest.json"]
    return {path: hashlib.sha256(data).hexdigest()[:16] for path, data in files.items()}


def built(name: str, folder: Path) -> dict[str, str]:
    """Build the named site in `folder` and return its digests."""
    root = copied(FOLDER / name, folder / name)
    report = build(root)
    assert report.ok, report.diagnostics
    return digests(root)


def recorded(name: str) -> dict[str, str]:
    """Return the digests of the named site at the last release."""
    lines = (GOLDEN / f"{name}.txt").read_text("utf-8").splitlines()
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def listed() -> dict[str, str]:
    """Return the intended changes: pattern of paths → words of the changelog."""
    lines = CHANGES.read_text("utf-8").splitlines()
    pairs = (line.partition("  ") for line in lines if line and not line.startswith("#"))
    return {pattern: words.strip() for pattern, _, words in pairs}


def difference(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return the paths that were added, removed or changed."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def is_listed(path: str, patterns: dict[str, str]) -> bool:
    """Return whether the change of this file is intended."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def regenerate() -> None:
    """Record the digests of the sites as they are built now, and empty the list of changes."""
    GOLDEN.mkdir(exist_ok=True)
    for name in SITES:
        with TemporaryDirectory() as folder:
            found = built(name, Path(folder))
        lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(found.items()))
        (GOLDEN / f"{name}.txt").write_text(lines, "utf-8")
    CHANGES.write_text(HEADER, "utf-8")
