"""Posts with citation data: BibTeX, meta tags, feeds, ORCID iDs, dates from the history of files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.model.publications import is_orcid, parse_license
from blogsmith.project.trust.consent import trust
from tests.build_scripts import compare
from tests.rows import each_row
from tests.site_files import build, printed, put, put_bare

POST = """\
---
title: The $\\sqrt{d}$ of things & more
date: 2026-02-01
authors: [{name: Bea Bar, orcid: 0000-0002-1825-0097}, Cy Doe]
doi: https://doi.org/10.59350/abcde
license: CC-BY-4.0
---
Text.
"""
CONFIG = "title: Notes\nbase_url: https://example.org\nauthor: Ada Lovelace\n"


def test_a_citable_post(tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": CONFIG, "content/posts/things.md": POST})
    assert build(root).ok
    html = (root / "public/posts/things/index.html").read_text()
    for part in (
        '<meta name="citation_title" content="The sqrt(d) of things &amp; more">',
        '<meta name="citation_author" content="Bea Bar">',
        '<meta name="citation_author_orcid" content="https://orcid.org/0000-0002-1825-0097">',
        '<meta name="citation_publication_date" content="2026/02/01">',
        '<meta name="citation_doi" content="10.59350/abcde">',
        '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">',
        '<details class="cite-post" id="cite-this-post">',
        "@misc{bar2026sqrt,",
        "  title = {{The $\\sqrt{d}$ of things \\&amp; more}},",
        "month = feb,",
    ):
        assert part in html, part
    data = json.loads(html.partition('<script type="application/ld+json">')[2].partition("</script>")[0])
    assert data["@type"] == "ScholarlyArticle"
    assert data["author"][0]["@id"] == "https://orcid.org/0000-0002-1825-0097"
    atom = (root / "public/atom.xml").read_text()
    for part in (
        "<uri>https://orcid.org/0000-0002-1825-0097</uri>",
        "<rights>CC BY 4.0</rights>",
        '<link rel="cite-as" href="https://doi.org/10.59350/abcde" />',
        "<id>https://example.org/posts/things/</id>",
    ):
        assert part in atom, part
    item = json.loads((root / "public/feed.json").read_text())["items"][0]
    assert item["authors"][0] == {"name": "Bea Bar", "url": "https://orcid.org/0000-0002-1825-0097"}
    assert item["_citation"]["doi"] == "https://doi.org/10.59350/abcde"


def test_versions(tmp_path: Path) -> None:
    """The newest version is named by the citation, and is the date of the entry in the feed."""
    lines = "changes:\n- {date: 2026-03-05, text: Shorter proof}\n- {date: 2026-03-01, text: Typo}\n"
    post = POST.replace("license:", f"{lines}license:")
    root = put(tmp_path / "site", {"blogsmith.yaml": CONFIG, "content/posts/things.md": post})
    assert not compare(root).diagnostics
    html = (root / "public/posts/things/index.html").read_text()
    assert "note = {Version of 2026-03-05}" in html
    assert "Notes, 2026, version 2026-03-05. https://doi.org" in html
    box = html.partition('<section class="changes"')[2].partition("</section>")[0]
    assert box.index("5 March 2026</time>: Shorter proof") < box.index("1 March 2026</time>: Typo")
    assert "<updated>2026-03-05T00:00:00" in (root / "public/atom.xml").read_text().partition("<entry>")[2]


def test_nothing_is_said_unless_it_is_asked_for(tmp_path: Path) -> None:
    post = "---\ntitle: A\ndate: 2026-01-01\n---\nText.\n"
    root = put(tmp_path, {"blogsmith.yaml": CONFIG, "content/posts/a.md": post})
    assert build(root).ok
    html = (root / "public/posts/a/index.html").read_text()
    assert "citation_" not in html
    assert "cite-post" not in html
    assert '"@type": "BlogPosting"' in html


@pytest.mark.parametrize(
    ("site", "page", "is_shown"),
    [("true", "", True), ("true", "citable: false\n", False), ("false", "citable: true\n", True)],
)
def test_site_and_page_decide(site: str, page: str, is_shown: bool, tmp_path: Path) -> None:
    post = f"---\ntitle: A\ndate: 2026-01-01\n{page}---\nText.\n"
    root = put(tmp_path, {"blogsmith.yaml": f"{CONFIG}citable: {site}\n", "content/posts/a.md": post})
    assert build(root).ok
    assert ("cite-post" in (root / "public/posts/a/index.html").read_text()) is is_shown


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = put(tmp_path, {"blogsmith.yaml": CONFIG, "content/posts/things.md": POST})
    assert main(["cite", "things", "--site", str(root)]) == 0
    printed_text = capsys.readouterr().out
    assert printed_text.startswith("@misc{bar2026sqrt,\n  author = {Bea Bar and Cy Doe},\n")
    assert "  doi = {10.59350/abcde},\n}" in printed_text
    assert main(["cite", "nothing", "--site", str(root)]) == 1
    assert 'post not found: "nothing"' in capsys.readouterr().err


@each_row(
    ("digits", "is_right"),
    [
        ("0000-0002-1825-0097", True),
        ("0000-0001-5109-3700", True),
        ("0000-0002-1694-233X", True),
        ("0000-0002-1825-0098", False),
        ("0000-0002-1694-2330", False),
    ],
)
def test_orcid(digits: str, is_right: bool) -> None:
    assert is_orcid(digits) is is_right


@each_row(
    ("written", "found"),
    [
        ("CC-BY-4.0", ("CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/")),
        ("CC BY-NC-SA 3.0", ("CC BY-NC-SA 3.0", "https://creativecommons.org/licenses/by-nc-sa/3.0/")),
        ("cc0", ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/")),
        ("https://example.org/l", ("https://example.org/l", "https://example.org/l")),
        ("All rights reserved", ("All rights reserved", "")),
        ("", ("", "")),
    ],
)
def test_licences(written: str, found: tuple[str, str]) -> None:
    assert parse_license(written) == found


def git(root: Path, *arguments: str, date: str = "2026-03-04T05:06:07+00:00") -> None:
    """Run git in a folder, with a neutral author."""
    names = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "A"}
    dates = {"GIT_COMMITTER_EMAIL": "a@b.c", "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    environment = {**os.environ, **names, **dates, "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=environment)


DATED = "---\ntitle: A\ndate: 2026-01-01\nupdated: git\n---\nText.\n"
LAYOUT = "<!DOCTYPE html><title>T</title><p>{{ page.updated | isodate if page.updated else 'never' }}</p>\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a trusted site in a repository with one commit."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = put_bare(tmp_path / "site", {"blogsmith.yaml": "title: T\n", "content/posts/a.md": DATED})
    (root / "themes/bare/layouts/post.html").write_text(LAYOUT)
    git(root, "init", "-q")
    git(root, "add", "content", "themes", "blogsmith.yaml")
    git(root, "commit", "-q", "-m", "one")
    trust(root)
    return root


def updated(root: Path) -> str:
    """Return the date on the page."""
    html = (root / "public/posts/a/index.html").read_text()
    return html.partition("<p>")[2].partition("</p>")[0]


def test_a_date_from_the_history(repository: Path) -> None:
    assert compare(repository).ok
    assert updated(repository) == "2026-03-04T05:06:07+00:00"
    (repository / "content/posts/a.md").write_text(f"{DATED}More.\n")
    git(repository, "commit", "-q", "-a", "-m", "two", date="2026-04-04T05:06:07+00:00")
    assert compare(repository).ok
    assert updated(repository) == "2026-04-04T05:06:07+00:00"


def test_the_history_of_a_site_that_is_not_trusted_runs_nothing(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "gpg.program", "core.pager", "core.sshCommand"):
        git(repository, "config", name, str(program))
    git(repository, "config", "log.showSignature", "true")
    assert build(repository).ok
    assert not mark.exists()
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    report = build(repository)
    assert '"updated: git" has no effect because the site is not trusted' in printed(report)
    assert updated(repository) == "never"
    assert not mark.exists()


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = put_bare(tmp_path / "site", {"blogsmith.yaml": "title: T\n", "content/posts/a.md": DATED})
    trust(root)
    assert "git history not found" in printed(build(root))
