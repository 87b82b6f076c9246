"""Sites as the last release made them, by the digest of every file.

`golden/<site>.txt` has a line for each file of the output. `golden/changes.txt` lists what has changed on
purpose since: a pattern of paths, and the words with which CHANGELOG.md tells authors of it. A release takes
the digests anew, with `python -m tests.regen golden`, which empties that list.
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
    """Each file of a built site; the number of the version, which pages name, counts for nothing."""
    version = blogsmith.__version__.encode()
    files = {path: data.replace(version, b"VERSION") for path, data in public(root).items()}
    del files[".blogsmith-manifest.json"]
    return {path: hashlib.sha256(data).hexdigest()[:16] for path, data in files.items()}


def built(name: str, folder: Path) -> dict[str, str]:
    """The same of one of the sites, built now."""
    root = copied(FOLDER / name, folder / name)
    report = build(root)
    assert report.ok, report.diagnostics
    return digests(root)


def recorded(name: str) -> dict[str, str]:
    """The same as it was then."""
    lines = (GOLDEN / f"{name}.txt").read_text("utf-8").splitlines()
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def listed() -> dict[str, str]:
    """Pattern → words of the changelog."""
    lines = CHANGES.read_text("utf-8").splitlines()
    pairs = (line.partition("  ") for line in lines if line and not line.startswith("#"))
    return {pattern: words.strip() for pattern, _, words in pairs}


def difference(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Paths that came, went or changed."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def is_listed(path: str, patterns: dict[str, str]) -> bool:
    """Whether a change of this file is one on purpose."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def regenerate() -> None:
    """Take the sites as they are made now."""
    GOLDEN.mkdir(exist_ok=True)
    for name in SITES:
        with TemporaryDirectory() as folder:
            found = built(name, Path(folder))
        lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(found.items()))
        (GOLDEN / f"{name}.txt").write_text(lines, "utf-8")
    CHANGES.write_text(HEADER, "utf-8")
