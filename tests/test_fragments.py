"""Cached formulas and code after an edit: reused fragments equal new ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.build.render import PageCache
from blogsmith.model.documents import Body
from blogsmith.model.texts import EncodedText, compress_text, decompress_text
from blogsmith.render import fences, formulas
from blogsmith.render.fragments import fragment_key, pack_fragments, unpack_fragments
from blogsmith.render.html import render_body
from blogsmith.render.tools import SiteAccess
from blogsmith.syntax.parser import Parsed
from tests import check
from tests.cases_io import Case, all_cases, split_config
from tests.preview_sites import built
from tests.rows import each_row
from tests.site_files import build, put_bare

HEAD = "---\ntitle: A\ndate: 2026-01-01\n---\n"
MACROS = r"""$\def\here{z}$

$\here$ and $a \here$ and $\site$ and $x_1$.

$$\here = \site \tag{$\here$}$$

$$\begin{align} a &= b \label{eq:a} \\ c &= \site \end{align}$$

As $\eqref{eq:a}$ says, $1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 = \site$.

```python {title="A file"}
x = 1  # a
```

```nosuch
x
```
"""


def kept_of(body: Body) -> Mapping[bytes, str]:
    """Return the fragments that a build finds in content cached earlier."""
    return unpack_fragments(decompress_text(compress_text(body.content)))


@each_row(
    "case",
    [case for case in all_cases() if "$" in case.source or "```" in case.source],
    ids=lambda case: case.id,
)
def test_pages(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is rendered again with all fragments of its first version."""

    def render(parsed: Parsed, tools: SiteAccess) -> Body:
        first = render_body(parsed, tools)
        kept = kept_of(first)
        again = render_body(parsed, replace(tools, cached_fragments=kept))
        assert again == first
        assert kept_of(again) == kept
        return first

    monkeypatch.setattr(check, "render_body", render)
    config, post = split_config(case.source)
    check.render(post, config)


def test_what_is_kept_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "$x$ and $y$, $$z \\tag{1}$$\n\n```python\nx = 1\n```\n"
    kept: dict[bytes, str] = {}

    def render(parsed: Parsed, tools: SiteAccess) -> Body:
        return render_body(parsed, replace(tools, cached_fragments=kept))

    monkeypatch.setattr(check, "render_body", render)
    body = check.render(source).body
    kept |= kept_of(body)
    assert len(kept) == 4
    asked: list[str] = []

    def ask(*arguments: object, **options: object) -> None:
        asked.append(str(arguments))
        raise AssertionError(arguments)

    monkeypatch.setattr(formulas, "page_converter", ask)
    monkeypatch.setattr(fences, "highlight", ask)
    assert check.render(source).body == body
    with pytest.raises(AssertionError):
        check.render(source.replace("$y$", "$w$"))
    with pytest.raises(AssertionError):
        check.render(source.replace("x = 1", "x = 2"))
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("13 = ", "12 = "),
        ("{z}", "{w}"),
        ("title: A", "title: A\nmath: {macros: {\\site: u}}"),
        ("title: A", "title: A\nlang: de"),
        ("A file", "Another file"),
        ("nosuch", "python"),
        ("As $", "As $\\here$ and $"),
        ("tag{$", "tag*{$"),
        ("eq:a", "eq:b"),
        ("# a", "# b"),
    ],
)
def test_edits(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fragments are reused where possible; the site equals that of a clean build."""
    text = HEAD + MACROS
    root = put_bare(
        tmp_path / "site",
        {
            "blogsmith.yaml": "title: S\nmath: {macros: {\\site: v}, on_error: render}\n",
            "content/posts/a.md": text,
        },
    )
    build(root, use_cache=True, output=root / "public")
    taken: list[int] = []
    render = PageCache.render

    def watched(self: PageCache, document: object, tools: object) -> object:
        taken.append(len(self.table.fragments(document)))  # type: ignore[arg-type]
        return render(self, document, tools)  # type: ignore[arg-type]

    monkeypatch.setattr(PageCache, "render", watched)
    for version in (text.replace(old, new), text):
        time.sleep(0.05)
        (root / "content/posts/a.md").write_text(version)
        build(root, use_cache=True, output=root / "public")
        build(root, output=tmp_path / "fresh")
        assert built(root / "public") == built(tmp_path / "fresh")
        assert taken[0] >= 5
        assert taken[1:] == [0]
        taken.clear()


def test_other_settings(tmp_path: Path) -> None:
    """Macros of the site, and line numbers."""
    root = put_bare(tmp_path / "site", {"content/posts/a.md": HEAD + MACROS})
    for settings in (
        "{macros: {\\site: v}",
        "{macros: {\\site: w}",
        "{macros: {\\site: w}, packages: [physics]",
    ):
        code = f"code: {{line_numbers: {str('w' in settings).lower()}}}"
        text = f"title: S\nmath: {settings}, on_error: render}}\n{code}\n"
        (root / "blogsmith.yaml").write_text(text)
        build(root, use_cache=True, output=root / "public")
        build(root, output=tmp_path / "fresh")
        assert built(root / "public") == built(tmp_path / "fresh")


@given(st.lists(st.text(min_size=1, max_size=4), max_size=6), st.text(max_size=3))
def test_places(parts: list[str], between: str) -> None:
    """All fragments of a text are found, in any order of creation."""
    fragments = {fragment_key(part): part for part in reversed(parts)}
    data = between.join(parts).encode("utf-8", "surrogatepass")
    packed = pack_fragments({**fragments, fragment_key(0): between.join(parts) + "x"}, data)
    assert unpack_fragments(EncodedText(data, fragments=packed)) == fragments


def test_keys() -> None:
    """Each part of a key matters, and so do boundaries between parts."""
    inputs = [
        ("a", "b"),
        ("ab",),
        ("a, b",),
        ("a", 'b"'),
        ("a", b"b"),
        ("a", None),
        ("a", "None"),
        (1, "b"),
        ("\ud800",),
    ]
    assert len({fragment_key(*each) for each in inputs}) == len(inputs)
