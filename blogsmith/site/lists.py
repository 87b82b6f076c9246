"""Generated pages: home, section lists, tags and categories, and the 404 page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from ..config.schema import Config
from ..model.documents import Document
from ..model.template_views import Link, PageView
from .frame import RenderedDocument, ViewContext
from .generated_views import plain_view

RECENT_POSTS = 5
AUTHORS_PATH = "/authors/"


def plan_lists(
    documents: Iterable[Document], kinds: Mapping[str, str], sections: Mapping[str, str]
) -> dict[str, str]:
    """Map the site path of every list of pages, and of the 404 page, to a description for messages."""
    found = {"/": "the home page", "/404.html": "the 404 page"}
    for document in documents:
        path = str(document.path)
        if kinds[path] == "post":
            found[f"/{sections[path]}/"] = f'the list of section "{sections[path]}"'
    return found


def plan_authors(config: Config) -> dict[str, str]:
    """Map the site paths of the list and of the pages of authors to descriptions for messages."""
    found = {f"{AUTHORS_PATH}{key}/": f'the page of author "{key}"' for key in config.authors}
    return {AUTHORS_PATH: "the list of authors", **found} if found else {}


def section_title(section: str, views: Mapping[str, PageView], url: str, frame: ViewContext) -> str:
    """Return the title of a section: the title of its index page, otherwise the capitalized folder name.

    The name `Posts` is translated into the site's language.
    """
    if url in views:
        return views[url].title
    name = section.rpartition("/")[2].replace("-", " ").replace("_", " ").capitalize()
    return frame.language.translate("Posts") if name == "Posts" else name


def generate_lists(
    rendered: Sequence[RenderedDocument],
    posts: Sequence[PageView],
    sections: Mapping[str, str],
    views: Mapping[str, PageView],
    frame: ViewContext,
) -> list[PageView]:
    """Return the home page and section lists for which the author wrote no index page."""
    made = []
    if f"{frame.root}/" not in views:
        dated = tuple(post for post in posts if post.date)
        made.append(plain_view("home", "/", frame.config.title, frame, dated))
    for section, url in sections.items():
        if url not in views:
            listed = {views[item.url].url for item in rendered if item.section == section}
            title = section_title(section, views, url, frame)
            path = url.removeprefix(frame.root)
            made.append(plain_view("section", path, title, frame, tuple(p for p in posts if p.url in listed)))
    return made


def taxonomy(posts: Sequence[PageView], name: str, title: str, frame: ViewContext) -> list[PageView]:
    """Return the overview of a taxonomy and one list for each of its terms."""
    terms: dict[str, list[PageView]] = {}
    links: dict[str, Link] = {}
    for post in posts:
        for link in getattr(post, name):
            if not link.url:
                continue
            terms.setdefault(link.url, []).append(post)
            links.setdefault(link.url, link)
    if not terms:
        return []
    groups = [replace(link, count=len(terms[link.url])) for link in links.values()]
    groups.sort(key=lambda link: (link.title.casefold(), link.url))
    overview = replace(plain_view("tags", f"/{name}/", title, frame, ()), groups=tuple(groups))
    section = Link(overview.title, overview.url)
    lists = [
        plain_view("tag", frame.local_path(link.url), link.title, frame, tuple(terms[link.url]))
        for link in groups
    ]
    return [overview, *(replace(page, section=section) for page in lists)]


def not_found(posts: Sequence[PageView], frame: ViewContext) -> PageView:
    """Return the 404 page, which links to the first few dated posts of `posts`."""
    recent = tuple(islice((post for post in posts if post.date), RECENT_POSTS))
    title = frame.language.translate("Page not found")
    return replace(plain_view("not_found", "/404.html", title, frame, recent), canonical_url="")
