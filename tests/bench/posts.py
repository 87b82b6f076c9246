"""Generated posts for measurements, in Markdown that all measured generators read."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

FORMULAS = 26
"""Number of formulas in one post."""
CODE_BLOCKS = 2
"""Number of code blocks in one post."""
_FIRST_DAY = dt.date(2020, 1, 1)

# No two posts contain the same formula, so that a cache across pages gains nothing.
_SECTION = r"""
## Section {s}

Let $q_{{{n}}} \in \mathbb{{R}}^{{{d}}}$ and $k_{{{n}}}$ be independent with mean $0$ and variance $1$. Then
$q_{{{n}}} \cdot k_{{{n}}} = \sum_{{i=1}}^{{{d}}} q_i k_i$ has mean *zero* and variance ${d}$, so that
its spread is $\sqrt{{{d}}}$, as **computed** in [section {s}](#section-{s}).

$$
\operatorname{{softmax}}(z)_i = \frac{{e^{{z_i - {n}}}}}{{\sum_{{j=1}}^{{{d}}} e^{{z_j - {n}}}}}
$$

- Nothing is lost when {n} is subtracted.
- Something is lost when `exp` overflows.
"""
_CODE = '''
```python
def softmax_{n}(scores):
    """Weights that add up to one; {n} is the shift."""
    weights = [exp(score - {n}) for score in scores]
    return [weight / sum(weights) for weight in weights]
```

| d | spread |
|--:|-------:|
| {n} | $\\sqrt{{{n}}}$ |
'''
_SECTIONS = 3
_FORMULAS_IN_SECTION = 8
assert _SECTIONS * _FORMULAS_IN_SECTION + CODE_BLOCKS == FORMULAS


def post(number: int) -> str:
    """Return the post with this number, with front matter."""
    day = _FIRST_DAY + dt.timedelta(days=number)
    head = f"---\ntitle: Post {number}\ndate: {day}\ndescription: Number {number} of many\n---\n"
    sections = [_SECTION.format(s=s, n=10 * number + s, d=64 + number + s) for s in range(1, _SECTIONS + 1)]
    code = [_CODE.format(n=10 * number + c) for c in range(1, CODE_BLOCKS + 1)]
    return head + "".join(sections) + "".join(code)


def write_posts(folder: Path, count: int) -> None:
    """Write posts 0 to `count` - 1 as files in `folder`."""
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"post-{number:05}.md").write_text(post(number), encoding="utf-8")
