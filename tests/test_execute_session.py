"""A single session: its input, its output, their order and the limits."""

from __future__ import annotations

import hashlib
import py_compile
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blogsmith.execute.session.jobs import (
    SessionJob,
)
from blogsmith.execute.session.session import SilentObserver, run_session
from blogsmith.model.cells import Need
from blogsmith.model.results import (
    CHANGED_DIGEST,
    Blob,
    CellOutput,
    CellRun,
    Display,
    Failure,
    SessionRun,
    Stream,
    UndecidedClaim,
)
from tests.sessions import cell, job, no_process_left, printed, value


def test_cells_share_their_variables_and_end_in_order(tmp_path: Path) -> None:
    with no_process_left():
        run = run_session(job(tmp_path, "x = 2", "print(x)\nx + 1"))
    assert [c.status for c in run.cells] == ["ok", "ok"]
    assert run.cells[0].outputs == ()
    assert run.cells[1].outputs == (Stream("stdout", "2\n"), Display("value", {"text/plain": "3"}))
    assert run.machine.python == ".".join(map(str, sys.version_info[:3]))
    assert (run.session, run.problem) == ("main", "")


def test_both_streams_keep_their_order_and_neighbours_are_one(tmp_path: Path) -> None:
    code = "import sys\nfor n in range(3):\n    print(n)\n    print(n)\n    print('e', n, file=sys.stderr)"
    outputs = run_session(job(tmp_path, code)).cells[0].outputs
    assert [(o.name, o.text) for o in outputs if isinstance(o, Stream)] == [
        pair for n in range(3) for pair in (("stdout", f"{n}\n{n}\n"), ("stderr", f"e {n}\n"))
    ]


def test_programs_print_where_they_are_called(tmp_path: Path) -> None:
    code = (
        "import os, subprocess\nprint('one')\nsubprocess.run(['echo', 'two'])\nprint('three')\n"
        "os.system('echo four')\nprint('five')"
    )
    (stream,) = run_session(job(tmp_path, code)).cells[0].outputs
    assert stream == Stream("stdout", "one\ntwo\nthree\nfour\nfive\n")


def test_a_failing_cell_ends_its_session(tmp_path: Path) -> None:
    run = run_session(job(tmp_path, "print(1)\n1 / 0", "print(2)", value(1, "1"), "print(3)"))
    failed, *rest = run.cells
    assert (failed.status, failed.line, failed.problem) == ("error", 2, "ZeroDivisionError: division by zero")
    stream, failure = failed.outputs
    assert isinstance(failure, Failure)
    assert (stream, failure.cell, failure.line) == (Stream("stdout", "1\n"), 1, 2)
    assert [(c.status, c.problem) for c in rest] == [("skipped", "cell 1 before it ended badly")] * 2
    assert run.values[1].status == "skipped"


def test_an_error_that_is_meant_goes_on(tmp_path: Path) -> None:
    run = run_session(job(tmp_path, cell(1, "x = 1\n1 / 0", error=True), "print(x)"))
    assert [c.status for c in run.cells] == ["error", "ok"]


def test_an_error_in_a_function_of_another_cell(tmp_path: Path) -> None:
    run = run_session(job(tmp_path, "\ndef f():\n    1 / 0", "x = 1\nf()"))
    assert (run.cells[1].status, run.cells[1].line) == ("error", 2)
    failure = run.cells[1].outputs[0]
    assert isinstance(failure, Failure)
    assert (failure.cell, failure.line) == (1, 3)


def test_a_skipped_cell_leaves_the_others(tmp_path: Path) -> None:
    run = run_session(
        job(tmp_path, cell(1, "x = 1", skip="this machine has no CUDA"), "print('x' in vars())")
    )
    assert (run.cells[0].status, run.cells[0].problem) == ("skipped", "this machine has no CUDA")
    assert printed(run.cells[1]) == "False\n"


