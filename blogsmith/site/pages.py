"""The view of a single page, made from its rendered document, without relations to other pages."""

from __future__ import annotations

from html import escape
from urllib.parse import quote, urlencode, urlsplit

from ..config.authors import author_names
from ..config.page_services import Comments
from ..config.schema import Config
from ..config.services import GISCUS, UTTERANCES, read_thread
from ..languages.tags import writing_direction
from ..model.documents import Body
from ..model.template_views import Discussion, PageView
from ..model.texts import DESCRIPTION_LENGTH
from .citation_data import citable_view
from .downloads import page_downloads
from .frame import RenderedDocument, ViewContext, canonical
from .profiles import linked_authors
from .terms import page_terms, term_links


def reading_minutes(body: Body) -> int:
    """Return the minutes to read a page, at least 1; 0 for a page without text."""
    is_empty = not body.weight.seconds and not body.content
    return 0 if is_empty else max(1, round(body.weight.seconds / 60))


def shorten(text: str, length: int = DESCRIPTION_LENGTH) -> str:
    """Return the first words of `text`, with an ellipsis if it was shortened."""
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0].rstrip(",.;:") + " …"


def page_view(item: RenderedDocument, frame: ViewContext) -> PageView:
    """Return the view of a page without relations to other pages. frame: context of any language version."""
    frame = frame.for_language(item.edition)
    front, body, config = item.document.front, item.body, frame.config
    lang = front.lang or config.lang
    show_toc = (config.toc if front.toc is None else front.toc) and _count(body) > 1
    is_list = item.kind in ("home", "section")
    # without title or description of its own, the home page uses those of the site
    title = body.title_text or config.title
    about = config.description if item.kind == "home" else ""
    # an undated page is reference material, not read from start to end
    shows_time = front.date is not None if front.reading_time is None else front.reading_time
    return PageView(
        kind=item.kind,
        path=str(item.document.path),
        url=frame.with_base(item.url),
        canonical_url=canonical(config, item.url),
        title=title,
        title_html=body.title_html or escape(title, quote=False),
        title_id=body.title_id,
        heading_html=body.heading_html,
        body=body.content,
        subtitle=front.subtitle,
        description=body.description_text or about or shorten(body.summary),
        description_html=body.description_html or escape(about, quote=False),
        summary_html="" if body.description_text else body.summary_html,
        date=front.date,
        updated=front.updated or frame.git_date(item.document),
        authors=author_names(front.authors, config),
        people=linked_authors(front, frame),
        tags=term_links(page_terms(front, "tags"), "tags", frame),
        categories=term_links(page_terms(front, "categories"), "categories", frame),
        toc=body.toc if show_toc and not is_list else (),
        reading_minutes=reading_minutes(body) if shows_time and not is_list else 0,
        lang=lang,
        direction=writing_direction(lang),
        edition=item.edition,
        status=front.status,
        draft=front.draft,
        unlisted=front.unlisted,
        faq=body.faq,
        widgets=body.widgets,
        image=frame.image(front.image, item.document) if front.image else "",
        cover=body.cover,
        downloads=page_downloads(item, config),
        citation=citable_view(front, title, canonical(config, item.url), config),
        layout=front.template if front.template in frame.layouts else item.kind,
        comments=page_comments(
            front.comments,
            config,
            is_post=item.kind == "post",
            url=frame.with_base(item.url),
            title=title,
            lang=lang,
        ),
        extra=front.extra,
    )


def _count(body: Body) -> int:
    return sum(1 + len(entry.children) for entry in body.toc)


# The comments of a page: discussions on GitHub, or the replies to a post elsewhere.
#
# The frames of giscus and utterances are loaded by URL, as their scripts would do, so that no third-party
# script runs in the page. Sources: the clients of giscus and of utterances; the APIs of Mastodon
# (`statuses/:id/context`) and Bluesky (`app.bsky.feed.getPostThread`).


_GITHUB = "https://github.com"


def page_comments(
    asked: bool | str | None, config: Config, *, is_post: bool, url: str, title: str, lang: str
) -> Discussion | None:
    """Return the settings of the comment section of a page, or None if the page has no comments.

    asked: `comments` of its front matter; url: URL of the page with base path.
    """
    if isinstance(asked, str):
        return _thread_discussion(asked)
    comments = config.comments
    if comments.provider == "none" or not (is_post if asked is None else asked):
        return None
    # both scripts find a discussion by its title, or by the path without slashes and extension
    path = url.strip("/").removesuffix(".html") or "index"
    term = title if comments.mapping == "title" else path
    return _giscus(comments, term, lang) if comments.provider == "giscus" else _utterances(comments, term)


def _thread_discussion(address: str) -> Discussion | None:
    thread = read_thread(address)
    if thread is None:
        return None
    host = urlsplit(thread.host).netloc
    return Discussion(
        thread.provider,
        host,
        thread.url,
        urlsplit(thread.url).netloc,
        connect_url=thread.host,
        request=thread.request,
    )


def _giscus(comments: Comments, term: str, lang: str) -> Discussion:
    asked = {
        "repo": comments.repo,
        "repoId": comments.repo_id,
        "category": comments.category,
        "categoryId": comments.category_id,
        "term": term if comments.mapping == "title" else f"{term}/",
        # the old title of a page may have ended in the name of the site
        "strict": "0" if comments.mapping == "title" else "1",
        "reactionsEnabled": "1",
        "emitMetadata": "0",
        "inputPosition": "top",
    }
    frame = f"{GISCUS}/{_giscus_language(lang)}/widget?{urlencode(asked)}"
    url = f"{_GITHUB}/{comments.repo}/discussions?discussions_q={quote(term)}"
    return Discussion("giscus", urlsplit(GISCUS).netloc, url, "github.com", frame_url=frame)


def _giscus_language(lang: str) -> str:
    """Return the language code that giscus uses. It has two codes for Chinese, and English for unknown
    languages."""
    tag, _, rest = lang.lower().partition("-")
    if tag == "zh":
        return "zh-TW" if rest in ("tw", "hant", "hk", "hant-tw") else "zh-CN"
    return tag if tag in _GISCUS_LANGUAGES.split() else "en"


_GISCUS_LANGUAGES = (
    "ar be bg ca cs da de en eo es eu fa fr gr he hu id it ja kh ko nl pl pt ro ru th tr uk uz vi"
)


def _utterances(comments: Comments, term: str) -> Discussion:
    asked = {"repo": comments.repo, "issue-term": comments.mapping, comments.mapping: term}
    asked |= {"label": comments.label} if comments.label else {}
    query = quote(f"is:issue in:title {term}")
    url = f"{_GITHUB}/{comments.repo}/issues?q={query}"
    frame = f"{UTTERANCES}/utterances.html?{urlencode(asked)}"
    return Discussion("utterances", urlsplit(UTTERANCES).netloc, url, "github.com", frame_url=frame)
