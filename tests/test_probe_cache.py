"""Results of the probe are cached as long as their inputs are unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.storage.cache_file import cache_path
from blogsmith.base.storage.site_cache import Row, open_site_cache
from blogsmith.execute.probe.cache import MAX_PYTHONS, SCHEMA, ProbeCache
from blogsmith.execute.probe.requirements import unmet
from blogsmith.model.cells import Need
from tests.cached_rows import change_row, row_names
from tests.cuda_stand_in import put_torch
from tests.rows import examples

CUDA = Need("cuda")


@dataclass
class Place:
    """A machine with a Python, folders with packages and a device; child processes are counted."""

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
        """Map needs to the reasons why they are not met."""
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
    # as in the environment of cells, where imports do not change folders
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return Place(tmp_path, environ | {"SECRET": "hunter2"})


def test_the_second_time_nobody_is_asked(place: Place) -> None:
    needs = (CUDA, Need("torch"), Need("nope"))
    first = place.ask(*needs)
    assert (first, place.children) == ({"nope": 'package "nope" is not installed'}, 1)
    assert place.ask(*needs) == first
    assert place.ask(Need("cuda", "9.5")) == {
        "cuda>=9.5": "the CUDA device has capability 9.0, but 9.5 is required"
    }
    assert place.children == 1
    assert b"hunter2" not in cache_path(place.root / "site").read_bytes()
    assert list((place.root / "site").iterdir()) == []


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
    assert not row_names(place.root / "site", "probe")
    python.write_text(whole)
    assert place.ask(Need("json")) == {}


def known(python: str, **changes: object) -> dict[str, object]:
    entry = {"path": {"/nowhere": ""}, "state": "", "packages": {"nope": None}, "cuda": {"capability": "9.0"}}
    return {python: {**entry, **changes}}


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {"PYTHON": {}},
        known("PYTHON", path=1),
        known("PYTHON", packages={"nope": 2}),
        known("PYTHON", cuda={"x": 1}),
        known("PYTHON", cuda={"x": "y"}),
        known("PYTHON", cuda={}),
        # names that no folder can have
        *(known("PYTHON", path={name: ""}) for name in ("\0", "x" * 5000)),
        msgspec.Raw(b"\x91" * 100_000),
        msgspec.Raw(b"\xc1"),
    ],
)
def test_a_broken_row_counts_as_none_and_is_replaced(place: Place, content: object) -> None:
    put_row(place.root / "site", content, place.root / "env/bin/python")
    assert place.ask(CUDA, Need("nope")) == {"nope": 'package "nope" is not installed'}
    place.ask(CUDA, Need("nope"))
    assert place.children == 1


def test_a_row_of_another_form_counts_as_none(place: Place) -> None:
    place.ask(CUDA)
    with open_site_cache(place.root / "site") as rows:
        row = rows.get("probe", "pythons")
        assert row and row.key == str(SCHEMA)
        rows.put("probe", "pythons", Row(str(SCHEMA + 1), row.data))
    place.ask(CUDA)
    place.ask(CUDA)
    assert place.children == 2


def put_row(root: Path, content: object, python: Path = Path("python")) -> None:
    """Store this as the cached row about Pythons."""
    if isinstance(content, dict) and "PYTHON" in content:
        content = {str(python): content["PYTHON"]}
    change_row(root, "probe", "pythons", Row(str(SCHEMA), msgspec.msgpack.encode(content)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
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
    put_row(site, {"python": content})
    cache = ProbeCache(site)
    assert cache.lookup(["torch", "cuda"], "python", {}) is None
    cache.store(["torch"], "python", {}, {"path": {"/nowhere": ""}, "packages": {"torch": "2.6"}})
    assert cache.lookup(["torch"], "python", {}) == {"packages": {"torch": "2.6"}, "cuda": {}}


def test_a_folder_that_cannot_be_written_costs_time_only(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / "cache").write_text("a file where a folder is needed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.root / "cache"))
    assert place.ask(CUDA) == place.ask(CUDA) == {}
    assert place.children == 2


def test_only_so_many_pythons_are_kept(tmp_path: Path) -> None:
    cache = ProbeCache(tmp_path)
    answer = {"path": {"/nowhere": ""}, "packages": {"torch": "2.6"}}
    for number in range(MAX_PYTHONS + 1):
        cache.store(["torch"], f"python{number}", {}, answer)
    known = [cache.lookup(["torch"], f"python{number}", {}) is not None for number in range(MAX_PYTHONS + 1)]
    assert known == [False] + [True] * MAX_PYTHONS


def test_folders_whose_names_are_no_text(tmp_path: Path) -> None:
    cache = ProbeCache(tmp_path / "\udcff")
    cache.store(["torch"], "python", {}, {"path": {"/\udcff": ""}, "packages": {"torch": "2.6"}})
    assert cache.lookup(["torch"], "python", {}) is None
    cache.store(["torch"], "python", {}, {"path": {"/nowhere": ""}, "packages": {"torch": "2.6"}})
    assert cache.lookup(["torch"], "python", {}) is not None
