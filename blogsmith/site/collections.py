"""Pages in relation: views for templates, sections, neighbours, series, tags.

Takes rendered bodies and makes the `PageView` of every page, generated lists included. No markup
here but what the bodies bring.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..config import Config
from ..model import Body, Document, Link, PageView, SeriesPart
from ..slugs import slugify

WORDS_PER_MINUTE = 220
SECONDS_PER_FORMULA = 6
SECONDS_PER_CODE_LINE = 1.5
DESCRIPTION_LENGTH = 160

_OLDEST = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document with everything made of it."""

    document: Document
    body: Body
    url: str
    """Site path without base path."""
    kind: str
    """`home`, `section`, `post`, `page`."""
    section: str
    """Name of the section, `posts` or `docs/guide`; empty for pages outside."""


@dataclass(frozen=True, slots=True)
class Unpublished:
    """A post that is not built, as far as a series list names it."""

    title: str
    series: str
    part: int | None


@dataclass(frozen=True, slots=True)
class Frame:
    """What the views of all pages share."""

    config: Config
    with_base: Callable[[str], str]
    """Site path → as printed."""
    image: Callable[[str, Document], str]
    """Front matter's `image` → its URL."""


def reading_minutes(body: Body) -> int:
    """Minutes to read a page: prose by the word, formulas and code weighed in seconds; at least 1."""
    weight = body.weight
    seconds = (
        weight.words / WORDS_PER_MINUTE * 60
        + weight.formulas * SECONDS_PER_FORMULA
        + weight.code_lines * SECONDS_PER_CODE_LINE
    )
    return max(1, round(seconds / 60))


def shortened(text: str, length: int = DESCRIPTION_LENGTH) -> str:
    """The first words of `text`, with an ellipsis if something is left out."""
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0].rstrip(",.;:") + " …"


def page_views(
    rendered: Sequence[Rendered], unpublished: Iterable[Unpublished], frame: Frame
) -> tuple[PageView, ...]:
    """Every page of the site: the documents', then the generated ones, in a stable order."""
    views = {item.url: _view(item, frame) for item in rendered}
    sections = _sections(rendered)
    posts = _newest_first(rendered, views)
    _add_neighbours(rendered, views, frame)
    _add_series(rendered, list(unpublished), views, frame)
    _add_section_links(rendered, views, sections, frame)
    posts = [views[view.url.removeprefix(frame.config.base_path)] for view in posts]
    pages = [_with_lists(views[item.url], item, posts, views, rendered) for item in rendered]
    pages += _generated_lists(rendered, posts, sections, views, frame)
    pages += _taxonomy(posts, "tags", "Tags", frame)
    pages += _taxonomy(posts, "categories", "Categories", frame)
    return (*pages, _not_found(frame))


def _view(item: Rendered, frame: Frame) -> PageView:
    front, body, config = item.document.front, item.body, frame.config
    show_toc = (config.toc if front.toc is None else front.toc) and _count(body) > 1
    is_list = item.kind in ("home", "section")
    return PageView(
        kind=item.kind,
        path=str(item.document.path),
        url=frame.with_base(item.url),
        canonical_url=canonical(config, item.url),
        title=body.title_text,
        title_html=body.title_html,
        content=body.html,
        subtitle=front.subtitle,
        description=body.description_text or shortened(body.text),
        description_html=body.description_html,
        date=front.date,
        updated=front.updated,
        authors=front.authors or ((config.author,) if config.author else ()),
        tags=_terms(front.tags, "tags", frame),
        categories=_terms(front.categories, "categories", frame),
        toc=body.toc if show_toc and not is_list else (),
        reading_minutes=0 if is_list else reading_minutes(body),
        lang=front.lang or config.lang,
        status=front.status,
        draft=front.draft,
        widgets=body.widgets,
        image=frame.image(front.image, item.document) if front.image else "",
        layout=front.template or item.kind,
        extra=front.extra,
    )


