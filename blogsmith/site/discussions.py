"""Where the comments of a page are: discussions on GitHub, or the replies to a post elsewhere.

Frames of giscus and utterances are asked for by their own address, as their scripts would do it, so that no
script of another host runs in the page. Sources: the clients of giscus and of utterances; the programming
interfaces of Mastodon (`statuses/:id/context`) and Bluesky (`app.bsky.feed.getPostThread`).
"""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from ..config.community import Comments
from ..config.schema import Config
from ..config.services import GISCUS, UTTERANCES, read_thread
from ..model.template_views import Discussion

_GITHUB = "https://github.com"


def discussion_of(
    asked: bool | str | None, config: Config, *, is_post: bool, url: str, lang: str
) -> Discussion | None:
    """The comments of a page; None if it has none.

    asked: `comments` of its front matter; url: its address with base path.
    """
    if isinstance(asked, str):
        return _thread_discussion(asked)
    comments = config.comments
    if comments.provider == "none" or not (is_post if asked is None else asked):
        return None
    # the name under which scripts of both find a discussion: the path without slash and ending
    term = url.strip("/").removesuffix(".html") or "index"
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
        "term": f"{term}/",
        "strict": "1",
        "reactionsEnabled": "1",
        "emitMetadata": "0",
        "inputPosition": "top",
    }
    frame = f"{GISCUS}/{_giscus_language(lang)}/widget?{urlencode(asked)}"
    url = f"{_GITHUB}/{comments.repo}/discussions?discussions_q={quote(term)}"
    return Discussion("giscus", urlsplit(GISCUS).netloc, url, "github.com", frame_url=frame)


def _giscus_language(lang: str) -> str:
    """The name giscus has for a language; of some it has two."""
    tag, _, rest = lang.lower().partition("-")
    if tag == "zh":
        return "zh-TW" if rest in ("tw", "hant", "hk", "hant-tw") else "zh-CN"
    return tag if tag in _GISCUS_LANGUAGES.split() else "en"


_GISCUS_LANGUAGES = (
    "ar be bg ca cs da de en eo es eu fa fr gr he hu id it ja kh ko nl pl pt ro ru th tr uk uz vi"
)


def _utterances(comments: Comments, term: str) -> Discussion:
    asked = {"repo": comments.repo, "issue-term": "pathname", "pathname": term}
    asked |= {"label": comments.label} if comments.label else {}
    query = quote(f"is:issue in:title {term}")
    url = f"{_GITHUB}/{comments.repo}/issues?q={query}"
    frame = f"{UTTERANCES}/utterances.html?{urlencode(asked)}"
    return Discussion("utterances", urlsplit(UTTERANCES).netloc, url, "github.com", frame_url=frame)