def test_claims(tmp_path: Path) -> None:
    run = run_session(
        job(
            tmp_path,
            cell(1, "x = 3\nx < 4", claim=True),
            cell(2, "y = 1\nx == 4", claim=True),
            cell(3, "x = 1", claim=True),
            cell(4, "print(x, y)"),
        )
    )
    assert [(c.status, c.line, c.claim) for c in run.cells[:2]] == [
        ("ok", 0, ""),
        ("error", 2, "left: 3, right: 4"),
    ]
    assert run.cells[1].problem == "its claim does not hold"
    assert (run.cells[2].status, run.cells[2].unjudged) == ("error", UndecidedClaim("none"))
    # a false claim harms no variable, so the session goes on
    assert printed(run.cells[3]) == "1 1\n"


def test_values(tmp_path: Path) -> None:
    work = job(
        tmp_path,
        value(1, "x"),
        cell(1, "x = 2 / 3"),
        value(2, "x", spec=".2f"),
        value(3, "'a'", conversion="r"),
        value(4, "1 / 0"),
        cell(2, "x = 5"),
        value(5, "x"),
    )
    values = run_session(work).values
    assert {n: (v.status, v.text) for n, v in values.items()} == {
        1: ("error", ""),
        2: ("ok", "0.67"),
        3: ("ok", "'a'"),
        4: ("error", ""),
        5: ("ok", "5"),
    }
    assert [v.failure.name for v in values.values() if v.failure] == ["NameError", "ZeroDivisionError"]


def test_a_value_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted = value(1, "[0 for n in iter(int, 1)]", timeout_s=0.3)
    killed = value(2, "sum(range(10**11))", timeout_s=0.3)
    second = run_session(job(tmp_path, killed, "1"))
    # a busy machine needs its time to raise an exception
    monkeypatch.setattr("blogsmith.execute.session.requests.GRACE_S", 30.0)
    first = run_session(job(tmp_path, interrupted, "print('on')"))
    values = [first.values[1], second.values[2]]
    assert [v.status for v in values] == ["error", "error"]
    assert {v.failure.message for v in values if v.failure} == {"it ran longer than 0.3 s"}
    assert printed(first.cells[0]) == "on\n"
    assert (second.cells[0].status, second.cells[0].problem) == (
        "skipped",
        "{= sum(range(10**11)) =} before it ended badly",
    )


def test_what_is_called_at_exit_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    code = "import atexit, time\natexit.register(time.sleep, 600)\natexit.register(open, 'ran', 'w')"
    with no_process_left():
        assert run_session(job(tmp_path, code)).cells[0].status == "ok"
    assert (tmp_path / "content" / "ran").exists()


def test_files_that_were_read_and_imported(tmp_path: Path) -> None:
    work = job(
        tmp_path,
        "x = open('data.txt').read()\nopen('own.txt', 'w').write('1')",
        "import lib\nprint(lib.y, open('data.txt').read(), open('own.txt').read())",
        value(1, "open('late.txt').read()"),
    )
    (tmp_path / "content" / "data.txt").write_text("7", "utf-8")
    (tmp_path / "content" / "late.txt").write_text("8", "utf-8")
    (tmp_path / "lib.py").write_text("y = 6\n", "utf-8")
    first, second = run_session(work).cells
    assert first.reads == {"content/data.txt": hashlib.sha256(b"7").hexdigest()}
    # a value's files stand with the cell before it
    assert second.reads == {"content/late.txt": hashlib.sha256(b"8").hexdigest()}
    assert second.modules == {"lib.py": hashlib.sha256(b"y = 6\n").hexdigest()}
    assert printed(second) == "6 7 1\n"


class Editor(SilentObserver):
    """Saves files when the first cell has ended, while the session continues."""

    def __init__(self, root: Path, files: Mapping[str, str | None]) -> None:
        self.root, self.files = root, files

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """Save the files. A text of None removes the file."""
        for name, text in self.files.items() if position == 1 else ():
            if text is None:
                (self.root / name).unlink()
            else:
                # another inode, as many editors have it: the clock of a file system is coarse
                (self.root / "new").write_text(text, "utf-8")
                (self.root / "new").replace(self.root / name)


