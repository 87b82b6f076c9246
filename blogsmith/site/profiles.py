"""Views of people: profiles, pages of authors, and the authors of a post."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from ..config.authors import author_key, profile_urls
from ..config.people import Profile
from ..model.documents import FrontMatter
from ..model.profiles import ProfileLink, ProfileView
from ..model.template_views import Link, PageAuthor, PageView
from .citation_data import page_authors
from .feeds import site_feeds
from .frame import ViewContext
from .generated_views import plain_view
from .lists import AUTHORS_PATH

_NAMES: Mapping[str, str] = MappingProxyType(
    {"github": "GitHub", "scholar": "Google Scholar", "orcid": "ORCID", "linkedin": "LinkedIn"}
)
"""Kind of link → name, for kinds whose name is not the capitalized kind."""


def author_pages(posts: Sequence[PageView], frame: ViewContext) -> list[PageView]:
    """Return the list of all authors in the settings, and a page with the posts of each author."""
    pages = []
    for key, person in frame.config.authors.items():
        name = person.name or key
        own = tuple(post for post in posts if name in post.authors)
        view = plain_view("author", f"{AUTHORS_PATH}{key}/", name, frame, own)
        layout = "author" if "author" in frame.layouts else "tag"
        shown = profile_view(replace(person, name=name), frame)
        pages.append(replace(view, layout=layout, profile=shown, description=person.line))
    if not pages:
        return []
    title = frame.language.translate("Authors")
    links = tuple(Link(page.title, page.url, count=len(page.pages)) for page in pages)
    overview = replace(plain_view("tags", AUTHORS_PATH, title, frame, tuple(pages)), groups=links)
    section = Link(title, overview.url)
    return [overview, *(replace(page, section=section) for page in pages)]


def linked_authors(front: FrontMatter, frame: ViewContext) -> tuple[PageAuthor, ...]:
    """Return the authors of a page with URLs and affiliations; empty if no author has a URL or an
    affiliation."""
    config = frame.config
    found = tuple(_linked_author(author, front, frame) for author in page_authors(front, config))
    return found if any(one.url or one.affiliation for one in found) else ()


def _linked_author(author: PageAuthor, front: FrontMatter, frame: ViewContext) -> PageAuthor:
    key = author_key(author.name, frame.config)
    known = frame.config.authors.get(key, Profile())
    url = frame.printed_url(f"{AUTHORS_PATH}{key}/") if key else front.author_urls.get(author.name, "")
    return replace(author, url=url, affiliation=front.affiliations.get(author.name, "") or known.affiliation)


def profile_view(person: Profile, frame: ViewContext) -> ProfileView:
    """Return a person as templates print them."""
    say = frame.language.translate
    names = {"mail": say("Mail"), "website": say("Website"), **_NAMES}
    links = [
        ProfileLink(kind, names.get(kind, kind.capitalize()), url) for kind, url in profile_urls(person.links)
    ]
    return ProfileView(
        name=person.name,
        line=person.line,
        affiliation=person.affiliation,
        bio=person.bio,
        portrait=frame.portraits.get(person.portrait),
        links=tuple(links),
    )


def with_profile(page: PageView, frame: ViewContext) -> PageView:
    """Return the front page with the person of the site and a link to its feed. Others stay unchanged."""
    person = frame.config.person
    is_first = page.kind == "home" and (page.pager is None or page.pager.number == 1)
    if not person.name or not is_first:
        return page
    feeds = site_feeds(frame.config, frame.root)[:1]
    links = tuple(ProfileLink("feed", frame.language.translate("Feed"), feed.url) for feed in feeds)
    shown = profile_view(person, frame)
    return replace(page, profile=replace(shown, links=(*shown.links, *links)))
