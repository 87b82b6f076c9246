"""`make soak` in seconds: random edits in a preview are all shown, and neither threads nor memory grow."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench import soak as bench
from tests.bench.soak import soak
from tests.serve_process import PATIENCE_S

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at the server through /proc")
SECONDS = (5, 100)
"""The second value is for a machine so busy that little happens in the first."""
LOOKS = 12
LEAST_LOOKS = 6
"""After the first third of the time; with fewer than four, `soak` does not report growth."""


def test_nothing_grows_and_no_edit_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PATIENCE_S", PATIENCE_S)
    said: list[str] = []
    for seconds in SECONDS:
        folder = tmp_path / str(seconds)
        folder.mkdir()
        soaked = soak(folder, seconds, seconds / LOOKS, posts=12, seed=3, say=said.append)
        if len(soaked.samples) >= LEAST_LOOKS and soaked.edits > SECONDS[0]:
            break
    assert soaked.faults == (), "\n".join(said)
    assert soaked.edits > SECONDS[0]
