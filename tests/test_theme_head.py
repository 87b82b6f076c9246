"""Theme paper: metadata of a page for programs."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from blogsmith.model.template_views import PageView, SiteView
from blogsmith.render.templates.theme import Theme

from .theme_pages import BARE, EVIL, FULL, LISTING, SITE, load_paper, parse, scripts


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Theme:
    return load_paper(tmp_path_factory.mktemp("site"))


class TestHead:
    """The metadata of a page."""

    def structured(self, paper: Theme, page: PageView, site: SiteView = SITE) -> list[dict[str, object]]:
        tree = parse(paper.render("post", page, site))
        return [json.loads(item.text or "") for item in tree.iter("script") if item not in scripts(tree)]

    def test_json_ld_of_a_post(self, paper: Theme) -> None:
        (data,) = self.structured(paper, FULL)
        assert data == {
            "@context": "https://schema.org",
            "@type": "BlogPosting",
            "headline": "Why x?",
            "description": "Why, in words",
            "url": "https://example.org/b/posts/a/",
            "image": "https://example.org/b/posts/a/a.png",
            "inLanguage": "en",
            "datePublished": "2026-03-03T00:00:00+00:00",
            "dateModified": "2026-04-03T00:00:00+00:00",
            "author": [{"@type": "Person", "name": "Ada"}, {"@type": "Person", "name": "Bo"}],
            "keywords": ["Linear algebra", "NumPy"],
            "isPartOf": {"@type": "Blog", "name": "Notes"},
        }

    def test_json_ld_cannot_end_its_script(self, paper: Theme) -> None:
        (data,) = self.structured(paper, replace(FULL, title=EVIL))
        assert data["headline"] == EVIL

    @pytest.mark.parametrize(("kind", "types"), [("home", ["WebSite"]), ("tag", []), ("page", [])])
    def test_json_ld_by_kind(self, paper: Theme, kind: str, types: list[str]) -> None:
        assert [data["@type"] for data in self.structured(paper, replace(FULL, kind=kind))] == types

    def test_without_an_address_nothing_absolute_is_made_up(self, paper: Theme) -> None:
        page, site = replace(FULL, canonical_url=""), replace(SITE, base_url="")
        (data,) = self.structured(paper, page, site)
        assert {"url", "image"} & set(data) == set()
        tree = parse(paper.render("post", page, site))
        names = {item.get("property") or item.get("name") for item in tree.iter("meta")}
        assert {"og:image", "og:url"} & names == set()

    def test_open_graph(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, SITE))
        meta = {item.get("property") or item.get("name"): item.get("content") for item in tree.iter("meta")}
        assert {name: value for name, value in meta.items() if name and name.startswith(("og:", "tw"))} == {
            "og:type": "article",
            "og:site_name": "Notes",
            "og:title": "Why x?",
            "og:description": "Why, in words",
            "og:url": "https://example.org/b/posts/a/",
            "og:image": "https://example.org/b/posts/a/a.png",
            "twitter:card": "summary_large_image",
        }

    def test_feeds_and_favicon(self, paper: Theme) -> None:
        tree = parse(paper.render("tag", LISTING, SITE))
        links = [(item.get("rel"), (item.get("href") or "").partition("?")[0]) for item in tree.iter("link")]
        assert [url for rel, url in links if rel == "alternate"] == ["/b/atom.xml", "/b/tags/x/atom.xml"]
        assert ("icon", "/b/assets/paper/favicon.svg") in links

    def test_own_favicon(self, paper: Theme) -> None:
        tree = parse(paper.render("post", FULL, replace(SITE, options={"favicon": "/own.png"})))
        assert [item.get("href") for item in tree.iter("link") if item.get("rel") == "icon"] == ["/b/own.png"]

    def test_missing_page_is_not_indexed(self, paper: Theme) -> None:
        meta = [
            item.get("content")
            for item in parse(paper.render("not_found", replace(BARE, kind="not_found"), SITE)).iter("meta")
            if item.get("name") == "robots"
        ]
        assert meta == ["noindex"]
