"""`build --keep-going`: pages that can be made are written, those with errors stay as they were."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from blogsmith.base.storage.file_names import MANIFEST
from blogsmith.cli.main import main
from tests.site_files import build, put, put_bare

CONFIG = "title: S\nbase_url: https://example.org\nsocial_cards: false\n"
GOOD = "---\ntitle: A\ndate: 2026-01-01\ntags: [x]\n---\nThe first text, $x^2$.\n"
WRONG = GOOD.replace("The first text", "Another text, [dead](gone.md)")
OTHER = "---\ntitle: B\ndate: 2026-01-02\ntags: [x]\n---\nThe other post.\n"
A, PAGE = "content/posts/a.md", "posts/a/index.html"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Create a site of two posts."""
    return put_bare(tmp_path / "site", {"blogsmith.yaml": CONFIG, A: GOOD, "content/posts/b.md": OTHER})


def going_on(root: Path) -> tuple[int, int, int]:
    """Build. Return how many pages with errors stay unchanged, are partial, or are not published."""
    report = build(root, keep_going=True, use_cache=True, request_digest="keep")
    assert not report.ok
    assert report.wrong_pages, report.diagnostics
    pages = report.wrong_pages
    return pages.unchanged, pages.partial, pages.absent


def page(root: Path, path: str = PAGE) -> str:
    """Return a page in the output folder."""
    return (root / "public" / path).read_text()


def site_of(root: Path) -> dict[str, bytes]:
    """Return all files of the output folder."""
    public = root / "public"
    return {str(file.relative_to(public)): file.read_bytes() for file in public.rglob("*") if file.is_file()}


def clean_site(root: Path) -> dict[str, bytes]:
    """Return the output of a clean build."""
    copy = root.parent / "clean"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("public", ".blogsmith"))
    assert build(copy).ok
    return site_of(copy)


def test_by_default_nothing_is_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, {A: WRONG})
    assert main(["build", "--site", str(root)]) == 1
    assert not (root / "public").exists()
    assert capsys.readouterr().err.endswith(
        "1 error\n"
        "nothing was written: the last build of the site is unchanged\n"
        "run `blogsmith build --keep-going` to write the pages that can be rendered\n"
        "write `diagnostics: {link-missing: warning}` in blogsmith.yaml to treat these errors as warnings\n"
    )


def test_what_can_be_made_is_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, {A: WRONG})
    assert main(["build", "--keep-going", "--site", str(root)]) == 1
    out, err = capsys.readouterr()
    assert "[link-missing]" in err
    assert err.endswith("1 error\nwith errors: 1 page rendered in part\n")
    assert out.startswith("built ")
    assert "Another text" in page(root) and "<msup>" in page(root)
    assert "The other post" in page(root, "posts/b/index.html")


def test_without_errors_it_is_a_build_as_ever(root: Path) -> None:
    assert build(root, keep_going=True).ok
    assert site_of(root) == clean_site(root)


def test_a_page_stays_as_it_was(root: Path) -> None:
    build(root)
    before = page(root)
    put(root, {A: WRONG, "content/posts/b.md": OTHER.replace("other post", "second post")})
    assert going_on(root) == (1, 0, 0)
    assert page(root) == before
    assert "The second post" in page(root, "posts/b/index.html")
    # again and again
    assert going_on(root) == (1, 0, 0)
    assert page(root) == before


def test_what_never_was_right_is_no_version_to_keep(root: Path) -> None:
    put(root, {A: WRONG})
    assert going_on(root) == (0, 1, 0)
    put(root, {A: WRONG.replace("Another", "Yet another")})
    assert going_on(root) == (0, 1, 0)
    assert "Yet another" in page(root)
    assert json.loads((root / "public" / MANIFEST).read_text())["partial"] == [PAGE]


def test_the_next_build_without_errors_is_one_from_nothing(root: Path) -> None:
    put(root, {A: WRONG})
    going_on(root)
    put(root, {A: GOOD})
    assert build(root, use_cache=True).ok
    assert site_of(root) == clean_site(root)
    put(root, {A: WRONG})
    going_on(root)
    put(root, {A: GOOD.replace("first", "third")})
    assert build(root, use_cache=True).ok
    assert site_of(root) == clean_site(root)


def test_a_page_that_is_right_by_the_settings_is_no_longer_partial(root: Path) -> None:
    """Its bytes are the same; only the note in the manifest is removed."""
    put(root, {A: WRONG})
    going_on(root)
    before = page(root)
    put(root, {"blogsmith.yaml": f"{CONFIG}theme: bare\ndiagnostics: {{link-missing: warning}}\n"})
    assert build(root, use_cache=True).ok
    assert page(root) == before
    assert "partial" not in json.loads((root / "public" / MANIFEST).read_text())
    assert site_of(root) == clean_site(root)


