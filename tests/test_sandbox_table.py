"""The manual's table of the abilities of cells in each sandbox: every line, as root and as a user."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_worker_landlock import version

MANUAL = Path(__file__).parent.parent / "content/docs/trust-and-safety.md"
SANDBOXES = ("off", "landlock", "offline")
NOBODY = 65534
ATTEMPTS = {
    "read your files": "assert open(place + '/file').read() == 'as it was'",
    "start programs": "subprocess.run(['true'], check=True)",
    "write, create, rename or delete files outside a temporary folder": "open(place + '/new', 'w').close()",
    "truncate files": "os.truncate(place + '/file', 9)",
    "write or truncate these files in programs that they start": (
        "subprocess.run(['touch', place + '/by-child'], check=True, stderr=-3)"
    ),
    "open or accept TCP connections": "socket.create_connection(('127.0.0.1', port)).close()",
    "send UDP, so also query name servers": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))"
    ),
    "connect to Unix sockets, such as those of ssh-agent, Docker and the session bus": (
        "socket.socket(socket.AF_UNIX).connect(place + '/stream')"
    ),
    "send datagrams to Unix sockets": (
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', place + '/datagrams')"
    ),
    "use connected pairs of Unix sockets": "a, b = socket.socketpair(); a.sendall(b'x'); assert b.recv(1)",
    "send signals to your other programs": "os.kill(other, 0)",
    "read the memory and the environment of blogsmith": (
        "assert open('/proc/%d/environ' % builder, 'rb').read()"
    ),
    "read the environment of your other programs": "assert open('/proc/%d/environ' % other, 'rb').read()",
}
# A builder that hides its memory as `run_session` does, another program, and a cell that tries each line.
PROGRAM = """
import ctypes, encodings.idna, json, os, signal, socket, subprocess, sys
from blogsmith.execute.session.reaper import hide_memory
from blogsmith.execute.worker.landlock import restrict
from blogsmith.execute.worker.seccomp import restrict_sockets
sandbox, uid, place, folder, attempts = sys.argv[1], int(sys.argv[2]), *sys.argv[3:5], json.loads(sys.argv[5])
libc, dumpable = ctypes.CDLL(None), 4
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
os.chdir(place)
stream, datagrams = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
stream.bind("stream"); stream.listen(); datagrams.bind("datagrams")
os.chmod("stream", 0o777); os.chmod("datagrams", 0o777)
os.chdir("/")
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
if uid:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
libc.prctl(dumpable, 1, 0, 0, 0)  # as a program that this user starts
other = os.fork()
if not other:

    signal.alarm(60)
    signal.pause()
hide_memory()
builder, cell = os.getpid(), os.fork()
if cell:
    code = os.waitstatus_to_exitcode(os.waitpid(cell, 0)[1])
    os.kill(other, 9)
    sys.exit(code)
libc.prctl(dumpable, 1, 0, 0, 0)
problem = sandbox != "off" and (restrict([folder]) or restrict_sockets(has_network=sandbox != "offline"))
if problem:
    sys.exit(problem)
found = {}
for name, code in attempts.items():
    try:
        exec(code)
        found[name] = "yes"
    except (OSError, subprocess.CalledProcessError):
        found[name] = "no"
print(json.dumps(found))
"""


def try_all(sandbox: str, uid: int, tmp_path: Path) -> dict[str, str]:
    """Return `yes` or `no` for each attempt of a cell."""
    place, folder = tmp_path / f"place-{sandbox}-{uid}", tmp_path / f"inside-{sandbox}-{uid}"
    for made in (place, folder):
        made.mkdir()
        if not os.geteuid():
            os.chown(made, uid, uid)
    (place / "file").write_text("as it was")
    if not os.geteuid():
        os.chown(place / "file", uid, uid)
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        sandbox,
        str(uid),
        str(place),
        str(folder),
        json.dumps(ATTEMPTS),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.stderr == "" and run.returncode == 0, run.stderr
    found: dict[str, str] = json.loads(run.stdout)
    return found


def test_the_table_of_the_manual_says_what_happens(tmp_path: Path) -> None:
    if version() < 6:
        pytest.skip("the table is for Linux 6.12 and later with Landlock")
    for folder in (tmp_path, *tmp_path.parents):
        if not os.geteuid() and not folder.stat().st_mode & 1:
            folder.chmod(folder.stat().st_mode | 1)
    users = (0, NOBODY) if not os.geteuid() else (os.geteuid(),)
    found = {(sandbox, uid): try_all(sandbox, uid, tmp_path) for sandbox in SANDBOXES for uid in users}
    table = re.search(r"\n(\| cells can .*?)\n\n", MANUAL.read_text("utf-8"), re.DOTALL)
    assert table
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in table[1].split("\n")[2:]]
    assert [row[0] for row in rows] == list(ATTEMPTS)
    expected = {}
    for name, *answers in rows:
        for sandbox, answer in zip(SANDBOXES, answers, strict=True):
            for uid in users:
                by_user = {"as root": "no" if uid else "yes"}
                expected[name, sandbox, uid] = by_user.get(answer, answer)
    seen = {(name, *key): answer for key, answers in found.items() for name, answer in answers.items()}
    assert seen == expected, "\n".join(
        f"| {name} | " + " | ".join("/".join(found[s, u][name] for u in users) for s in SANDBOXES) + " |"
        for name in ATTEMPTS
    )
