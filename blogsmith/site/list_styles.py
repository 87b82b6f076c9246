"""Styles of lists of posts, and the short notes that the front page shows as news."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from ..config.lists import ListStyle
from ..config.schema import Config
from ..model.template_views import PageGroup, PageView
from .frame import ViewContext

MOST_NEWS = 5
"""Maximum number of notes of a section on the front page."""
_LISTS = frozenset({"home", "section", "tag", "tags", "author", "archive"})


def section_style(section: str, config: Config) -> ListStyle:
    """Return the style for the list of a section: that of the section, of a section around it, or of the
    site."""
    chosen = {name.strip("/"): style for name, style in config.list_settings.sections.items()}
    path = PurePosixPath(section)
    around = (one.as_posix() for one in (path, *path.parents))
    return next((chosen[name] for name in around if name in chosen), config.list_settings.style)


def news_groups(
    by_section: Mapping[str, Sequence[PageView]],
    sections: Mapping[str, str],
    titles: Mapping[str, str],
    frame: ViewContext,
) -> tuple[PageGroup, ...]:
    """Return a group of posts for each section in the style `notes`. titles: section → title."""
    return tuple(
        PageGroup(titles[name], tuple(posts), frame.with_base(sections[name]))
        for name, posts in sorted(by_section.items())
        if name in sections and section_style(name, frame.config) == "notes"
    )


def note_urls(news: Sequence[PageGroup]) -> frozenset[str]:
    """Return the URLs of the posts in these groups."""
    return frozenset(note.url for group in news for note in group.pages)


def without_news(page: PageView, news: Sequence[PageGroup]) -> PageView:
    """Return the front page without the posts in these groups. Other pages stay unchanged."""
    if page.kind != "home" or not news:
        return page
    notes = note_urls(news)
    return replace(page, pages=tuple(post for post in page.pages if post.url not in notes))


def with_list_style(
    page: PageView, sections: Mapping[str, str], news: Sequence[PageGroup], frame: ViewContext
) -> PageView:
    """Return the view of a list with its style, and that of the front page also with its news. Return other
    pages unchanged. sections: name of a section → site path of its list."""
    if page.kind not in _LISTS:
        return page
    names = [name for name, url in sections.items() if page.url.startswith(frame.with_base(url))]
    section = max(names, key=len, default="") if page.kind == "section" else ""
    style = section_style(section, frame.config) if section else frame.config.list_settings.style
    # the first post of a tag or an author deserves no emphasis
    style = "cards" if style == "featured" and page.kind in ("tag", "author") else style
    page = replace(page, list_style=style) if style != page.list_style else page
    if page.kind != "home" or not news or (page.pager and page.pager.number > 1):
        return page
    return replace(page, page_groups=tuple(replace(one, pages=one.pages[:MOST_NEWS]) for one in news))
