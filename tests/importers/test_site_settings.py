"""Comments, accounts, bibliographies and plugins of old sites, from the settings of each system."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from blogsmith.importers.bibliographies import data_bibliographies
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.importers.site_settings import find_plugins
from blogsmith.project.report import no_progress
from tests.rows import each_row
from tests.site_files import NOW, build, put

POST = "---\ntitle: A page\n---\n\nSome text.\n"
ASKS = "---\ntitle: Another page\ncomments: true\n---\n\nSome text.\n"
JEKYLL = {"_config.yml": "title: X\n", "_posts/2024-01-01-a.md": POST}
GISCUS = {
    **{"provider": "giscus", "repo": "ada/notes", "repo_id": "R_kgDOA1"},
    **{"category": "Talk", "category_id": "DIC_kwDOA2"},
}
SCRIPT = (
    '<script src="https://giscus.app/client.js"\n  data-repo="ada/notes" data-repo-id="R_kgDOA1"\n'
    '  data-category="Talk" data-category-id="DIC_kwDOA2" data-mapping="pathname" async></script>'
)
INNER = "{repo: ada/notes, repo_id: R_kgDOA1, category: Talk, category_id: DIC_kwDOA2}"


def run(files: Mapping[str, str]) -> ImportResult:
    with TemporaryDirectory() as name:
        folder = Path(name)
        put(folder / "old", files)
        done = import_site(folder / "old", folder / "new", ImportOptions(now=NOW), no_progress)
        assert build(folder / "new").ok
    assert not done.check.differences, done.check.differences
    return done


@each_row(
    ("files", "expected"),
    [
        (
            {**JEKYLL, "_config.yml": f"title: X\ngiscus: {INNER[:-1]}, mapping: title}}\n"},
            {**GISCUS, "mapping": "title"},
        ),
        ({**JEKYLL, "_config.yml": f"title: X\ngiscus: {INNER}\n"}, GISCUS),
        ({**JEKYLL, "_config.yml": f"title: X\ncomments: {{provider: giscus, giscus: {INNER}}}\n"}, GISCUS),
        (
            {
                **JEKYLL,
                "_config.yml": "title: X\nrepository: ada/notes\ncomments:\n  giscus:\n"
                "    {repo_id: R_kgDOA1, category_name: Talk, category_id: DIC_kwDOA2}\n",
            },
            GISCUS,
        ),
        ({**JEKYLL, "_includes/talk.html": SCRIPT}, GISCUS),
        (
            {
                **JEKYLL,
                "_layouts/post.html": '<script src="https://utteranc.es/client.js" '
                'repo="ada/notes" label="talk"></script>',
            },
            {"provider": "utterances", "repo": "ada/notes", "label": "talk"},
        ),
        # An id is missing, or comes from a template that was not filled in.
        ({**JEKYLL, "_config.yml": "title: X\ngiscus: {repo: ada/notes, category: Talk}\n"}, None),
        ({**JEKYLL, "_includes/talk.html": SCRIPT.replace("R_kgDOA1", "{{ site.id }}")}, None),
        # In a text it is only an example.
        ({**JEKYLL, "assets/talk.html": SCRIPT}, None),
        (
            {
                "hugo.toml": "title = 'X'\n[params.giscus]\nrepo = 'ada/notes'\nrepoId = 'R_kgDOA1'\n"
                "category = 'Talk'\ncategoryId = 'DIC_kwDOA2'\n",
                "content/posts/a.md": POST,
            },
            GISCUS,
        ),
        (
            {"hugo.toml": "title = 'X'\n", "content/posts/a.md": POST, "layouts/partials/c.html": SCRIPT},
            GISCUS,
        ),
        (
            {
                "_quarto.yml": "project: {type: website}\nwebsite: {title: X}\ncomments:\n  giscus:\n"
                "    {repo: ada/notes, repo-id: R_kgDOA1, category: Talk, category-id: DIC_kwDOA2}\n",
                "posts/a.qmd": POST,
            },
            GISCUS,
        ),
        (
            {
                "mkdocs.yml": "site_name: X\n",
                "docs/index.md": "# X\n",
                "overrides/partials/comments.html": SCRIPT,
            },
            GISCUS,
        ),
    ],
)
def test_comments(files: Mapping[str, str], expected: Mapping[str, str] | None) -> None:
    assert run(files).site.settings.get("comments") == expected


def test_only_pages_that_had_comments_have_them() -> None:
    files = {**JEKYLL, "_posts/2024-01-02-b.md": ASKS, "_includes/talk.html": SCRIPT}
    al_folio = ASKS.replace("comments", "giscus_comments").replace("Another", "A third")
    done = run({**files, "_posts/2024-01-03-c.md": al_folio})
    found = {page.path.stem[-1]: page.front["comments"] for page in done.site.pages}
    assert found == {"a": False, "b": True, "c": True}


POSTS = {"title": "Posts", "url": "/posts/"}
GITHUB = {"title": "GitHub", "url": "https://github.com/ada"}


@each_row(
    ("config", "menu", "footer"),
    [
        ("github_username: ada", [POSTS, GITHUB], None),
        ("social: {github: ada}", [POSTS, GITHUB], None),
        ("author: {name: Ada, github: ada}", [POSTS, GITHUB], None),
        ("github: {username: ada}", [POSTS, GITHUB], None),
        ("social: {links: ['https://github.com/ada']}", [POSTS, GITHUB], None),
        ("author: {links: [{label: GitHub, icon: fab fa-github, url: 'https://github.com/ada'}]}",
         [POSTS, GITHUB], None),
        ("social: [{icon: none, title: My shop, url: 'https://shop.example'}]",
         [POSTS, {"title": "My shop", "url": "https://shop.example"}], None),
        ("social: {mastodon: 'https://m.example/@ada'}",
         [POSTS, {"title": "Mastodon", "url": "https://m.example/@ada"}], None),
        ("email: ada@example.org", None, "ada@example.org"),
        ("author: Ada\nsocial: {email: ada@example.org}", None, "Ada · ada@example.org"),
        # Not an account of a person.
        ("github: [a, b]\ntwitter: {card: summary}\nmastodon: ada\nx: 1.5 m", None, None),
        ("social: {github: 'javascript:alert(1)'}", None, None),
    ],
)  # fmt: skip
def test_accounts(config: str, menu: list[dict[str, str]] | None, footer: str | None) -> None:
    settings = run({**JEKYLL, "_config.yml": f"title: X\n{config}\n"}).site.settings
    assert settings.get("menu") == menu
    assert settings.get("theme_options", {}).get("footer") == footer


@each_row(
    ("files", "url"),
    [
        (
            {
                "hugo.yaml": "title: X\nparams:\n  socialIcons: [{name: github, url: 'https://github.com/ada'}]\n",
                "content/posts/a.md": POST,
            },
            "https://github.com/ada",
        ),
        (
            {
                "mkdocs.yml": "site_name: X\nextra:\n  social:\n"
                "    - {icon: fontawesome/brands/github, link: 'https://github.com/ada'}\n",
                "docs/index.md": "# X\n",
                "docs/a.md": POST,
            },
            "https://github.com/ada",
        ),
    ],
)
def test_accounts_of_other_systems(files: Mapping[str, str], url: str) -> None:
    assert url in [entry["url"] for entry in run(files).site.settings["menu"]]


@each_row(
    ("data", "expected"),
    [
        ({"references": [{"title": "Sums"}]}, {"references": ["sums"]}),
        ({"bib": {"ito": {"title": "Sums"}, "roy": {"title": "Rows"}}}, {"bib": ["ito", "roy"]}),
        # Another name, and data that are not a list of references.
        ({"people": [{"title": "Sums"}]}, {}),
        ({"references": {"a": 1}}, {}),
        ({"references": [{"title": "Sums"}, "text"]}, {}),
        ({"references": None}, {}),
    ],
)
def test_data_bibliographies(data: Mapping[str, Any], expected: Mapping[str, list[str]]) -> None:
    found = {each.name: [item["id"] for item in each.items] for each in data_bibliographies(data)}
    assert found == expected


def test_a_work_as_csl() -> None:
    written = {
        **{"title": "Sums", "authors": ["Ito, A.", {"name": "B. Roy"}], "year": 2020},
        **{"journal": "J", "doi": "10.1000/1", "level": "easy"},
    }
    (found,) = data_bibliographies({"references": {"ito": written}})
    assert json.loads(found.file.data) == [
        {
            **{"id": "ito", "type": "document", "title": "Sums", "container-title": "J", "DOI": "10.1000/1"},
            "author": [{"family": "Ito", "given": "A."}, {"literal": "B. Roy"}],
            "issued": {"date-parts": [[2020]]},
            "note": "easy",
        }
    ]


@each_row(
    ("text", "expected"),
    [
        ("```mermaid\ngraph TD\n```", ["mermaid"]),
        ("> - ~~~dot\n>   digraph {}\n>   ~~~", ["graphviz"]),
        ('<div class="hf-space" data-src="a/b"></div>', ["hf_space"]),
        ('Text.\n\n```html\n<div class="hf-space"></div>\n```', []),
        ("`<div class='hf-space'>`", []),
        ("💡 Key insight: x", ["emoji_callouts"]),
        ("> 💡 **Key Insight:** x", ["emoji_callouts"]),
        ("- **🔬 Research insight**: x", ["emoji_callouts"]),
        ("💡 An idea, a key insight: x", []),
        ("    💡 Key insight: x", []),
        ("```python\nmermaid\n```", []),
    ],
)
def test_plugins(text: str, expected: list[str]) -> None:
    assert find_plugins([text]) == expected


def test_settings_in_typescript_are_named() -> None:
    done = run({"quartz.config.ts": 'pageTitle: "X"', ".obsidian/app.json": "{}", "content/a.md": POST})
    assert [notice.source for notice in done.site.notices] == ["quartz.config.ts"]
