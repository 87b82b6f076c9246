"""The sandbox: permissions of a process after `landlock.restrict`, and messages on failure."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.execute.worker import landlock

WORKER = Path(landlock.__file__).parent
# Runs attempts, each a line of Python; prints for each `ok` or the name of the error.
PROGRAM = """
import ctypes, os, socket, subprocess, sys, types
package = types.ModuleType("_blogsmith"); package.__path__ = [sys.argv[1]]
sys.modules["_blogsmith"] = package
from _blogsmith.landlock import restrict
from _blogsmith.seccomp import restrict_sockets
folder, outside, port, uid = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
sandbox = sys.argv[6]
if uid:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
kept = open(outside + "/kept", "a")
reason = sandbox != "off" and (restrict([folder]) or restrict_sockets(has_network=sandbox != "offline"))
if reason:
    sys.exit(reason)
for line in sys.stdin.read().splitlines():
    try:
        exec(line)
        print("ok")
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Return a writable folder, and one that is not."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    for name in ("file", "kept"):
        (outside / name).write_text("as it was", "utf-8")
    return inside, outside


@pytest.fixture
def port() -> Iterator[int]:
    """Yield a port with a listener."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def version() -> int:
    """Return the version of Landlock in this kernel; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    try:
        return landlock._Kernel().call(444, None, 0, 1)
    except OSError:
        return 0


def attempts(
    places: tuple[Path, Path], port: int, lines: str, uid: int = 0, sandbox: str = "landlock"
) -> list[str]:
    """Return the result of each of `lines` in a restricted process."""
    if not version():
        pytest.skip("this kernel has no Landlock")
    inside, outside = places
    command = [sys.executable, "-c", PROGRAM, *map(str, (WORKER, inside, outside, port, uid, sandbox))]
    text = textwrap.dedent(lines)
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert run.stderr == ""
    return run.stdout.split()


def test_writing_ends_at_the_folder(places: tuple[Path, Path], port: int) -> None:
    lines = """\
        open(folder + "/a", "w").write("x"); os.mkdir(folder + "/sub")
        os.rename(folder + "/a", folder + "/b")
        os.symlink("b", folder + "/link"); os.remove(folder + "/b"); os.mkfifo(folder + "/pipe")
        open("/dev/null", "w").write("x")
        assert open(outside + "/file").read() == "as it was" and os.listdir(outside)
        kept.write("+"); kept.flush()
        open(outside + "/new", "w")
        open(outside + "/file", "a")
        os.remove(outside + "/file")
        os.mkdir(outside + "/sub")
        os.symlink("x", outside + "/link")
        os.rename(outside + "/file", outside + "/other")
        os.link(outside + "/file", folder + "/linked")
        """
    assert attempts(places, port, lines) == ["ok"] * 6 + ["PermissionError"] * 6 + ["OSError"]
    assert sorted(path.name for path in places[1].iterdir()) == ["file", "kept"]
    assert (places[1] / "file").read_text("utf-8") == "as it was"


def test_children_are_shut_in_too(places: tuple[Path, Path], port: int) -> None:
    lines = """\
        subprocess.run(["touch", folder + "/by-child"], check=True)
        assert subprocess.run(["touch", outside + "/by-child"], stderr=-3).returncode
        """
    assert attempts(places, port, lines) == ["ok", "ok"]
    assert [path.name for path in places[0].iterdir()] == ["by-child"]
    assert not (places[1] / "by-child").exists()


def test_files_are_not_cut(places: tuple[Path, Path], port: int) -> None:
    if version() < 3:
        pytest.skip("before Linux 6.2 cutting cannot be refused")
    lines = """\
        os.truncate(outside + "/file", 0)
        open(folder + "/file", "w").write("abc"); os.truncate(folder + "/file", 1)
        """
    assert attempts(places, port, lines) == ["PermissionError", "ok"]