def test_a_page_that_somebody_has_changed_is_no_version_to_keep(root: Path) -> None:
    build(root)
    put(root, {f"public/{PAGE}": "by hand", A: WRONG})
    assert going_on(root) == (0, 1, 0)
    assert "Another text" in page(root)


def test_a_strict_build_never_takes_it_for_the_last_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if its sources have the same bytes and times as in the good build before."""
    monkeypatch.chdir(root)
    put(root, {"content/posts/c.md": "---\ntitle: C\n---\n[a](a.md)\n"})
    time.sleep(0.1)
    assert main(["build"]) == 0
    stamps = (root / A).stat()
    kept = root / "kept"
    (root / A).rename(kept)
    put(root, {A: WRONG})
    os.utime(root / A, ns=(stamps.st_atime_ns, stamps.st_mtime_ns + 1))
    assert main(["build", "--keep-going"]) == 1
    kept.replace(root / A)
    assert main(["build"]) == 0
    assert site_of(root) == clean_site(root)


def test_feeds_wait_and_lists_do_not(root: Path) -> None:
    """An entry that feed readers have seen cannot be taken back."""
    put(root, {A: WRONG, "content/posts/b.md": OTHER.replace("tags: [x]", "tags: [y]")})
    going_on(root)
    for feed in ("atom.xml", "feed.json"):
        assert "The other post" in page(root, feed) and "Another text" not in page(root, feed)
    assert "<entry>" not in page(root, "tags/x/atom.xml") and "<entry>" in page(root, "tags/y/atom.xml")
    for path in ("posts/index.html", "index.html", "tags/x/index.html"):
        assert "href=/posts/a/" in page(root, path)
    put(root, {A: GOOD})
    assert build(root, use_cache=True).ok
    assert site_of(root) == clean_site(root)


NOT_CLEAR = [
    ("date", GOOD.replace("2026-01-01", "2026-13-01")),
    ("front-matter-open", GOOD.replace("---\nThe", "The")),
    ("yaml-syntax", GOOD.replace("title: A", "title: [A")),
    ("toml-syntax", '+++\ntitle = "A\ndraft = true\n+++\nThe first text.\n'),
    ("json-syntax", '{\n"title": "A,\n"draft": true\n}\n\nThe first text.\n'),
    ("slug", GOOD.replace("title: A", "title: A\nslug: a/b")),
    ("front-matter-value", GOOD.replace("title: A", "title: A\ndraft: tru")),
    ("permalink", GOOD.replace("title: A", "title: A\npermalink: /../a/")),
    ("toml-syntax", "+++\ntitle = 'A'\ndate = [\ndraft = true\n+++\nThe first text\n"),
    ("json-syntax", '{"title": "A", "date": "2026-01-01",, "draft": true}\nThe first text\n'),
    ("duplicate-url", GOOD.replace("title: A", "title: A\nslug: B")),
    ("encoding", b"---\ntitle: A\n---\n\xff\n"),
]


@pytest.mark.parametrize(("code", "text"), NOT_CLEAR, ids=[code for code, _ in NOT_CLEAR])
def test_what_may_not_be_meant_to_be_published_is_not(root: Path, code: str, text: str | bytes) -> None:
    put(root, {A: text, "content/posts/b.md": OTHER.replace("title: B", "title: B\nslug: b")})
    report = build(root, keep_going=True)
    assert code in {found.code for found in report.diagnostics}
    files = site_of(root)
    # of two pages with one address the first keeps it
    assert ("posts/a/index.html" in files, b"The first text" in b"".join(files.values())) == (
        (False, True) if code == "duplicate-url" else (False, False)
    )
    assert code == "duplicate-url" or "posts/b/index.html" in files


@pytest.mark.parametrize(("code", "text"), NOT_CLEAR, ids=[code for code, _ in NOT_CLEAR])
def test_and_what_is_published_stays(root: Path, code: str, text: str | bytes) -> None:
    build(root)
    before = page(root)
    put(root, {A: text})
    report = build(root, keep_going=True)
    assert code in {found.code for found in report.diagnostics}
    assert report.removed == 0
    assert page(root) == before


def test_what_a_page_needs_stays_with_it(root: Path) -> None:
    """A removed image, and a stylesheet with its dependencies."""
    folder = "content/posts/p"
    text = "---\ntitle: P\ndate: 2026-01-03\n---\n![one](a%20b.svg)\n"
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"></svg>'
    put(root, {f"{folder}/index.md": text, f"{folder}/a b.svg": svg, f"{folder}/unused.svg": svg})
    build(root)
    shutil.rmtree(root / folder)
    put(root, {f"{folder}/index.md": text})
    assert going_on(root) == (1, 0, 0)
    files = site_of(root)
    assert files["posts/p/a b.svg"] == svg.encode()
    assert "posts/p/unused.svg" not in files
    put(root, {f"{folder}/index.md": text.replace("![one](a%20b.svg)", "none")})
    assert build(root, use_cache=True).ok
    assert site_of(root) == clean_site(root)


STOPS = [
    ("config-key", {"blogsmith.yaml": f"{CONFIG}tilte: S\n"}),
    ("link-missing", {"blogsmith.yaml": f"{CONFIG}menu: [{{title: X, url: /gone/}}]\ntheme: bare\n"}),
    ("template", {"layouts/post.html": "{{ page.nothing.at.all }}"}),
    ("template", {"layouts/post.html": "{% if %}"}),
    ("theme-missing", {"blogsmith.yaml": f"{CONFIG}theme: nowhere\n"}),
    ("plugin-untrusted", {"plugins/own.py": "", "blogsmith.yaml": f"{CONFIG}theme: bare\nplugins: [own]\n"}),
    ("twin-files", {"content/posts/A.md": GOOD}),
]


@pytest.mark.parametrize(("code", "files"), STOPS)
def test_what_stops_all_the_same(root: Path, code: str, files: dict[str, str]) -> None:
    """Errors in settings, templates or safety do not belong to a page."""
    build(root)
    before = site_of(root)
    put(root, {**files, "content/posts/b.md": OTHER.replace("other", "second")})
    report = build(root, keep_going=True)
    assert code in {found.code for found in report.diagnostics}, report.diagnostics
    assert report.wrong_pages is None and site_of(root) == before


def test_a_link_out_of_the_site_stops_all(root: Path) -> None:
    (root / "content/posts/out.md").symlink_to("/etc/hostname")
    report = build(root, keep_going=True)
    assert [found.code for found in report.diagnostics] == ["symlink"]
    assert not (root / "public").exists()


def test_nothing_unsafe_is_written(root: Path) -> None:
    """The cause of an error is not on the page that shows the rest."""
    text = (
        '<a href="javascript:alert(1)">one</a> [three](javascript:alert(3))\n\n'
        '<img src="https://elsewhere.example/4.png"> ![five](https://elsewhere.example/5.png)\n\n'
        '{% video-embed src="https://elsewhere.example/6" %}\n'
    )
    put(root, {A: f"---\ntitle: A\n---\n{text}"})
    assert going_on(root) == (0, 1, 0)
    assert "one" in page(root) and "three" in page(root)
    # the call means nothing in this theme, so it is text
    text = page(root).replace('{% video-embed src="https://elsewhere.example/6" %}', "")
    assert "javascript:" not in text
    # the images are links: nothing is loaded before a click
    assert 'src="https://elsewhere.example' not in text and "url(" not in text


def test_an_alias_that_is_none_and_one_that_is_taken(root: Path) -> None:
    put(root, {A: GOOD.replace("title: A", "title: A\naliases: [/posts/b/, ../../up, /old/]")})
    assert going_on(root) == (0, 1, 0)
    assert "The other post" in page(root, "posts/b/index.html")
    assert "/posts/a/" in page(root, "old/index.html")
    assert not (root.parent / "up").exists()


EDITS = [
    {A: WRONG},
    {A: WRONG, "content/posts/b.md": OTHER.replace("other", "[second](a.md)")},
    {A: GOOD.replace("first", "third"), "content/posts/b.md": OTHER.replace("post", "[post](gone.md)")},
    {A: GOOD.replace("date:", "updated: x\ndate:")},
    {
        A: GOOD.replace("title: A", "title: Another"),
        "content/posts/c.md": GOOD.replace("title: A", "slug: b"),
    },
    {"content/posts/b.md": OTHER, "content/posts/c.md": "{% gone %}\n"},
    {A: GOOD, "content/posts/b.md": OTHER, "content/posts/c.md": "Right.\n"},
]


def test_what_is_kept_from_builds_changes_nothing(root: Path) -> None:
    """Each build equals one without cache with the same last site."""
    build(root, use_cache=True)
    for number, files in enumerate(EDITS):
        put(root, files)
        fresh = root.parent / f"fresh{number}"
        shutil.copytree(root, fresh, ignore=shutil.ignore_patterns(".blogsmith"))
        reports = [
            build(root, keep_going=True, use_cache=True, request_digest="keep"),
            build(fresh, keep_going=True),
        ]
        assert reports[0].diagnostics == reports[1].diagnostics
        assert reports[0].wrong_pages == reports[1].wrong_pages
        assert site_of(root) == site_of(fresh)
    assert site_of(root) == clean_site(root)
