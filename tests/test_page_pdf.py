"""`pdf: true`: the PDF under a post, made by the build."""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path

import pytest
from PIL import Image

from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.features.book_pages import BookSource
from blogsmith.paper import page_pdf
from blogsmith.paper.site_paper import compile_paper
from tests.site_files import build, put_bare

POST = """---
title: Sums
date: 2026-01-02
pdf: true
---

Text with $x$ and ![a line](line.png).

![pasted](data:image/png;base64,{picture})
"""
LAYOUT = (
    '{{ page.content }}{% for one in page.downloads %}<a href="{{ one.url }}">{{ one.kind }}</a>{% endfor %}'
)


def png(width: int) -> bytes:
    with io.BytesIO() as stream:
        Image.new("RGB", (width, 9), "red").save(stream, "PNG")
        return stream.getvalue()


def site(root: Path) -> Path:
    files = {
        "content/posts/a.md": POST.replace("{picture}", base64.b64encode(png(5)).decode()),
        "content/posts/b.md": "No PDF",
    }
    put_bare(root, {**files, "content/posts/line.png": png(9), "themes/bare/layouts/post.html": LAYOUT})
    return root


def test_a_build_writes_the_pdf_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typst")
    compiled = []

    def counted(book: BookSource) -> tuple[bytes, tuple[Diagnostic, ...]]:
        compiled.append(book.title)
        return compile_paper(book)

    monkeypatch.setattr(page_pdf, "compile_paper", counted)
    root = site(tmp_path)
    assert not build(root, write=False).diagnostics
    assert not compiled
    first = build(root, use_cache=True)
    assert first.ok and not first.diagnostics, first.diagnostics
    (file,) = (root / "public").rglob("*.pdf")
    data = file.read_bytes()
    page = (root / "public/posts/a/index.html").read_text("utf-8")
    assert file == root / "public/posts/a/a.pdf" and data.startswith(b"%PDF-")
    assert '<a href="/posts/a/a.pdf">pdf</a>' in page
    assert compiled == ["Sums"]
    again = build(root, use_cache=True)
    assert (again.written, again.diagnostics, len(compiled)) == (0, first.diagnostics, 1)
    assert build(root).written == 0 and file.read_bytes() == data, "same input, same bytes"
    (root / "content/posts/line.png").write_bytes(png(8))
    assert build(root, use_cache=True).ok
    assert len(compiled) == 3 and file.read_bytes() != data


@pytest.mark.parametrize(
    ("setting", "place"), [("", "content/posts/a.md:4:6"), ("pdf: true\n", "blogsmith.yaml")]
)
def test_without_typst_the_build_says_what_to_install(
    setting: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    root = site(tmp_path)
    with (root / "blogsmith.yaml").open("a") as file:
        file.write(setting)
    (found,) = build(root).diagnostics
    text = format_diagnostic(found, color=False)
    assert text.startswith(f'{place}: error: missing package "typst" [pdf-compiler]')
    assert "hint: run `" in text