def _count(body: Body) -> int:
    return sum(1 + len(entry.children) for entry in body.toc)


def canonical(config: Config, url: str) -> str:
    """The absolute address of a site path; empty if the site does not know where it lives."""
    return config.base_url.rstrip("/") + url if config.base_url else ""


def _terms(names: Iterable[str], taxonomy: str, frame: Frame) -> tuple[Link, ...]:
    return tuple(
        Link(name, frame.with_base(f"/{taxonomy}/{slugify(name)}/")) for name in names if slugify(name)
    )


def predicted_urls(
    documents: Sequence[Document], kinds: Mapping[str, str], sections: Mapping[str, str]
) -> set[str]:
    """Site paths of the lists that will be generated, so that posts may link to them."""
    found = {"/"}
    for document in documents:
        path = str(document.path)
        if kinds[path] == "post":
            found.add(f"/{sections[path]}/")
            for name, terms in (("tags", document.front.tags), ("categories", document.front.categories)):
                found |= {f"/{name}/{slugify(term)}/" for term in terms if slugify(term)}
                found |= {f"/{name}/"} if terms else set()
    return found


def _newest_first(rendered: Sequence[Rendered], views: Mapping[str, PageView]) -> list[PageView]:
    posts = [item for item in rendered if item.kind == "post"]
    # equal dates are common in a series written in a day; the path decides then
    ordered = sorted(posts, key=lambda item: str(item.document.path))
    ordered.sort(key=lambda item: item.document.front.date or _OLDEST, reverse=True)
    return [views[item.url] for item in ordered]


def _sections(rendered: Sequence[Rendered]) -> dict[str, str]:
    """Section → site path of its list, for every section that has a post or an index."""
    found = {item.section: f"/{item.section}/" for item in rendered if item.section and item.kind == "post"}
    found |= {item.section: item.url for item in rendered if item.kind == "section"}
    return dict(sorted(found.items()))


def section_title(section: str, views: Mapping[str, PageView], url: str) -> str:
    """Title of a section's index, else its folder's name."""
    if url in views:
        return views[url].title
    return section.rpartition("/")[2].replace("-", " ").replace("_", " ").capitalize()


def _add_section_links(
    rendered: Sequence[Rendered], views: dict[str, PageView], sections: Mapping[str, str], frame: Frame
) -> None:
    for item in rendered:
        if item.kind == "post" and item.section in sections:
            url = sections[item.section]
            link = Link(section_title(item.section, views, url), frame.with_base(url))
            views[item.url] = replace(views[item.url], section=link)


def _add_neighbours(rendered: Sequence[Rendered], views: dict[str, PageView], frame: Frame) -> None:
    """Older and newer post of the same section; undated pages keep the order of their paths."""
    for section in sorted({item.section for item in rendered if item.kind == "post"}):
        items = [item for item in rendered if item.kind == "post" and item.section == section]
        items.sort(key=lambda item: (item.document.front.date or _OLDEST, str(item.document.path)))
        for older, newer in zip(items, items[1:], strict=False):
            _join(older, newer, views)


def _join(older: Rendered, newer: Rendered, views: dict[str, PageView]) -> None:
    first, second = views[older.url], views[newer.url]
    views[older.url] = replace(first, next=Link(second.title, second.url))
    views[newer.url] = replace(second, previous=Link(first.title, first.url))


def _add_series(
    rendered: Sequence[Rendered],
    unpublished: Sequence[Unpublished],
    views: dict[str, PageView],
    frame: Frame,
) -> None:
    members: dict[str, list[Rendered]] = {}
    for item in rendered:
        if item.document.front.series:
            members.setdefault(item.document.front.series.name, []).append(item)
    for name, items in members.items():
        parts = _parts(items, [u for u in unpublished if u.series == name], views)
        for item in items:
            view = views[item.url]
            own = tuple(replace(part, current=part.url == view.url) for part in parts)
            views[item.url] = replace(view, series_name=name, series=own)
        in_order = [part for part in parts if part.url]
        for before, after in zip(in_order, in_order[1:], strict=False):
            _join_parts(before, after, views, frame)


