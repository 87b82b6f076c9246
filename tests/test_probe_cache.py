"""What the probe said is kept while what it depends on stays, and forgotten when any of it changes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.execute.probe.cache import FILE, MOST_PYTHONS, ProbeCache
from blogsmith.execute.probe.requirements import unmet
from blogsmith.model.cells import Need
from tests.cuda_stand_in import put_torch
from tests.rows import examples

CUDA = Need("cuda")


@dataclass
class Place:
    """A machine with a Python, folders with packages and a device; children are counted."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    children: int = 0

    def run(self, *args: Any, **settings: Any) -> subprocess.CompletedProcess[str]:
        self.children += 1
        return subprocess.run(*args, **settings)

    @property
    def cache(self) -> ProbeCache:
        return ProbeCache(self.root / "site", self.root / "machine")

    def ask(self, *needs: Need) -> dict[str, str]:
        """Need → why it is not met."""
        python = str(self.root / "env/bin/python")
        found = unmet(needs, python, self.environ, self.run, lambda: True, self.cache)
        return {str(need): why for need, why in found.items()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for folder in ("env/bin", "site", "machine/dev/nvidia-caps", "machine/proc/driver/nvidia", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "machine/dev/nvidia0").touch()
    (tmp_path / "machine/proc/driver/nvidia/version").write_text("570.1\n")
    (tmp_path / "env/bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} -s -S "$@"\n')
    (tmp_path / "env/bin/python").chmod(0o755)
    put_torch(tmp_path / "packages")
    (tmp_path / "packages/more.pth").write_text("")
    path = f"{tmp_path / 'packages'}:{tmp_path / 'absent'}"
    # as in the environment of cells, where no folder changes because something was imported from it
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return Place(tmp_path, environ | {"SECRET": "hunter2"})


def test_the_second_time_nobody_is_asked(place: Place) -> None:
    needs = (CUDA, Need("torch"), Need("nope"))
    first = place.ask(*needs)
    assert (first, place.children) == ({"nope": "nope is not installed"}, 1)
    assert place.ask(*needs) == first
    assert place.ask(Need("cuda", "9.5")) == {"cuda>=9.5": "its CUDA device has capability 9.0, not 9.5"}
    assert place.children == 1
    assert "hunter2" not in (place.root / "site/.blogsmith" / FILE).read_text()
    assert [file.name for file in (place.root / "site/.blogsmith").iterdir()] == [FILE]


def test_what_was_not_asked_before_is_asked_alone_and_joins_the_rest(place: Place) -> None:
    place.ask(CUDA)
    place.ask(Need("json"))
    assert place.children == 2
    place.ask(CUDA, Need("json"))
    assert place.children == 2


def touch(name: str) -> Callable[[Place], object]:
    return lambda place: os.utime(place.root / name, ns=(1, 1))


def write(name: str, text: str = "") -> Callable[[Place], object]:
    return lambda place: (place.root / name).write_text(text)


def variable(name: str, value: str) -> Callable[[Place], object]:
    return lambda place: place.environ.update({name: value})


CHANGES: dict[str, Callable[[Place], object]] = {
    "the Python": touch("env/bin/python"),
    "its environment": write("env/pyvenv.cfg", "include-system-site-packages = true\n"),
    "a package comes": write("packages/new.py"),
    "a package goes": lambda place: (place.root / "packages/torch.py").rename(place.root / "other/torch.py"),
    "a folder of packages comes": lambda place: (place.root / "absent").mkdir(),
    "a file that names folders": touch("packages/more.pth"),
    "which devices may be seen": variable("CUDA_VISIBLE_DEVICES", "1"),
    "where libraries are": variable("LD_LIBRARY_PATH", "/opt/cuda/lib"),
    "a device comes": write("machine/dev/nvidia1"),
    "a part of a device comes": write("machine/dev/nvidia-caps/nvidia-cap1"),
    "the driver": write("machine/proc/driver/nvidia/version", "580.2\n"),
    "the working folder, with PYTHONPATH": lambda place: os.chdir(place.root / "other"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_it_is_asked_again_after_a_change(place: Place, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.root)
    place.ask(CUDA)
    CHANGES[name](place)
    place.ask(CUDA)
    place.ask(CUDA)
    assert place.children == 2 if name != "a package goes" else place.children >= 2


def test_what_was_known_before_a_change_does_not_join(place: Place) -> None:
    place.ask(CUDA)
    place.environ["CUDA_VISIBLE_DEVICES"] = "1"
    place.ask(Need("json"))
    place.ask(CUDA)
    assert place.children == 3


def test_a_file_beyond_all_measure_is_not_read(place: Place) -> None:
    place.ask(CUDA)
    file = place.root / "site/.blogsmith" / FILE
    file.write_text(" " * 2**20 + file.read_text())
    place.ask(CUDA)
    assert place.children == 2
    assert file.stat().st_size < 10_000


def test_other_variables_do_not_count(place: Place) -> None:
    place.ask(CUDA)
    place.environ |= {"TMPDIR": str(place.root / "other"), "SECRET": "other", "OMP_NUM_THREADS": "7"}
    place.ask(CUDA)
    assert place.children == 1


@pytest.mark.parametrize(
    ("available", "built", "children"), [("False", "12.8", 2), ("1/0", "12.8", 2), ("False", None, 1)]
)
def test_a_device_that_is_not_seen_now_may_be_seen_soon(
    place: Place, available: str, built: str | None, children: int
) -> None:
    put_torch(place.root / "packages", built=built, available=available)
    assert place.ask(CUDA) == place.ask(CUDA) != {}
    assert place.children == children


def test_modules_inside_of_packages_are_asked_for_each_time(place: Place) -> None:
    place.ask(Need("os.path"))
    place.ask(Need("os.path"))
    assert place.children == 2


@pytest.mark.parametrize("failure", ["exit 3", "kill -9 $$", "echo nonsense", "echo '{}'"])
def test_no_answer_is_not_kept(place: Place, failure: str) -> None:
    python = place.root / "env/bin/python"
    whole = python.read_text()
    python.write_text(f"#!/bin/sh\n{failure}\n")
    os.utime(python, ns=(1, 1))
    place.ask(Need("json"))
    assert not (place.root / "site/.blogsmith").exists()
    python.write_text(whole)
    assert place.ask(Need("json")) == {}


KNOWN = """{"schema": 1, "pythons": {"PYTHON":
{"path": {"FOLDER": ""}, "state": "", "packages": {"nope": null}, "cuda": {"capability": "9.0"}}}}"""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 1}',
        '{"schema": 1, "pythons": []}',
        '{"schema": 2, "pythons": {}}',
        '{"schema": 1, "pythons": {"PYTHON": {}}}',
        '{"schema": 1, "pythons": {"PYTHON": {"path": 1, "state": "", "packages": {}, "cuda": {}}}}',
        '{"schema": 1, "pythons": {"PYTHON": {"path": {}, "state": "", "packages": {"x": 2}, "cuda": {}}}}',
        '{"schema": 1, "pythons": {"PYTHON": {"path": {}, "state": "", "packages": {}, "cuda": {"x": "y"}}}}',
        '{"schema": 1, "pythons": {"PYTHON": {"path": {}, "state": "", "packages": {}, "cuda": {}}}}',
        # names that no folder can have
        *(KNOWN.replace("FOLDER", name) for name in ("\\u0000", "\\ud800", "x" * 5000)),
        "[" * 100_000,
    ],
)
def test_a_broken_file_counts_as_none_and_is_replaced(place: Place, text: str) -> None:
    folder = place.root / "site/.blogsmith"
    folder.mkdir()
    (folder / FILE).write_text(text.replace("PYTHON", str(place.root / "env/bin/python")))
    assert place.ask(CUDA, Need("nope")) == {"nope": "nope is not installed"}
    place.ask(CUDA, Need("nope"))
    assert place.children == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "state", "packages", "cuda", "capability", "x"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
@examples(60)
def test_any_content_does_no_harm(tmp_path_factory: pytest.TempPathFactory, content: object) -> None:
    site = tmp_path_factory.mktemp("site")
    (site / ".blogsmith").mkdir()
    (site / ".blogsmith" / FILE).write_text(json.dumps({"schema": 1, "pythons": {"python": content}}))
    cache = ProbeCache(site)
    assert cache.lookup(["torch", "cuda"], "python", {}) is None
    cache.keep(["torch"], "python", {}, {"path": {"/nowhere": ""}, "packages": {"torch": "2.6"}})
    assert cache.lookup(["torch"], "python", {}) == {"packages": {"torch": "2.6"}, "cuda": {}}


def test_a_folder_that_cannot_be_written_costs_time_only(place: Place) -> None:
    (place.root / "site/.blogsmith").write_text("a file where a folder is needed")
    assert place.ask(CUDA) == place.ask(CUDA) == {}
    assert place.children == 2


def test_nothing_is_left_of_what_cannot_be_written(place: Place) -> None:
    folder = place.root / "site/.blogsmith"
    (folder / FILE).mkdir(parents=True)
    place.ask(CUDA)
    assert [file.name for file in folder.iterdir()] == [FILE]
    (folder / FILE).rmdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))  # as a full disk
    try:
        place.cache.keep(["x"], "python", {}, {"path": {"/nowhere": ""}, "packages": {}})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.iterdir()) == []


def test_only_so_many_pythons_are_kept(tmp_path: Path) -> None:
    cache = ProbeCache(tmp_path)
    answer = {"path": {"/nowhere": ""}, "packages": {"torch": "2.6"}}
    for number in range(MOST_PYTHONS + 1):
        cache.keep(["torch"], f"python{number}", {}, answer)
    known = [cache.lookup(["torch"], f"python{number}", {}) is not None for number in range(MOST_PYTHONS + 1)]
    assert known == [False] + [True] * MOST_PYTHONS