@pytest.mark.parametrize(
    ("code", "saved", "is_seen"),
    [
        ("x = open('data.txt').read()", {"content/data.txt": "8"}, True),
        ("x = open('data.txt').read()", {"content/data.txt": None}, True),
        ("import os\nx = os.read(os.open(b'../content/data.txt', os.O_RDONLY), 9)",
         {"content/data.txt": "8"}, True),
        ("import lib", {"lib.py": "y = 8"}, True),
        ("x = open('data.txt').read()", {"lib.py": "y = 8"}, False),
        # what the session may have written itself says nothing of who else did
        ("x = open('data.txt').read(); f = open('data.txt', 'a')", {"content/data.txt": "8"}, False),
        ("x = open('data.txt', 'r+')", {"content/data.txt": "8"}, False),
        ("import os; x = open('data.txt'); os.system('true')", {"content/data.txt": "8"}, False),
        ("import os; os.system('true'); x = open('data.txt')", {"content/data.txt": "8"}, False),
    ],
)  # fmt: skip
def test_a_file_that_is_saved_between_its_reading_and_the_end(
    tmp_path: Path, code: str, saved: dict[str, str | None], is_seen: bool
) -> None:
    work = job(tmp_path, code, "1")
    (tmp_path / "content" / "data.txt").write_text("7", "utf-8")
    (tmp_path / "lib.py").write_text("y = 7", "utf-8")
    used, _ = run_session(work, Editor(tmp_path, saved)).cells
    digests = {**used.reads, **used.modules}
    expected = {CHANGED_DIGEST} if is_seen else {file_digest(tmp_path / name) for name in digests}
    assert digests and set(digests.values()) == expected


def test_a_module_whose_compiled_form_is_there_is_seen_too(tmp_path: Path) -> None:
    work = job(tmp_path, "import lib", "1")
    (tmp_path / "lib.py").write_text("y = 7", "utf-8")
    py_compile.compile(str(tmp_path / "lib.py"))
    used, _ = run_session(work, Editor(tmp_path, {"lib.py": "y = 8"})).cells
    assert used.modules == {"lib.py": CHANGED_DIGEST}


@pytest.mark.parametrize(
    "change",
    [
        "open('data.txt', 'w').write('8')",
        "open('data.txt', 'a').write('8')",
        "open('data.txt', 'r+').write('8')",
        "os.truncate('data.txt', 0)",
        "os.utime('data.txt', (1, 1))",
        "os.replace('other.txt', 'data.txt')",
        "os.system('echo 8 > data.txt')",
        "os.write(os.open('data.txt', os.O_RDWR), b'8')",
    ],
)
def test_what_a_session_writes_into_a_file_it_has_read_is_its_own(tmp_path: Path, change: str) -> None:
    work = job(tmp_path, "import os; x = open('data.txt').read()", f"{change};")
    for name in ("data.txt", "other.txt"):
        (tmp_path / "content" / name).write_text(name, "utf-8")
    first, second = run_session(work).cells
    assert (first.status, second.status) == ("ok", "ok")
    assert first.reads == {"content/data.txt": file_digest(tmp_path / "content/data.txt")}


@pytest.mark.parametrize("removal", ["os.remove('sub/data.txt')", "shutil.rmtree('sub')"])
def test_what_a_session_removes_is_left_out(tmp_path: Path, removal: str) -> None:
    work = job(tmp_path, "import os, shutil; x = open('sub/data.txt').read()", removal)
    (tmp_path / "content" / "sub").mkdir()
    (tmp_path / "content" / "sub" / "data.txt").write_text("7", "utf-8")
    first, second = run_session(work).cells
    assert (second.status, first.reads) == ("ok", {})


