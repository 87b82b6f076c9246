"""Rows 2 and 3: if the disk is full, broken or not writable, the old site stays and an error is reported."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from tests.faults.children import at_step, in_child, litter, public, steps_of
from tests.faults.small_site import before, edit
from tests.serve_process import PROGRAM
from tests.site_files import build, put

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="modes and limits as Linux has them")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a site that was built once and edited after that."""
    root = before(tmp_path / "s")
    assert build(root).ok
    edit(root)
    return root


# -- 2: full and broken --


@pytest.fixture
def large_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root on Linux")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_row_02_an_error_of_the_disk_at_any_step(site: Path, number: int) -> None:
    old = public(site)
    kept = site.parent / "kept"
    shutil.copytree(site, kept)
    last = steps_of(site)
    new = public(site)
    codes = set()

    def fail() -> None:
        raise OSError(number, os.strerror(number))

    for step in range(number, last, last // 6):
        shutil.rmtree(site)
        shutil.copytree(kept, site)
        code = in_child(at_step(step, site, fail))
        # Failures to clean up or to store the cache have no effect on the site.
        assert (code, public(site)) in ((1, old), (0, new)), step
        codes.add(code)
        assert build(site).ok and public(site) == new and litter(site) == set()
    assert 1 in codes


def test_row_02_a_full_disk(tmp_path: Path, large_disk: Path) -> None:
    root = before(large_disk / "s")
    assert build(root).ok
    old = public(root)
    put(root, {"static/big.bin": b"x" * 2_200_000})
    assert main(["build", "--site", str(root)]) == 1
    assert public(root) == old and litter(root) == set()
    (root / "static/big.bin").unlink()
    edit(root)
    assert main(["build", "--site", str(root), "--future"]) == 0
    assert public(root) != old


def test_row_02_a_quota_on_files_ends_no_process(site: Path) -> None:
    old = public(site)
    put(site, {"static/big.bin": b"x" * 3_000_000})

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    done = subprocess.run([PROGRAM, "build"], cwd=site, preexec_fn=limited, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert 'big.bin": File too large' in done.stderr and "Traceback" not in done.stderr
    assert public(site) == old and litter(site) == set()
    assert done.returncode != -signal.SIGXFSZ


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("name", ["ENOSPC", "EIO", "EINVAL", "ENOSYS", "EACCES", "EROFS"])
@pytest.mark.parametrize(
    "call", ["mkdir", "linkat", "chmod", "syncfs", "renameat2", "unlinkat", "rmdir", "write"]
)
def test_row_02_a_system_call_that_fails(site: Path, call: str, name: str) -> None:
    old = public(site)
    fresh = site.parent / "fresh"
    shutil.copytree(site, fresh, ignore=shutil.ignore_patterns("public", ".blogsmith"))
    assert build(fresh).ok
    trace = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}"]
    inject = ["-e", f"inject={call}:error={name}:when=3+"]
    done = subprocess.run([*trace, *inject, PROGRAM, "build"], cwd=site, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert public(site) in (old, public(fresh))
    assert build(site).ok and public(site) == public(fresh) and litter(site) == set()


# -- 3: files and folders without read or write permission --


_PR_CAPBSET_DROP = 24
_READ_AND_WRITE_ANYTHING = (1, 2)
"""`CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`."""


def without_rights() -> None:
    """Make file modes apply to this process even if it runs as root."""
    if os.geteuid() == 0:
        for capability in _READ_AND_WRITE_ANYTHING:
            ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def like_anybody(root: Path, *command: str) -> tuple[int, str]:
    """Run a command that must respect file modes; return its exit code and messages."""
    done = subprocess.run(
        [PROGRAM, *command], cwd=root, preexec_fn=without_rights, capture_output=True, text=True
    )
    return done.returncode, done.stderr


@pytest.fixture
def opened(site: Path) -> Iterator[Path]:
    """Yield the site and restore its modes at the end, so that it can be deleted."""
    yield site
    for entry in [site, *site.rglob("*")]:
        entry.chmod(0o755)
    for entry in site.rglob("*"):
        entry.chmod(0o755 if entry.is_dir() else 0o644)


@pytest.mark.parametrize(
    ("paths", "mode", "named"),
    [
        # A folder beside the output can replace it, and its content can be replaced in place.
        (("public", "."), 0o500, 'cannot write the site: "public'),
        (("content/posts/b.md",), 0o000, "content/posts/b.md"),
        (("content/posts/c",), 0o000, "content/posts/c"),
        (("static/CNAME",), 0o000, "CNAME"),
        (("blogsmith.yaml",), 0o000, "blogsmith.yaml"),
    ],
)
def test_row_03_what_may_not_be_touched_is_named(
    opened: Path, paths: tuple[str, ...], mode: int, named: str
) -> None:
    old = public(opened)
    for path in paths:
        (opened / path).chmod(mode)
    code, said = like_anybody(opened, "build", "--future")
    for path in paths:
        (opened / path).chmod(0o755)
    assert "Traceback" not in said
    assert (code, named in said) == (1, True), said
    assert public(opened) == old
    assert litter(opened) == set()


def test_row_03_a_site_that_may_only_be_read_can_be_checked(opened: Path) -> None:
    for entry in [*opened.rglob("*"), opened]:
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    assert like_anybody(opened, "check")[0] == 0
    code, said = like_anybody(opened, "build", "--future")
    assert code == 1 and "Permission denied" in said
