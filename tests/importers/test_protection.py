"""Pages that the old site hides from readers: the new site contains none, and the report lists each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from blogsmith.cli.main import main
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.protection import add_restrictions
from blogsmith.importers.report import ImportResult
from blogsmith.importers.source_files import matches_gitignore, matches_regex
from blogsmith.project.report import no_progress
from tests.rows import each_row
from tests.site_files import NOW, build, put

HUSH = "hush"
"""A word in all content that readers may not see; content that they may see has `open`."""
PAGE = "---\ntitle: T\n{}\n---\n\nAn open page.\n"
SECRET = "---\ntitle: The hush\n{}\n---\n\nThe hush ![](hush.png) ![](both.png).\n"
BOTH = "\n\n![](both.png)\n"
POST = "content/posts/a.md"


def secret(*lines: str) -> str:
    return SECRET.format("\n".join(lines))


def opened(*lines: str) -> str:
    return PAGE.format("\n".join(lines))


class Case(NamedTuple):
    """A source, and the expected result for its pages."""

    files: Mapping[str, str]
    held: tuple[str, ...] = ()
    """Sources of pages that are not imported."""
    drafts: tuple[str, ...] = ()
    """New pages with `draft: true`."""
    unlisted: tuple[str, ...] = ()
    """New pages with `unlisted: true`."""


MKDOCS = {
    "mkdocs.yml": "site_name: X\nplugins:\n  - search\n  - encryptcontent: {}\n",
    "docs/index.md": "# Home\n",
}
HUGO = {"hugo.toml": "title = 'X'\n", "content/_index.md": "---\ntitle: X\n---\n\nHome\n"}
JEKYLL = {"_config.yml": "title: X\n", "_posts/2026-01-01-open.md": opened()}
HEXO = {"_config.yml": "title: X\nencrypt:\n  tags:\n    - {name: Diary, password: hush}\n"}
QUARTZ = {"content/index.md": "# Home\n\n[[open]]\n", "content/open.md": opened(), ".obsidian/app.json": "{}"}
QUARTO = {"_quarto.yml": "project: {type: website}\nwebsite: {title: X}\n", "index.qmd": opened()}
MYST = {"myst.yml": "version: 1\nproject: {title: X}\n", "index.md": opened()}
NOTEBOOK = {
    "cells": [
        {"cell_type": "raw", "metadata": {}, "source": ["---\n", "password: hush\n", "---"]},
        {"cell_type": "markdown", "metadata": {}, "source": "The hush"},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
CASES: Mapping[str, Case] = {
    "mkdocs-password": Case(
        {**MKDOCS, "docs/secret.md": secret("password: hush")}, ("docs/secret.md",)
    ),
    "mkdocs-other-case": Case({**MKDOCS, "docs/s.md": secret("Password: hush")}, ("docs/s.md",)),
    "mkdocs-tag": Case({**MKDOCS, "docs/s.md": secret("password: !ENV HUSH")}, ("docs/s.md",)),
    "mkdocs-broken-head": Case({**MKDOCS, "docs/s.md": secret("password: hush", "x: [")}, ("docs/s.md",)),
    "mkdocs-meta-lines": Case({**MKDOCS, "docs/s.md": "password: hush\n\nThe hush.\n"}, ("docs/s.md",)),
    "mkdocs-level": Case({**MKDOCS, "docs/s.md": secret("level: high")}, ("docs/s.md",)),
    "mkdocs-other-level": Case({"mkdocs.yml": "site_name: X\n", "docs/index.md": opened("level: high")}),
    "mkdocs-open-password": Case({**MKDOCS, "docs/s.md": opened('password: ""')}),
    "mkdocs-global-password": Case(
        {
            "mkdocs.yml": "site_name: X\nplugins:\n  - encryptcontent:\n      global_password: !ENV HUSH\n",
            "docs/index.md": opened("password:"),
            "docs/hush.md": secret(),
        },
        ("docs/hush.md",),
    ),
    "mkdocs-global-level": Case(
        {
            "mkdocs.yml": "site_name: X\nplugins:\n  - encryptcontent: {password_inventory: {_global: a}}\n",
            "docs/index.md": opened("level:"),
            "docs/hush.md": secret(),
        },
        ("docs/hush.md",),
    ),
    "mkdocs-password-file": Case(
        {
            "mkdocs.yml": "site_name: X\nplugins:\n  - encryptcontent: {password_file: ../p.yml}\n",
            "docs/index.md": opened("level:"),
            "docs/hush.md": secret(),
        },
        ("docs/hush.md",),
    ),
    "mkdocs-excluded": Case(
        {
            "mkdocs.yml": (
                "site_name: X\nexclude_docs: |\n  private.md\n  /hush/\n  !open.md\n"
                "draft_docs: |\n  draft*.md\n  *.ipynb\nnot_in_nav: |\n  loose.md\n"
                "plugins:\n  - search\n  - mkdocs-jupyter\n"
                "  - exclude:\n      glob: [old/*]\n      regex: ['.*\\.hush\\.md']\n"
                "nav:\n  - index.md\n  - The hush: private.md\n  - open.md\n"
            ),
            "docs/index.md": "# Home\n",
            "docs/open.md": opened(),
            "docs/loose.md": opened(),
            "docs/private.md": secret(),
            "docs/hush/a.md": secret(),
            "docs/hush/data.csv": HUSH,
            "docs/draft1.md": secret(),
            "docs/draft.ipynb": json.dumps(NOTEBOOK),
            "docs/old/o.md": secret(),
            "docs/x.hush.md": secret(),
        },
        ("docs/private.md", "docs/hush/a.md", "docs/old/o.md", "docs/x.hush.md", "docs/draft.ipynb"),
        ("content/draft1.md",),
    ),
    "mkdocs-hidden": Case({**MKDOCS, "docs/a.md": opened("hidden: true")}, unlisted=("content/a.md",)),
    "quartz-ignored": Case(
        {
            **QUARTZ,
            "quartz.config.ts": (
                '// ignorePatterns: ["nothing"]\nconst config = {\n  configuration: {\n'
                '    baseUrl: "https://x.org",\n    ignorePatterns: [\n      "private",\n'
                "      'templates', \".obsidian\", \"**/*.hush.md\",\n    ],\n  },\n"
                "  plugins: { filters: [Plugin.RemoveDrafts()] /* Plugin.ExplicitPublish() */ },\n}\n"
            ),
            "content/private/hush.md": secret(),
            "content/private/hush.png": HUSH,
            "content/templates/t.md": "The hush {{date}}\n",
            "content/deep/a.hush.md": secret(),
            "content/p.md": secret("private: true"),
            "content/d.md": secret("draft: true"),
        },
        ("content/private/hush.md", "content/templates/t.md", "content/deep/a.hush.md", "content/p.md"),
        ("content/d.md",),
    ),
    "quartz-unreadable-settings": Case(
        {
            **QUARTZ,
            "quartz.config.ts": "x({configuration: {ignorePatterns: [...list, 'closed']}})",
            "content/private/hush.md": secret(),
            "content/closed/hush.md": secret(),
            "content/who-knows.md": secret(),
            "content/yes.md": opened("publish: true"),
        },
        ("content/private/hush.md", "content/closed/hush.md"),
        ("content/_index.md", "content/open.md", "content/who-knows.md"),
    ),
    "quartz-unknown-filter": Case(
        {
            **QUARTZ,
            "quartz.config.ts": "x({plugins: {filters: [Plugin.RemoveDrafts(), OnlyMine({a: 1})]}})",
            "content/a.md": secret(),
        },
        drafts=("content/_index.md", "content/open.md", "content/a.md"),
    ),
    "quartz-yaml": Case(
        {
            **QUARTZ,
            "quartz.config.yaml": (
                "configuration: {pageTitle: X, ignorePatterns: [hush]}\n"
                "plugins:\n  - {source: 'github:quartz-community/explicit-publish', enabled: true}\n"
            ),
            "content/hush/a.md": secret(),
            "content/b.md": secret(),
            "content/yes.md": opened("publish: true"),
        },
        ("content/hush/a.md",),
        ("content/_index.md", "content/open.md", "content/b.md"),
    ),
    "quartz-explicit": Case(
        {
            "quartz.config.ts": "x({plugins: {filters: [Plugin.ExplicitPublish()]}})",
            "content/open.md": opened("publish: true"),
            "content/a.md": secret() + "\n[[open]]",
        },
        drafts=("content/a.md",),
    ),
    "obsidian": Case(
        {
            **QUARTZ,
            "content/p.md": secret("Visibility: members"),
            "content/d.md": secret("publish: no"),
            "content/e.md": opened() + "\n![[p]]\n[[p|it]]\n",
        },
        ("content/p.md",),
        ("content/content/d.md",),
    ),
    "jekyll-nested-password": Case(
        {**JEKYLL, "_posts/2026-01-02-a.md": opened("storage: {user: a, keys: [{password: hush}]}", "x: y")}
    ),
    "hexo": Case(
        {
            **HEXO,
            "source/_posts/open.md": opened("tags: [x]"),
            "source/_posts/exception.md": opened("tags: [diary]", 'password: ""'),
            "source/_posts/p.md": secret("password: 1234"),
            "source/_posts/e.md": secret("tags: [x, diary]"),
            "source/_posts/f.md": secret("encrypt: true", "enc_pwd: hush"),
            "source/_drafts/d.md": secret(),
            "source/_hush/index.md": secret(),
            "source/h.md": opened("hidden: true"),
        },
        ("source/_posts/p.md", "source/_posts/e.md", "source/_posts/f.md", "source/_hush/index.md"),
        ("content/posts/d.md",),
        ("content/h.md",),
    ),
    "hexo-ignored": Case(
        {
            "_config.yml": "title: X\nexclude: [hush/**]\nignore: ['**/*.hush.md']\n",
            "source/_posts/open.md": opened(),
            "source/_posts/a.hush.md": secret(),
            "source/hush/a.md": secret(),
            "source/_posts/b.md": secret("published: false"),
        },
        ("source/_posts/a.hush.md", "source/hush/a.md"),
        ("content/posts/b.md",),
    ),
    "docusaurus": Case(
        {
            "docusaurus.config.ts": "export default {presets: [['classic', {docs: {exclude: ['hush/**']}}]]}",
            "docs/open.md": opened(),
            "docs/_hush.mdx": secret(),
            "docs/hush/a.md": secret(),
            "docs/b.md": secret("draft: true"),
            "docs/c.md": opened("unlisted: true"),
            "docs/d.md": secret("password: hush"),
        },
        ("docs/_hush.mdx", "docs/hush/a.md", "docs/d.md"),
        ("content/docs/b.md",),
        ("content/docs/c.md",),
    ),
    "docusaurus-unreadable": Case(
        {
            "docusaurus.config.ts": "export default {presets: [['classic', {docs: {exclude: [hidden]}}]]}",
            "docs/a.md": secret(),
        },
        drafts=("content/docs/a.md",),
    ),
    "astro": Case(
        {
            "astro.config.mjs": "export default {}",
            "src/content/blog/open.md": opened(),
            "src/content/blog/_hush.md": secret(),
            "src/content/blog/d.md": secret("draft: true"),
            "src/content/_hush/a.md": secret(),
        },
        ("src/content/blog/_hush.md",),
        ("content/blog/d.md",),
    ),
    "zola": Case(
        {
            "config.toml": "base_url = 'https://x.org'\nignored_content = ['*.hush.md', 'hush/*']\n",
            "content/open.md": "+++\ntitle = 'Open'\n+++\nOpen.\n",
            "content/a.md": "+++\ntitle = 'hush'\ndraft = true\n+++\nhush\n",
            "content/b.md": "+++\ntitle = 'hush'\nrender = false\n+++\nhush\n",
            "content/c.hush.md": "+++\n+++\nhush\n",
        },
        ("content/c.hush.md",),
        ("content/a.md", "content/b.md"),
    ),
    "pelican": Case(
        {
            "pelicanconf.py": "SITENAME = 'X'\nARTICLE_EXCLUDES = ['hush']\n",
            "content/open.md": "Title: Open\n\nOpen.\n",
            "content/a.md": "Title: hush\nStatus: draft\n\nhush\n",
            "content/b.md": "Title: Other\nStatus: hidden\n\nOpen.\n",
            "content/hush/c.md": "Title: hush\n\nhush\n",
        },
        ("content/hush/c.md",),
        ("content/posts/a.md",),
        ("content/posts/b.md",),
    ),
    "nikola": Case(
        {
            "conf.py": "BLOG_TITLE = 'X'\nPOSTS = (('posts/*.md', 'posts', 'post.tmpl'),)\n",
            "posts/open.md": opened("tags: [private]"),
            "posts/a.md": secret("tags: [draft]"),
            "posts/b.md": secret("status: private"),
        },
        ("posts/b.md",),
        ("content/posts/a.md",),
        ("content/posts/open.md",),
    ),
    "franklin": Case(
        {
            "config.md": '@def website_title = "X"\n@def ignore = ["hush/", "b.md"]\n',
            "_layout/a.html": "",
            "open.md": opened(),
            "hush/a.md": secret(),
            "b.md": secret(),
            "_hush/c.md": secret(),
        },
        ("hush/a.md", "b.md", "_hush/c.md", "config.md"),
    ),
    "eleventy": Case(
        {
            ".eleventy.js": "module.exports = () => ({})",
            ".eleventyignore": "hush\n",
            "open.md": opened(),
            "hush/a.md": secret(),
            "b.md": secret("permalink: false"),
        },
        ("hush/a.md",),
        ("content/b.md",),
    ),
    "folder": Case(
        {
            "open.md": opened(),
            "drafts/a.md": secret(),
            "deep/private/b.md": secret(),
            "_hush/c.md": secret(),
            "d.md": secret("publish: false"),
        },
        ("drafts/a.md", "deep/private/b.md", "_hush/c.md"),
        ("content/d.md",),
    ),
    "jekyll": Case(
        {
            "_config.yml": (
                "title: X\nexclude: [private, '*.hush.md']\ncollections: {notes: {output: false}}\n"
                "defaults:\n  - {scope: {path: _posts/closed}, values: {members_only: true}}\n"
            ),
            "_posts/2026-01-01-open.md": opened(),
            "_posts/closed/2026-01-01-c.md": secret(),
            "_posts/2026-01-02-p.md": secret("published: false"),
            "_posts/2026-01-02-w.md": secret("status: private"),
            "_notes/n.md": secret(),
            "private/a.md": secret(),
            "x.hush.md": secret(),
            "notes/_hush/a.md": secret(),
        },
        (
            *("_posts/closed/2026-01-01-c.md", "_posts/2026-01-02-w.md", "private/a.md", "x.hush.md"),
            "notes/_hush/a.md",
        ),
        ("content/posts/2026-01-02-p.md", "content/notes/n.md"),
    ),
    "hugo": Case(
        {
            **HUGO,
            "content/posts/open.md": opened("visibility: public"),
            "content/posts/bundle/index.md": secret("password: hush"),
            "content/posts/bundle/hush.png": HUSH,
            "content/posts/toml.md": "+++\ntitle = 'hush'\n[params]\nprivate = true\n+++\nhush\n",
            "content/posts/never.md": secret("build: {render: never}"),
            "content/posts/alone.md": opened("_build: {list: never}"),
            "content/posts/unlisted.md": opened("unlisted: true"),
            "content/posts/part.md": opened() + '{{% hugo-encryptor "x" %}}hush{{% /hugo-encryptor %}}',
            "content/closed/_index.md": "---\ntitle: Open\ncascade:\n  params: {access: staff}\n---\n",
            "content/closed/a.md": secret(),
        },
        (
            *("content/posts/bundle/index.md", "content/posts/toml.md", "content/posts/part.md"),
            *("content/closed/a.md", "content/closed/_index.md"),
        ),
        ("content/posts/never.md",),
        ("content/posts/alone.md", "content/posts/unlisted.md"),
    ),
    "quarto": Case(
        {
            **QUARTO,
            "a.qmd": secret("password: hush"),
            "closed/_metadata.yml": "restricted: true\n",
            "closed/b.qmd": secret(),
            "d.qmd": secret("draft: true"),
            "n.ipynb": json.dumps(NOTEBOOK),
        },
        ("a.qmd", "closed/b.qmd", "n.ipynb"),
        ("content/d.md",),
    ),
    "myst": Case(
        {
            **MYST,
            "a.md": secret("password: hush"),
            "n.ipynb": json.dumps(NOTEBOOK),
            "d.md": secret("publish: false"),
        },
        ("a.md", "n.ipynb"),
        ("content/d.md",),
    ),
    "notebooks": Case(
        {
            "n.ipynb": json.dumps(NOTEBOOK),
            "o.ipynb": json.dumps(NOTEBOOK).replace(HUSH, "open").replace("password", "x")},
        ("n.ipynb",),
    ),
}  # fmt: skip


def run(files: Mapping[str, str], folder: Path) -> ImportResult:
    put(folder / "old", files)
    return import_site(folder / "old", folder / "new", ImportOptions(now=NOW), no_progress)


def with_secret(folder: Path) -> set[str]:
    """Return files below a folder that contain the secret in their path or their bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = [path for path in files if HUSH.encode() in path.read_bytes() or HUSH in path.name]
    return {path.relative_to(folder).as_posix() for path in found}


