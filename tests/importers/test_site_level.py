"""Menu, profile, publications, news, CV, visit counting and archives of old sites."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.jekyll.works import convert_fields
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.importers.import_texts import PNG
from tests.rows import each_row
from tests.site_files import NOW, build, put

Files = Mapping[str, str | bytes]
POST = "---\ntitle: A\ndate: 2024-01-01\n---\n\nText.\n"
BIB = (
    "---\n---\n\n@article{a,\n  title = {Sums},\n  author = {Ada Ito and Ono, B.},\n  year = {2020},\n"
    "  abbr = {J},\n  pdf = {a.pdf},\n  preview = {a.png},\n  award = {Medal},\n  annotation = {Mine},\n"
    "  arxiv = {2001.00001},\n  selected = {true},\n}\n"
)
AL_FOLIO: Files = {
    "_config.yml": "title: blank\nfirst_name: Ada\nlast_name: Ito\nurl: https://x.org\n"
    "permalink: /blog/:year/:title/\nplugins: [jemoji]\n"
    "collections:\n  news: {output: true}\n  projects: {output: true}\n"
    "scholar: {source: /_bibliography/, bibliography: papers.bib, last_name: [Ito], first_name: [Ada]}\n"
    "jekyll-archives:\n  posts:\n    enabled: [year, tags]\n"
    "    permalinks: {year: '/blog/:year/', tags: '/blog/:type/:name/'}\n"
    "disqus_shortname: x\nnavbar_fixed: true\ncontact_note: Write to me about anything.\n",
    "_data/socials.yml": "email: ada@x.org\ngithub_username: ada\nscholar_userid: Q1\nkaggle_id: ada\n",
    "_data/venues.yml": "J: {url: 'https://journal.example', color: '#00369f'}\n",
    "_data/coauthors.yml": "ono: [{firstname: [Ben, B.], url: 'https://ben.example'}]\n",
    "_data/cv.yml": "cv:\n  name: Ada Ito\n  sections:\n    Experience:\n"
    "      - {company: Lab, position: Head, start_date: 2019, highlights: [One]}\n"
    "    Hobbies: [{name: Go}]\n",
    "_pages/about.md": "---\nlayout: about\npermalink: /\ntitle: about\n"
    "subtitle: <a href='#'>Sums</a> & rows\n"
    "profile: {image: ada.png, more_info: '<p>Room 1</p> <p>Oslo</p>'}\nselected_papers: true\n"
    "latest_posts: {enabled: false}\n---\n\nI add numbers.\n",
    "_pages/blog.md": "---\nlayout: default\npermalink: /blog/\ntitle: writing\nnav: true\nnav_order: 2\n"
    "pagination: {enabled: true}\n---\n\n{% for post in paginator.posts %}{{ post.title }}{% endfor %}\n",
    "_pages/publications.md": "---\nlayout: page\npermalink: /publications/\ntitle: papers\nnav: true\n"
    "nav_order: 1\n---\n\n{% include bib_search.liquid %}\n<div>\n"
    "<h2>2020</h2>\n{% bibliography -f papers -q @*[year=2020]* %}\n</div>\n",
    "_pages/cv.md": "---\nlayout: cv\npermalink: /cv/\ntitle: CV\nnav: true\nnav_order: 3\n"
    "cv_format: rendercv\n---\n",
    "_pages/more.md": "---\nlayout: page\ntitle: more\nnav: true\nnav_order: 9\ndropdown: true\nchildren:\n"
    "  - {title: work, permalink: /projects/}\n  - {title: divider}\n---\n",
    "_pages/projects.md": "---\nlayout: page\npermalink: /projects/\ntitle: projects\n"
    "description: All my work.\n---\n\n{% for p in site.projects %}{{ p.title }}{% endfor %}\n",
    "_projects/one.md": "---\ntitle: One\nimg: assets/img/ada.png\n---\n\nText.\n",
    "_news/a.md": "---\ndate: 2024-02-01\ninline: true\n---\n\nNews :smile:\n",
    "_posts/2024-01-01-a.md": "---\ntitle: A\ntags: [sums]\n---\n\nText.\n",
    "_bibliography/papers.bib": BIB,
    "assets/img/ada.png": PNG,
    "assets/img/publication_preview/a.png": PNG,
    "assets/pdf/a.pdf": b"%PDF-1.4\n",
}


def run(files: Files, folder: Path) -> ImportResult:
    put(folder / "old", files)
    return import_site(folder / "old", folder / "new", ImportOptions(now=NOW), no_progress)


def settings(files: Files) -> Mapping[str, Any]:
    with TemporaryDirectory() as name:
        done = run(files, Path(name))
        assert build(Path(name) / "new").ok
        return done.site.settings


def test_al_folio(tmp_path: Path) -> None:
    done = run(AL_FOLIO, tmp_path)
    assert build(tmp_path / "new").ok
    found = done.site.settings
    links = {"mail": "ada@x.org", "github": "https://github.com/ada"}
    links["scholar"] = "https://scholar.google.com/citations?user=Q1"
    assert found["title"] == "Ada Ito"
    assert found["person"] == {
        **{"name": "Ada Ito", "portrait": "/assets/img/ada.png", "line": "Sums & rows"},
        **{"affiliation": "Room 1, Oslo", "links": links},
    }
    assert found["lists"] == {"sections": {"news": "notes", "projects": "cards"}}
    menu = [(entry["title"], entry["url"]) for entry in found["menu"]]
    assert menu[:3] == [("papers", "/publications/"), ("writing", "/posts/"), ("CV", "/cv/")]
    assert menu[3:] == [("work", "/projects/"), ("Kaggle", "https://www.kaggle.com/ada")]
    fronts = {page.path.as_posix().removeprefix("content/"): page.front for page in done.site.pages}
    assert fronts["_index.md"]["selected"] is True
    assert fronts["_index.md"]["listing"] is False
    assert fronts["publications.md"]["publications"] == "bibliography/works-papers.bib"
    assert fronts["posts/_index.md"] == {"title": "writing", "aliases": ["/blog/"]}
    assert fronts["projects/_index.md"]["description"] == "All my work."
    assert fronts["projects/one.md"]["image"] == "/assets/img/ada.png"
    assert json.loads((tmp_path / "new/cv.json").read_text())["work"][0]["name"] == "Lab"
    public = tmp_path / "new/public"
    home = (public / "index.html").read_text()
    for text in ("/ada.png", "Sums &amp; rows", "Selected publications", "News 😄"):
        assert text in home
    works = (public / "publications/index.html").read_text()
    for text in (
        "/assets/pdf/a.pdf",
        "/publication_preview/a.png",
        ">J</span>",
        "Medal",
        "/abs/2001.00001",
        ">B. Ono</a>",
    ):
        assert text in works, text
    assert "bibsearch" not in works
    assert works.count(">2020<") == 1
    assert "../../../tags/sums/" in (public / "blog/tag/sums/index.html").read_text()
    assert (public / "blog/2024/index.html").is_file()
    told = " ".join(notice.message for notice in done.site.all_notices)
    unused = "disqus_shortname contact_note navbar_fixed venues.yml Hobbies annotation"
    for name in unused.split():
        assert f'"{name}"' in told, name
    assert '"cv.yml"' not in told and '"coauthors.yml"' not in told
    assert not done.check.differences, done.check.differences


OLD_CV = (
    "- title: Education\n  type: time_table\n  contents:\n    - {title: PhD, institution: Oslo, year: 1905,"
    " description: [About sums]}\n"
)


def test_an_older_cv_becomes_text() -> None:
    cv = {"_pages/cv.md": AL_FOLIO["_pages/cv.md"], "_data/cv.yml": OLD_CV}
    with TemporaryDirectory() as name:
        done = run({"_config.yml": "title: X\n", "_posts/2024-01-01-a.md": POST, **cv}, Path(name))
    page = next(page for page in done.site.pages if page.path.name == "cv.md")
    assert page.text == "## Education\n\n- **PhD**, Oslo, 1905\n  - About sums\n"


JEKYLL: Files = {
    "_config.yml": "title: X\nurl: https://x.org\n",
    "about.md": "---\ntitle: About\n---\n\nText.\n",
    "_posts/2024-01-01-a.md": POST,
}
ABOUT = {"title": "About", "url": "/about.html"}


@each_row(
    ("files", "menu"),
    [
        # Minimal Mistakes and academicpages
        ({"_data/navigation.yml": "main: [{title: About, url: /about/}, {title: No, url: /no/}]\n"}, [ABOUT]),
        # minima
        ({"_config.yml": "title: X\nheader_pages: [about.md]\n"}, [ABOUT]),
        ({"_includes/header.html": "{% for p in site.pages %}{{ p.title }}{% endfor %}"}, [ABOUT]),
        # Beautiful Jekyll
        (
            {"_config.yml": "title: X\nnavbar-links:\n  About: about\n  More: [{Web: 'https://x.org'}]\n"},
            [ABOUT, {"title": "Web", "url": "https://x.org"}],
        ),
        # Chirpy
        (
            {
                "_config.yml": "title: X\ncollections: {tabs: {output: true}}\ndefaults:\n"
                "  - {scope: {path: '', type: tabs}, values: {layout: page, permalink: '/:title/'}}\n",
                "_tabs/archives.md": "---\nlayout: archives\norder: 2\n---\n",
                "_tabs/me.md": "---\norder: 1\n---\n\nText.\n",
            },
            [{"title": "Me", "url": "/me/"}, {"title": "Archives", "url": "/archive/"}],
        ),
    ],
)  # fmt: skip
def test_menus_of_jekyll_themes(files: Files, menu: list[dict[str, str]]) -> None:
    assert settings({**JEKYLL, **files})["menu"] == menu


@each_row(
    ("config", "analytics"),
    [
        ("analytics: {goatcounter: {id: ada}}", {"provider": "goatcounter", "site": "ada"}),
        ("goatcounter: https://ada.goatcounter.com/count", {"provider": "goatcounter", "site": "ada"}),
        (
            "analytics: {umami: {id: b59a9c65-ae5c-4f1e-8a4d-6d2d5f1d6f53, domain: 'https://stats.example'}}",
            {
                "provider": "umami",
                "site": "b59a9c65-ae5c-4f1e-8a4d-6d2d5f1d6f53",
                "host": "https://stats.example",
            },
        ),
        ("analytics: {provider: plausible}", {"provider": "plausible", "site": "x.org"}),
        (
            'head: \'<script defer data-domain="x.org" src="https://plausible.io/js/script.js"></script>\'',
            {"provider": "plausible", "site": "x.org"},
        ),
        ("google_analytics: G-1", None),
        ("analytics: {goatcounter: {id: ''}, umami: {id: null}}", None),
        ("analytics: {umami: {enabled: false, id: b59a9c65-ae5c-4f1e-8a4d-6d2d5f1d6f53}}", None),
    ],
)
def test_analytics(config: str, analytics: dict[str, str] | None) -> None:
    files = {**JEKYLL, "_config.yml": f"title: X\nurl: https://x.org\n{config}\n"}
    assert settings(files).get("analytics") == analytics


@each_row(
    ("written", "new"),
    [
        ("pdf = {a.pdf}", "pdf = {/assets/pdf/a.pdf}"),
        ("pdf = {b.pdf}", "pdf = {b.pdf}"),
        ("html = {https://x.org}", "html = {https://x.org}"),
        ("preview = {a.gif}", "preview = {/assets/img/publication_preview/a.gif}"),
        ("preview = {b.gif}", "preview = {}"),
        ("award = {The **Fine** Prize}", "award = {The Fine Prize}"),
    ],
)
def test_fields_of_publications(written: str, new: str) -> None:
    entry = "@misc{{a,\n  {},\n}}\n"
    copied = frozenset(("/assets/pdf/a.pdf", "/assets/img/publication_preview/a.gif"))
    assert convert_fields(entry.format(written), copied) == entry.format(new)


def test_hugo(tmp_path: Path) -> None:
    config = (
        "baseURL: https://x.org/\ntitle: X\ntaxonomies: {tag: tags, topic: topics}\nmenu:\n"
        "  main: [{name: Topics, url: /topics/}]\n  footer: [{name: Imprint, url: /a/}]\nparams:\n"
        "  homeInfoParams: {Title: Hello, Content: I add numbers.}\n"
        "  profileMode: {enabled: true, title: Ada, subtitle: Sums, imageUrl: /ada.png}\n"
    )
    page = "---\ntitle: A\ndate: 2024-01-01\ntags: [one]\ntopics: [Two Sums]\n---\n\nText.\n"
    done = run({"hugo.yaml": config, "content/posts/a.md": page, "static/ada.png": PNG}, tmp_path)
    assert build(tmp_path / "new").ok
    assert done.site.settings["menu"] == [{"title": "Topics", "url": "/tags/"}]
    assert done.site.settings["person"] == {"name": "Ada", "portrait": "/ada.png", "line": "Sums"}
    texts = {page.path.as_posix(): (page.front, page.text) for page in done.site.pages}
    assert texts["content/_index.md"] == ({"title": "Hello"}, "I add numbers.\n")
    assert texts["content/posts/a.md"][0]["tags"] == ["one", "Two Sums"]
    moved = (tmp_path / "new/public/topics/two-sums/index.html").read_text()
    assert "../../tags/two-sums/" in moved
    assert any('"menu.footer"' in notice.message for notice in done.site.notices)
    assert not done.check.differences, done.check.differences


QUARTO: Files = {
    "_quarto.yml": "project: {type: website}\nwebsite:\n  title: X\n  site-url: https://x.org\n"
    "  navbar: {left: [{href: index.qmd, text: Home}, {href: blog.qmd, text: Blog}]}\n"
    "format: {html: {include-in-header: h.html}}\n",
    "h.html": "<script\n"
    ' data-goatcounter="https://ada.goatcounter.com/count" src="//gc.zgo.at/count.js"></script>',
    "index.qmd": "---\ntitle: Home\n---\n\nSee [blog](blog.qmd).\n",
    "blog.qmd": "---\ntitle: Writing\nlisting: {contents: notes, type: grid}\n---\n",
    "notes/a.qmd": "---\ntitle: A\ndate: 2024-01-01\n---\n\nText.\n",
    "handout.qmd": "---\ntitle: Handout\nformat: x-typst\n---\n\nText.\n",
}


def test_quarto(tmp_path: Path) -> None:
    done = run(QUARTO, tmp_path)
    assert build(tmp_path / "new").ok
    found = done.site.settings
    assert found["menu"] == [{"title": "Home", "url": "/"}, {"title": "Blog", "url": "/notes/"}]
    assert found["lists"] == {"sections": {"notes": "cards"}}
    assert found["analytics"] == {"provider": "goatcounter", "site": "ada"}
    pages = {page.path.as_posix(): page for page in done.site.pages}
    assert pages["content/_index.md"].text.strip() == "See [blog](notes/_index.md)."
    assert pages["content/_index.md"].front["listing"] is False
    assert pages["content/notes/_index.md"].front == {"title": "Writing", "aliases": ["/blog.html"]}
    assert pages["content/handout.md"].front["draft"] is True
    assert not done.check.differences, done.check.differences


def test_the_sidebar_is_the_menu_without_a_navigation_bar() -> None:
    config = str(QUARTO["_quarto.yml"]).replace(
        "navbar: {left: [{href: index.qmd, text: Home}, {href: blog.qmd, text: Blog}]}",
        "sidebar: {contents: [{section: Part, contents: [notes/a.qmd]}, blog.qmd]}",
    )
    menu = settings({**QUARTO, "_quarto.yml": config})["menu"]
    assert menu == [{"title": "Part", "url": "/notes/a.html"}, {"title": "Blog", "url": "/notes/"}]


def test_code_of_mkdocs_is_named() -> None:
    config = (
        "site_name: X\nhooks: [hooks/a.py]\nplugins: [search, mkdocstrings, material/tags]\n"
        "markdown_extensions: [attr_list, pymdownx.snippets, markdown.extensions.toc, own.blocks]\n"
    )
    with TemporaryDirectory() as name:
        done = run({"mkdocs.yml": config, "docs/index.md": "# X\n"}, Path(name))
    told = [notice.message for notice in done.site.notices if notice.kind == "left"]
    assert told == [
        'setting "hooks" has no effect: "hooks/a.py"',
        'unknown plugin "mkdocstrings"',
        'unknown Markdown extension "own.blocks"',
    ]


def test_mystmd() -> None:
    config = (
        "version: 1\nproject:\n  title: X\n  license: CC-BY-4.0\n  toc: [{file: index.md}, {file: a.md}]\n"
        "  abbreviations: {HTML: A language}\nsite:\n  domains: [x.org]\n"
        "  nav: [{title: A, url: /a}, {title: More, children: [{title: No, url: /no}]}]\n"
        "  actions: [{title: Code, url: 'https://example.org'}]\n"
    )
    with TemporaryDirectory() as name:
        done = run({"myst.yml": config, "index.md": "# X\n", "a.md": "# A\n"}, Path(name))
    found = done.site.settings
    assert found["menu"] == [{"title": "A", "url": "/a/"}, {"title": "Code", "url": "https://example.org"}]
    assert (found["license"], found["base_url"]) == ("CC-BY-4.0", "https://x.org")
    assert any('"project.abbreviations"' in notice.message for notice in done.site.notices)
