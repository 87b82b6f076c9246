"""Atom and JSON feeds: the site's feeds with full posts, and feeds of tags and categories.

Without `base_url` the links of an Atom feed are site paths, which feed readers resolve against the URL of
the feed, and its ids are UUIDs. JSON Feed has no rule for relative links, so that feed needs `base_url`.
Sources: RFC 4287 (Atom), JSON Feed 1.1.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePosixPath
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..config.languages import version_config, version_url_prefix
from ..config.schema import Config
from ..model.generated_files import GeneratedFile
from ..model.template_views import CitableView, Feed, PageAuthor, PageView
from ..model.texts import NO_TEXT, PageText
from ..tex.on_demand import spoken_text
from .editions import group_by_language
from .frame import host_url

ATOM_TYPE = "application/atom+xml"
JSON_TYPE = "application/feed+json"
_WITH_FEED = ("tag", "author")
"""Kinds of lists that have a feed of their own."""

_ATOM = "http://www.w3.org/2005/Atom"


def site_feeds(config: Config, root: str = "") -> tuple[Feed, ...]:
    """Return the feeds that every page of a language version links to. The JSON feed needs `base_url`.

    root: prefix of all site paths of the language version.
    """
    if not config.feeds:
        return ()
    base = config.base_path + root
    feeds = (
        Feed(config.title, f"{base}/atom.xml", ATOM_TYPE),
        Feed(config.title, f"{base}/feed.json", JSON_TYPE),
    )
    return feeds if config.base_url else feeds[:1]


def with_feed(page: PageView, config: Config) -> PageView:
    """Return the page of a tag, category or author with a link to its own feed; any other page unchanged."""
    if page.kind not in _WITH_FEED or not site_feeds(config) or not _term_entries(page, config):
        return page
    url = first_page_url(page.url)
    return replace(page, feeds=(Feed(f"{config.title}: {page.title}", f"{url}atom.xml", ATOM_TYPE),))


def first_page_url(url: str) -> str:
    """Return the URL of the first page of the paginated list that contains `url`."""
    return re.sub(r"page/\d+/$", "", url)


def feed_files(
    pages: Sequence[PageView], config: Config, unfit: frozenset[str] = frozenset()
) -> dict[PurePosixPath, GeneratedFile]:
    """Map paths to feeds: `atom.xml` and `feed.json` of the site, and an Atom feed per tag and category.

    The content of each file is made when it is requested. unfit: source paths of posts to leave out of all
    feeds.
    """
    if not site_feeds(config):
        return {}
    groups = group_by_language(((page.edition, page) for page in pages), config)
    return {
        path: file
        for edition, members in groups.items()
        for path, file in _edition_files(members, edition, config, unfit).items()
    }


def _edition_files(
    pages: Sequence[PageView], edition: str, config: Config, unfit: frozenset[str]
) -> dict[PurePosixPath, GeneratedFile]:
    listed = (post for page in pages if page.kind == "archive" for post in page.pages)
    archive = tuple(post for post in listed if post.path not in unfit)
    writer = _writer(_dated_posts(archive, config.feed_settings.entries), config, edition)
    files = writer.site_files()
    for page in pages:
        posts = _term_entries(page, config) if page.kind in _WITH_FEED else []
        if posts and (page.pager is None or page.pager.number == 1):
            url = page.url.removeprefix(config.base_path)
            posts = [post for post in posts if post.path not in unfit]
            files[PurePosixPath(url.strip("/")) / "atom.xml"] = writer.term_file(page, url, posts)
    return files


def _writer(posts: Sequence[PageView], config: Config, edition: str) -> _FeedWriter:
    return _FeedWriter(posts, version_config(edition, config), version_url_prefix(edition, config))


class _FeedWriter:
    """The feeds of one language version. Content that several feeds share is made only once."""

    def __init__(self, posts: Sequence[PageView], config: Config, root: str) -> None:
        """Prepare the feeds.

        posts: posts in the feeds of the whole language version; root: prefix of all its site paths.
        """
        self._home = f"{root}/"
        self._posts = (*posts,)
        self._config = config
        self._newest = frozenset(post.url for post in posts)
        self._html: dict[str, PageText] = {}
        self._entries: dict[tuple[str, bool], str] = {}

    def site_files(self) -> dict[PurePosixPath, GeneratedFile]:
        """Return the feeds of the whole language version."""
        atom_file = partial(self._atom, self._config.title, self._home, self._posts, is_short=False)
        folder = PurePosixPath(self._home.strip("/"))
        files = {folder / "atom.xml": GeneratedFile(atom_file, self._posts, self._posts)}
        if self._config.base_url:
            files[folder / "feed.json"] = GeneratedFile(self._json, self._posts, self._posts)
        return files

    def term_file(self, page: PageView, url: str, posts: Sequence[PageView]) -> GeneratedFile:
        """Return the feed of a tag or category.

        page: the list of its posts; url: the site path of that list.
        """
        is_short = self._config.feed_settings.term_text == "summary"
        make = partial(self._atom, f"{self._config.title}: {page.title}", url, posts, is_short=is_short)
        # the feed also depends on the page, because of its title
        return GeneratedFile(make, (*posts, page), () if is_short else (*posts,))

    def _atom(self, name: str, url: str, posts: Sequence[PageView], *, is_short: bool) -> bytes:
        return atom(name, url, posts, self._config, lambda post: self._entry(post, is_short=is_short))

    def _json(self) -> bytes:
        return json_feed(
            self._config.title, self._home, [self._prepare(post) for post in self._posts], self._config
        )

    def _entry(self, post: PageView, *, is_short: bool) -> str:
        # a post appears in the feeds of all its tags
        if (post.url, is_short) not in self._entries:
            found = replace(post, body=NO_TEXT) if is_short else self._prepare(post)
            self._entries[post.url, is_short] = atom_entry(found, self._config)
        return self._entries[post.url, is_short]

    def _prepare(self, post: PageView) -> PageView:
        if post.url in self._html:
            return replace(post, body=self._html[post.url])
        body = PageText.from_string(feed_html(post, self._config))
        if post.url in self._newest:
            # it appears in both feeds of the site
            self._html[post.url] = body
        return replace(post, body=body)


def _term_entries(page: PageView, config: Config) -> list[PageView]:
    return _dated_posts(page.pages, config.feed_settings.term_entries)


def _dated_posts(posts: Sequence[PageView], most: int) -> list[PageView]:
    return [post for post in posts if post.date][:most]


def _update_date(page: PageView) -> dt.datetime:
    changed = page.updated or page.date
    assert changed is not None, "feeds contain only dated posts"
    return changed


def _stamp(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def atom(
    name: str,
    url: str,
    posts: Sequence[PageView],
    config: Config,
    entry: Callable[[PageView], str] | None = None,
) -> bytes:
    """Return the Atom feed of `posts`. Its date is that of the newest change, so the output is reproducible.

    entry: returns the entry of a post, by default `atom_entry`. The content must be as `feed_html` returns
    it.
    """
    base = config.base_url.rstrip("/")
    feed = ElementTree.Element(f"{{{_ATOM}}}feed", {"xml:lang": config.lang})
    _text(feed, "title", name)
    if config.description:
        _text(feed, "subtitle", config.description)
    _text(feed, "id", base + url if base else _relative_id(url, config))
    newest = max((_update_date(post) for post in posts), default=dt.datetime(1970, 1, 1, tzinfo=dt.UTC))
    _text(feed, "updated", _stamp(newest))
    _link(feed, base + url, "alternate", "text/html")
    _link(feed, f"{base}{url}atom.xml", "self", ATOM_TYPE)
    _people(feed, (config.author or config.title,))
    head, _, end = _xml(feed).rpartition("\n")
    texts = [entry(post) if entry else atom_entry(post, config) for post in posts]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *texts, end, ""]).encode()


def _xml(feed: ElementTree.Element) -> str:
    """Return the XML of a feed that is not empty. The tags of `feed` are on separate lines."""
    ElementTree.register_namespace("", _ATOM)
    ElementTree.indent(feed)
    return ElementTree.tostring(feed, encoding="unicode")


def atom_entry(post: PageView, config: Config) -> str:
    """Return the lines of a post in an Atom feed."""
    assert post.date is not None
    # the root element declares the namespace, so entries must not repeat it
    feed = ElementTree.Element(f"{{{_ATOM}}}feed")
    entry = ElementTree.SubElement(feed, f"{{{_ATOM}}}entry")
    _text(entry, "title", spoken_text(post.title, post.title_html))
    _text(entry, "id", post.canonical_url or _relative_id(post.url, config))
    _link(entry, post.canonical_url or post.url, "alternate", "text/html")
    _text(entry, "published", _stamp(post.date))
    _text(entry, "updated", _stamp(_update_date(post)))
    _people(entry, post.authors, post.citation.authors if post.citation else ())
    for term in (*post.categories, *post.tags):
        ElementTree.SubElement(entry, f"{{{_ATOM}}}category", {"term": _clean(term.title)})
    if post.citation:
        _rights(entry, post.citation)
    if post.description:
        _text(entry, "summary", post.description)
    if post.body:
        ElementTree.SubElement(entry, f"{{{_ATOM}}}content", {"type": "html"})
    text = _xml(feed).partition("\n")[2].rpartition("\n")[0]
    if not post.body:
        return text
    # CDATA, because escaping each special character of HTML would take four or five characters. `]]>` is
    # split.
    content = post.content.replace("]]>", "]]]]><![CDATA[>")
    before, empty, after = text.partition('<content type="html" />')
    return f"{before}{empty[:-3]}><![CDATA[{content}]]></content>{after}"


def _relative_id(url: str, config: Config) -> str:
    """Return a UUID for a site path. A site without `base_url` needs it, because Atom does not allow relative
    ids."""
    return uuid5(NAMESPACE_URL, f"{config.title}\n{url}").urn


def _text(parent: ElementTree.Element, tag: str, text: str) -> None:
    ElementTree.SubElement(parent, f"{{{_ATOM}}}{tag}").text = _clean(text)


def _clean(text: str) -> str:
    return without_control_characters(text)


def _link(parent: ElementTree.Element, href: str, rel: str, kind: str) -> None:
    ElementTree.SubElement(parent, f"{{{_ATOM}}}link", {"rel": rel, "type": kind, "href": href})


def _people(parent: ElementTree.Element, names: Sequence[str], known: Sequence[PageAuthor] = ()) -> None:
    """Add author elements to `parent`. If an author's ORCID iD is known, add it too, because DOI registries
    read it."""
    orcids = {author.name: author.orcid for author in known}
    for name in names:
        author = ElementTree.SubElement(parent, f"{{{_ATOM}}}author")
        _text(author, "name", name)
        if orcids.get(name):
            _text(author, "uri", f"https://orcid.org/{orcids[name]}")


def _rights(entry: ElementTree.Element, citation: CitableView) -> None:
    """Add licence (RFC 4946) and DOI (RFC 8574) links. The id of a post stays its URL when it gets a DOI."""
    if citation.license:
        _text(entry, "rights", citation.license)
    for rel, href in (("license", citation.license_url), ("cite-as", _doi_url(citation))):
        if href:
            ElementTree.SubElement(entry, f"{{{_ATOM}}}link", {"rel": rel, "href": href})


def _doi_url(citation: CitableView) -> str:
    return f"https://doi.org/{citation.doi}" if citation.doi else ""


def json_feed(name: str, url: str, posts: Sequence[PageView], config: Config) -> bytes:
    """Return the posts as a JSON Feed 1.1."""
    base = config.base_url.rstrip("/")
    feed: dict[str, object] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": name,
        "home_page_url": base + url,
        "feed_url": f"{base}{url}feed.json",
        "description": config.description,
        "language": config.lang,
        "authors": [{"name": config.author or config.title}],
        "items": [_item(post, config) for post in posts],
    }
    return (json.dumps(_drop_empty(feed), ensure_ascii=False, indent=1) + "\n").encode()


def _item(post: PageView, config: Config) -> dict[str, object]:
    item: dict[str, object] = {
        "id": post.canonical_url,
        "url": post.canonical_url,
        "title": spoken_text(post.title, post.title_html),
        "content_html": post.content,
        "summary": post.description,
        "date_published": _stamp(post.date) if post.date else "",
        "date_modified": _stamp(_update_date(post)),
        "authors": _json_people(post),
        "tags": [term.title for term in (*post.categories, *post.tags)],
        "language": post.lang,
    }
    if post.citation:
        item["_citation"] = _drop_empty(
            {
                "doi": _doi_url(post.citation),
                "license": post.citation.license,
                "license_url": post.citation.license_url,
            }
        )
    return _drop_empty(item)


def _json_people(post: PageView) -> list[dict[str, str]]:
    if not post.citation:
        return [{"name": author} for author in post.authors]
    return [
        {"name": one.name, "url": f"https://orcid.org/{one.orcid}"} if one.orcid else {"name": one.name}
        for one in post.citation.authors
    ]


def _drop_empty(fields: dict[str, object]) -> dict[str, object]:
    """Return `fields` without empty values, but keep `items` even if it is empty."""
    return {key: value for key, value in fields.items() if value or key == "items"}


# The body of a page for feeds, where it is shown without the site's stylesheets and scripts.
#
# Readers see the same content as on the site: formulas once, as MathML; URLs absolute; folded parts open.
# Buttons and sliders, which do nothing there, are removed, and so are image variants for print, for dark
# pages and of other sizes.


_LEFT_OUT = lazy_pattern(
    r'<a class="(?:heading|eq)-anchor"[^>]*></a>|<button\b[^>]*>.*?</button>|<input\b[^>]*>'
    r'|<img class="for-paper"[^>]*>|<source (?=srcset=)[^>]*>',
    re.DOTALL,
)
# an anchor without text would be invisible: on the site, the stylesheet adds its number
_CODE_MARK = lazy_pattern(r'( data-mark="(\d{1,3})" aria-label="[^"]{0,200}">)</a>')
_SWEEP_CONTROLS = lazy_pattern(r'<div class="sweep-controls" hidden>[^\n]*?</div>\n')
_SWEEP_RUN = lazy_pattern(r'<details class="sweep-run"( open data-default)?>')
_DETAILS = lazy_pattern(r"</?details\b[^>]*>")
_RUNNABLE = lazy_pattern(r'<div class="(?:[^"]* )?runnable(?: [^"]*)?"[^>]*>')
_DATA = lazy_pattern(r' data-[\w-]+="[^"]*"')
# matches in any attribute position; only the part before the URL belongs to the match
_ADDRESS = lazy_pattern(r'="(?:(?<=\shref=")|(?<=\ssrc=")|(?<=\sposter="))(?=([/#][^"]*)")')
_SHELL = lazy_pattern(
    r' (?:(?:tabindex|loading|decoding|srcset|sizes|data-(?:line|cell|wide|fit|tex))="[^"]*"'
    r'|style="--ems:[^"]*")'
)
# Feed readers remove drawings, and a diagram without its arrows would be wrong.
_DIAGRAM = lazy_pattern(
    r'<math(?=[^>]* alttext="([^"]*)")(?:(?=[^>]* aria-label="([^"]*)"))?[^>]*>'
    r'(?:(?!</?math\b).)*?<mpadded class="math-diagram".*?</math>',
    re.DOTALL,
)
# Characters that XML does not allow. U+FFFD replaces them. (A negated class of the allowed characters takes
# 4 ms to compile.)
_NOT_XML = lazy_pattern("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def feed_html(page: PageView, config: Config) -> str:
    """Return the body of `page` as HTML for feed readers."""
    # Also removes the space before each removed element. In the pattern, it would be tried at every space.
    *before, last = _LEFT_OUT.split(page.content)
    html = "".join([*(text.rstrip() for text in before), last])
    html = _CODE_MARK.sub(r"\1 (\2)</a>", html)
    html = _default_runs(html)
    html = _RUNNABLE.sub(lambda found: _DATA.sub("", found[0]), html)
    if 'class="math-diagram"' in html:
        html = _DIAGRAM.sub(_diagram_source, html)
    html = re.sub(r"<details(?![^>]*\sopen)", "<details open", html)
    if page.direction == "rtl":
        # stylesheets of the site are not available there
        html = html.replace("<math", '<math dir="ltr"')
    html = _with_addresses(_SHELL.sub("", html), page.canonical_url or page.url, host_url(config))
    return without_control_characters(html)


def _diagram_source(found: re.Match[str]) -> str:
    """Return the TeX of a diagram, after its text alternative if it has one."""
    tex, text = found.groups()
    return f"{text} <code>{tex}</code>" if text else f"<code>{tex}</code>"


def _default_runs(html: str) -> str:
    """Return `html` with only the default run of each sweep, unfolded."""
    html = _SWEEP_CONTROLS.sub("", html)
    pieces, end = [], 0
    for found in _SWEEP_RUN.finditer(html):
        close = _end_of_details(html, found.end())
        inside = html[found.end() : close - len("</details>")]
        is_default = "data-default" in found[0]
        # a run that is not folded keeps its name, but as a plain paragraph
        inside = inside.replace("<summary>", "<p>", 1).replace("</summary>", "</p>", 1)
        pieces += [html[end : found.start()], f"<div>{inside}</div>" if is_default else ""]
        end = close
    return "".join([*pieces, html[end:]])


def _end_of_details(html: str, start: int) -> int:
    """Return the position after the end tag of the element whose content starts at `start`."""
    depth = 1
    for tag in _DETAILS.finditer(html, start):
        depth += -1 if tag[0].startswith("</") else 1
        if depth == 0:
            return tag.end()
    return len(html)


def _with_addresses(html: str, page: str, host: str) -> str:
    """Return `html` with the first URL of each tag made absolute if it is an anchor or a site path."""
    end = 0

    def absolute(found: re.Match[str]) -> str:
        nonlocal end
        # searching back from the URL to its tag is shorter than forward from each tag to a URL
        tag = html.rfind("<", end, found.start())
        if tag < 0 or html.find(">", tag, found.start()) >= 0:
            return found[0]
        end = found.end(1) + 1
        # protocol-relative URLs never reach a page, so a leading slash means a site path
        return found[0] + (page if found[1].startswith("#") else host)

    return _ADDRESS.sub(absolute, html)


def without_control_characters(text: str) -> str:
    """Return `text` with U+FFFD for each character that XML does not allow."""
    return _NOT_XML.sub("\ufffd", text)
