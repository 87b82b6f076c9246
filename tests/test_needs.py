"""Requirements that a machine does not meet: checked in one child process, and reported as a message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from blogsmith.execute.probe import program
from blogsmith.execute.probe.requirements import probe_versions, unmet
from blogsmith.model.cells import Need
from tests.cuda_stand_in import put_tool, put_torch
from tests.rows import each_row

CUDA = Need("cuda")


def answering(answer: Any, code: int = 0, stderr: str = "") -> Any:
    """Return a `subprocess.run` whose child prints this answer."""

    def run(command: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        text = answer if isinstance(answer, str) else "greetings from torch\n" + json.dumps(answer) + "\n"
        return subprocess.CompletedProcess(command, code, text, stderr)

    return run


def never(*args: Any, **settings: Any) -> Any:
    raise AssertionError("a process was started")


def asked(need: Need, answer: Mapping[str, Any]) -> str:
    return unmet([need], "python", {}, answering(answer), lambda: True).get(need, "")


def test_without_needs_no_process_starts() -> None:
    assert unmet([], "python", {}, never) == {}
    assert probe_versions([], "python", {}, never) == {}


def test_without_a_device_nobody_is_asked_about_cuda() -> None:
    needs = [CUDA, Need("cuda", "8.0")]
    assert unmet(needs, "python", {}, never, lambda: False) == dict.fromkeys(
        needs, "this machine has no CUDA device"
    )


@each_row(
    ("need", "packages", "said"),
    [
        (Need("torch"), {"torch": "2.13.0"}, ""),
        (Need("torch"), {"torch": ""}, ""),
        (Need("torch"), {}, 'package "torch" is not installed'),
        (Need("torch", "2.6"), {"torch": "2.13.0+cpu"}, ""),
        (Need("torch", "2.13"), {"torch": "2.13"}, ""),
        (Need("torch", "2.13.0"), {"torch": "2.13"}, ""),
        (Need("torch", "2.13.1"), {"torch": "2.13"}, 'package "torch" has version 2.13, older than 2.13.1'),
        (Need("torch", "2.6"), {"torch": "2.5.1"}, 'package "torch" has version 2.5.1, older than 2.6'),
        (Need("torch", "2.6"), {"torch": ""}, 'package "torch" has no version, but 2.6 is required'),
    ],
)
def test_packages(need: Need, packages: dict[str, str], said: str) -> None:
    assert asked(need, {"packages": packages}) == said


@each_row(
    ("need", "cuda", "said"),
    [
        (CUDA, {"capability": "7.5"}, ""),
        (Need("cuda", "8.0"), {"capability": "9.0"}, ""),
        (Need("cuda", "9.0"), {"capability": "10.0"}, ""),
        (
            Need("cuda", "8.0"),
            {"capability": "7.5"},
            "the CUDA device has capability 7.5, but 8.0 is required",
        ),
        (CUDA, {"problem": "torch sees no CUDA device"}, "torch sees no CUDA device"),
    ],
)
def test_cuda(need: Need, cuda: dict[str, str], said: str) -> None:
    assert asked(need, {"packages": {}, "cuda": cuda}) == said


def test_all_names_are_asked_for_at_once() -> None:
    commands = []

    def run(command: list[str], **settings: Any) -> Any:
        commands.append(command)
        return answering({"packages": {"numpy": "2.4.6"}, "cuda": {"capability": "9.0"}})(command)

    needs = [CUDA, Need("numpy"), Need("numpy", "2.0"), Need("nope"), CUDA]
    assert unmet(needs, "python", {}, run, lambda: True) == {Need("nope"): 'package "nope" is not installed'}
    assert [json.loads(command[-1]) for command in commands] == [["cuda", "nope", "numpy"]]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            answering("", 1, "Traceback\nImportError: no\n"),
            "python cannot list its packages: ImportError: no",
        ),
        (answering("", -11), "python cannot list its packages: exit code -11"),
        (answering("no JSON"), "python cannot list its packages: exit code 0"),
        (answering([]), "python cannot list its packages: exit code 0"),
    ],
)
def test_a_child_that_fails_is_said(run: Any, said: str) -> None:
    assert unmet([Need("numpy")], "/opt/python", {}, run) == {Need("numpy"): said}
    assert probe_versions(["numpy"], "/opt/python", {}, run) == {}


def test_a_child_that_hangs_is_said() -> None:
    def run(command: list[str], **settings: Any) -> Any:
        raise subprocess.TimeoutExpired(command, settings["timeout"])

    found = unmet([Need("numpy")], "python", {}, run)
    assert found == {Need("numpy"): "python did not list its packages within 120 s"}


def test_a_python_that_is_not_there_is_said(tmp_path: Path) -> None:
    found = unmet([Need("json")], str(tmp_path / "python3"), {})
    assert found == {Need("json"): 'cannot start "python3": No such file or directory'}


def test_the_real_child_finds_what_is_installed_and_imports_nothing(tmp_path: Path) -> None:
    for name in ("loud", "package"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "package" / "inner.py").write_text("")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    beside = "cache"
    assert Path(program.__file__).with_name(f"{beside}.py").exists()
    wanted = [
        "json",
        "yaml",
        "loud",
        "package.inner",
        "package.other",
        "os.path",
        "os.json",
        "nope",
        "a..b",
        beside,
    ]
    found = unmet([Need(name) for name in wanted], sys.executable, environ)
    assert {need.name for need in found} == {"package.other", "os.json", "nope", "a..b", beside}


def test_versions_are_found_by_import_name() -> None:
    found = probe_versions(["yaml", "msgspec", "json", "nope"], sys.executable, os.environ)
    assert set(found) == {"yaml", "msgspec"}
    assert found["yaml"][0].isdigit()


def test_a_device_that_only_the_driver_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program.nvidia_smi_device() == {
        "problem": "cannot search for a CUDA device: neither torch nor nvidia-smi is available"
    }
    put_tool(tmp_path, "9.0")
    assert program.nvidia_smi_device() == {"capability": "9.0"}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert program.nvidia_smi_device() == {"problem": "CUDA_VISIBLE_DEVICES hides all CUDA devices"}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    put_tool(tmp_path, "failed", 9)
    assert program.nvidia_smi_device() == {"problem": "nvidia-smi sees no CUDA device"}


@pytest.mark.parametrize(
    ("available", "built", "works", "said"),
    [
        ("True", "12.8", "str", ""),
        ("False", "12.8", "str", "torch sees no CUDA device"),
        ("False", None, "str", "torch is built without CUDA"),
        ("1/0", "12.8", "str", "torch cannot use CUDA: ZeroDivisionError: division by zero"),
        # visible, but too old for the build of torch, or in use
        ("True", "12.8", "open", "torch cannot use CUDA: FileNotFoundError: [Errno 2] No such file"),
    ],
)
def test_torch_is_asked_for_the_device(
    tmp_path: Path, available: str, built: str | None, works: str, said: str
) -> None:
    put_torch(tmp_path, built=built, available=available, works=works)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    need = Need("cuda", "8.0")
    found = unmet([need], sys.executable, environ, device=lambda: True).get(need, "")
    assert found.startswith(said) and bool(found) == bool(said)
