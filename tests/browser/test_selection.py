"""Text that a reader copies is plain, and its TeX compiles elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site_files import SiteText, build, printed, write_site_files

from .reader import Reader
from .server import served
from .test_equations import SELECT

POST = r"""---
title: Copied
date: 2026-01-01
series: {name: Copies, part: 2}
math:
  macros:
    '\R': '\mathbb{R}'
    '\norm': '\lVert #1 \rVert'
---

## Heading

In $\norm{x} \in \R$ and $a$:

$$\norm{x}^2 = 1 \label{eq:norm}$$

\begin{equation}
c = d \label{eq:cd}
\end{equation}

$$e = f \tag{$*$}$$

\begin{align}
a &= \R \label{eq:a} \\
b &= c \label{eq:b}
\end{align}

The end.
"""
COPIED = r"""Heading
In $\lVert x \rVert \in \mathbb{R}$ and $a$:
$$\lVert x \rVert^2 = 1 \tag{1}$$
\begin{equation}
c = d \tag{2}
\end{equation}
$$e = f \tag{$*$}$$
\begin{align}
a &= \mathbb{R} \\
b &= c
\end{align}
The end."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post; yield its URL."""
    folder: Path = tmp_path_factory.mktemp("selection")
    first = "---\ntitle: First\ndate: 2026-01-01\nseries: {name: Copies, part: 1}\n---\n\nText.\n"
    files = {
        "blogsmith.yaml": b"title: Copies\n",
        "content/posts/copied.md": POST.encode(),
        "content/posts/first.md": first.encode(),
    }
    write_site_files(SiteText(files, "", ""), folder)
    report = build(folder, output=folder / "public")
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        yield f"{origin}/posts/copied/"


def copied(reader: Reader, start: str, end: str) -> list[str]:
    """Select a range, copy it, and return the non-empty lines of the clipboard."""
    reader.empty_clipboard()
    reader.ask(SELECT, start, end)
    reader.tell(
        "Input.dispatchKeyEvent", type="rawKeyDown", key="c", code="KeyC", modifiers=2, commands=["copy"]
    )
    return [line for line in reader.pasted().splitlines() if line]


def test_the_whole_text(page: str, reader: Reader) -> None:
    reader.open(page)
    assert reader.ask("return document.querySelectorAll('.series').length") == 1
    assert copied(reader, ".post-content", ".post-content") == COPIED.splitlines()


def test_a_part_that_ends_in_the_series(page: str, reader: Reader) -> None:
    reader.open(page)
    # The list of a series is below the text, folded.
    reader.find(".series summary").click()
    lines = copied(reader, ".post-content > p", ".series li")
    assert lines[0].startswith(r"In $\lVert x \rVert \in \mathbb{R}$")
    assert not [line for line in lines if "Parts" in line or "part 1 of" in line]


@pytest.mark.parametrize(
    ("number", "tex"),
    [
        (0, r"\lVert x \rVert^2 = 1"),
        (1, "\\begin{equation}\nc = d\n\\end{equation}"),
        (3, "\\begin{align}\na &= \\mathbb{R} \\\\\nb &= c\n\\end{align}"),
    ],
)
def test_the_button_gives_tex_that_compiles_elsewhere(
    page: str, reader: Reader, number: int, tex: str
) -> None:
    reader.open(page)
    reader.empty_clipboard()
    reader.ask(
        """
        const button = document.querySelectorAll(".copy-tex")[arguments[0]];
        button.click();
        button.parentElement.querySelector(".copy-menu > button").click();
        """,
        number,
    )
    assert reader.pasted() == tex
