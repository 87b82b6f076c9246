"""The release script: what it writes, what it rejects, and a whole release in a temporary clone."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

import pytest

from scripts import release
from tests.distribution_files import copy_checkout

DAY = dt.date(2026, 12, 1)
CHANGES = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.1.0 — 2026-01-01\n\n- All.\n"


def test_the_open_section_gets_version_and_date() -> None:
    changed = release.with_date(CHANGES, "0.2.0", DAY)
    assert "\n## Unreleased\n\n## 0.2.0 — 2026-12-01\n\n### Added\n\n- A thing.\n" in changed
    assert changed.endswith("## 0.1.0 — 2026-01-01\n\n- All.\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("# Changelog\n", "says nothing"),
        ("# Changelog\n\n## Unreleased\n\n## 0.1.0 — 2026-01-01\n\n- All.\n", "says nothing"),
        (CHANGES.replace("0.1.0", "0.2.0"), "has 0.2.0 already"),
    ],
)
def test_a_changelog_that_does_not_fit_is_refused(changes: str, message: str) -> None:
    with pytest.raises(release.ReleaseError, match=message):
        release.with_date(changes, "0.2.0", DAY)


@pytest.mark.parametrize(
    ("present", "wanted", "message"),
    [
        ("0.2.0", "0.1.9", "is older than"),
        ("0.1.0", "next", "invalid version"),
        ("0.1.0", "1.0", "invalid version"),
    ],
)
def test_a_version_that_does_not_fit_is_refused(present: str, wanted: str, message: str) -> None:
    with pytest.raises(release.ReleaseError, match=message):
        release.with_version(f'__version__ = "{present}"\n', wanted)


def test_only_the_version_changes() -> None:
    code = '"""A."""\n\n__version__ = "0.1.0"\nx = "0.1.0"\n'
    assert release.with_version(code, "0.10.0") == '"""A."""\n\n__version__ = "0.10.0"\nx = "0.1.0"\n'


def git(root: Path, *arguments: str) -> str:
    named = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", *named, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return this checkout as a repository of one commit."""
    root = tmp_path / "repository"
    root.mkdir()
    copy_checkout(root)
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "All")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    monkeypatch.setattr(release, "ROOT", root)
    return root


@pytest.mark.long
def test_a_release_that_is_only_tried(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = git(checkout, "log", "--oneline"), git(checkout, "status", "--porcelain")
    assert (
        release.main(["--dry-run", "--checks", "test -f pyproject.toml", "--date", "2026-12-01", "7.0.0"])
        == 0
    )
    shown = capfd.readouterr().out
    assert "dist/ has blogsmith_site-7.0.0-py3-none-any.whl" in shown
    assert "    git push origin HEAD v7.0.0\n" in shown
    assert (git(checkout, "log", "--oneline"), git(checkout, "status", "--porcelain")) == before
    assert git(checkout, "tag") == ""
    assert not (checkout / "dist").exists()


@pytest.mark.long
def test_a_release(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert release.main(["--checks", "", "--date", "2026-12-01", "7.0.0"]) == 0
    assert git(checkout, "tag") == "v7.0.0\n"
    assert git(checkout, "log", "-1", "--format=%s").strip() == "Version 7.0.0"
    assert "## 7.0.0 — 2026-12-01" in (checkout / "CHANGELOG.md").read_text("utf-8")
    # the manual's generated part is still current
    notes = (checkout / "content/docs/upgrading.md").read_text("utf-8")
    assert "### 7.0.0 — 2026-12-01\n" in notes and "### Unreleased\n" not in notes
    assert {file.suffix for file in (checkout / "dist").iterdir()} == {".whl", ".gz", ".json"}
    # a second release has no changes to describe
    assert release.main(["--checks", "", "7.1.0"]) == 1
    assert "says nothing under Unreleased" in capfd.readouterr().err


@pytest.mark.long
def test_what_is_not_committed_is_not_released(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (checkout / "new.txt").write_text("x")
    assert release.main(["--checks", "", "7.0.0"]) == 1
    assert "not committed" in capfd.readouterr().err


@pytest.mark.long
def test_checks_that_fail_stop_it(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert release.main(["--checks", "exit 3", "7.0.0"]) == 1
    assert git(checkout, "status", "--porcelain") == ""
    assert git(checkout, "tag") == ""