def _parts(
    items: Sequence[Rendered], missing: Sequence[Unpublished], views: Mapping[str, PageView]
) -> list[SeriesPart]:
    """Published and unpublished parts in order; parts without a number follow by date."""
    dated = sorted(items, key=lambda item: (item.document.front.date or _OLDEST, str(item.document.path)))
    taken = {item.document.front.series.part for item in items if item.document.front.series}
    taken |= {item.part for item in missing}
    free = iter(n for n in range(1, len(items) + len(missing) + len(taken) + 2) if n not in taken)
    parts = []
    for item in dated:
        series = item.document.front.series
        number = series.part if series and series.part else next(free)
        parts.append(SeriesPart(views[item.url].title, views[item.url].url, number, False))
    parts += [SeriesPart(m.title, "", m.part or next(free), False) for m in missing]
    return sorted(parts, key=lambda part: (part.part, part.url))


def _join_parts(before: SeriesPart, after: SeriesPart, views: dict[str, PageView], frame: Frame) -> None:
    first = before.url.removeprefix(frame.config.base_path)
    second = after.url.removeprefix(frame.config.base_path)
    views[first] = replace(views[first], next=Link(after.title, after.url))
    views[second] = replace(views[second], previous=Link(before.title, before.url))


def _with_lists(
    view: PageView,
    item: Rendered,
    posts: Sequence[PageView],
    views: Mapping[str, PageView],
    rendered: Sequence[Rendered],
) -> PageView:
    if item.kind == "home":
        return replace(view, pages=tuple(post for post in posts if post.date))
    if item.kind != "section":
        return view
    listed = {views[other.url].url for other in rendered if other.section == item.section}
    return replace(view, pages=tuple(post for post in posts if post.url in listed))


def _generated_lists(
    rendered: Sequence[Rendered],
    posts: Sequence[PageView],
    sections: Mapping[str, str],
    views: Mapping[str, PageView],
    frame: Frame,
) -> list[PageView]:
    """Home and section lists nobody wrote an index for."""
    made = []
    if "/" not in views:
        dated = tuple(post for post in posts if post.date)
        made.append(_plain_view("home", "/", frame.config.title, frame, dated))
    for section, url in sections.items():
        if url not in views:
            listed = {views[item.url].url for item in rendered if item.section == section}
            title = section_title(section, views, url)
            made.append(_plain_view("section", url, title, frame, tuple(p for p in posts if p.url in listed)))
    return made


def _taxonomy(posts: Sequence[PageView], name: str, title: str, frame: Frame) -> list[PageView]:
    """The overview of a taxonomy and one list for each of its terms."""
    terms: dict[str, list[PageView]] = {}
    links: dict[str, Link] = {}
    for post in posts:
        for link in getattr(post, name):
            terms.setdefault(link.url, []).append(post)
            links.setdefault(link.url, link)
    if not terms:
        return []
    groups = tuple(sorted(links.values(), key=lambda link: (link.title.casefold(), link.url)))
    overview = replace(_plain_view("tags", f"/{name}/", title, frame, ()), groups=groups)
    lists = [
        _plain_view(
            "tag", link.url.removeprefix(frame.config.base_path), link.title, frame, tuple(terms[link.url])
        )
        for link in groups
    ]
    return [overview, *lists]


def _not_found(frame: Frame) -> PageView:
    return replace(_plain_view("not_found", "/404.html", "Page not found", frame, ()), canonical_url="")


def _plain_view(kind: str, url: str, title: str, frame: Frame, pages: tuple[PageView, ...]) -> PageView:
    escaped = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return PageView(
        kind=kind,
        path="",
        url=frame.with_base(url),
        canonical_url=canonical(frame.config, url),
        title=title,
        title_html=escaped,
        description=frame.config.description if kind == "home" else "",
        lang=frame.config.lang,
        pages=pages,
        layout=kind,
    )
