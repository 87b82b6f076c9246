"""The worker: its loop, its streams and the namespace of cells."""

from __future__ import annotations

import ast
import signal
from pathlib import Path

from tests.rows import each_row
from tests.sessions import wait_for
from tests.worker_client import START, Client, Frame, Start, start_worker, worker

__all__ = ["start_worker", "worker"]


def test_it_is_ready_and_ends(worker: Client) -> None:
    assert worker.ready == {"event": "ready", "python": worker.ready["python"], "sandbox": ""}
    assert worker.version >= (3, 9)
    worker.run("import atexit, os\natexit.register(os.write, 1, b'bye')")
    assert worker.end() == 0
    frames: list[Frame] = []
    worker.drain(frames)
    assert [frame["text"] for frame in frames] == ["bye"]


def test_a_cell_that_shows_its_value(worker: Client) -> None:
    ended = worker.run("x = 6\nprint('six')\nx * 7")
    assert ended.order() == [("stdout", "six\n"), ("value", "42")]
    expected: Frame = {"status": "ok", "problem": "", "device": "cpu", "claim": None, "shapes": []}
    assert {k: ended.done[k] for k in expected} == expected


def test_what_shows_no_value(worker: Client) -> None:
    for code in ("x = 1", "None", "1;", "(1);  # quiet\n# more", "if 1: 2", "", "'ä' ;"):
        assert worker.run(code).values == [], code


def test_a_semicolon_elsewhere_silences_nothing(worker: Client) -> None:
    for code in ("'a;b'", "1 # ;", "(1,\n 2) # ;", "'#;'", "'ä;'"):
        assert len(worker.run(code).values) == 1, code


def test_streams_keep_their_order(worker: Client) -> None:
    ended = worker.run(
        """
        import os, subprocess, sys
        print("1"); print("2", file=sys.stderr); sys.stdout.write("3\\n"); display(4)
        print("5", end="")
        os.system("echo 6"); os.write(1, b"6b\\n")
        print("7")
        subprocess.run(["sh", "-c", "echo 8; echo 9 >&2"])
        sys.stderr.write("10\\n")
        sys.__stdout__.write("11\\n")
        """
    )
    texts = ["1\n", "2\n", "3\n", "4", "56\n6b\n7\n8\n", "9\n10\n", "11\n"]
    assert [text for _, text in ended.order()[:-1]] == texts


def test_what_c_code_prints_stands_where_it_was_printed(worker: Client) -> None:
    ended = worker.run(
        """
        import ctypes, os
        c = ctypes.CDLL(None)
        print("a"); c.printf(b"b\\n"); os.system("echo c"); print("d"); c.printf(b"e\\n");
        """
    )
    assert ended.text() == "a\nb\nc\nd\ne\n"


def test_streams_are_files(worker: Client) -> None:
    ended = worker.run(
        """
        import sys
        out = sys.stdout
        assert (out.isatty(), out.encoding, out.fileno(), sys.stderr.fileno()) == (False, "utf-8", 1, 2)
        assert out.writable() and not out.readable() and out.write("ab") == 2
        out.writelines(["c", "d\\n"])
        out.buffer.write("é".encode()[:1]); out.buffer.write("é".encode()[1:] + b"\\xff\\n")
        out.reconfigure(line_buffering=True); out.flush(); out.close()
        print("still there")
        try:
            out.write(1)
        except TypeError as error:
            print(error)
        """
    )
    assert ended.text() == "abcd\né\ufffd\nstill there\nwrite() argument must be str, not int\n"


def test_lone_surrogates_are_replaced_everywhere(worker: Client) -> None:
    ended = worker.run("print('a\\ud800b \\ud83d\\ude00')\nraise ValueError('\\udc00')")
    assert ended.text() == "a\ufffdb 😀\n"
    assert ended.failure["message"] == "\ufffd"
    assert worker.run("'\\ud800'").values[0]["text"]["text/plain"] == "'\\ud800'"


def test_text_over_the_limit_is_counted(worker: Client) -> None:
    ended = worker.run("for _ in range(50_000): print('x' * 999)\nimport sys; print('late', file=sys.stderr)")
    dropped = {f["name"]: f["bytes"] for f in ended.frames if f["event"] == "dropped"}
    assert dropped == {"stdout": 50_000_000 - 1024 * 1024, "stderr": 5}
    assert len(ended.text()) == 1024 * 1024 and len(ended.frames) < 500
    assert worker.run("print('fresh')").text() == "fresh\n"


