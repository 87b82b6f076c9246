"""Make a release: check, update version and changelog, commit, tag, build packages, print how to publish.

    python -m scripts.release 0.2.0             in a clean checkout of main
    python -m scripts.release --dry-run 0.2.0   the same in a temporary clone
    python -m scripts.release --packages 0.2.0  only the packages of a tagged commit, for the workflow

Nothing is pushed or uploaded. Any problem stops the release before anything is changed. Only the packages
are checked later, because they are built from the commit with the new version.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from .sbom import format_sbom

ROOT = Path(__file__).parent.parent
VERSION_FILE = "blogsmith/__init__.py"
CHANGELOG = "CHANGELOG.md"
UPGRADE_NOTES = "content/docs/upgrading.md"
"""Page of the manual that quotes the breaking changes of the changelog."""
PACKAGE = "blogsmith_site"
LOCK = ".ci/requirements.txt"
SBOM = "sbom.cdx.json"
"""File that describes the parts of the release, in the folder of its packages."""
UNRELEASED = "## Unreleased"
CHECKS = ("make check", "make types-elsewhere")
"""Commands that must succeed. The release manager runs `make test` and the long tests, see RELEASING.md."""
_VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_REFUSED = ("tests/", "_freeze/", ".git/", "__pycache__")
"""Path prefixes that a wheel must not contain."""


class ReleaseError(Exception):
    """Error with the reason why the release is not made."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a release; exit code 0 if it succeeded, 1 if not."""
    parser = argparse.ArgumentParser(description="Make a release; nothing is pushed or uploaded.")
    parser.add_argument("version", help="the new version, such as 0.2.0")
    parser.add_argument("--dry-run", action="store_true", help="work in a clone that is thrown away")
    parser.add_argument("--packages", action="store_true", help="change nothing; write dist/ and check it")
    parser.add_argument("--checks", default=" && ".join(CHECKS), help="what has to be green")
    parser.add_argument("--date", type=dt.date.fromisoformat, default=None, help="by default today")
    given = parser.parse_args(arguments)
    date = given.date or dt.datetime.now(dt.UTC).date()
    try:
        if given.packages:
            write_packages(ROOT, given.version)
            return 0
        if not given.dry_run:
            make_release(ROOT, given.version, date, given.checks)
            return 0
        with tempfile.TemporaryDirectory(prefix="release-") as folder:
            clone = Path(folder) / "clone"
            require_clean(ROOT)
            _run(ROOT, "git", "clone", "--quiet", str(ROOT), str(clone))
            make_release(clone, given.version, date, given.checks)
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    print("a dry run: nothing of this is left")
    return 0


def make_release(root: Path, version: str, date: dt.date, checks: str) -> None:
    """Run all steps in a checkout.

    Raises ReleaseError or CalledProcessError, with nothing committed, if a check fails.
    """
    require_clean(root)
    code = (root / VERSION_FILE).read_text("utf-8")
    changes = (root / CHANGELOG).read_text("utf-8")
    code, changes = with_version(code, version), with_date(changes, version, date)
    if _run(root, "git", "tag", "--list", f"v{version}"):
        raise ReleaseError(f"there is a tag v{version}")
    if checks:
        print(f"checks: {checks}", flush=True)
        subprocess.run(["bash", "-ec", checks], cwd=root, check=True)
    (root / VERSION_FILE).write_text(code, encoding="utf-8")
    (root / CHANGELOG).write_text(changes, encoding="utf-8")
    notes = root / UPGRADE_NOTES
    heading = f"\n### {version} — {date.isoformat()}\n"
    notes.write_text(notes.read_text("utf-8").replace(f"\n#{UNRELEASED}\n", heading), encoding="utf-8")
    _run(root, "git", "commit", "--quiet", "--all", "--message", f"Version {version}")
    _run(root, "git", "tag", "--annotate", f"v{version}", "--message", f"Version {version}")
    packages = write_packages(root, version)
    print(f"version {version} is committed and tagged, and dist/ has {packages[0].name}; to publish it:")
    print(f"    git push origin HEAD v{version}")
    print("the workflow `release` then builds the packages of the tag again, attests and uploads them")


