"""The worker: cells that fail, are interrupted or run out of memory."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

from tests.rows import each_row
from tests.worker_client import Client, Ended, Start, start_worker, worker

__all__ = ["start_worker", "worker"]


def test_a_traceback_is_pythons_with_the_authors_frames(worker: Client) -> None:
    worker.run("def f(x):\n    return x / 0")
    failure = worker.run("y = 1\nf(y)").failure
    lines = [
        "Traceback (most recent call last):",
        '  File "<cell 2>", line 2, in <module>',
        "    f(y)",
        '  File "<cell 1>", line 2, in f',
        "    return x / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert [line for line in failure["text"].splitlines() if line.strip(" ~^")] == lines
    assert ("\n           ~~^~~\n" in failure["text"]) == (worker.version >= (3, 11))
    assert (failure["name"], failure["message"]) == ("ZeroDivisionError", "division by zero")
    assert (failure["cell"], failure["line"]) == (1, 2)


def test_chained_exceptions_and_groups_are_kept(worker: Client) -> None:
    failure = worker.run("try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('no') from e").failure
    assert "KeyError: 1\n\nThe above exception was the direct cause" in failure["text"]
    assert failure["text"].count("Traceback (most recent call last)") == 2
    assert "worker" not in failure["text"] and failure["line"] == 4
    if worker.version >= (3, 11):
        assert "| TypeError: t" in worker.run("raise ExceptionGroup('g', [TypeError('t')])").failure["text"]


def test_paths_of_the_machine_are_not_told(start_worker: Start, tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("import json\ndef load():\n    json.loads('{')\n")
    worker = start_worker()
    text = worker.run("import lib\nlib.load()").failure["text"]
    assert 'File "lib.py", line 3, in load' in text and 'File "json/decoder.py", line ' in text
    failure = worker.run("from lib import nothing").failure
    assert failure["message"] == "cannot import name 'nothing' from 'lib' (lib.py)"
    failure = worker.run(f"open({str(tmp_path / 'gone')!r})").failure
    assert failure["message"] == "[Errno 2] No such file or directory: 'gone'"
    assert str(tmp_path) not in failure["text"]
    outside = worker.run("exec(compile('1/0', '/somewhere/else/x.py', 'exec'))").failure["text"]
    assert 'File "x.py", line 1' in outside


def test_suggestions_are_pythons(worker: Client) -> None:
    text = worker.run("total = 1\ntotl").failure["text"]
    expected = " Did you mean: 'total'?" if worker.version >= (3, 10) else ""
    assert text.endswith(f"NameError: name 'totl' is not defined{'.' if expected else ''}{expected}\n")


def test_a_syntax_error_has_its_line(worker: Client) -> None:
    failure = worker.run("x = 1\ny = = 2\n").failure
    assert (failure["name"], failure["cell"], failure["line"]) == ("SyntaxError", 1, 2)
    assert failure["text"].splitlines()[:2] == ['  File "<cell 1>", line 2', "    y = = 2"]
    assert "Traceback" not in failure["text"]
    failure = worker.run("x = 1\nreturn x").failure
    assert failure["text"].startswith('  File "<cell 2>", line 2\n    return x\n    ^')
    assert (
        worker.run("%matplotlib inline").done["problem"] == "%matplotlib is a command of IPython, not Python"
    )


@each_row(
    ("code", "status", "problem"),
    [
        ("import sys; sys.exit(3)", "exit", "it calls sys.exit(3)"),
        ("exit()", "exit", "it calls sys.exit()"),
        ("raise SystemExit('no')", "exit", "it calls sys.exit('no')"),
        ("raise MemoryError", "memory", "it ran out of memory"),
        ("def f(): f()\nf()", "error", "RecursionError: maximum recursion depth exceeded"),
        ("raise KeyError", "error", "KeyError"),
        ("class E(Exception):\n  def __str__(self): 1/0\nraise E", "error", "E: <exception str() failed>"),
    ],
)
def test_endings_in_words(worker: Client, code: str, status: str, problem: str) -> None:
    done = worker.run(code).done
    assert (done["status"], done["problem"]) == (status, problem)
    assert done["failure"]["line"] == code.count("\n") + 1 or "def f" in code
    assert worker.run("'usable'").status == "ok"


def test_a_long_message_loses_its_middle(worker: Client) -> None:
    failure = worker.run("raise ValueError('a' + 'x' * 10**6 + 'z')").failure
    assert len(failure["text"]) < 70_000 and failure["text"].endswith("xz\n")
    assert "characters left out" in failure["message"]


def test_an_interrupt_ends_the_cell_and_nothing_else(worker: Client) -> None:
    worker.process.send_signal(signal.SIGINT)
    worker.begin("x = 1\nwhile True: print('on')")
    assert worker.receive()["text"] == "on\n"
    worker.process.send_signal(signal.SIGINT)
    ended = Ended(worker.until("done"))
    assert (ended.status, ended.failure["name"]) == ("error", "KeyboardInterrupt")
    assert ended.failure["line"] == 2 and set(ended.text().splitlines()) <= {"on"}
    worker.process.send_signal(signal.SIGINT)
    assert worker.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); 5").status == "ok"
    worker.begin("print('on')\nimport time; time.sleep(60)")
    worker.receive()
    worker.process.send_signal(signal.SIGINT)
    assert Ended(worker.until("done")).failure["name"] == "KeyboardInterrupt"


def test_a_signal_says_where_a_cell_is(worker: Client, tmp_path: Path) -> None:
    worker.begin("print('on')\nimport os, time\nwhile not os.path.exists('go'): time.sleep(0.01)")
    worker.receive()
    worker.process.send_signal(signal.SIGUSR2)
    (tmp_path / "go").touch()
    assert 'File "<cell 1>", line ' in Ended(worker.until("done")).text("stderr")


def test_memory_over_the_limit(start_worker: Start) -> None:
    worker = start_worker(limits={"data_bytes": 300 * 10**6, "text_bytes": 1000})
    ended = worker.run("print('before')\nx = bytearray(500 * 10**6)")
    assert (ended.status, ended.text()) == ("memory", "before\n")
    assert ended.done["problem"] == "it ran out of memory: the limit is 300 MB"
    assert (ended.failure["cell"], ended.failure["line"]) == (1, 2)
    ended = worker.run("kept = []\nwhile True:\n    kept.append(bytes(10**5))")
    assert (ended.status, ended.failure["line"]) == ("memory", 3)
    ended = worker.run("import resource\nresource.getrlimit(resource.RLIMIT_CORE)")
    assert ended.values[0]["text"]["text/plain"] == "(0, 0)"
    worker.run("resource.setrlimit(resource.RLIMIT_DATA, (2 * 10**8, 2 * 10**8))")
    assert worker.run("1 / 0").failure["name"] == "ZeroDivisionError"


def test_without_a_limit_there_is_none(worker: Client) -> None:
    ended = worker.run("import resource\nresource.getrlimit(resource.RLIMIT_DATA)")
    expected = resource.getrlimit(resource.RLIMIT_DATA)
    assert ended.values[0]["text"]["text/plain"] == repr(expected)
