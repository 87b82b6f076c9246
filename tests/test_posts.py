"""Our own posts keep their word: quoted output is what the quoted script prints, figures are as drawn."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.figures.catalogue import FIGURES

CONTENT = Path(__file__).parent.parent / "content"
OUTPUT = re.compile(r'^```text title="output of (\S+)"[^\n]*\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def quoted_outputs() -> list[tuple[str, str, str]]:
    """Post, name of the script and its output, for every output that a post shows."""
    return [
        (post.parent.name, name, output)
        for post in sorted(CONTENT.glob("posts/*/index.md"))
        for name, output in OUTPUT.findall(post.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("post", "name", "output"), quoted_outputs(), ids=lambda value: str(value)[:30])
def test_a_quoted_script_prints_what_the_post_says(post: str, name: str, output: str) -> None:
    text = (CONTENT / "posts" / post / "index.md").read_text(encoding="utf-8")
    fence = rf'^```python title="{re.escape(name)}"[^\n]*\n(.*?)^```$'
    (script,) = re.findall(fence, text, re.MULTILINE | re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == output


def test_outputs_are_quoted() -> None:
    """Without this the test above could pass by finding nothing."""
    assert {name for _, name, _ in quoted_outputs()} >= {"online.py", "stream.py", "costs.py"}


@pytest.mark.parametrize("path", sorted(FIGURES))
def test_a_figure_is_what_its_script_draws(path: str) -> None:
    """If not: `python -m scripts.figures`."""
    assert (CONTENT / path).read_text(encoding="utf-8") == FIGURES[path]()


def test_every_drawing_of_a_post_has_its_script() -> None:
    drawn = {str(path.relative_to(CONTENT).as_posix()) for path in CONTENT.glob("posts/*/*.svg")}
    assert drawn == set(FIGURES)
