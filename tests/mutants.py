"""Checks that the tests notice faults: `make mutants` breaks a copy of the package in important places.

Each row is a possible fault and the test files that must fail then. `make test` runs those files too, so it
fails as well. This check is not part of `make test`, because it verifies that command.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMIT_S = 1800
"""Seconds for the tests of one row, on a busy machine."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault in one place."""

    name: str
    file: str
    """Path below the package."""
    old: str
    """A string that occurs exactly once in the file."""
    new: str
    tests: tuple[str, ...]
    """Files or tests below `tests/`."""


MUTANTS = (
    Mutant(
        "links lead out of the site",
        "base/storage/symlinks.py",
        "if not target.is_relative_to(self.root):",
        "if not target.is_absolute():",
        ("security/test_links.py",),
    ),
    Mutant(
        "links in the way of our folders are followed",
        "base/storage/folder.py",
        '_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))',
        '_PLAIN = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY"))',
        ("security/test_own_folders.py",),
    ),
    Mutant(
        "templates come from outside the theme",
        "render/templates/files.py",
        "if (is_link or not is_plain) and not _is_inside(path, folder):",
        "if not is_plain and not _is_inside(path, folder):",
        ("security/test_links.py", "test_theme.py"),
    ),
    Mutant(
        "text is not escaped",
        "render/prose.py",
        'text = text.replace("<", "&lt;")',
        'text = text.replace("<", "<")',
        ("test_cases.py",),
    ),
    Mutant(
        "formulas link to scripts",
        "tex/mathml/allowlist.py",
        "return _ADDRESS.fullmatch(url) is not None",
        'return _ADDRESS.fullmatch(url) is not None or url.startswith("javascript:")',
        ("test_tex_door.py", "security/test_formulas.py"),
    ),
    Mutant(
        "a thin space in scripts",
        "tex/mathml/atoms.py",
        "kind == ORD or kind >= INTEGRAL or (kind == INNER and not in_script)",
        "kind == ORD or kind >= INTEGRAL or kind == INNER",
        ("test_tex_spacing.py",),
    ),
    Mutant(
        "a binary sign behind an opening one",
        "tex/mathml/atoms.py",
        "if previous == OPEN or (previous >= NONE and previous != INNER):",
        "if previous >= NONE and previous != INNER:",
        ("test_tex_spacing.py",),
    ),
    Mutant(
        "pages post forms anywhere",
        "render/policy/policy.py",
        '_ALWAYS = frozenset(("default-src", "form-action", "base-uri"))',
        '_ALWAYS = frozenset(("default-src", "base-uri"))',
        ("test_page_policy.py",),
    ),
    Mutant(
        "a changed plugin stays trusted",
        "project/trust/consent.py",
        'return Consent("changed" if changes else "given", code, files, settings, changes)',
        'return Consent("given", code, files, settings, changes)',
        ("test_trust.py",),
    ),
    Mutant(
        "no deadline for a lexer",
        "render/lexing.py",
        "with alarm(deadline_s, LexTimeout, is_cpu_time=True):",
        "with alarm(10 * deadline_s, LexTimeout, working=True):",
        ("test_code.py", "test_process_builds.py::TestBuilds::test_code_that_takes_too_long"),
    ),
    Mutant(
        "an option that changes results is no part of the key",
        "freeze/keys.py",
        "return _digest(before, code, *(part for item in options.items() for part in item))",
        "return _digest(before, code)",
        ("test_freeze_keys.py",),
    ),
    Mutant(
        "the cells above are no part of the key",
        "freeze/keys.py",
        "return _digest(before, code, *(part for item in options.items() for part in item))",
        "return _digest(code, *(part for item in options.items() for part in item))",
        ("test_freeze_keys.py", "test_staleness.py"),
    ),
    Mutant(
        "files that code reads do not count",
        "freeze/staleness.py",
        "        yield from self.changes.file_reasons(match.index)\n",
        "",
        ("test_staleness.py", "test_performing.py"),
    ),
    Mutant(
        "pages keep what others said",
        "rows/trace.py",
        "return all(\n        lookup.is_valid(tools)\n",
        "return all(\n        True\n",
        ("test_preview_line.py", "test_page_edits.py"),
    ),
    Mutant(
        "a cache that others may write is read",
        "base/storage/own_folder.py",
        "if status.st_mode & _OTHERS_WRITE:",
        "if status.st_mode & _OTHERS_WRITE == _OTHERS_WRITE:",
        ("security/test_kept_builds.py",),
    ),
    Mutant(
        "the cache of another site is read",
        "base/storage/cache_file.py",
        "if root != _text(real):",
        "if not root:",
        ("security/test_kept_builds.py", "test_site_cache.py"),
    ),
    Mutant(
        "rows that are damaged are believed",
        "base/storage/site_cache.py",
        "or crc32(data) != check_sum:",
        "or check_sum is None:",
        ("test_site_cache.py",),
    ),
    Mutant(
        "a build does not look at what others did to its output",
        "build/last_build.py",
        "not record.extent.writes or record.outputs == _outputs_digest(record.extent.output)",
        "not record.extent.writes or Path(record.extent.output).exists()",
        ("test_unchanged_builds.py",),
    ),
    Mutant(
        "the caret stands one to the right",
        "base/diagnostics/format.py",
        'where = f"{diagnostic.path}:{place.line}:{place.column}" if place else diagnostic.path',
        'where = f"{diagnostic.path}:{place.line}:{place.column + 1}" if place else diagnostic.path',
        ("test_broken.py",),
    ),
    Mutant(
        "feeds are longer than the settings say",
        "site/feeds.py",
        "return [post for post in posts if post.date][:most]",
        "return [post for post in posts if post.date][: most + 1]",
        ("test_feeds.py",),
    ),
    Mutant(
        "pictures lose their ratio",
        "render/dimensions.py",
        "Dimensions(replace(info, width_px=across, height_px=down), style)",
        "Dimensions(replace(info, width_px=across), style)",
        ("test_images.py", "test_cases.py"),
    ),
    Mutant(
        "two write at once",
        "base/storage/lock.py",
        'raise LockBusyError(holder.decode() if holder.isdigit() else "")',
        "break",
        ("test_output.py",),
    ),
    Mutant(
        "the preview answers to any name",
        "preview/http/guard.py",
        "if host.lower() not in hosts:",
        "if host.lower() not in hosts and not host:",
        ("test_preview_server_guard.py",),
    ),
    Mutant(
        "archives place files beside the site",
        "freeze/archive.py",
        'part == ".." or ',
        "",
        ("security/test_archives.py",),
    ),
    Mutant(
        "terminals obey what a site says",
        "base/diagnostics/format.py",
        "hides = acts or not is_visible(text, index)",
        "hides = acts and not is_visible(text, index)",
        ("security/test_characters.py",),
    ),
    Mutant(
        "links of one language lead to another",
        "site/index.py",
        'return path if own in group.values() else group.get(self.editions.get(own, ""), path)',
        "return path",
        ("test_editions.py",),
    ),
)


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


def main(names: Sequence[str]) -> int:
    """Try faults: all, or those whose names contain one of the strings. Return 1 if one is not noticed."""
    chosen = [one for one in MUTANTS if not names or any(name in one.name for name in names)]
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
    sys.exit(main(parser.parse_args().names))
