"""People on a site: profiles, authors and guests, news, selected publications, CVs, and images in lists."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image

from blogsmith.config.authors import profile_urls
from blogsmith.config.load import parse_config
from blogsmith.model.list_pictures import list_picture
from blogsmith.model.texts import PageText
from tests.picture_files import file_of
from tests.rows import each_row
from tests.site_files import build, put
from tests.test_sites import broken_addresses

ATOM = "{http://www.w3.org/2005/Atom}"
SETTINGS = """\
title: Notes
base_url: https://example.org/b
person: {name: Ann Lee, line: Numbers, links: {orcid: 0000-0002-1825-0097}}
authors:
  ann: {name: Ann Lee, bio: A <b>bio</b>.}
  bo: {name: Bo Chen, affiliation: A lab}
lists: {style: cards, sections: {news: notes, posts/short: compact}}
"""
SITE = {
    "blogsmith.yaml": SETTINGS,
    "content/posts/one.md": "---\ndate: 2026-01-01\nauthors: [ann, bo]\ntags: [x]\n---\n# One\n\n$$a = b$$\n",
    "content/posts/two.md": "---\ndate: 2026-01-02\n---\n# Two\n\nText.\n",
    "content/posts/guest.md": (
        "---\ndate: 2026-01-03\nauthors:\n  - {name: Cy Dorn, url: 'https://cy.example.net/', "
        "affiliation: 'Q & A'}\n  - bo\n---\n# Guest\n\nText.\n"
    ),
    "content/posts/short/_index.md": "# Short\n",
    "content/posts/short/three.md": "---\ndate: 2026-01-04\n---\n# Three\n\nText.\n",
    "content/news/first.md": "---\ndate: 2026-02-01\n---\n# First\n\nA talk on $x$.\n",
}


def page(root: Path, path: str) -> str:
    return (root / "public" / path / "index.html").read_text("utf-8")


def made(root: Path, files: Mapping[str, str | bytes]) -> Path:
    report = build(put(root, files))
    assert (report.diagnostics, report.ok) == ((), True)
    return root


@each_row(
    ("links", "url"),
    [
        ("mail: ann@example.org", "mailto:ann@example.org"),
        ("github: '@ann'", "https://github.com/ann"),
        ("github: https://git.example.org/ann", "https://git.example.org/ann"),
        ("scholar: AbC-d_E", "https://scholar.google.com/citations?user=AbC-d_E"),
        ("orcid: 0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"),
        ("mastodon: '@ann@mathstodon.xyz'", "https://mathstodon.xyz/@ann"),
        ("bluesky: ann.bsky.social", "https://bsky.app/profile/ann.bsky.social"),
        ("linkedin: ann-lee", "https://www.linkedin.com/in/ann-lee"),
        ("website: https://example.org/~ann", "https://example.org/~ann"),
    ],
)
def test_a_link_is_a_name_or_a_url(links: str, url: str) -> None:
    loaded = parse_config(f"person: {{links: {{{links}}}}}")
    assert loaded.diagnostics == ()
    assert [one for _, one in profile_urls(loaded.config.person.links)] == [url]


def test_no_link_runs_code() -> None:
    kinds = ("mail", "website", "github", "scholar", "orcid", "mastodon", "bluesky", "linkedin")
    for kind in kinds:
        loaded = parse_config(f"person: {{links: {{{kind}: 'javascript://x@y/%0aalert(1)'}}}}")
        assert [found.code for found in loaded.diagnostics] == ["config-value"], kind


def test_a_key_stands_for_a_name_and_the_person_is_the_default_author() -> None:
    config = parse_config(f"{SETTINGS}author: bo\n").config
    assert (config.author, config.orcids) == ("Bo Chen", {"Ann Lee": "0000-0002-1825-0097"})
    assert parse_config(SETTINGS).config.author == "Ann Lee"


def test_bylines_feeds_and_pages_of_authors(tmp_path: Path) -> None:
    root = made(tmp_path, dict(SITE))
    byline = re.search(r'<span class="post-authors">(.*?)</span>\n', page(root, "posts/one"), re.DOTALL)
    assert byline is not None and '<a href="/b/authors/ann/">Ann Lee</a>, <a' in byline[1]
    assert '<a href="/b/authors/bo/">Bo Chen</a> <span class="post-affiliation">(A lab)' in byline[1]
    guest = page(root, "posts/guest")
    assert '<a href="https://cy.example.net/">Cy Dorn</a> <span class="post-affiliation">(Q &amp; A)' in guest
    ann, bo = page(root, "authors/ann"), page(root, "authors/bo")
    assert "<p>A &lt;b&gt;bio&lt;/b&gt;.</p>" in ann
    titles = [re.findall(r'class="entry-title"><a href="[^"]*">(\w+)', html) for html in (ann, bo)]
    assert titles == [["Three", "Two", "One"], ["Guest", "One"]]
    feed = ElementTree.parse(root / "public/authors/bo/atom.xml")
    assert [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")] == ["Guest", "One"]
    names = [name.text for name in feed.iterfind(f"{ATOM}entry/{ATOM}author/{ATOM}name")]
    assert names == ["Cy Dorn", "Bo Chen", "Ann Lee", "Bo Chen"]
    assert re.findall(r'<a href="(/b/authors/\w+/)">', page(root, "authors")) == [
        "/b/authors/ann/",
        "/b/authors/bo/",
    ]
    assert [*broken_addresses(root / "public", "/b")] == []


def test_the_front_page_shows_profile_news_and_posts(tmp_path: Path) -> None:
    home = page(made(tmp_path, dict(SITE)), ".")
    assert '<h1 class="page-title">Ann Lee</h1>\n<p class="profile-line">Numbers</p>' in home
    assert home.index('class="profile"' if 'class="profile"' in home else "no-portrait") < home.index(
        "news-1"
    )
    news = home.partition('id="news-1"')[2].partition("</section>")[0]
    assert '<a href="/b/news/">News</a>' in news and '<math alttext="x">' in news
    assert "/b/news/first/" not in home.partition("Latest posts")[2]
    assert 'rel="me" href="https://orcid.org/0000-0002-1825-0097"' in home


def test_styles_of_lists(tmp_path: Path) -> None:
    root = made(tmp_path, dict(SITE))
    found = {
        path: re.findall(r'<ol class="([\w-]+)', page(root, path))
        for path in ("posts", "posts/short", "news")
    }
    assert found == {"posts": ["card-list"], "posts/short": ["title-list"], "news": ["note-list"]}
    assert '<span class="term-count">5</span></h2>' in page(root, "archive")
    assert '<ul class="chips">' in page(root, "tags")
    put(root, {"blogsmith.yaml": SETTINGS.replace("style: cards", "style: featured")})
    assert build(root).ok
    assert '<ol class="card-list with-featured">' in page(root, "posts")
    assert '<ol class="card-list">' in page(root, "tags/x")


def test_a_site_without_these_settings_loads_nothing_for_them(tmp_path: Path) -> None:
    files = {name: text for name, text in SITE.items() if "[ann" not in text and "- bo" not in text}
    root = made(tmp_path, {**files, "blogsmith.yaml": "title: Notes\n"})
    pages = [file.read_text("utf-8") for file in sorted((root / "public").rglob("*.html"))]
    assert len(pages) > 5
    assert [html for html in pages if "people-" in html or "card-list" in html or "profile" in html] == []


@each_row(
    ("body", "expected"),
    [
        ("<p>Text</p>", ""),
        ('<p><img src="a.png" alt="x"></p>', ""),
        (
            '<figure class="figure" id="fig-a"><img src="a.png" width="4" id="i" alt="x &amp; y"></figure>',
            '<img src="a.png" width="4" alt="">',
        ),
        (
            '<figure class="output output-image"><a href="b"><picture><source srcset="d"><img src="c" '
            'alt="x"></picture></a></figure>',
            '<picture><source srcset="d"><img src="c" alt=""></picture>',
        ),
        (
            '<div class="math-display" id="eq-a"><math display="block" alttext="a"><mi id="x">a</mi></math>'
            "</div>",
            '<math style="--signs:1" display="block" alttext="a"><mi>a</mi></math>',
        ),
    ],
)
def test_the_picture_of_a_post(body: str, expected: str) -> None:
    assert list_picture("", PageText.from_string(body)) == expected
    cover = list_picture(
        '<img src="z" loading="eager" fetchpriority="high" alt="">', PageText.from_string(body)
    )
    assert cover == '<img src="z" loading="lazy" alt="">'


def test_a_display_too_large_for_a_card_gives_way_to_the_next() -> None:
    large, small = (f"<mi>{'a' * count}</mi>" for count in (5_000, 3))
    body = "".join(
        f'<div class="math-display"><math display="block">{x}</math></div>' for x in (large, small)
    )
    assert (
        list_picture("", PageText.from_string(body))
        == f'<math style="--signs:3" display="block">{small}</math>'
    )


def test_covers_and_portraits_have_small_copies(tmp_path: Path) -> None:
    for name in ("static/ann.png", "content/posts/cover.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.effect_noise((900, 900), 80).save(tmp_path / name)
    settings = SETTINGS.replace("line: Numbers", "portrait: /ann.png") + "images: {covers: true}\n"
    cover = "---\ndate: 2026-01-02\nimage: cover.png\n---\n# Two\n\nText.\n"
    root = made(tmp_path, {**SITE, "blogsmith.yaml": settings, "content/posts/two.md": cover})
    home = page(root, ".")
    portrait = re.search(r'<img class="portrait" src="/b/([^"]+)" srcset="([^"]+)" sizes="160px"', home)
    assert portrait is not None
    assert [part.split()[1] for part in portrait[2].split(", ")] == ["160w", "320w", "480w"]
    assert (root / "public" / portrait[1]).is_file()
    (card,) = re.findall(r'<div class="card-picture is-cover" aria-hidden="true">(.*?)</div>', home)
    assert 'sizes="(min-width: 48em) 26rem, 100vw"' in card and 'loading="lazy"' in card
    post = page(root, "posts/two")
    assert '<figure class="post-cover"><img ' in post and 'loading="eager"' in post
    for address in re.findall(r"/b/(assets/pictures/[^ \"]+)", home + post):
        assert (root / "public" / address).is_file(), address


def test_an_edit_of_a_post_or_cv_reaches_the_pages_that_show_it(tmp_path: Path) -> None:
    cv = {"work": [{"position": "Lecturer", "startDate": "2022"}]}
    files = {**SITE, "content/cv.md": "---\ncv: cv.json\n---\n# CV\n", "cv.json": json.dumps(cv)}
    root = put(tmp_path, files)
    assert build(root, use_cache=True).ok
    assert "<strong>Lecturer</strong>" in page(root, "cv")
    put(root, {"cv.json": json.dumps(cv).replace("Lecturer", "Reader")})
    put(root, {"content/posts/one.md": files["content/posts/one.md"].replace("a = b", "c = d")})
    assert build(root, use_cache=True).ok
    assert "<strong>Reader</strong>" in page(root, "cv")
    assert 'alttext="c = d"' in page(root, ".") and 'alttext="a = b"' not in page(root, ".")


def test_a_cv_is_plain_text_and_keeps_private_what_nobody_needs(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    resume = {
        "basics": {"summary": evil, "phone": "+1 555 0100", "email": "me@example.org"},
        "work": [
            {"position": evil, "url": "javascript:alert(1)", "highlights": [evil, 3], "startDate": 2020},
            7,
        ],
        "education": [{"institution": "U", "studyType": "PhD", "startDate": "2017-09", "endDate": "2021"}],
        "skills": {"name": "not a list"},
    }
    text = json.dumps(resume)
    files = {
        "blogsmith.yaml": "title: T\n",
        "content/cv.md": "---\ncv: cv.json\n---\n# CV\n",
        "cv.json": text,
    }
    html = page(made(tmp_path, files), "cv").partition("<main")[2]
    assert "<script" not in html and "javascript:" not in html and "555" not in html
    assert html.count("&lt;script&gt;") == 3
    assert '<span class="cv-years">2017–2021</span>' in html and "<strong>PhD</strong>, U" in html
    assert re.findall(r'<h2 id="(cv-\w+)"', html) == ["cv-work", "cv-education"]


def test_selected_publications_with_links_and_abstract(tmp_path: Path) -> None:
    entry = (
        "@article{k%d, title={T%d}, author={Lee, Ann}, year={20%d}, selected={%s}, "
        "abstract={On $x$ \\& <y>.}%s}\n"
    )
    more = ", code={https://example.org/c}, slides={/s.txt}, poster={javascript:alert(1)}, supp={/s.txt}"
    more += ", abbr={Proc. A&B}, preview={/p.png}, award={For $x$.}, award_name={Best <paper>}, hal={hal-1}"
    works = (
        entry % (1, 1, 24, "true", more) + entry % (2, 2, 25, "false", "") + entry % (3, 3, 26, "true", "")
    )
    files: dict[str, str | bytes] = {
        "blogsmith.yaml": "title: T\nlang: de\n",
        "content/_index.md": "---\npublications: works.bib\nselected: true\n---\n",
        "content/works.bib": works,
        "static/s.txt": "slides",
        "static/p.png": file_of(Image.effect_noise((800, 400), 90)),
    }
    html = page(made(tmp_path, files), ".")
    section = html.partition('<section class="publications"')[2]
    assert re.findall(r'<li id="pub-(k\d)"', section) == ["k3", "k1"]
    assert '<h2 id="publications">Ausgewählte Veröffentlichungen</h2>' in section
    links = re.findall(r'<a href="([^"]+)">([^<]+)</a>', section.partition('class="ref-links"')[2])
    assert links == [
        ("https://hal.science/hal-1", "HAL"),
        *(("/s.txt", "Zusatzmaterial"), ("https://example.org/c", "Code"), ("/s.txt", "Folien")),
    ]
    side = section.partition('<div class="work-side">')[2].partition("</div>")[0]
    assert side.startswith('<span class="venue">Proc. A&amp;B</span><img src="/')
    assert 'sizes="8rem"' in side and "160w" in side and 'alt=""' in side
    award = section.partition('<p class="award">')[2]
    assert award.startswith("<strong>Best &lt;paper&gt;</strong> For "), award[:120]
    assert "javascript" not in section and section.count("<details") == 4
    assert "<math" in section and "&amp; &lt;y&gt;." in section