def test_the_limit_counts_bytes_and_cuts_between_characters(start_worker: Start) -> None:
    worker = start_worker(limits={"data_bytes": None, "text_bytes": 5})
    ended = worker.run("print('ääää', end='')")
    assert (ended.text(), ended.frames[-2]) == ("ää", {"event": "dropped", "name": "stdout", "bytes": 4})
    assert worker.run("'abcdefg'").values[0]["text"]["text/plain"] == "'abcd…"


def test_many_small_prints_come_in_few_frames(worker: Client) -> None:
    ended = worker.run("for i in range(20_000): print(i)")
    assert ended.text() == "".join(f"{i}\n" for i in range(20_000))
    assert len(ended.frames) < 1000


def test_what_was_printed_survives_a_crash(worker: Client) -> None:
    worker.begin("print('before'); import ctypes; ctypes.string_at(0)")
    assert worker.receive()["text"] == "before\n"
    assert worker.process.wait(60) == -signal.SIGSEGV
    frames: list[Frame] = []
    worker.drain(frames)
    assert 'File "<cell 1>", line 1 in <module>' in frames[0]["text"]


def test_what_was_printed_survives_os_exit(worker: Client) -> None:
    worker.begin("import os\nfor i in range(1000): print(i)\nos._exit(5)")
    frames = worker.until("sync")
    assert "".join(frame["text"] for frame in frames[:-1]) == "".join(f"{i}\n" for i in range(1000))
    assert worker.process.wait(60) == 5
    worker.drain(frames)
    assert 'File "<cell 1>", line 3 in <module>' in frames[-1]["text"]


def test_input_finds_nothing(worker: Client) -> None:
    ended = worker.run("input('name? ')")
    assert (ended.text(), ended.failure["name"], ended.failure["line"]) == ("name? ", "EOFError", 1)


def test_closed_descriptors_do_not_matter(worker: Client) -> None:
    ended = worker.run(
        """
        import os, resource
        for fd in range(256):
            try: os.close(fd)
            except OSError: pass
        os.closerange(0, 2**16)
        for fd in range(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 5000)):
            try: os.close(fd)
            except OSError as error: assert error.errno == 9
        print("alive")
        """
    )
    assert (ended.status, ended.text()) == ("ok", "alive\n")
    assert worker.run("print(1)").text() == "1\n"


def test_the_namespace_is_main(worker: Client) -> None:
    ended = worker.run(
        """
        import dataclasses, inspect, pickle, sys
        @dataclasses.dataclass
        class P:
            x: int
        def f(a):
            return a  # kept
        assert pickle.loads(pickle.dumps(P(3))) == P(3) and pickle.loads(pickle.dumps(f)) is f
        assert __name__ == "__main__" and sys.modules["__main__"].f is f and sys.argv == [""]
        print(sorted(n for n in globals() if not n.startswith("__")))
        inspect.getsource(f)
        """
    )
    assert ended.text() == "['P', 'dataclasses', 'f', 'inspect', 'pickle', 'sys']\n"
    assert ended.values[0]["text"]["text/plain"] == repr("def f(a):\n    return a  # kept\n")


def test_our_modules_are_not_the_authors(worker: Client) -> None:
    assert worker.run("import values").failure["message"] == "No module named 'values'"


def test_await_at_top_level(worker: Client) -> None:
    first = worker.run(
        "import asyncio\nq = asyncio.Queue()\ntask = asyncio.ensure_future(q.put(5)) if 0 else 1"
    )
    assert first.status == "ok"
    assert worker.run("t = asyncio.create_task(asyncio.sleep(0, 8))\nawait asyncio.sleep(0)").status == "ok"
    assert worker.run("await t").values[0]["text"]["text/plain"] == "8"
    assert worker.run("asyncio.run(asyncio.sleep(0, 9))").values[0]["text"]["text/plain"] == "9"
    assert worker.value("await asyncio.sleep(0, 3)")["text"] == "3"


