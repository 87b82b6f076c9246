"""Execution without workers: jobs from pages, settings, the environment, and text as output."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Place, TextMap
from blogsmith.config.schema import Execution
from blogsmith.execute.session.engine import WORKER
from blogsmith.execute.session.environment import cell_environment, count_cores, threads_per_job
from blogsmith.execute.session.jobs import (
    CellStep,
    ExecutionSetting,
    ValueStep,
    parse_memory,
    resolve_python,
    session_job,
    setting_of,
)
from blogsmith.execute.session.output_buffer import OutputBuffer
from blogsmith.execute.session.process import Process, describe_exit
from blogsmith.execute.session.protocol import PipeText, SocketClosed, WorkerConnection
from blogsmith.execute.session.terminal_text import apply_carriage_returns, cut
from blogsmith.model.cells import Cell, CellOptions, Need, PageCells, Value
from blogsmith.model.results import Display, Stream
from tests.rows import each_row


@each_row(
    ("text", "shown"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("  0%\r 50%\r100%\ndone\n", "100%\ndone\n"),
        ("long line\rshort\n", "shortline\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("abc\b\bX\n", "aXc\n"),
        ("50%\r\x1b[Kdone\n", "done\n"),
        ("one two\b\b\b\x1b[1K\n", "     wo\n"),
        ("gone\x1b[2K\rnew\n", "new\n"),
        ("up\x1b[A down\x1b[2J\x1b[?25l\n", "up down\n"),
        ("\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n"),
        ("\x1b[31mred\rR\x1b[0m\n", "\x1b[31mRed\x1b[0m\n"),
        ("\x1b[31mred\x1b[0m\rB\n", "B\x1b[31med\x1b[0m\n"),
        ("\x1b]8;;https://x.org\x07link\x1b]8;;\x07\n", "link\n"),
        ("bell\x07 null\x00 tab\t\n", "bell null tab\t\n"),
        ("\x1b", ""),
        ("", ""),
    ],
)
def test_text_as_a_terminal_shows_it_in_the_end(text: str, shown: str) -> None:
    assert apply_carriage_returns(text) == shown


@given(st.text(st.sampled_from("ab\r\n\b\x1b[]0;31mKA\x07 é"), max_size=60))
def test_settled_text_is_settled(text: str) -> None:
    settled = apply_carriage_returns(text)
    assert apply_carriage_returns(settled) == settled
    assert not re.search(r"[\r\b\x07]|\x1b(?!\[[0-9;:]*m)", settled)
    assert settled.count("\n") <= text.count("\n")


@each_row(
    ("text", "limit", "expected"),
    [
        ("abc", 3, ("abc", 0)),
        ("abcd", 3, ("abc", 1)),
        ("aéé", 4, ("aé", 2)),
        ("é", 1, ("", 2)),
        ("abc", 0, ("", 3)),
        ("abc", -5, ("", 3)),
    ],
)
def test_text_is_cut_between_characters(text: str, limit: int, expected: tuple[str, int]) -> None:
    assert cut(text, limit) == expected


def collected(limit: int = 1000) -> OutputBuffer:
    return OutputBuffer(limit, lambda output: None)


@pytest.fixture
def line() -> Iterator[tuple[WorkerConnection, socket.socket, int]]:
    """Yield a wire, the worker's end of its socket and of its stdout."""
    (near, far), (out, far_out), (err, far_err) = socket.socketpair(), os.pipe(), os.pipe()
    process = Process(0, 0, near, out, err, lambda timeout_s: None)
    with far, closing(process):
        yield WorkerConnection(process), far, far_out
        os.close(far_out)
        os.close(far_err)


def frame(**message: object) -> bytes:
    data = json.dumps(message).encode()
    return len(data).to_bytes(4, "big") + data


def test_a_frame_says_what_was_written_before_it(line: tuple[WorkerConnection, socket.socket, int]) -> None:
    wire, far, out = line
    os.write(out, b"one\ntwo\nthree\n")
    far.sendall(
        frame(event="a", below=[0, 0]) + frame(event="b", below=[4, 0]) + frame(event="c", below=[4, 0])
    )
    names = [
        e.text if isinstance(e, PipeText) else e["event"]
        for e in wire.read_rest()
        if not isinstance(e, SocketClosed)
    ]
    assert names == ["a", "one\n", "b", "two\n", "c", "three\n"]