def test_threads_can_be_named_and_nothing_else_is_reached_through_them(
    places: tuple[Path, Path], port: int
) -> None:
    """The driver of CUDA names its threads by writing to /proc, and otherwise fails with error 304."""
    lines = """\
        import threading; task = "/proc/self/task/"
        name = lambda thread: open(f"{task}{thread}/comm", "w").write("named")
        name(threading.get_native_id())
        found = []; thread = threading.Thread(target=lambda: found.append(name(threading.get_native_id())))
        thread.start(); thread.join(); assert found == [5]
        open(f"/proc/{os.getppid()}/task/{os.getppid()}/comm", "w")
        open(f"{task}{threading.get_native_id()}/root{outside}/file", "a")
        open(f"{task}{threading.get_native_id()}/cwd/../../../../../..{outside}/new", "w")
        """
    assert attempts(places, port, lines) == ["ok"] * 5 + ["PermissionError"] * 3


def test_moving_between_folders_inside(places: tuple[Path, Path], port: int) -> None:
    if version() < 2:
        pytest.skip("before Linux 5.19 it is always refused")
    line = 'open(folder + "/a", "w"); os.mkdir(folder + "/sub"); os.rename(folder + "/a", folder + "/sub/a")'
    assert attempts(places, port, line) == ["ok"]


def test_tcp_is_refused(places: tuple[Path, Path], port: int) -> None:
    if version() < 4:
        pytest.skip("before Linux 6.7 TCP cannot be refused")
    lines = """\
        socket.create_connection(("127.0.0.1", port))
        socket.create_server(("127.0.0.1", 0))
        pair = socket.socketpair(); pair[0].sendall(b"x")
        """
    assert attempts(places, port, lines) == ["PermissionError", "PermissionError", "ok"]


def test_signals_to_others_are_refused(places: tuple[Path, Path], port: int) -> None:
    if version() < 6:
        pytest.skip("before Linux 6.12 signals cannot be refused")
    lines = """\
        os.kill(os.getppid(), 0)
        child = subprocess.Popen(["sleep", "60"]); child.kill(); child.wait()
        """
    assert attempts(places, port, lines) == ["PermissionError", "ok"]


def test_without_privileges(places: tuple[Path, Path], port: int) -> None:
    if not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("the other tests run without privileges")
    uid = 65534
    for folder in (places[0].parent, *places[0].parent.parents):
        if not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 1)
    for path in (*places, *places[1].iterdir()):
        os.chown(path, uid, uid)
    lines = 'assert os.getuid()\nopen(folder + "/a", "w")\nopen(outside + "/a", "w")'
    assert attempts(places, port, lines, uid) == ["ok", "ok", "PermissionError"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSYS, "this kernel has no Landlock, which Linux has since 5.13"),
        (errno.EOPNOTSUPP, "Landlock is switched off in this kernel"),
        (errno.EIO, "Landlock failed: Input/output error"),
    ],
)
def test_a_kernel_that_cannot(monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    def refuse(self: object, *arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(landlock._Kernel, "call", refuse)
    assert landlock.restrict([]) == words


@pytest.mark.parametrize("version", range(1, 9))
def test_each_version_is_asked_for_what_it_knows(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """A kernel rejects rights that it does not know."""
    asked: list[bytes] = []

    def answer(self: object, number: int, *arguments: object) -> int:
        if number == 444 and isinstance(arguments[0], bytes):
            asked.append(arguments[0])
            raise OSError(errno.EIO, "enough")
        return version

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(landlock._Kernel, "call", answer)
    assert landlock.restrict([])
    files, tcp, scopes = (int.from_bytes(asked[0][at : at + 8], sys.byteorder) for at in (0, 8, 16))
    known = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    assert files < 1 << known
    assert (files >> 13 & 1, files >> 14 & 1) == (version >= 2, version >= 3)
    assert (tcp, scopes) == (3 * (version >= 4), 3 * (version >= 6))
    # no rights for reading and running
    assert not files & 0b1101


def test_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert landlock.restrict([]) == "Landlock needs Linux"


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    """Nothing is restricted then: this process can still write."""
    if not version():
        pytest.skip("this kernel has no Landlock")
    missing = tmp_path / "missing"
    assert landlock.restrict([str(missing)]) == f"{missing}: No such file or directory"
    (tmp_path / "written").touch()
