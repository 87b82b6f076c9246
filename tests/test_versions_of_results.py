"""Results of other versions: information, warnings, and machines that only publish."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.project.report import ExecutionOptions
from tests.recorded import unsealed
from tests.run_sites import STALE, site
from tests.site_files import build

MAJOR, MINOR, _ = platform.python_version_tuple()
PATCH = f"{MAJOR}.{MINOR}.99"
OTHER = f"{MAJOR}.{int(MINOR) - 1}.4"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    site(tmp_path, a="print(1)")
    assert build(tmp_path, execution=STALE).ok
    return tmp_path


def recorded_with(root: Path, python: str) -> None:
    (file,) = (root / "_freeze").rglob("outputs.json")
    text = unsealed(file.read_bytes()).decode()
    file.write_text(re.sub(r'"python": ".*"', f'"python": "{python}"', text), "utf-8")


@pytest.mark.parametrize("python", [PATCH, OTHER])
def test_the_workflow_of_the_manual_passes_with_any_python(root: Path, python: str) -> None:
    """If nothing may run, the Python version does not matter."""
    recorded_with(root, python)
    assert main(["build", "--frozen", "--strict", "--site", str(root)]) == 0
    assert main(["freeze", "status", "--site", str(root)]) == 0


def test_with_strict_env_a_machine_that_publishes_refuses(root: Path) -> None:
    recorded_with(root, PATCH)
    asked = ExecutionOptions(frozen=True, strict_versions=True)
    assert [found.code for found in build(root, execution=asked).diagnostics] == ["freeze-stale"]


@pytest.mark.parametrize(("python", "codes"), [(PATCH, []), (OTHER, ["cell-versions"])])
def test_where_cells_may_run_a_patch_level_is_no_warning(root: Path, python: str, codes: list[str]) -> None:
    recorded_with(root, python)
    assert [found.code for found in build(root).diagnostics] == codes


def test_freeze_explain_tells_every_difference(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded_with(root, PATCH)
    assert main(["freeze", "explain", "--site", str(root)]) == 0
    told = f"  recorded with another version: python {PATCH} → {platform.python_version()}\n"
    assert told in capsys.readouterr().out
