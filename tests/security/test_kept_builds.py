"""Row 44: what a clone brings as kept from earlier builds is not believed, and leads nowhere else."""

from __future__ import annotations

import marshal
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from blogsmith.base.storage.cache import CACHE
from blogsmith.pipeline.build_stamps import FILES, compare_build
from blogsmith.pipeline.rows.row_store import FILE, Row, open_rows
from tests.preview_sites import built
from tests.site_files import NOW, build, put_bare

EVIL = b"<script>evil()</script>"
POST = "---\ntitle: A\ndate: 2026-01-01\n---\nharmless text, and more of it\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return put_bare(
        tmp_path / "site", {"blogsmith.yaml": "title: S\n", "content/posts/a.md": POST, "content/b.md": "b\n"}
    )


def kept(root: Path) -> Path:
    return root / CACHE / FILE


def forged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another user's builds of this very folder have kept of a hostile post, under our post's name."""
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(root.parent / "stranger"))
        build(root, remembers=True)
        rows = kept(root).read_bytes()
        body = root.parent / "rows.db"
        body.write_bytes(rows[32:])
        with sqlite3.connect(body) as store:
            count = store.execute("UPDATE rows SET data = ? WHERE kind = 'page'", (EVIL,)).rowcount
        store.close()
        assert count == 2
        kept(root).write_bytes(rows[:32] + body.read_bytes())


def of_another_user(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed, but with a stranger's key: the text of the post is another one there."""
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(root.parent / "stranger"))
        build(root, remembers=True)


def of_another_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed by this user, for another site."""
    twin = root.with_name("twin")
    shutil.copytree(root, twin)
    build(twin, remembers=True)
    shutil.copytree(twin / CACHE, root / CACHE)


def flipped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit of a page is another one."""
    build(root, remembers=True)
    data = bytearray(kept(root).read_bytes())
    data[-100] ^= 1
    kept(root).write_bytes(data)


def cut_short(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(root, remembers=True)
    kept(root).write_bytes(kept(root).read_bytes()[:5000])


def empty(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(root).parent.mkdir()
    kept(root).touch()


def pipe(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(root).parent.mkdir()
    os.mkfifo(kept(root))


def huge(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred gigabytes, none of them on the disk."""
    empty(root, monkeypatch)
    os.truncate(kept(root), 100 * 10**9)


def folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(root).mkdir(parents=True)


def link(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(root).parent.mkdir()
    kept(root).symlink_to(root.parent / "outside.txt")


def link_to_sealed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours, but behind a link."""
    build(root, remembers=True)
    kept(root).rename(root.parent / "elsewhere.db")
    kept(root).symlink_to(root.parent / "elsewhere.db")


def link_of_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root.parent / "outside").mkdir()
    (root / CACHE).symlink_to(root.parent / "outside")


HOSTILE = (
    *(forged, of_another_user, of_another_folder, flipped, cut_short, empty, pipe, huge, folder, link),
    link_to_sealed,
)


@pytest.mark.parametrize("bring", HOSTILE, ids=lambda bring: bring.__name__)
def test_row_44_what_is_not_ours_costs_time_only(
    bring: Callable[[Path, pytest.MonkeyPatch], None], site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = site.parent / "outside.txt"
    outside.write_text("mine")
    bring(site, monkeypatch)
    report = build(site, remembers=True, output=site / "public")
    assert report.ok
    # everything was made from the sources
    assert set(report.rebuilt) <= {"content/posts/a.md", "content/b.md"}
    assert bring is folder or len(report.rebuilt) == 2
    assert build(site, output=site.with_name("fresh")).ok
    assert built(site / "public") == built(site.with_name("fresh"))
    assert outside.read_text() == "mine"
    if bring is not folder:
        assert build(site, remembers=True, output=site / "public").rebuilt == {}
        assert kept(site).is_file()
        assert not kept(site).is_symlink()


def test_row_44_a_folder_behind_a_link_is_left_alone(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link_of_folder(site, monkeypatch)
    report = build(site, remembers=True)
    # the lock of the site would stand there, too
    assert [found.code for found in report.diagnostics] == ["output-write"]
    assert list((site.parent / "outside").iterdir()) == []


def test_row_44_a_record_of_stamps_is_not_believed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who could forge it would keep the author from ever building again."""
    time.sleep(0.1)
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(site.parent / "stranger"))
        assert build(site, remembers=True, question="the same").ok
        assert compare_build(str(site), "the same", NOW.timestamp(), write=True)
    assert compare_build(str(site), "the same", NOW.timestamp(), write=True) is None
    record = site / CACHE / FILES[True]
    for text in (b"", b"x" * 40, record.read_bytes()[32:], b"[" * 100_000):
        record.write_bytes(text)
        assert compare_build(str(site), "the same", NOW.timestamp(), write=True) is None


def test_row_44_the_seal_is_what_protects(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same forgery with this user's own key would be published: the test above tests something."""
    from blogsmith.model.documents import Body
    from blogsmith.model.texts import NO_TEXT, PageText, pack_text
    from blogsmith.pipeline.rows.page_rows import decode_page, encode_page

    build(site, remembers=True)
    with open_rows(site) as rows:
        row = rows.get("page", "content/b.md")
        assert row is not None
        assert decode_page(row.data, site, lambda digest: NO_TEXT) is not None
        forged = PageText.of(EVIL.decode())
        rows.put("page", "content/b.md", Row(row.key, encode_page(Body(forged, "b", "b"), (), site)))
        rows.put("content", "content/b.md", Row(forged.digest.hex(), pack_text(forged)))
    build(site, remembers=True, output=site / "public")
    assert EVIL in (site / "public/b/index.html").read_bytes()


def test_row_44_code_of_templates_is_run_only_if_this_user_made_it(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row holds code: a stranger's is never opened, and this user's own is what proves the test."""
    build(site, remembers=True)
    sealed = kept(site).read_bytes()
    mark = site.parent / "mark"
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(site.parent / "stranger"))
        build(site, remembers=True)
        _put_code(site, f"__import__('os').mkdir({str(mark)!r})")
    (site / "content/b.md").write_text("another text\n")
    assert build(site, remembers=True).ok
    assert not mark.exists()
    kept(site).write_bytes(sealed)
    _put_code(site, f"__import__('os').mkdir({str(mark)!r})")
    build(site, remembers=True)
    assert mark.exists()


def _put_code(root: Path, text: str) -> None:
    """Make this code that of all templates."""
    with open_rows(root) as rows:
        row = rows.get("templates", "theme")
        assert row is not None
        codes = msgspec.msgpack.decode(row.data, type=dict[str, tuple[str, bytes]])
        evil = marshal.dumps(compile(text, "evil", "exec"))
        data = msgspec.msgpack.encode({name: (digest, evil) for name, (digest, _) in codes.items()})
        assert rows.put("templates", "theme", Row(row.key, data))