def test_any_other_frame_stands_behind_what_was_written(
    line: tuple[WorkerConnection, socket.socket, int],
) -> None:
    wire, far, out = line
    os.write(out, "é".encode()[:1])
    far.sendall(frame(event="a"))
    os.write(out, "é".encode()[1:])
    assert wire.wait(1) == [PipeText("stdout", "é"), {"event": "a"}]


def test_a_frame_in_pieces(line: tuple[WorkerConnection, socket.socket, int]) -> None:
    wire, far, _ = line
    data = frame(event="a")
    far.sendall(data[:3])
    assert wire.wait(1) == []
    far.sendall(data[3:] + data[:7])
    assert wire.wait(1) == [{"event": "a"}]


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\2{]", b"\0\0\0\2[]", b"\0\0\0\1\xff"])
def test_frames_that_are_none(line: tuple[WorkerConnection, socket.socket, int], data: bytes) -> None:
    wire, far, _ = line
    far.sendall(frame(event="a") + data)
    assert wire.wait(1) == [{"event": "a"}, SocketClosed("it sent data that blogsmith cannot read")]
    assert wire.closed


def test_many_small_outputs_are_within_the_limit_too() -> None:
    outputs = collected(100_000)
    for _ in range(10_000):
        outputs.add_text("stdout", "a")
        outputs.add_text("stderr", "b")
    assert len(outputs.finish()) < 2000


def test_what_is_over_the_limit_is_counted_where_it_was_printed() -> None:
    outputs = collected(200)
    outputs.add_text("stdout", "a" * 300)
    outputs.add_text("stderr", "b")
    outputs.add_text("stdout", "c")
    assert outputs.finish() == (Stream("stdout", "a" * 136, 165), Stream("stderr", "", 1))


def test_a_form_of_a_value_that_is_too_long_is_left_out() -> None:
    outputs = collected(300)
    outputs.add_display("value", {"text/html": "<b>" * 200, "text/plain": "x"}, {})
    assert outputs.finish() == (Display("value", {"text/plain": "x"}), Stream("stdout", "", 600))


STACK = (
    'Stack (most recent call first):\n  File "<cell 1>", line 9 in f\n  File "<cell 2>", line 3 in <module>\n'
)


@each_row("head", ["", "Fatal Python error: Segmentation fault\n\n"])
@each_row("limit", [1000, 200, 80])
def test_a_stack_gives_the_line_and_is_no_output(head: str, limit: int) -> None:
    outputs = collected(limit)
    outputs.add_pipe_text("stderr", "mine\n" + head + STACK)
    assert outputs.has_stack()
    assert outputs.take_stack(2) == 3
    assert outputs.finish() == (Stream("stderr", "mine\n"),)


def test_the_head_of_a_stack_says_nothing_yet() -> None:
    outputs, (head, frame, _) = collected(), STACK.splitlines(keepends=True)
    outputs.add_pipe_text("stderr", head)
    assert not outputs.has_stack()
    outputs.add_pipe_text("stderr", frame)
    assert outputs.has_stack()


def test_a_stack_may_come_before_what_was_printed_earlier() -> None:
    outputs = collected()
    outputs.add_pipe_text("stderr", STACK)
    outputs.add_text("stderr", "mine\n")
    assert outputs.take_stack(2) == 3
    assert outputs.finish() == (Stream("stderr", "mine\n"),)


def test_a_stack_of_other_cells_says_nothing_about_this_one() -> None:
    outputs = collected()
    outputs.add_pipe_text("stderr", STACK)
    assert outputs.take_stack(5) == 0


