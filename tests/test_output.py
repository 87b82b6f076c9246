"""Writing of the site: complete at any time, limited to our own files, reproducible."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import stat
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from unittest.mock import patch

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.base.storage.file_names import MANIFEST
from blogsmith.base.storage.folder import Folder
from blogsmith.model.documents import Output
from blogsmith.write import stage
from blogsmith.write.manifest import manifest_bytes
from blogsmith.write.output import WriteReport, clean, write_site

OLD = {"index.html": "old", "a/index.html": "a", "a/b/c.txt": "c", "gone/x.html": "x", "same.css": "same"}
NEW = {
    "index.html": "new",
    "a/index.html": "a",
    "d/index.html": "d",
    "same.css": "same",
    "gone": "a file now",
}
FOREIGN = {"CNAME": "example.org", "a/notes.txt": "mine", ".git/HEAD": "ref"}

Files = Mapping[str, str]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    root.mkdir()
    return root


def outputs(files: Files) -> list[Output]:
    return [Output(PurePosixPath(path), text.encode()) for path, text in files.items()]


def write(site: Path, files: Files, folder: str = "public") -> WriteReport:
    return write_outputs(site, outputs(files), folder)


def write_outputs(site: Path, outputs: list[Output], folder: str = "public") -> WriteReport:
    """Write as a build does; a link is given on the command line."""
    target = site / folder
    return write_site(outputs, target, site_root=site, is_chosen=target.is_symlink(), wait_s=0)


def put(folder: Path, files: Files) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def read(folder: Path) -> dict[str, str]:
    """Return all files of a folder except the manifest."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if not file.is_dir()}
    return {path: file.read_text() for path, file in sorted(found.items()) if path != MANIFEST}


def neighbours(site: Path) -> set[str]:
    return {entry.name for entry in site.iterdir()}


def failure(site: Path, files: Files, folder: str = "public") -> list[str]:
    """Return `code: message` of each diagnostic when writing fails."""
    with pytest.raises(SiteError) as caught:
        write(site, files, folder)
    return [f"{diagnostic.code}: {diagnostic.message}" for diagnostic in caught.value.diagnostics]


def in_place(site: Path) -> None:
    """Make `public` a folder that cannot be swapped."""
    (site.parent / "elsewhere").mkdir()
    (site / "public").symlink_to(site.parent / "elsewhere")


def swapped(site: Path) -> None:
    """Leave `public` to be swapped."""


def renamed(site: Path) -> None:
    """Leave `public` to be replaced by two renames; see `_two_renames`."""


