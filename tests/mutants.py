"""Checks that the tests notice faults: `make mutants` breaks a copy of the package in important places.

Each row of `mutant_rows.py` is a possible fault and the tests that must fail then. `make test` runs them too,
so it fails as well. This check is not part of `make test`, because it verifies that command.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutant_rows import GUARDS, MUTANTS, Mutant

ROOT = Path(__file__).parent.parent
LIMIT_S = 1800
"""Seconds for the tests of one row, on a busy machine."""


def copied(folder: Path) -> Path:
    """Copy the tracked and new files of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if (ROOT / ".cache").is_dir():
        (folder / ".cache").symlink_to((ROOT / ".cache").resolve())
    return folder


def failure(root: Path, tests: Sequence[str]) -> str:
    """Return the output of pytest if one of these tests fails in a copy, otherwise an empty string.

    RuntimeError if they cannot be run.
    """
    paths = [f"tests/{test}" for test in tests]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *paths]
    done = subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout[-4000:] + done.stderr[-4000:])
    return done.stdout if done.returncode else ""


def is_caught(root: Path, mutant: Mutant) -> bool:
    """Return whether the tests of a fault fail with it; ValueError if the code to replace has changed."""
    file = root / "blogsmith" / mutant.file
    text = file.read_text("utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: {mutant.file} has changed, give the row another place")
    file.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    try:
        return bool(failure(root, mutant.tests))
    finally:
        file.write_text(text, "utf-8")


def main(names: Sequence[str], rows: Sequence[Mutant]) -> int:
    """Try faults: all rows, or those whose names contain one of the strings. Return 1 if one is not
    noticed."""
    chosen = [one for one in rows if not names or any(name in one.name for name in names)]
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder))
        if said := failure(root, sorted({test for mutant in chosen for test in mutant.tests})):
            print(f"{said}\nthe tests fail without any fault")
            return 1
        caught = 0
        for mutant in chosen:
            found = is_caught(root, mutant)
            caught += found
            print(f"{'caught' if found else 'MISSED':7} {mutant.name} ({mutant.file})", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="words of names of faults; all by default")
    parser.add_argument("--guards", action="store_true", help="only checks that protect authors and readers")
    options = parser.parse_args()
    sys.exit(main(options.names, GUARDS if options.guards else MUTANTS))
