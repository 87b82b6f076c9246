"""Text as editors have it: positions in three encodings, edits, and the worker thread."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from blogsmith.base.diagnostics.model import Place
from blogsmith.lsp.server import Worker
from blogsmith.lsp.text_buffer import TextBuffer, choose_encoding, count_characters, count_units

ENCODINGS = ("utf-8", "utf-16", "utf-32")
TEXTS = st.text(st.sampled_from("aé€𝔄\n\r\u2028\x85 "), max_size=30)


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 10), ("utf-16", 5), ("utf-32", 4)])
def test_units(encoding: str, units: int) -> None:
    assert count_units("aé€𝔄", encoding) == units
    assert count_characters("aé€𝔄", units, encoding) == 4
    assert count_characters("aé€𝔄", units + 7, encoding) == 4


def test_a_position_inside_a_character_is_before_it() -> None:
    assert count_characters("𝔄b", 1, "utf-16") == 0
    assert count_characters("𝔄b", 2, "utf-16") == 1
    assert count_characters("b", -3, "utf-8") == 0


def test_lines_end_as_the_protocol_says() -> None:
    buffer = TextBuffer("a\r\nb\rc\nd\u2028e\x85f")
    assert [buffer.line(number) for number in range(buffer.line_count)] == ["a", "b", "c", "d\u2028e\x85f"]
    assert buffer.position(3) == types.Position(1, 0)
    assert buffer.offset(types.Position(1, 99)) == 4
    assert buffer.offset(types.Position(99, 0)) == len(buffer.text)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, offset=st.integers(0, 30))
def test_positions_there_and_back(encoding: str, text: str, offset: int) -> None:
    offset = min(offset, len(text))
    buffer = TextBuffer(text, encoding)
    found = buffer.offset(buffer.position(offset))
    # there is no position between \r and \n
    assert found == offset or text[found : offset + 1] == "\r\n"


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, new=TEXTS, ends=st.tuples(st.integers(0, 30), st.integers(0, 30)))
def test_edits(encoding: str, text: str, new: str, ends: tuple[int, int]) -> None:
    start, end = sorted(min(one, len(text)) for one in ends)
    buffer = TextBuffer(text, encoding)
    start, end = (buffer.offset(buffer.position(one)) for one in (start, end))
    change = types.TextDocumentContentChangePartial(buffer.range(start, end), new)
    whole = types.TextDocumentContentChangeWholeDocument(new)
    assert buffer.apply([change], 2).text == text[:start] + new + text[end:]
    assert buffer.apply([change, whole], 3).text == new
    assert buffer.apply([change], 2).version == 2


def test_places_are_cut_at_the_end_of_their_line() -> None:
    buffer = TextBuffer("𝔄b\ncd")
    assert buffer.place_range(Place(1, 2, 9)) == types.Range(types.Position(0, 2), types.Position(0, 3))
    assert buffer.place_range(Place(7, 1, 1)) == types.Range(types.Position(1, 0), types.Position(1, 1))


def test_the_encoding_is_one_that_both_know() -> None:
    assert choose_encoding(None) == "utf-16"
    assert choose_encoding(["ebcdic", "utf-8", "utf-16"]) == "utf-8"


class _Once:
    """A task that is due once, and fails."""

    def __init__(self) -> None:
        self.due_s: float | None = 0.0

    def step(self) -> None:
        self.due_s = None
        raise ValueError("a bug")


def test_bugs_end_neither_the_worker_nor_who_waits_for_it() -> None:
    bugs: list[Exception] = []
    worker = Worker(time.monotonic, bugs.append)
    task = _Once()
    worker.post(lambda: worker.tasks.append(task))
    wrong = worker.submit(lambda: [].pop())
    refused = worker.submit(lambda: int("x"), (ValueError,))
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert wrong.result(10) is None
    with pytest.raises(ValueError, match="int"):
        refused.result(10)
    while task.due_s is not None:
        time.sleep(0.001)
    dropped = worker.submit(lambda: 1)
    assert worker.submit(lambda: 2).result(10) == 2
    assert dropped.result(10) == 1
    worker.end()
    thread.join(10)
    assert sorted(type(bug).__name__ for bug in bugs) == ["IndexError", "ValueError"]


def test_who_no_longer_waits_is_not_answered() -> None:
    worker = Worker(time.monotonic, lambda error: None)
    asked: list[int] = []
    dropped = worker.submit(lambda: asked.append(1))
    assert dropped.cancel()
    worker.end()
    worker.run()
    assert not asked