@each_row(
    ("code", "words"),
    [
        (-11, "killed by signal 11 (segmentation fault)"),
        (-12, "killed by signal 12 (SIGUSR2)"),
        (-64, "killed by signal 64 (SIGRTMAX)"),
        (-63, "killed by signal 63"),
        (7, "the code ended its process with os._exit(7)"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the numbers of Linux")
def test_deaths_in_words(code: int, words: str) -> None:
    assert describe_exit(code) == words


def test_amounts_of_memory() -> None:
    assert parse_memory("4 GB") == 4 * 10**9
    with pytest.raises(ValueError, match='invalid amount of memory "much": write a size such as'):
        parse_memory("much")


def test_the_environment_is_an_allow_list() -> None:
    environ = {
        "PATH": "/bin",
        "SECRET_KEY": "x",
        "SEED": "7",
        "LANG": "de_DE",
        "TZ": "Asia/Tokyo",
        "NO_COLOR": "1",
    }
    env = cell_environment(environ, ("SEED", "ABSENT"), 3, Path("/tmp/own"))
    assert {"PATH", "SEED", "LANG", "TZ", "TMPDIR"} <= set(env)
    assert not {"SECRET_KEY", "ABSENT", "NO_COLOR"} & set(env)
    assert (env["LANG"], env["TZ"], env["TMPDIR"], env["SEED"]) == ("C.UTF-8", "UTC", "/tmp/own", "7")
    assert (env["OMP_NUM_THREADS"], env["OPENBLAS_NUM_THREADS"], env["PYTHONHASHSEED"]) == ("3", "3", "0")
    assert cell_environment(environ, ("TZ",), 1, Path("/tmp"))["TZ"] == "Asia/Tokyo"


def test_threads_are_shared_out() -> None:
    assert (threads_per_job(0), threads_per_job(1), threads_per_job(10**6)) == (1, count_cores(), 1)


def page() -> PageCells:
    """Return three cells of two sessions with a value before, between and after."""

    def a_cell(number: int, **options: Any) -> Cell:
        return Cell(
            number, f"x = {number}\n", 10 * number, Place(10 * number), options=CellOptions(**options)
        )

    def a_value(number: int, after: int) -> Value:
        return Value(number, f"v{number}", TextMap("", ()), spec=".1f", after=after)

    return PageCells(
        PurePosixPath("content/post/index.md"),
        (
            a_cell(1),
            a_cell(2, session="gpu", needs=(Need("cuda"),), timeout_s=5.0, memory_bytes=7),
            a_cell(3, eval=False),
            a_cell(4, seed=1, claim="small", fig_format="png", fig_dark=True, error=True),
        ),
        (a_value(1, 0), a_value(2, 2), a_value(3, 4)),
    )


def setting(root: Path) -> ExecutionSetting:
    execution = Execution(timeout=9.0, memory="1 GB", env=("SEED",), jobs=1)
    return setting_of(
        execution,
        root,
        {"PATH": "/bin", "SEED": "3"},
        temporary=Path("/tmp"),
        exclude=(root / "public",),
    )


def test_a_page_as_jobs(tmp_path: Path) -> None:
    main = session_job(page(), "main", setting(tmp_path), {4: "why"}, engine=WORKER)
    gpu = session_job(page(), "gpu", setting(tmp_path), {}, engine=WORKER)
    order = [("value" if isinstance(step, ValueStep) else "cell", step.number) for step in main.steps]
    assert order == [("value", 1), ("cell", 1), ("value", 2), ("cell", 2), ("value", 3)]
    last = main.steps[3]
    assert last == CellStep(
        2,
        "cell 4",
        "x = 4\n",
        9.0,
        10**9,
        1,
        claim=True,
        error=True,
        figure_format="png",
        figure_dark=True,
        skip="why",
        first_line=40,
    )
    assert gpu.steps == (CellStep(1, "cell 2", "x = 2\n", 5.0, 7, first_line=20),)
    assert (main.cuda, gpu.cuda) == (False, True)
    assert main.folder == tmp_path / "content" / "post"
    assert (main.env["SEED"], main.threads) == ("3", count_cores())
    assert main.exclude == (tmp_path / "_freeze", tmp_path / ".blogsmith", tmp_path / "public")
    assert session_job(page(), "gpu", setting(tmp_path), {2: "no CUDA"}, engine=WORKER).cuda is False


def test_the_python_of_a_site(tmp_path: Path) -> None:
    assert resolve_python("", tmp_path) == sys.executable
    assert resolve_python(".venv/bin/python", tmp_path) == str(tmp_path / ".venv/bin/python")
    assert resolve_python("/opt/python", tmp_path) == "/opt/python"
    assert resolve_python("~/python", tmp_path) == str(Path.home() / "python")


def test_values_have_the_limits_of_their_page(tmp_path: Path) -> None:
    slow = replace(page(), timeout_s=300.0, memory_bytes=10**8)
    steps = session_job(slow, "main", setting(tmp_path), {}, engine=WORKER).steps
    values = [step for step in steps if isinstance(step, ValueStep)]
    assert {(value.timeout_s, value.memory_bytes) for value in values} == {(300.0, 10**8)}
    plain = session_job(page(), "main", setting(tmp_path), {}, engine=WORKER).steps
    assert {v.timeout_s for v in plain if isinstance(v, ValueStep)} == {setting(tmp_path).timeout_s}
