"""Terminal sessions for the manual: a small site, commands and their output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from tests.docs_sources import ROOT


@dataclass(frozen=True, slots=True)
class Scene:
    """The steps of a session; only `shown` is printed."""

    files: Mapping[str, str]
    """Path → content, before any command runs."""
    before: Sequence[str] = ()
    """Hidden commands."""
    changes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Path → (old, new) string to replace after `before`."""
    shown: Sequence[str] = ()
    """Commands that are shown with their output."""


_POST = """---
title: Attention
date: 2026-03-01
---

```python
#| label: load
scores = [float(line) for line in open("scores.txt")]
```

```python
#| label: total
from lib.sums import total
total(scores)
```

```python
#| label: gpu-kernel
#| session: gpu
"nothing of the above"
```

The sum is {= total(scores) =}.
"""
_FILES = MappingProxyType(
    {
        "blogsmith.yaml": "title: Notes\n",
        "content/posts/attention/index.md": _POST,
        "content/posts/attention/scores.txt": "1\n2\n",
        "content/posts/attention/lib/sums.py": "def total(numbers):\n    return sum(numbers)\n",
    }
)

SCENES: Mapping[str, Scene] = MappingProxyType(
    {
        "stale": Scene(
            _FILES,
            before=("execute",),
            changes={
                "content/posts/attention/lib/sums.py": ("sum(numbers)", "sum(sorted(numbers))"),
                "content/posts/attention/index.md": ("The sum is", "Their sum is"),
            },
            shown=("freeze status", "freeze explain", "build --frozen"),
        ),
        "explain": Scene({"blogsmith.yaml": "title: Notes\n"}, shown=("explain callout-kind",)),
    }
)


@cache
def transcript(name: str) -> str:
    """Return the output of the scene `name` in a terminal without colours."""
    scene = SCENES[name]
    with TemporaryDirectory() as folder:
        root = Path(folder) / "notes"
        for path, text in scene.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        for command in ("trust", *scene.before):
            _said(command, root)
        for path, (old, new) in scene.changes.items():
            before = (root / path).read_text(encoding="utf-8")
            if before.count(old) != 1:
                raise ValueError(f"{path}: {old!r} stands {before.count(old)} times in it")
            (root / path).write_text(before.replace(old, new), encoding="utf-8")
        return "\n".join(f"$ blogsmith {command}\n{_said(command, root)}" for command in scene.shown).rstrip()


def _said(command: str, root: Path) -> str:
    """Return both output streams of a command."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"XDG_STATE_HOME": str(root.parent / "state"), "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "blogsmith", *command.split()],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode not in (0, 1, 3):
        raise ValueError(f"blogsmith {command}: {done.stdout}")
    # durations differ from run to run
    return re.sub(r"\d+\.\d s\b", "0.3 s", done.stdout)
