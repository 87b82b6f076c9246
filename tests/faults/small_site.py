"""A small site, before and after an edit that touches many of its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.site_files import put, put_bare

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="3"/>'


def post(title: str, day: int, body: str, more: str = "") -> str:
    return f"---\ntitle: {title}\ndate: 2026-01-{day:02}\n{more}---\n{body}\n"


BEFORE: Mapping[str, str] = {
    "blogsmith.yaml": "title: Site\nbase_url: https://example.org/b\npagination: 2\n",
    "content/posts/a.md": post("A", 1, "See [B](b.md#end) and $x^2$.", "tags: [x, y]\n"),
    "content/posts/b.md": post("B", 2, "$$y = \\sqrt{x}$$ {#eq-one}\n\n## End", "tags: [x]\nseries: S\n"),
    "content/posts/c/index.md": post("C", 3, "![one](one.svg)\n\n```python\nprint(1)\n```", "series: S\n"),
    "content/posts/c/one.svg": SVG.format(4),
    "content/about.md": "---\ntitle: About\n---\n[](posts/a.md) and [the file](/data.txt).\n",
    "static/data.txt": "1\n",
    "static/CNAME": "example.org\n",
}
AFTER: Mapping[str, str | None] = {
    "content/posts/a.md": post("A anew", 1, "See [B](b.md#end) and $x^3$.", "tags: [x, z]\n"),
    "content/posts/c/one.svg": SVG.format(8),
    "content/posts/d.md": post("D", 4, "New. {@b#eq-one}"),
    "static/data.txt": None,
    "content/about.md": "---\ntitle: About us\n---\nNo more.\n",
}


def before(root: Path) -> Path:
    """Write the site before the edit."""
    return put_bare(root, BEFORE)


def edit(root: Path) -> None:
    """Apply the author's edit to the site."""
    for path, text in AFTER.items():
        if text is None:
            (root / path).unlink()
        else:
            put(root, {path: text})