@pytest.fixture(params=[swapped, renamed, in_place], ids=["swapped", "renamed", "in place"])
def way(request: pytest.FixtureRequest, site: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return one of the three ways a folder is replaced."""
    if request.param is renamed:
        monkeypatch.setattr(stage, "exchange", lambda *names: False)
    request.param(site)
    return str(request.param.__name__)


def test_from_one_site_to_another(site: Path, way: str) -> None:
    assert write(site, OLD) == WriteReport(written=5)
    assert read(site / "public") == OLD
    assert write(site, NEW) == WriteReport(written=3, unchanged=2, removed=2)
    assert read(site / "public") == NEW
    assert write(site, {}) == WriteReport(removed=5)
    assert [entry.name for entry in (site / "public").iterdir()] == [MANIFEST]
    assert neighbours(site) == {"public", ".blogsmith"}


def test_same_bytes_whatever_the_way_there(site: Path) -> None:
    write(site, OLD)
    write(site, NEW)
    write(site, dict(reversed(NEW.items())), "fresh")
    one, other = site / "public", site / "fresh"
    assert (one / MANIFEST).read_bytes() == (other / MANIFEST).read_bytes()
    assert read(one) == read(other)


def test_unchanged_files_are_the_same_files(site: Path, way: str) -> None:
    write(site, OLD)
    kept = site / "public" / "same.css"
    os.utime(kept, ns=(1, 1))
    before = kept.stat()
    write(site, NEW)
    after = kept.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_nlink) == (before.st_ino, 1, 1)


def test_nothing_to_do_touches_nothing(site: Path, way: str) -> None:
    write(site, NEW)
    before = (site / "public").stat()
    assert write(site, NEW) == WriteReport(unchanged=5)
    after = (site / "public").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("damage", ["changed", "deleted", "a link"])
def test_damage_to_our_files_is_mended(site: Path, way: str, damage: str) -> None:
    write(site, OLD)
    file = site / "public" / "same.css"
    file.unlink()
    if damage == "changed":
        file.write_text("tamp")
    if damage == "a link":
        (site / "mine.css").write_text("same")
        file.symlink_to(site / "mine.css")
    assert write(site, OLD) == WriteReport(written=1, unchanged=4)
    assert read(site / "public") == OLD
    assert not file.is_symlink()


def test_foreign_files_stay(site: Path, way: str) -> None:
    write(site, OLD)
    public = site / "public"
    put(public, FOREIGN)
    (public / "empty").mkdir()
    (public / "private").mkdir(mode=0o700)
    (public / "link").symlink_to("nowhere")
    number = (public / "CNAME").stat().st_ino
    write(site, NEW)
    (public / "link").unlink()
    assert read(public) == {**NEW, **FOREIGN}
    assert (public / "CNAME").stat().st_ino == number
    assert (public / "empty").is_dir()
    assert stat.S_IMODE((public / "private").stat().st_mode) == 0o700
    assert not (public / "a" / "b").exists(), "an empty folder of the old site goes"


def test_a_linked_folder_is_not_entered(site: Path) -> None:
    """A manifest may contain `a/b/c.txt`, but through a link that is a file of somebody else."""
    write(site, OLD)
    put(site / "precious", {"index.html": "mine", "b/c.txt": "mine"})
    public = site / "public"
    for path in ("a/b/c.txt", "a/index.html"):
        (public / path).unlink()
    (public / "a" / "b").rmdir()
    (public / "a").rmdir()
    (public / "a").symlink_to(site / "precious")
    write(site, {"index.html": "new"})
    assert read(site / "precious") == {"index.html": "mine", "b/c.txt": "mine"}
    assert failure(site, OLD) == [
        'output-foreign: "public/a" was not written by blogsmith and blocks "a/b/c.txt"'
    ]


@pytest.mark.parametrize(
    "foreign, message",
    [
        ("d/index.html", '"public/d/index.html" was not written by blogsmith and is not overwritten'),
        ("d", '"public/d" was not written by blogsmith and blocks "d/index.html"'),
        ("gone/mine.txt", '"public/gone" was not written by blogsmith and is not overwritten'),
    ],
)
def test_foreign_file_in_the_way(site: Path, way: str, foreign: str, message: str) -> None:
    write(site, OLD)
    put(site / "public", {foreign: "mine"})
    assert failure(site, NEW) == [f"output-foreign: {message}"]
    assert read(site / "public") == {**OLD, foreign: "mine"}


@pytest.mark.parametrize(
    "paths, messages",
    [
        (["a.html", "a.html"], ['two files of the site have the same output path "a.html"']),
        (["Case/i", "case/i"], ['"Case/i" and "case/i" are the same file on some systems']),
        (["stra\u00dfe", "strasse"], ['"strasse" and "stra\u00dfe" are the same file on some systems']),
        (["\u00e9", "e\u0301"], ['"e\u0301" and "\u00e9" are the same file on some systems']),
        (["a", "a/b/c"], ['"a" is both a file and the folder of "a/b/c"']),
        (["../x"], ['invalid path "../x": expected a path inside the output folder']),
        (["/x"], ['invalid path "/x": expected a path inside the output folder']),
        (["a/../../x"], ['invalid path "a/../../x": expected a path inside the output folder']),
        ([MANIFEST], [f'invalid path "{MANIFEST}": the name is reserved for blogsmith']),
        ([".Blogsmith-New/x"], ['invalid path ".Blogsmith-New/x": the name is reserved for blogsmith']),
    ],
)
def test_paths_that_are_refused(site: Path, paths: list[str], messages: list[str]) -> None:
    with pytest.raises(SiteError) as caught:
        write_site([Output(PurePosixPath(path), b"") for path in paths], site / "public", site_root=site)
    assert [d.message for d in caught.value.diagnostics] == messages
    assert {d.code for d in caught.value.diagnostics} == {"output-conflict"}
    assert neighbours(site) == set()


@pytest.mark.parametrize(
    "folder, problem",
    [
        (".", "contains the sources of the site"),
        ("..", "contains the sources of the site"),
        ("../..", "contains the sources of the site"),
        ("/", "contains the sources of the site"),
        ("../home", "is your home folder or the root of the file system"),
        ("content", "is in content/, which contains sources of the site"),
        ("content/public", "is in content/, which contains sources of the site"),
        ("public/../static", "is in static/, which contains sources of the site"),
        ("link", "is in themes/, which contains sources of the site"),
        ("file", "is not a folder"),
        ("full", 'contains "precious.txt", which blogsmith did not write'),
    ],
)
def test_folders_that_are_refused(
    site: Path, folder: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(site, {"content/a.md": "a", "themes/x/a.css": "a", "file": "a", "full/precious.txt": "a"})
    (site / "link").symlink_to("themes/x")
    monkeypatch.setenv("HOME", str(site.parent / "home"))
    before = read(site)
    for attempt in (write_site, lambda _, target, site_root: clean(target, site_root)):
        with pytest.raises(SiteError, match=f"the output folder .* {problem}") as caught:
            attempt([], site / folder, site_root=site)
        assert caught.value.diagnostics[0].code == "output-folder"
    assert {path: text for path, text in read(site).items() if not path.startswith(".blogsmith")} == before


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"format": 2, "files": {}}', '{"format": 1, "files": {"../x": "0"}}', "[" * 100_000],
)
def test_damaged_manifest_is_not_trusted(site: Path, text: str) -> None:
    write(site, OLD)
    put(site, {"x": "precious", f"public/{MANIFEST}": text})
    (message,) = failure(site, {})
    assert message.startswith(f"output-folder: damaged list of output files {MANIFEST}")
    assert read(site / "public") == OLD
    assert (site / "x").read_text() == "precious"


def test_files_are_copied(site: Path) -> None:
    put(site, {"static/a.png": "picture"})
    (site / "static" / "a.png").chmod(0o600)
    report = write_site(
        [Output(PurePosixPath("a.png"), file=site / "static" / "a.png")], site / "public", site_root=site
    )
    assert report == WriteReport(written=1)
    assert read(site / "public") == {"a.png": "picture"}


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_do_not_depend_on_the_umask(site: Path, way: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        write(site, OLD)
    finally:
        os.umask(before)
    for path in (site / "public" / "a").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644)


def test_clean_removes_our_files_only(site: Path, way: str) -> None:
    write(site, OLD)
    put(site / "public", FOREIGN)
    target = site / "public"
    assert clean(target, site, is_chosen=target.is_symlink()) == WriteReport(removed=5)
    assert read(site / "public") == FOREIGN
    assert not (site / "public" / "gone").exists()


def test_clean_leaves_nothing_of_ours(site: Path) -> None:
    write(site, OLD)
    clean(site / "public", site)
    assert neighbours(site) == {".blogsmith"}
    assert clean(site / "public", site) == WriteReport()


def test_a_source_that_vanished(site: Path, way: str) -> None:
    write(site, OLD)
    with pytest.raises(SiteError, match=r'cannot write the site: "static/a.png": No such file'):
        write_outputs(site, [Output(PurePosixPath("a.png"), file=site / "static/a.png")])
    assert read(site / "public") == OLD


def test_name_too_long(site: Path, way: str) -> None:
    write(site, OLD)
    (message,) = failure(site, {**NEW, "x" * 300: "x"})
    assert message == f'output-write: cannot write the site: "public/{"x" * 300}": File name too long'
    assert read(site / "public") == OLD
    assert neighbours(site) == {"public", ".blogsmith"}


@pytest.fixture
def small_disk(site: Path) -> Iterator[Path]:
    """Yield a file system of 200 kB under the site root; the output folder is inside it."""
    disk = site / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root on Linux")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("folder", ["disk/public", "disk"], ids=["swapped", "in place"])
def test_disk_full(site: Path, small_disk: Path, folder: str) -> None:
    write(site, OLD, folder)
    (message,) = failure(site, {**NEW, **{f"big/{n}": "x" * 20_000 for n in range(20)}}, folder)
    assert message.startswith(f'output-write: cannot write the site: "{folder}/big/')
    assert message.endswith("No space left on device")
    assert read(site / folder) == OLD
    assert neighbours(site / folder) <= {*{path.split("/")[0] for path in OLD}, MANIFEST}
    assert write(site, NEW, folder) == WriteReport(written=3, unchanged=2, removed=2)


@pytest.mark.parametrize("folder", ["disk/public", "disk"], ids=["swapped", "in place"])
def test_read_only_disk(site: Path, small_disk: Path, folder: str) -> None:
    write(site, OLD, folder)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    (message,) = failure(site, NEW, folder)
    assert message.startswith('output-write: cannot write the site: "disk/')
    assert message.endswith("Read-only file system")
    assert read(site / folder) == OLD


def test_a_bound_folder_is_written_in_place(site: Path, small_disk: Path) -> None:
    """A folder mounted from the same file system looks like any other until it is renamed."""
    public, source = small_disk / "public", small_disk / "source"
    public.mkdir()
    source.mkdir()
    subprocess.run(["mount", "--bind", str(source), str(public)], check=True)
    try:
        write(site, OLD, "disk/public")
        write(site, NEW, "disk/public")
        assert read(source) == NEW
        assert neighbours(small_disk) == {"public", "source"}
    finally:
        subprocess.run(["umount", str(public)], check=True)


HOLD = """
import sys
from pathlib import Path
from blogsmith.base.storage.lock import site_lock
with site_lock(Path(sys.argv[1]), 0):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_writer_at_a_time(site: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(site)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        message = f"busy: another blogsmith process {holder.pid} is writing to this site"
        assert failure(site, NEW) == [message]
        holder.kill()
        holder.wait()
    # the lock file of the dead process still exists
    assert (site / ".blogsmith" / "lock").read_text() == f"{holder.pid}\n"
    assert write(site, NEW) == WriteReport(written=5)


def die_at(step: int, site: Path, files: Files) -> bool:
    """Write in a child that kills itself before its `step`th file operation; False if it finished."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the test runner may have threads
        child = os.fork()
    if child == 0:
        steps = itertools.count()
        watched = {"open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"}
        watched |= {"ctypes.dlsym", "shutil.rmtree"}

        def hook(event: str, _: object) -> None:
            if event in watched and next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            write(site, files)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.long)])
def test_killed_at_every_step(site: Path, way: str, stride: int) -> None:
    """Before each disk operation: old or new site, no file of others lost, repaired by the next run."""
    public = site / "public"
    old, new = {**OLD, **FOREIGN}, {**NEW, **FOREIGN}
    seen = []
    for step in itertools.count(0, stride):
        write(site, OLD)
        put(public, FOREIGN)
        died = die_at(step, site, NEW)
        left = read(public) if public.is_dir() else {}
        if way == "swapped":
            assert left in (old, new), step
        if way == "renamed":
            assert left in (old, new, {}), step
        seen.append(left == new)
        write(site, OLD)
        assert read(public) == old, step
        assert neighbours(site) == {"public", ".blogsmith"}, step
        if not died:
            break
    assert step > 20
    assert True in seen and False in seen


def test_one_changed_file_takes_the_place_of_the_old_one(site: Path) -> None:
    """The other files and their folders are not touched, and each step leaves the old or the new site."""
    public, new = site / "public", {**OLD, "a/index.html": "A"}
    for step in itertools.count():
        write(site, OLD)
        put(public, FOREIGN)
        numbers = {path: (public / path).stat().st_ino for path in ("", "a", "a/b", "a/b/c.txt")}
        died = die_at(step, site, new)
        assert read(public) in ({**OLD, **FOREIGN}, {**new, **FOREIGN}), step
        assert {path: (public / path).stat().st_ino for path in numbers} == numbers, step
        assert write(site, new).written <= 1, step
        assert read(public) == {**new, **FOREIGN}, step
        assert neighbours(site) == {"public", ".blogsmith"}, step
        if not died:
            break
    assert step > 5


FLIP = """
import itertools, sys
from pathlib import Path, PurePosixPath
from blogsmith.model.documents import Output
from blogsmith.write.output import write_site
site = Path(sys.argv[1])
for text in itertools.cycle([b"one", b"two"]):
    files = [Output(PurePosixPath(f"{n % 9}/{n}.html"), text * 500) for n in range(100)]
    write_site(files, site / "public", site_root=site)
    print(text.decode(), flush=True)
"""


def test_the_list_of_files_is_json() -> None:
    for files, partial in (({}, ()), ({"b": "1", 'a "é"\\': "2"}, ()), ({"b": "1"}, ("b", "a"))):
        expected: dict[str, object] = {"format": 1, "files": dict(sorted(files.items()))}
        if partial:
            expected["partial"] = sorted(partial)
        assert manifest_bytes(files, partial).decode() == json.dumps(expected, indent=0) + "\n"


def test_killed_at_random_moments(site: Path) -> None:
    chance = random.Random(4)
    for _ in range(5):
        command = [sys.executable, "-c", FLIP, str(site)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "one\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(chance.uniform(0, 0.05))
            child.kill()
        files = read(site / "public")
        assert len(files) == 100
        assert set(files.values()) in ({"one" * 500}, {"two" * 500})


@pytest.mark.parametrize("left", ["stage", "retired"])
def test_files_put_into_the_old_tree_are_saved(site: Path, left: str) -> None:
    """Somebody wrote to the folder after it was staged, and the run died before cleanup."""
    write(site, OLD)
    put(site / "public", {"both.txt": "before"})
    tree = site / (stage.staged_name("public") if left == "stage" else stage.retired_name("public"))
    (site / "public").rename(tree)
    write(site, {}, "public2")
    (site / "public2").rename(site / "public")
    put(site / "public", {"both.txt": "before"})
    put(tree, {"late/file.txt": "late"})
    write(site, NEW)
    assert read(site / "public") == {**NEW, "late/file.txt": "late", "both.txt": "before"}
    assert neighbours(site) == {"public", ".blogsmith"}


def test_a_folder_that_cannot_be_made_leaves_nothing(site: Path) -> None:
    write(site, OLD)
    full = patch.object(Folder, "make", side_effect=OSError(28, "no space left"))
    with full, pytest.raises(SiteError):
        write(site, NEW)
    assert read(site / "public") == OLD
    assert neighbours(site) == {"public", ".blogsmith"}


def test_interrupted_swap_is_undone(site: Path) -> None:
    """Between the two renames, the old site has its temporary name."""
    write(site, OLD)
    (site / "public").rename(site / stage.retired_name("public"))
    put(site / stage.staged_name("public"), {"half": "done"})
    assert write(site, NEW) == WriteReport(written=3, unchanged=2, removed=2)
    assert read(site / "public") == NEW
    assert neighbours(site) == {"public", ".blogsmith"}