def file_digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_folder_for_temporary_files_ends_with_the_session(tmp_path: Path) -> None:
    code = "import tempfile, pathlib\np = pathlib.Path(tempfile.mkdtemp()) / 'x'\np.write_text('1')\n"
    code += "print(str(p)[::-1])"
    # backwards: the name of the folder is not part of a result
    temporary = Path(printed(run_session(job(tmp_path, code)).cells[0]).strip()[::-1])
    assert temporary.is_relative_to(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["content"]


def test_pictures_are_named_by_their_digest(tmp_path: Path) -> None:
    code = "class P:\n    def _repr_png_(self): return b'png'\n    def __repr__(self): return 'P'\nP()"
    (shown,) = run_session(job(tmp_path, code)).cells[0].outputs
    blob = Blob(hashlib.sha256(b"png").hexdigest(), b"png")
    assert shown == Display("value", {"text/plain": "P", "image/png": blob})


def test_a_python_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n", "utf-8")
    (tmp_path / "broken").chmod(0o755)
    missing = run_session(job(tmp_path, "1", value(1, "1"), python=str(tmp_path / "python")))
    broken = run_session(job(tmp_path, "1", python=str(tmp_path / "broken")))
    homeless = run_session(replace(job(tmp_path, "1"), folder=tmp_path / "gone"))
    assert missing.problem == f'cannot start "{tmp_path}/python": No such file or directory'
    assert broken.problem == f'"{tmp_path}/broken" failed at start: no such thing'
    assert homeless.problem == f'folder not found: "{tmp_path}/gone"'
    assert [run.cells[0].status for run in (missing, broken, homeless)] == ["skipped"] * 3
    assert missing.values[1].status == "skipped"


class Diary(SilentObserver):
    """Records the events."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def on_start(self, job: SessionJob) -> None:
        self.lines.append("started")

    def cell_started(self, job: SessionJob, position: int) -> None:
        self.lines.append(("cell", position))

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        self.lines.append((position, output))

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        self.lines.append((position, run.status))

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        self.lines.append("ended")


def test_who_watches_hears_everything_in_order(tmp_path: Path) -> None:
    diary = Diary()
    run_session(job(tmp_path, "print(1, flush=True)\n2", cell(2, "3", skip="why")), diary)
    assert diary.lines == [
        "started",
        ("cell", 1),
        (1, Stream("stdout", "1\n")),
        (1, Display("value", {"text/plain": "2"})),
        (1, "ok"),
        (2, "skipped"),
        "ended",
    ]


def test_one_cell_keeps_no_more_text_than_the_limit_in_all(tmp_path: Path) -> None:
    code = "import os, sys\nprint('a' * 600)\nprint('b' * 600, file=sys.stderr)\nos.write(1, b'c' * 600);"
    run = run_session(job(tmp_path, code, text_bytes=1000))
    streams = [o for o in run.cells[0].outputs if isinstance(o, Stream)]
    assert sum(len(o.text) for o in streams) <= 1000
    assert sum(len(o.text) + o.dropped for o in streams) == 601 + 601 + 600


@pytest.mark.parametrize(
    ("needs", "cuda", "device", "is_limited"),
    [
        ((), False, True, True),
        ((Need("torch"),), False, False, True),
        ((Need("torch"),), False, True, False),
        ((Need("cuda"),), True, True, False),
    ],
)
def test_addresses_are_not_limited_where_cuda_may_be_started(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    needs: tuple[Need, ...],
    cuda: bool,
    device: bool,
    is_limited: bool,
) -> None:
    monkeypatch.setattr("blogsmith.execute.session.session.has_device", lambda: device)
    ask = "import resource\nprint(resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY)"
    run = run_session(job(tmp_path, ask, needs=needs, cuda=cuda))
    assert printed(run.cells[0]) == f"{not is_limited}\n"


def test_cells_see_the_allowed_environment_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    code = "import os, time\nprint('SECRET_KEY' in os.environ, time.tzname[0], hash('a'))"
    first, second = (run_session(job(tmp_path, code)).cells[0] for _ in range(2))
    assert printed(first).startswith("False UTC ")
    assert first.outputs == second.outputs
