"""`blogsmith.lab` in the Python of `execute: python:`, an environment without blogsmith."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from blogsmith import __version__
from blogsmith.execute.probe.requirements import probe_versions, unmet
from blogsmith.execute.session.fork_server_client import ForkServer
from blogsmith.execute.session.session import run_session
from blogsmith.execute.worker import lab_finder
from blogsmith.model.cells import Need
from blogsmith.model.results import CellRun, Failure, SessionRun
from tests.run_sites import STALE, site
from tests.sessions import LINUX, job, printed
from tests.site_files import build
from tests.site_files import printed as printed_report

numpy = pytest.importorskip("numpy")
ROOT = Path(__file__).parent.parent
SOFTMAX = "from blogsmith.lab import softmax\nprint(softmax([0.0, 0.0]))"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a virtual environment with the NumPy of this one, and nothing else."""
    folder = tmp_path_factory.mktemp("other") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = Path(numpy.__file__).parent.parent
    for name in ("numpy", "numpy.libs"):
        if (packages / name).exists():
            (site_packages(folder) / name).symlink_to(packages / name)
    return folder


def site_packages(environment: Path) -> Path:
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def python(environment: Path) -> str:
    return str(environment / "bin/python")


def run(tmp_path: Path, environment: Path, *cells: str, **more: Any) -> SessionRun:
    return run_session(job(tmp_path, *cells, python=python(environment), **more))


def failure(run: CellRun) -> str:
    (found,) = (output for output in run.outputs if isinstance(output, Failure))
    return f"{found.name}: {found.message}"


def test_the_environment_has_no_blogsmith(environment: Path) -> None:
    command = [python(environment), "-c", "import blogsmith"]
    asked = subprocess.run(command, capture_output=True, cwd="/", check=False)
    assert b"No module named 'blogsmith'" in asked.stderr


def test_a_cell_computes_attention(tmp_path: Path, environment: Path) -> None:
    code = (
        "import numpy as np\n"
        "from blogsmith.lab import attention\n"
        "attended = attention(*np.ones((3, 1, 2, 4)), backend='numpy')\n"
        "print(attended.output.tolist(), attended.ran)"
    )
    ran = run(tmp_path, environment, code)
    assert printed(ran.cells[0]) == "[[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]] numpy on the CPU\n"
    assert ran.machine.packages == {"blogsmith": __version__, "numpy": numpy.__version__}


@pytest.mark.skipif(not LINUX, reason="Landlock is part of Linux")
def test_in_a_sandbox(tmp_path: Path, environment: Path) -> None:
    ran = run(tmp_path, environment, SOFTMAX, sandbox="landlock")
    if "cannot be set up" in ran.problem:
        pytest.skip(ran.problem)
    assert printed(ran.cells[0]) == "[0.5 0.5]\n"


@pytest.mark.parametrize("preload", ["decimal", "blogsmith.lab"])
def test_in_a_forked_worker(tmp_path: Path, environment: Path, preload: str) -> None:
    work = job(tmp_path, SOFTMAX, python=python(environment))
    with ForkServer(work.python, (preload,), work.env) as server:
        assert (server.fork_obstacle(work), dict(server.import_errors)) == ("", {})
        ran = run_session(work, start=server.start)
    assert printed(ran.cells[0]) == "[0.5 0.5]\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import blogsmith.execute", "No module named 'blogsmith.execute'"),
        ("import blogsmith\nblogsmith.cli", "module 'blogsmith' has no attribute 'cli'"),
        # installed with blogsmith, and no affair of cells
        ("import blogsmith.lab, msgspec", "No module named 'msgspec'"),
        ("import blogsmith.lab.no_such_part", "No module named 'blogsmith.lab.no_such_part'"),
    ],
)
def test_nothing_else_can_be_imported(tmp_path: Path, environment: Path, code: str, message: str) -> None:
    assert message in failure(run(tmp_path, environment, code).cells[0])


def test_an_installed_program_of_that_name_keeps_it(tmp_path: Path, environment: Path) -> None:
    """A package of this name in a registry may be another program; only the missing part is added."""
    installed = site_packages(environment) / "blogsmith"
    installed.mkdir()
    (installed / "__init__.py").write_text("smith = 'other'\n")
    with ExitStack() as stack:
        stack.callback(installed.rmdir)
        stack.callback((installed / "__init__.py").unlink)
        ran = run(tmp_path, environment, f"import blogsmith\nprint(blogsmith.smith)\n{SOFTMAX}")
    assert printed(ran.cells[0]) == "other\n[0.5 0.5]\n"


def test_a_module_of_the_site_keeps_its_name(tmp_path: Path, environment: Path) -> None:
    (tmp_path / "content/blogsmith/lab").mkdir(parents=True)
    (tmp_path / "content/blogsmith/lab/__init__.py").write_text("def softmax(x): return 'mine'\n")
    ran = run(tmp_path, environment, SOFTMAX)
    assert printed(ran.cells[0]) == "mine\n"
    assert ran.cells[0].modules.keys() == {"content/blogsmith/lab/__init__.py"}


def test_a_site_that_contains_the_lab_records_its_files(environment: Path) -> None:
    ran = run(ROOT, environment, SOFTMAX)
    assert printed(ran.cells[0]) == "[0.5 0.5]\n"
    assert {"blogsmith/lab/__init__.py", "blogsmith/lab/reference.py"} <= ran.cells[0].modules.keys()


def test_the_lab_counts_as_present(environment: Path) -> None:
    needs = [Need("blogsmith"), Need("blogsmith.lab"), Need("blogsmith", "99"), Need("blogsmith.cli")]
    missing = unmet(needs, python(environment), os.environ)
    assert missing == {
        Need("blogsmith", "99"): f'package "blogsmith" has version {__version__}, older than 99',
        Need("blogsmith.cli"): 'package "blogsmith.cli" is not installed',
    }
    assert probe_versions(["blogsmith"], python(environment), os.environ) == {"blogsmith": __version__}


def test_a_build_with_the_other_python(tmp_path: Path, environment: Path) -> None:
    root = site(tmp_path / "s", f"execute: {{python: {python(environment)}}}\n", a=SOFTMAX)
    report = build(root, execution=STALE)
    assert printed_report(report) == ""
    assert report.executed_cells == 1
    # as fresh with the same lab as any other result
    again = build(root, execution=STALE)
    assert (printed_report(again), again.executed_cells) == ("", 0)


def test_an_old_python_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_finder, "_OLDEST", (99, 0))
    finder = lab_finder.LabFinder("/package")
    with pytest.raises(ImportError, match=r"^blogsmith\.lab needs Python 99\.0 or later, not 3\."):
        finder.find_spec("blogsmith.lab")
    assert finder.find_spec("numpy") is None
