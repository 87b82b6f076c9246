"""Row 16: a cell that never ends, exhausts resources or dies affects only its own post.

`tests/test_execute_faults.py` tests each fault alone, including fork bombs, with the line it is reported at.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.run_sites import STALE, page, site
from tests.site_files import build, printed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
LOOP = "while True: pass"
FAULTS = {
    "loop": (f"print('before')\n{LOOP}", "longer than"),
    "deaf": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "longer than",
    ),
    "memory": ("x = bytearray(10**10)", "memory|MemoryError"),
    "segfault": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        "segmentation|SIGSEGV|died",
    ),
    "exit": ("import os\nos._exit(3)", "os._exit"),
    "recursion": ("def f(): return f()\nf()", "RecursionError"),
    "words": ("print('x' * 50_000_000)", ""),
}


def test_row_16_every_fault_at_once_and_the_rest_has_its_results(tmp_path: Path) -> None:
    posts = {name: f"```{{python}}\n#| timeout: 2\n{code}\n```" for name, (code, _) in FAULTS.items()}
    posts |= {"nan": "```{python}\nfloat('nan'), float('inf'), [float('-inf')]\n```"}
    root = site(tmp_path, "execute: {memory: 500 MB, jobs: 2}\n", fine="print('all is well')", **posts)
    report = build(root, execution=STALE)
    assert not report.ok
    told = {found.path for found in report.diagnostics if found.severity == "error"}
    assert told == {f"content/posts/{name}.md" for name, (_, said) in FAULTS.items() if said}, printed(report)
    for name, (_, said) in FAULTS.items():
        of_post = [d for d in report.diagnostics if d.path == f"content/posts/{name}.md"]
        found = of_post[-1] if of_post else None
        assert not said or (found and re.search(said, found.message)), (name, found)
    assert (root / "_freeze/posts/fine/outputs.json").is_file()
    for name, (_, said) in FAULTS.items():
        if said:
            (root / f"content/posts/{name}.md").unlink()
    assert build(root).ok
    assert "all is well" in page(root, "fine") and "(nan, inf, [-inf])" in page(root, "nan")
    assert len(page(root, "words")) < 2_000_000
