"""A small Quarto project, written for these tests, with pages that each test adds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.test_images import png_of

FILES: Mapping[str, str] = {
    "_quarto.yml": """\
project: {type: website, output-dir: _site}
website:
  title: Notes on kernels
  description: What rows sum to
  site-url: https://example.org/notes
  navbar:
    left:
      - text: Other
        href: posts/other.qmd
      - {text: Elsewhere, href: "https://example.com"}
  page-footer: By us
format:
  html: {theme: cosmo}
bibliography: references.bib
""",
    "_variables.yml": "version: 1.2\n",
    "index.qmd": "---\ntitle: Front\nlisting: {contents: posts}\n---\n\nWelcome.\n",
    "about.qmd": """\
---
title: About
about:
  template: jolla
  links:
    - {icon: github, text: Code, href: "https://example.com/code"}
---

Who we are.
""",
    "references.bib": """\
@article{keller2020, author = {Ada Keller}, title = {Kernels}, year = 2020, doi = {10/abc}}
@book{lund2019, author = {Lund, Bo and Moss, Cy}, title = {Sums}, year = 2019}
@book{moss2021, author = {Moss, Cy and Lund, Bo and Keller, Ada}, title = {Rows}, year = 2021}
""",
    "posts/_metadata.yml": "author: The editors\nformat: {html: {toc: true}}\n",
    "posts/_part.qmd": "A part with *emphasis*.\n",
    "posts/_macros.tex": "\\newcommand{\\N}{\\mathbb{N}}\n",
    "posts/other.qmd": "---\ntitle: Other\n---\n\n## Part\n\nText.\n",
    "posts/data.csv": "a,b\n",
    "posts/unused.csv": "a,b\n",
}


def write_project(root: Path, pages: Mapping[str, str]) -> None:
    """Write the project with these pages: path → text."""
    for name, text in {**FILES, **pages}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (root / "posts" / "plot.png").write_bytes(png_of(4, 3))
