"""FAQ structured data: folded questions of a page as JSON-LD, in every theme."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.check import render
from tests.site_files import build, put

PAGE = r"""---
title: Questions
date: 2026-03-01
---

> [!FAQ]- Why divide by $\sqrt{d_k}$?
> The variance of $q \cdot k$ is $d_k$, if $a < b$ & "so".
>
> - One *item*
> - Two </script><script>alert(1)</script>
>
> $$
> x < y
> $$

> [!faq]+ Is *it* [open](other.md)?
> Yes. ```python
> > [!NOTE]
> > And a note.
"""

_SCRIPT = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)


def structured(page: str) -> list[dict[str, Any]]:
    """Return all JSON-LD of a page."""
    return [json.loads(found) for found in _SCRIPT.findall(page)]


def entries(source: str) -> list[tuple[str, str]]:
    return [(entry.question, entry.answer) for entry in render(source).body.faq]


@pytest.mark.parametrize("theme", ["paper", "terminal"])
@pytest.mark.parametrize("untrusted", [False, True])
def test_a_page_of_questions_has_structured_data(tmp_path: Path, theme: str, untrusted: bool) -> None:
    settings = f"title: T\ntheme: {theme}\nmarkup: {{untrusted: {str(untrusted).lower()}}}\n"
    other = "---\ntitle: Other\ndate: 2026-03-02\n---\n\n> [!QUESTION]- Why?\n> So.\n"
    put(
        tmp_path,
        {"blogsmith.yaml": settings, "content/posts/a.md": PAGE, "content/posts/other.md": other},
    )
    report = build(tmp_path)
    assert report.ok and {found.code for found in report.diagnostics} <= {"html-unpaired"}, report.diagnostics
    page = (tmp_path / "public/posts/a/index.html").read_text(encoding="utf-8")
    (data,) = (item for item in structured(page) if item["@type"] == "FAQPage")
    first, second = data["mainEntity"]
    assert data["@context"] == "https://schema.org"
    assert [first["@type"], first["acceptedAnswer"]["@type"]] == ["Question", "Answer"]
    assert first["name"] == "Why divide by sqrt(d_k)?"
    answer = first["acceptedAnswer"]["text"]
    assert answer.startswith("<p>The variance of q · k is d_k, if a &lt; b &amp; ")
    assert "<ul><li>One item</li><li>" in answer
    assert "<p>x &lt; y</p>" in answer
    assert "<script" not in answer
    assert (second["name"], html.unescape(second["acceptedAnswer"]["text"]).count("And a note.")) == (
        "Is it open?",
        1,
    )
    others = (tmp_path / "public/posts/other/index.html").read_text(encoding="utf-8")
    assert all(item["@type"] != "FAQPage" for item in structured(others))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("> [!FAQ]- Why?\n> So.", [("Why?", "<p>So.</p>")]),
        ("> [!FAQ]- Why?\n>\n> So.\n>\n> And so.", [("Why?", "<p>So.</p> <p>And so.</p>")]),
        ("> [!FAQ] Why?\n> So.", []),
        ("> [!FAQ]- Why?", []),
        ("> [!FAQ]-\n> So.", []),
        ("> [!QUESTION]- Why?\n> So.", []),
        (
            "> [!FAQ]- A?\n> B.\n>\n> > [!FAQ]- C?\n> > D.\n\n> [!FAQ]- E?\n> F.",
            [("A?", "<p>B.</p><p>C?</p><p>D.</p>"), ("E?", "<p>F.</p>")],
        ),
        ("> [!FAQ]- $x<y$\n> `a<b` &amp; **c**", [("x<y", "<p>a&lt;b &amp; c</p>")]),
        ("- > [!FAQ]- Why?\n  > 1. One\n  > 2. Two", [("Why?", "<ol> <li>One</li> <li>Two</li> </ol>")]),
    ],
)
def test_entries(source: str, expected: list[tuple[str, str]]) -> None:
    assert [(q, re.sub(r"\s*(</?[ou]l>|</?li>|</?p>)\s*", r"\1", a)) for q, a in entries(source)] == [
        (q, re.sub(r"\s*(</?[ou]l>|</?li>|</?p>)\s*", r"\1", a)) for q, a in expected
    ]


def test_the_label_of_the_kind_is_its_own() -> None:
    page = render("> [!FAQ] So.")
    assert '<p class="callout-title">FAQ</p>' in page.html
    assert 'data-kind="faq" role="note" aria-label="FAQ" data-icon="question" data-color="teal"' in page.html
