"""Rows 8, 9, 10 and 18: every error in a post is reported at its position and hides no other error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.children import public
from tests.faults.small_site import before, post
from tests.site_files import build, printed, put, put_bare

HEAD = b"---\ntitle: T\ndate: 2026-01-05\n---\n"

# -- 8: encodings --


@pytest.mark.parametrize(
    "form",
    [
        b"\xef\xbb\xbf%b",
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r\n", 3),
    ],
    ids=["BOM", "CRLF", "CR", "BOM and CRLF", "some CRLF"],
)
def test_row_08_one_text_in_other_forms_gives_the_same_bytes(
    form: bytes | Callable[[bytes], bytes], tmp_path: Path
) -> None:
    text = HEAD + "Wörter $x^2$\n\n```python\nprint('é')\n```\n\n| a |\n|---|\n| b |\n".encode()
    root = put_bare(tmp_path, {"blogsmith.yaml": b"title: T\n", "content/a.md": text})
    assert build(root).ok
    plain = public(root)
    for path in ("content/a.md", "blogsmith.yaml"):
        data = (root / path).read_bytes()
        (root / path).write_bytes(form % data if isinstance(form, bytes) else form(data))
    report = build(root)
    assert report.ok, printed(report)
    assert public(root) == plain


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (b"caf\xe9", "byte 0xe9 at byte offset 37 is not UTF-8"),
        (b"a\x00b", "NUL character at byte offset 35"),
        (b"\xc0\xaf", "byte 0xc0 at byte offset 34 is not UTF-8"),
        (b"\xed\xa0\x80", "byte 0xed at byte offset 34 is not UTF-8"),
        (b"\xf5\x80\x80\x80", "byte 0xf5 at byte offset 34 is not UTF-8"),
        (b"\xe2\x82", "byte 0xe2 at byte offset 34 is not UTF-8"),
    ],
)
def test_row_08_what_is_no_text_is_named_by_its_byte(damage: bytes, said: str, tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": "title: T\n", "content/a.md": HEAD + damage})
    report = build(root)
    (found,) = report.diagnostics
    assert (found.code, found.message, found.path) == ("encoding", said, "content/a.md")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_row_08_other_encodings_are_named(codec: str, tmp_path: Path) -> None:
    text = HEAD.decode().encode(codec)
    root = put(
        tmp_path, {"blogsmith.yaml": "title: T\n", "content/a.md": text, "content/b.md": b"[x](gone.md)\n"}
    )
    report = build(root)
    told = {found.path: found.code for found in report.diagnostics}
    assert told == {"content/a.md": "encoding", "content/b.md": "link-missing"}
    assert ("UTF-" in printed(report)) or "NUL character" in printed(report)


# -- 9: targets that do not exist --

BROKEN = {
    "[x](gone.md)": "link-missing",
    "[x](b.md#nowhere)": "link-anchor",
    "[x](#nowhere)": "link-anchor",
    "[x](/nowhere/)": "link-missing",
    "![x](gone.png)": "image-missing",
    "x[^gone]": "footnote-undefined",
    "\\eqref{eq:gone}": "ref-undefined",
    "{@eq:gone}": "ref-undefined",
    "{@b#eq-gone}": "ref-undefined",
    "{% gone %}": "shortcode-unknown",
}


def test_row_09_every_broken_reference_is_told_in_one_run(tmp_path: Path) -> None:
    root = before(tmp_path)
    assert build(root).ok
    old = public(root)
    put(root, {"content/posts/e.md": post("E", 5, "\n\n".join(BROKEN))})
    report = build(root)
    assert not report.ok
    told = {found.place.line: found.code for found in report.diagnostics if found.place}
    lines = (root / "content/posts/e.md").read_text("utf-8").split("\n")
    assert {lines[line - 1]: code for line, code in told.items()} == BROKEN
    assert public(root) == old, "the last good site stays"


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("[x](c/indx.md)", "c/index.md"),
        ("[x](b.md#ennd)", "#end"),
        ("![x](c/on.svg)", "one.svg"),
        ("{@b#eq-on}", "eq-one"),
    ],
)
def test_row_09_the_nearest_name_is_told(written: str, hint: str, tmp_path: Path) -> None:
    root = before(tmp_path)
    put(root, {"content/posts/e.md": post("E", 5, written)})
    (found,) = build(root).diagnostics
    assert found.place and found.place.line == 5
    assert hint in found.hint


# -- 10: YAML --

YAML = {
    "title: [": (2, None),
    "title: 'x": (2, None),
    "title: x\n  date: 2026-01-01": (3, None),
    "title: a: b": (2, None),
    "title: x\n\tdate: 1": (3, None),
    "title: *x": (2, None),
    "title: !!python/object:os.system x": (2, None),
    "title: x\ntitle: y": (3, None),
    "- x": (2, None),
    "title: {a: b": (2, None),
}


def test_row_10_broken_front_matter_is_told_with_its_line_and_the_rest_is_checked(tmp_path: Path) -> None:
    files = {f"content/p{n}.md": f"---\n{head}\n---\nx\n" for n, head in enumerate(YAML)}
    root = put(tmp_path, {"blogsmith.yaml": "title: T\n", **files, "content/last.md": "[x](gone.md)\n"})
    report = build(root)
    for number, (line, _) in enumerate(YAML.values()):
        (first, *_) = [found for found in report.diagnostics if found.path == f"content/p{number}.md"]
        assert first.place and first.place.line in (line, line + 1), first
        assert first.source_line
    assert [found.code for found in report.diagnostics if found.path == "content/last.md"] == ["link-missing"]


@pytest.mark.parametrize("text", YAML)
def test_row_10_so_are_broken_settings(text: str, tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": f"{text}\n", "content/a.md": "x\n"})
    report = build(root)
    assert not report.ok
    assert {found.path for found in report.diagnostics} == {"blogsmith.yaml"}
    assert report.diagnostics[0].place


# -- 18: unknown keys --


@pytest.mark.parametrize(
    ("place", "text", "hint"),
    [
        ("blogsmith.yaml", "titel: T\n", "title"),
        ("blogsmith.yaml", "title: T\nbase_ulr: x\n", "base_url"),
        ("blogsmith.yaml", "title: T\nmath: {macro: {}}\n", "macros"),
        ("blogsmith.yaml", "title: T\nexecute: {time_out: 3}\n", "timeout"),
        ("content/a.md", "---\ntitle: T\ndat: 2026-01-01\n---\n", "date"),
        ("content/a.md", "---\ntitle: T\ntag: [x]\n---\n", "tags"),
        ("content/a.md", "---\ntitle: T\nexecute: {time_out: 3}\n---\n", "timeout"),
    ],
)
def test_row_18_an_unknown_key_is_told_with_its_nearest(
    place: str, text: str, hint: str, tmp_path: Path
) -> None:
    root = put(tmp_path, {"blogsmith.yaml": "title: T\n", "content/a.md": "x\n", place: text})
    (found, *_) = build(root).diagnostics
    assert found.path == place and found.place
    assert hint in f"{found.message} {found.hint}"