@pytest.mark.parametrize("name", CASES)
def test_nothing_protected_is_published(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    done = run(case.files, tmp_path)
    held = {notice.source for notice in done.site.all_notices if notice.kind == "withheld"}
    assert held == set(case.held)
    for key, expected in (("draft", case.drafts), ("unlisted", case.unlisted)):
        assert {str(page.path) for page in done.site.pages if page.front.get(key)} == set(expected)
    new = tmp_path / "new"
    # Drafts keep their text, and the report lists the names of pages.
    reports = {"import-report.md", "import-report.json"}
    assert with_secret(new) <= {*case.drafts, *reports}
    report = (new / "import-report.md").read_text()
    assert all(source in report for source in case.held)
    assert f"The {HUSH}" not in report
    assert build(new).ok, done.check.diagnostics
    assert with_secret(new / "public") == set()


def test_the_summary_says_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(
        tmp_path / "old",
        {**MKDOCS, "docs/a.md": secret("password: hush"), "docs/b.md": secret("private: true")},
    )
    arguments = ["import", str(tmp_path / "old"), str(tmp_path / "new")]
    for more in (["--dry-run"], []):
        assert main([*arguments, *more]) == 0
        out, err = capsys.readouterr()
        assert "not imported: 2 pages that the old site hides from readers" in out
        assert 'docs/a.md: not imported: access restricted by front matter key "password"' in err


def test_files_go_with_the_pages_they_belong_to(tmp_path: Path) -> None:
    files = {
        **MKDOCS,
        "docs/open.md": opened() + BOTH,
        "docs/a.md": secret("password: hush"),
        "docs/hush.png": HUSH,
        "docs/both.png": "both",
        "docs/closed/b.md": secret("password: hush"),
        "docs/closed/data.csv": HUSH,
    }
    run(files, tmp_path)
    content = tmp_path / "new" / "content"
    assert (content / "both.png").exists()
    assert not (content / "hush.png").exists()
    assert not (content / "closed").exists()


@each_row(
    ("path", "patterns", "is_anchored", "expected"),
    [
        ("a/private/x.md", ["private"], False, True),
        ("a/private/x.md", ["private"], True, False),
        ("private/x.md", ["private/"], True, True),
        ("privately/x.md", ["private"], False, False),
        ("draft1.md", ["# draft", "", "draft*.md"], False, True),
        ("a/x.md", ["*.md", "!x.md"], False, False),
        ("x/q.md", ["/q.md"], False, False),
        ("s/a.md", ["**/s/*.md"], False, True),
        ("t/u/a.md", ["{t,v}/**"], True, True),
        ("t.md", ["[t.md"], True, False),
        ("anything", ["*a*a*a*a*a*b"], False, True),
        ("anything", [f"a{n}" for n in range(1000)], False, True),
    ],
)
def test_globs(path: str, patterns: list[str], is_anchored: bool, expected: bool) -> None:
    assert matches_gitignore(path, patterns, is_anchored=is_anchored) is expected


@each_row(
    ("pattern", "expected"),
    [
        (r".*\.(tmp|hush)\.md$", True),
        (r"b/.*", False),
        # A pattern that is invalid or may take forever excludes everything.
        ("[", True),
        ("(a+)+$", True),
        ("a*a*a*a*a*$", True),
        ("x" * 300, True),
    ],
)
def test_regular_expressions(pattern: str, expected: bool) -> None:
    assert matches_regex("a/a.hush.md", pattern) is expected


@each_row(
    ("front", "head", "expected"),
    [
        ({"title": "T"}, "title: T\ndescription: |\n  password: x", {"title": "T"}),
        ({"password": None}, "password: null", {"password": None}),
        ({"password": None}, "password: # none", {"password": None}),
        ({"password": None}, "password: !secret x", {"password": "!secret x"}),
        ({}, 'a: [\npassword: "x"', {"password": "x"}),
        ({}, "a = [\nprivate = true", {"private": "true"}),
        ({"Password": "x"}, "Password: x", {"Password": "x"}),
        # On this line a careless regular expression would run for years.
        ({}, f"a{' ' * 1_000_000}", {}),
    ],
)
def test_heads_that_a_reader_loses(front: dict[str, object], head: str, expected: dict[str, object]) -> None:
    assert add_restrictions(front, head) == expected
