"""Whole sites: built, compared with their snapshot file by file, built again.

`python -m tests.regen sites` rewrites the snapshots under `tests/sites/<name>/expected/`.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib
import pytest

from blogsmith.config.load import load_config
from tests.page_checks import dead_fragments, elements
from tests.rows import each_row
from tests.site_files import build

FOLDER = Path(__file__).parent / "sites"
SITES = sorted(path for path in FOLDER.iterdir() if path.is_dir())
REGENERATE = "rewrite with: python -m tests.regen sites"


def tree(root: Path, pattern: str = "*") -> dict[str, bytes]:
    """Return every matching file below `root`, by path."""
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob(pattern)) if p.is_file()}


def copied(site: Path, to: Path) -> Path:
    """Copy the site's source to a separate folder."""
    shutil.copytree(site / "source", to)
    return to


def snapshot(public: Path) -> dict[str, bytes]:
    """Return the files of a snapshot: all except the theme's own and the manifest, which have other tests."""
    return {
        path: data
        for path, data in tree(public).items()
        if not path.startswith("assets/") and not path.startswith(".")
    }


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_snapshot(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    report = build(root)
    assert report.ok, report.diagnostics
    built, expected = snapshot(root / "public"), tree(site / "expected")
    assert sorted(built) == sorted(expected), REGENERATE
    for path, data in expected.items():
        assert built[path].decode("utf-8", "replace") == data.decode("utf-8", "replace"), (
            f"{path}: {REGENERATE}"
        )


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_a_second_build_changes_nothing(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    build(root)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (root / "public").rglob("*") if p.is_file()}
    report = build(root)
    after = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (root / "public").rglob("*") if p.is_file()}
    assert (report.written, report.removed) == (0, 0)
    assert before == after


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_same_bytes_in_another_folder(site: Path, tmp_path: Path) -> None:
    one, two = copied(site, tmp_path / "a"), copied(site, tmp_path / "ä ö" / "b")
    build(one)
    build(two)
    assert tree(one / "public") == tree(two / "public")


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_edits_end_where_a_clean_build_does(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    build(root)
    posts = sorted((root / "content").rglob("*.md"))
    for post in posts[:3]:
        post.write_text(post.read_text("utf-8") + "\nAn added line with $x^2$.\n", "utf-8")
        build(root)
    victim = next(post for post in posts if post.stem not in ("_index", "index"))
    victim.rename(victim.with_name("renamed-post.md"))
    report = build(root)
    shutil.copytree(root, tmp_path / "fresh", ignore=shutil.ignore_patterns("public", ".blogsmith"))
    fresh = build(tmp_path / "fresh")
    assert report.diagnostics == fresh.diagnostics
    assert report.ok is fresh.ok
    if fresh.ok:
        assert tree(root / "public") == tree(tmp_path / "fresh" / "public")


def check_page(html: str) -> tuple[set[str], list[str]]:
    """Return ids and URLs of a page. It must be valid HTML, with one title and no duplicate ids."""
    root = html5lib.HTMLParser(strict=True).parse(html)
    found = list(elements(root))
    ids = [name for _, element in found if (name := element.get("id"))]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    is_redirect = 'http-equiv="refresh"' in html
    assert sum(tag == "h1" for tag, _ in found) == (0 if is_redirect else 1)
    written = [element.get(key) for _, element in found for key in ("href", "src", "poster")]
    return set(ids), [address for address in written if address is not None]


def broken_addresses(public: Path, base_path: str) -> Iterator[str]:
    """Yield every URL in the site that resolves to no file or anchor of it."""
    pages = {path: check_page(data.decode()) for path, data in tree(public, "*.html").items()}
    for path, (_, addresses) in pages.items():
        for address in addresses:
            parts = urlsplit(address)
            target = unquote(parts.path).removeprefix(f"{base_path}/")
            target = path if not parts.path else f"{target}index.html" if target[-1:] in ("", "/") else target
            inside = not parts.path or parts.path.startswith(f"{base_path}/")
            if parts.scheme or parts.netloc:
                continue
            anchors = pages[target][0] if target in pages else set()
            if not inside or not (public / target).is_file() or parts.fragment not in {"", *anchors}:
                yield f"{path}: {address}"


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_every_page_is_valid_and_leads_somewhere(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    build(root)
    assert list(broken_addresses(root / "public", load_config(root).config.base_path)) == []


def test_a_broken_address_would_be_found(tmp_path: Path) -> None:
    page = '<!DOCTYPE html><html lang="en"><title>x</title><h1 id="a">x</h1><p>'
    links = '<a href="/b/x/#a">x</a><a href="/b/y">x</a><a href="/x/">x</a><a href="#b">x</a>'
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "index.html").write_text(page + links)
    found = [re.sub(".*: ", "", line) for line in broken_addresses(tmp_path, "/b")]
    assert found == ["/b/y", "/x/", "#b"]


@each_row(
    "html, dead",
    [
        ('<a href="#a">x</a><p id="a">', []),
        ('<a href="#b">x</a><p id="a">', ["#b"]),
        ("<a class=x href='#b'>x</a><p id=b>", []),
        ('<a href="#%C3%A4&amp;">x</a><p id="ä&amp;">', []),
        ('<a href="#b">x</a><a href="#b">x</a>', ["#b"]),
        ('<a href="#b">x</a><!-- <p id="b"> --><script>let x = "<p id=b>"</script>', ["#b"]),
        ('<script>let x = "<a href=#b>"</script><a href="#">x</a><a href="#top">x</a>', []),
        ('<a href="/x/#b">x</a><use href="#b"></use>', []),
        ('<a name="b"></a><a href="#b">x</a>', []),
    ],
)
def test_links_to_ids_that_a_page_lacks_are_found(html: str, dead: list[str]) -> None:
    assert dead_fragments(html) == dead


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_no_warning_and_no_path_of_this_machine(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    assert build(root).diagnostics == ()
    assert [path for path, data in tree(root / "public").items() if str(tmp_path).encode() in data] == []


def test_what_is_not_published_stays_out(tmp_path: Path) -> None:
    root = copied(FOLDER / "blog", tmp_path / "site")
    report = build(root)
    files = tree(root / "public")
    assert (report.drafts, report.scheduled) == (2, ("content/posts/later.md",))
    assert not [path for path in files if "draft" in path or "later" in path or "secret" in path]
    assert build(root, drafts=True, future=True).pages > report.pages
    assert (root / "public" / "posts" / "draft" / "secret.png").is_file()


def test_foreign_files_survive(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    build(root)
    (root / "public" / "CNAME").write_text("example.org\n")
    assert build(root).ok
    assert (root / "public" / "CNAME").read_text() == "example.org\n"


def test_the_old_site_stays_while_there_is_an_error(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    build(root)
    before = tree(root / "public")
    post = next((root / "content").rglob("*.md"))
    post.write_text(post.read_text("utf-8") + "\n$\\unknowncommand$\n", "utf-8")
    assert not build(root).ok
    assert tree(root / "public") == before


def test_sources_stay_out_of_the_output(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    build(root)
    files = tree(root / "public")
    # readers' browsers run the theme's Python
    own = [path for path in files if not path.startswith("assets/")]
    assert not [path for path in own if path.endswith((".md", ".yaml", ".py"))]
    assert not [path for path, data in files.items() if str(tmp_path).encode() in data]