def test_future_statements_last(worker: Client) -> None:
    worker.run("from __future__ import annotations\ndef f(a: nowhere): ...")
    assert (
        worker.run("def g(a: nowhere): ...\ng.__annotations__").values[0]["text"]["text/plain"]
        == "{'a': 'nowhere'}"
    )


# the code that runs in the author's Python
EXECUTE = START.parents[1]
OLD = [*START.parent.glob("*.py"), EXECUTE / "probe" / "program.py", EXECUTE / "kernel" / "kernel_setup.py"]


@each_row("file", sorted(OLD), ids=lambda file: file.name)
def test_the_code_is_old_enough(file: Path) -> None:
    ast.parse(file.read_text("utf-8"), feature_version=(3, 9))


def test_background_threads_print_into_the_next_cell(worker: Client, tmp_path: Path) -> None:
    first = worker.run(
        """
        import threading, time
        from pathlib import Path
        def work():
            while not Path("go").exists(): time.sleep(0.005)
            print("late"); display("shown")
            Path("done").touch()
        threading.Thread(target=work).start()
        "first"
        """
    )
    assert first.order() == [("value", "'first'")]
    # between the cells
    (tmp_path / "go").touch()
    wait_for((tmp_path / "done").exists)
    second = worker.run("print('next')")
    assert second.order() == [("stdout", "late\n"), ("display", "'shown'"), ("stdout", "next\n")]


def test_an_exception_in_a_thread_is_told(worker: Client) -> None:
    ended = worker.run(
        """
        import threading
        def work():
            1 / 0
        thread = threading.Thread(target=work, name="helper")
        thread.start(); thread.join()
        """
    )
    lines = ended.text("stderr").splitlines()
    assert lines[:3] == [
        "Exception in thread helper:",
        "Traceback (most recent call last):",
        '  File "<cell 1>", line 4, in work',
    ]
    assert lines[-1] == "ZeroDivisionError: division by zero" and ended.status == "ok"


def test_an_exception_nobody_can_catch_is_told(worker: Client) -> None:
    ended = worker.run("class A:\n    def __del__(self): 1/0\na = A(); del a")
    assert ended.text("stderr").startswith("Exception ignored in: <function A.__del__ at ")
    assert 'File "<cell 1>", line 2, in __del__' in ended.text("stderr")


def test_warnings_name_the_cell(start_worker: Start, tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("import warnings\ndef f(): warnings.warn('from a file')\n")
    worker = start_worker()
    code = "import warnings, lib\nfor _ in 1, 2:\n    warnings.warn('careful')"
    text = "<cell 1>:3: UserWarning: careful\n  warnings.warn('careful')\n"
    assert worker.run(code).text("stderr") == text
    assert worker.run(code).text("stderr") == text.replace("1>", "2>")
    expected = "lib.py:2: UserWarning: from a file\n  def f(): warnings.warn('from a file')\n"
    assert worker.run("lib.f()").text("stderr") == expected
    assert worker.run("warnings.warn('up', stacklevel=3)").text("stderr") == "sys:1: UserWarning: up\n"


def test_a_forked_child_does_not_speak_for_the_cell(worker: Client) -> None:
    ended = worker.run(
        """
        import os, sys
        print("parent")
        child = os.fork()
        if child == 0:
            print("child"); sys.stdout.flush(); display(1); sys.exit
        else:
            os.waitpid(child, 0)
            print("after")
        """
    )
    assert ended.text() == "parent\nchild\nafter\n" and ended.values == []
    ended = worker.run("child = os.fork()\nif not child: 1/0\n_, code = os.waitpid(child, 0)\ncode >> 8")
    assert ended.values[0]["text"]["text/plain"] == "1"
    assert ended.text("stderr").endswith("ZeroDivisionError: division by zero\n")


def test_processes_of_multiprocessing_work(worker: Client) -> None:
    ended = worker.run(
        """
        import multiprocessing
        def square(x):
            print("in", x, flush=True)
            return x * x
        with multiprocessing.get_context("fork").Pool(1) as pool:
            print(pool.map(square, [1, 2]))
        """
    )
    assert ended.text() == "in 1\nin 2\n[1, 4]\n"


def test_a_builder_that_is_gone_ends_the_worker(worker: Client) -> None:
    worker.control.close()
    assert worker.process.wait(60) == 1
