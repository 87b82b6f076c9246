"""Code for measuring execution: the same cells for blogsmith and nbclient, as records and as posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from blogsmith.base.diagnostics.model import Place
from blogsmith.model.cells import Cell, PageCells

TRIVIAL = "1 + 1"
FIRST_NUMPY = "import numpy as np\nnp.arange(5) @ np.arange(5)"
CELLS = 5
"""Number of cells in a NumPy post."""

_NUMPY = (
    """import numpy as np
rng = np.random.default_rng({n})
q, k, v = rng.normal(size=(3, 128, 64))
q.shape""",
    """scores = q @ k.T / np.sqrt(64)
print("spread", round(float(scores.std()), 3))
scores[:2, :3].round(2)""",
    """weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
weights /= weights.sum(axis=-1, keepdims=True)
np.allclose(weights.sum(axis=-1), 1)""",
    """out = weights @ v
for d in (16, 64, 256):
    a, b = rng.normal(size=(2, 200, d))
    print(d, round(float((a * b).sum(axis=-1).std()), 2))
out.shape""",
    "np.linalg.svd(weights, compute_uv=False)[:3].round(4)",
)
assert len(_NUMPY) == CELLS
_FIGURE = """import matplotlib.pyplot as plt
import numpy as np
x = np.linspace(0, 1, 50)
plt.plot(x, x ** {n}, label="$x^{{{n}}}$")
plt.legend()
plt.show()"""
_BUSY = """total = 0
for i in range({rounds}):
    total += i * i % 7
total"""

FLOODS: Mapping[str, str] = MappingProxyType(
    {
        "print": "for i in range({size} // 1_000_000):\n    print('x' * 999_999)",
        "many small prints": "for i in range({size} // 100):\n    print('x' * 99)",
        "descriptor 1": "import os\nfor i in range({size} // 10_000):\n    os.write(1, b'x' * 10_000)",
    }
)
"""Way to print → code that prints `size` bytes in this way."""


def numpy_codes(number: int, cells: int = CELLS) -> tuple[str, ...]:
    """Return the first `cells` cells of the NumPy post with this number. Random numbers differ by post."""
    return tuple(code.format(n=number) for code in _NUMPY[:cells])


def figure_codes(number: int) -> tuple[str, ...]:
    """Return the code of a post that draws a figure."""
    return (_FIGURE.format(n=number + 1),)


def busy_codes(rounds: int) -> tuple[str, ...]:
    """Return the code of a post that only keeps one core busy."""
    return (_BUSY.format(rounds=rounds),)


def flood_codes(kind: str, size: int) -> tuple[str, ...]:
    """Return the code of a post that prints `size` bytes; `kind` is a key of FLOODS."""
    return (FLOODS[kind].format(size=size),)


def page_of(codes: Sequence[str], number: int = 0) -> PageCells:
    """Return the cells as the builder has them after it has read a post."""
    cells = [
        Cell(index, code + "\n", 10 * index, Place(10 * index - 1)) for index, code in enumerate(codes, 1)
    ]
    return PageCells(PurePosixPath(f"content/posts/post-{number:05}.md"), tuple(cells))


def write_site(root: Path, posts: Sequence[Sequence[str]], settings: str = "") -> None:
    """Write a site with a post for each list of codes.

    settings: additional lines of `blogsmith.yaml`.
    """
    folder = root / "content" / "posts"
    folder.mkdir(parents=True)
    (root / "blogsmith.yaml").write_text(f"title: Bench\n{settings}", encoding="utf-8")
    for number, codes in enumerate(posts):
        text = f"---\ntitle: Post {number}\ndate: 2026-01-01\ndescription: Number {number}\n---\n"
        for index, code in enumerate(codes, 1):
            options = f"#| label: cell-{index}\n"
            options += "#| fig-alt: A curve\n" if "plt.show" in code else ""
            text += f"\nText before cell {index}.\n\n```python\n{options}{code}\n```\n"
        (folder / f"post-{number:05}.md").write_text(text, encoding="utf-8")
