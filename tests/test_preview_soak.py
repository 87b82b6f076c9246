"""`make soak` in seconds: random edits in a preview are all shown, and neither threads nor memory grow."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.soak import soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at the server through /proc")
SECONDS = 10
LOOKS = 12


def test_nothing_grows_and_no_edit_is_missed(tmp_path: Path) -> None:
    said: list[str] = []
    soaked = soak(tmp_path, SECONDS, SECONDS / LOOKS, posts=12, seed=3, say=said.append)
    assert soaked.faults == (), "\n".join(said)
    assert soaked.edits > SECONDS
