"""Posts that refer to each other's equations, and pointer movements of their reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.site_files import SiteText, build, printed, write_site_files

from .conftest import Served
from .reader import Reader
from .server import served

FIRST = r"""---
title: Two means
date: 2026-01-01
references:
  gauss: {authors: [C. F. Gauss], title: Disquisitiones, year: 1801, url: "https://example.org/"}
---

## Setting {#sec-setting}

Both are as in [@gauss], for $a > 0$ and $b > 0$. By \eqref{eq:mean} all is well.

$$\frac{a + b}{2} \ge \sqrt{ab}$$ {#eq:mean}

More is said in {@thm-main}, {@sec-setting}, \eqref{eq:two} and \eqref{eq:long}.

\begin{align}
(a + b)^2 &= a^2 + 2ab + b^2 \label{eq:one} \\
(a - b)^2 &= a^2 - 2ab + b^2 \notag \\
0 &\le \frac{(a - b)^2}{4} = \frac{(a + b)^2}{4} - ab
     = \Bigl(\frac{a + b}{2}\Bigr)^2 - \bigl(\sqrt{ab}\bigr)^2 \label{eq:two}
\end{align}

\begin{gather*}
f = 1 \\
g = 2
\end{gather*}

> [!THEOREM]- Means {#thm-main}
> The other one is
> $$\Bigl(\prod_{i=1}^n x_i\Bigr)^{1/n}$$
> and no greater.

$$
a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12} + a_{13} + a_{14} + a_{15}
$$ {#eq:long wide=scroll}

> [!REMARK]
> So
> $$c = \sqrt{ab}$$

- One:
  $$d = 1$$

| Sign | Display |
|------|---------|
| e    | $$e = 2$$ |
"""
SECOND = r"""---
title: Another post
date: 2026-01-02
---

The mean {@first#eq:mean}, its theorem {@first#thm-main} and a row {@first#eq:two} again.
"""
PLAIN = "---\ntitle: Plain\ndate: 2026-01-03\n---\n\nThe root $x$ of no weight.\n"
CITED = """---
title: A citation alone
date: 2026-01-05
references:
  gauss: {authors: [C. F. Gauss], title: Disquisitiones, year: 1801}
---

As [@gauss] has it.
"""
WRONG = r"""---
title: A mistake
date: 2026-01-04
---

$$\nosuchcommand$$ {#eq:wrong}

It stands in {@eq:wrong}.
"""
PAGES = {"first": FIRST, "second": SECOND, "plain": PLAIN, "cited": CITED, "wrong": WRONG}

GO = "document.querySelector(arguments[0]).focus()"
"""Script that gives the focus to an element."""
MIDDLE = """
const element = document.querySelector(arguments[0]);
element.scrollIntoView({block: "center", behavior: "instant"});
// a link that breaks has a box on each line, and between them there is no link
const {x, y, width, height} = element.getClientRects()[0];
return {x: x + width / 2, y: y + height / 2};
"""
"""Script that scrolls to an element and returns the middle of its first line."""


def site(folder: Path, config: str = "") -> Path:
    """Build the posts of this file in `folder` and return the output folder."""
    files = {f"content/posts/{name}.md": text.encode() for name, text in PAGES.items()}
    files["blogsmith.yaml"] = f"title: Cards\nmath: {{on_error: render}}\n{config}".encode()
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    return folder / "public"


@contextmanager
def equations(folder: Path) -> Iterator[Served]:
    """Build the posts of this file in `folder` and serve them."""
    output = site(folder)
    with served(output) as origin:
        yield Served(output, origin)


def point_at(reader: Reader, selector: str) -> None:
    """Move the pointer to the middle of an element."""
    reader.wait_for_fonts()
    move_to(reader, **reader.ask(MIDDLE, selector))


def move_to(reader: Reader, x: float, y: float) -> None:
    """Move the pointer in more than one step, as a hand does."""
    for step in (1, 0):
        reader.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)
