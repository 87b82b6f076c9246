"""Output of cells and workers is never trusted, whatever its form.

Untrusted sites and forged records are rows of `tests/security/`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blogsmith.execute.session.answers import cell_run
from blogsmith.execute.session.output_buffer import OutputBuffer
from blogsmith.execute.session.session import run_session
from blogsmith.model.results import MAX_SDPA, Display
from tests.sessions import cell, job, value

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
X = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b]0;x\x07\u202e"


@pytest.fixture(autouse=True)
def nobody_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


# -- broken --


def test_a_value_in_the_text_is_cut(tmp_path: Path) -> None:
    run = run_session(job(tmp_path, "x = 1", value(1, "'v' * 10**7")))
    assert run.values[1].text == "v" * 65536 + "…"


@pytest.mark.parametrize("data", ["%%%", "A", "AAAAAAAAA"])
def test_a_form_that_is_no_base64_is_left_out(tmp_path: Path, data: str) -> None:
    code = f"""\
class P:
    def _repr_mimebundle_(self, include, exclude): return {{"image/png": {data!r}, 3: 4, "text/html": 5}}
    def __repr__(self): return "P"
P()"""
    (found,) = run_session(job(tmp_path, code)).cells[0].outputs
    assert isinstance(found, Display)
    assert found.data == {"text/plain": "P"}


@pytest.mark.parametrize(
    "said",
    [None, 3, ["flash aten::f"], [["flash aten::f"], 1, "flash aten::f", "Flash x", "a b\n", "a b" * 99]],
)
def test_what_a_worker_says_of_attention_is_not_believed_in_any_form(said: object) -> None:
    """The author's code can change the worker, and a record of another form could not be read again."""
    frame = {"status": "ok", "failure": None, "sdpa": said}
    found = cell_run(cell(1, "1"), frame, OutputBuffer(100, lambda output: None)).sdpa
    assert found == (("flash aten::f",) if isinstance(said, list) else ())
    many = {**frame, "sdpa": [f"flash aten::f{number}" for number in range(99)]}
    assert len(cell_run(cell(1, "1"), many, OutputBuffer(100, lambda output: None)).sdpa) == MAX_SDPA
