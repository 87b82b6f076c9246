"""Cells with torch whose results are repeatable, or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run_sites import STALE, site
from tests.site_files import build

pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")


@pytest.mark.parametrize(
    ("code", "is_repeatable"),
    [
        # the profiler gives each trace a random name
        ("with torch.profiler.profile():\n    x = torch.ones(2) + 1\nx.sum().item()", True),
        # a new process has a fixed seed
        ("torch.rand(2).sum().item()", True),
        ("torch.seed()\ntorch.rand(2).sum().item()", False),
    ],
)
def test_randomness(tmp_path: Path, code: str, *, is_repeatable: bool) -> None:
    found = build(site(tmp_path, a=f"import torch\n{code}"), execution=STALE).diagnostics
    assert [one.code for one in found] == ([] if is_repeatable else ["cell-repeatable"])