def require_clean(root: Path) -> None:
    """Raise ReleaseError if a file is changed or untracked: a release contains only committed files."""
    changed = _run(root, "git", "status", "--porcelain")
    if changed:
        raise ReleaseError(f"files are not committed:\n{changed}")


def with_version(code: str, version: str) -> str:
    """Return the version module with the new version; ReleaseError if it is older or invalid."""
    found, wanted = _VERSION.search(code), _NUMBER.fullmatch(version)
    if wanted is None:
        raise ReleaseError(f'invalid version "{version}": expected a number such as 0.2.0')
    if found is None:
        raise ReleaseError(f"{VERSION_FILE} has no version")
    present = _NUMBER.match(found["version"])
    # The first release may have the number that the module has had from the start.
    if present and tuple(map(int, wanted.groups())) < tuple(map(int, present.groups())):
        raise ReleaseError(f"{version} is older than {found['version']}")
    return code[: found.start("version")] + version + code[found.end("version") :]


def with_date(changes: str, version: str, date: dt.date) -> str:
    """Return the changelog with version and date on its open section, under a new empty section."""
    before, mark, after = changes.partition(f"\n{UNRELEASED}\n")
    section = after.partition("\n## ")[0]
    if not mark or not re.search(r"^- ", section, re.MULTILINE):
        raise ReleaseError(f"{CHANGELOG} says nothing under Unreleased")
    if f"\n## {version} " in changes:
        raise ReleaseError(f"{CHANGELOG} has {version} already")
    return f"{before}\n{UNRELEASED}\n\n## {version} — {date.isoformat()}\n{after}"


def write_packages(root: Path, version: str) -> list[Path]:
    """Write both packages and their SBOM to `dist/`, and return the packages.

    Raises ReleaseError if the commit has another version.
    """
    packages = build_packages(root, root / "dist")
    check_packages(packages, version)
    (root / "dist" / SBOM).write_text(format_sbom(packages[0], root / LOCK), "utf-8")
    return packages


def build_packages(root: Path, target: Path) -> list[Path]:
    """Build the source archive and the wheel from the committed files."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        _run(root, "git", "clone", "--quiet", str(root), str(clone))
        for kind in ("sdist", "wheel"):
            _run(clone, sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target))
    return sorted(target.iterdir())


def check_packages(packages: Sequence[Path], version: str) -> None:
    """Raise ReleaseError if a registry would reject the packages or they contain unwanted files."""
    names = [f"{PACKAGE}-{version}-py3-none-any.whl", f"{PACKAGE}-{version}.tar.gz"]
    if [package.name for package in packages] != names:
        raise ReleaseError(
            f"dist/ holds {', '.join(package.name for package in packages)}; {' and '.join(names)} expected"
        )
    with zipfile.ZipFile(packages[0]) as wheel:
        if bad := wheel.testzip():
            raise ReleaseError(f"{bad} in the wheel is damaged")
        held = wheel.namelist()
        metadata = wheel.read(f"{PACKAGE}-{version}.dist-info/METADATA").decode()
    if wrong := [name for name in held if name.startswith(_REFUSED) or "__pycache__" in name]:
        raise ReleaseError(f"the wheel holds {wrong[0]}")
    for line in ("Name: blogsmith-site", f"Version: {version}", "Description-Content-Type: text/markdown"):
        if f"\n{line}\n" not in metadata:
            raise ReleaseError(f"the wheel does not say {line}")
    with tarfile.open(packages[1]) as archive:
        folder = f"{PACKAGE}-{version}/"
        if wrong := [name for name in archive.getnames() if not name.startswith(folder)]:
            raise ReleaseError(f"the source archive holds {wrong[0]} beside its folder")


def _run(folder: Path, *command: str) -> str:
    """Return the output of a command. Raises CalledProcessError if it fails."""
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
