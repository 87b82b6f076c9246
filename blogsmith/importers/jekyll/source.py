"""Files of a Jekyll site: documents, templates, data and copied files. Also the context for translating a
page."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set
from ..model import ImportedPage, Notice, NoticeKind
from ..protection import excluded_notice, read_front_matter, split_protected
from ..source_files import read_text, walk_files
from ..text.containers import import_comment
from ..text.data import DataTextError, load_yaml, split_yaml_front_matter
from ..text.math import script_macros, tex_macros
from ..text.pieces import HiddenFragments
from ..text.segments import LineFinder
from .liquid_parser import LiquidOutput, LiquidTag, Nodes, parse_liquid
from .settings import JekyllConfig, expand, read_names

GENERATED_URLS = name_set("/ /404 /404.html /archive /archives /tags /categories /feed.xml") | {""}
"""URLs, without trailing slash, that blogsmith generates in every site."""
_TAG = lazy_pattern(r"<!--[\s\S]*?-->|<(script|style)\b[\s\S]*?</\1>|<[^>]*>|\{%[\s\S]*?%\}|\{\{[\s\S]*?\}\}")
_LIST_CODE = lazy_pattern(
    r"\{%-?\s*(?:for|assign)\b[^%]*\b(?:site\.(?!data\b|pages\b|static_files\b)[a-z_]+|paginator\.posts)\b"
)
_MAX_WORDS = 12
"""Maximum number of words on a page that is only a list, in addition to the list: a heading, and a text for
an empty list."""


def list_layouts(layouts: Mapping[str, str]) -> frozenset[str]:
    """Return the names of layouts that list posts, tags or categories. layouts: name → template."""
    return frozenset(name for name, text in layouts.items() if _LIST_CODE.search(text))


def is_generated_page(page: ImportedPage, *, has_list_layout: bool = False) -> bool:
    """Return whether a page shows a list that blogsmith generates, and almost no other text. has_list_layout:
    whether the page's layout contains the list."""
    address = page.address.rstrip("/") or page.address
    if address.removesuffix(".html") in ("/404", "/archive", "/archives", "/tags", "/categories"):
        return True
    has_list = any(notice.is_list for notice in page.notices)
    is_empty = not _count_words(page.text)
    return (has_list and _count_words(page.text) <= _MAX_WORDS) or (
        is_empty and (has_list_layout or address in GENERATED_URLS)
    )


def generated_page_notice(page: ImportedPage) -> Notice:
    """Return the notice about a page that is not imported, because blogsmith generates it."""
    name = f'list page "{page.address}"' if page.address else "list page"
    message = f"{name} is omitted because blogsmith generates the list"
    return Notice("dropped", message, page.source, made_here=page.address)


def list_notice(page: ImportedPage) -> Notice:
    """Return the notice about a page that keeps only its title, because blogsmith generates its list."""
    message = f'list on page "{page.address}" has no effect because blogsmith generates it'
    return Notice("dropped", message, page.source, removed=page.original, is_list=True)


def _count_words(text: str) -> int:
    return len(re.findall(r"\w+", _TAG.sub(" ", text)))


MARKDOWN = frozenset((".md", ".markdown", ".mkd", ".mkdown", ".mkdn"))
_HTML = frozenset((".html", ".htm"))
_POST_FOLDERS = frozenset(("_posts", "_drafts"))
_DATED_NAME = lazy_pattern(r"(\d{2,4})-(\d{1,2})-(\d{1,2})-(.+)")
_TOOLS = frozenset(("_layouts", "_includes", "_sass", "_plugins", "_data", "_scripts", "_bibliography"))
_OWN_FILES = name_set(
    "Gemfile Gemfile.lock Rakefile Makefile LICENSE LICENSE.md LICENSE.txt README.md Dockerfile package.json "
    "package-lock.json CONTRIBUTING.md CHANGELOG.md docker-compose.yml"
)


@dataclass(frozen=True, slots=True)
class JekyllDocument:
    """A file of the source that Jekyll renders to a page."""

    path: PurePosixPath
    """Path relative to the root of the source."""
    collection: str
    """`posts`, `drafts`, `pages`, or the name of a collection."""
    front: Mapping[str, Any]
    """Front matter of the file, completed with the values from the setting `defaults`."""
    body: str
    first_line: int
    name: str
    """File name without date and suffix."""
    collection_path: str
    """Path of the file in its collection, without extension."""
    date: dt.date | None
    address: str
    """Old URL path without the base path; empty if Jekyll does not publish the document."""
    notices: tuple[Notice, ...] = field(default=())

    @property
    def is_markdown(self) -> bool:
        """Return whether the document's text is Markdown; otherwise it is HTML."""
        return self.path.suffix.lower() in MARKDOWN


def is_blog(document: JekyllDocument) -> bool:
    """Return whether a page shows the paginated list of all posts."""
    paging = document.front.get("pagination")
    paging = paging if isinstance(paging, Mapping) else {}
    is_paged = paging.get("enabled") is True and paging.get("collection", "posts") == "posts"
    return document.collection == "pages" and (is_paged or "paginator.posts" in document.body)


@dataclass(frozen=True, slots=True)
class JekyllFiles:
    """Documents and files of a Jekyll site."""

    documents: tuple[JekyllDocument, ...]
    copied: tuple[PurePosixPath, ...]
    """Files that Jekyll publishes unchanged."""
    notices: tuple[Notice, ...] = ()
    """One notice for each withheld page."""


def find_files(root: Path, config: JekyllConfig) -> JekyllFiles:
    """Return all documents and files of the site. root: folder of the source."""
    documents, copied, notices = [], [], []
    for path in walk_files(root / config.folder):
        if _is_tool(path):
            continue
        place = config.folder / path
        found = _read_document(root, place, path, config)
        if why := _exclusion_reason(path, config):
            if found:
                notices.append(excluded_notice(why, place))
        elif found:
            documents.append(found)
        elif not path.parts[0].startswith("_") and path.suffix.lower() not in (".scss", ".sass"):
            copied.append(place)
    kept, held = split_protected(documents, lambda each: each.path)
    return JekyllFiles(tuple(kept), tuple(copied), (*notices, *held))


def _is_tool(path: PurePosixPath) -> bool:
    if path.parts[0] in _TOOLS or path.name.startswith(".") or path.name.startswith("_config"):
        return True
    return len(path.parts) == 1 and path.name in _OWN_FILES


def _exclusion_reason(path: PurePosixPath, config: JekyllConfig) -> str:
    """Return the reason why Jekyll excludes a file from the site; empty if Jekyll includes the file."""
    if config.excludes(path):
        return "excluded by the settings"
    # a hidden name at the top may be a collection, which `_collection` handles
    hidden = [
        part for part in path.parts[1:] if part[0] in "_#~" and part not in _POST_FOLDERS | config.included
    ]
    return f'hidden by the name "{hidden[0]}"' if hidden else ""


def _read_document(
    root: Path, place: PurePosixPath, path: PurePosixPath, config: JekyllConfig
) -> JekyllDocument | None:
    suffix = path.suffix.lower()
    if suffix not in MARKDOWN | _HTML:
        return None
    collection, inner = _collection(path, config)
    if not collection:
        return None
    text = read_text(root / place)
    if text is None or (not text.startswith("---") and not (suffix in MARKDOWN and collection != "pages")):
        return None
    return _document(text, place, path, collection, inner, config)


def _collection(path: PurePosixPath, config: JekyllConfig) -> tuple[str, PurePosixPath]:
    """Return the name of a file's collection, and the file's path in this collection. The name is empty if
    the file belongs to no collection."""
    for number, part in enumerate(path.parts[:-1]):
        if part in ("_posts", "_drafts"):
            return part[1:], PurePosixPath(*path.parts[number + 1 :])
    first = path.parts[0]
    if not first.startswith("_"):
        return "pages", path
    name = first[1:]
    known = config.collections
    if name == "pages" and name not in known:
        # many themes list `_pages` in `include:`
        return "pages", PurePosixPath(*path.parts[1:])
    return (name, PurePosixPath(*path.parts[1:])) if name in known else ("", path)


def _document(
    text: str,
    place: PurePosixPath,
    path: PurePosixPath,
    collection: str,
    inner: PurePosixPath,
    config: JekyllConfig,
) -> JekyllDocument:
    head, body, first_line = split_yaml_front_matter(text)
    own, notices = read_front_matter(head, place.as_posix(), by_line=True)
    front = config.defaults(path, collection) | own
    if (known := config.collections.get(collection)) and not known.is_output:
        # Jekyll does not publish this collection
        front["draft"] = True
    dated = _DATED_NAME.fullmatch(path.stem) if collection in ("posts", "drafts") else None
    name = dated[4] if dated else path.stem
    date = _date(str(front.get("date") or ""), dated)
    return JekyllDocument(
        path=place,
        collection=collection,
        front=front,
        body=body,
        first_line=first_line,
        name=name,
        collection_path=inner.with_suffix("").as_posix(),
        date=date,
        address=_address(front, collection, name, inner, path, date, config),
        notices=notices,
    )


def _date(written: str, dated: re.Match[str] | None) -> dt.date | None:
    parts = re.match(r"(\d{4})-(\d{1,2})-(\d{1,2})", written)
    groups = parts.groups() if parts else dated.groups()[:3] if dated else None
    try:
        return dt.date(*map(int, groups)) if groups else None
    except ValueError:
        return None


def _address(
    front: Mapping[str, Any],
    collection: str,
    name: str,
    inner: PurePosixPath,
    path: PurePosixPath,
    date: dt.date | None,
    config: JekyllConfig,
) -> str:
    known = config.collections
    if collection == "drafts" or (collection in known and not known[collection].is_output):
        return ""
    pattern = str(front.get("permalink") or "")
    if collection == "pages":
        return _page_address(pattern, inner, config)
    pattern = pattern or known[collection].permalink or "/:collection/:path:output_ext"
    above = [part for part in path.parts[:-1] if not part.startswith("_")] if collection == "posts" else []
    categories = [*above, *read_names(front.get("categories") or front.get("category"))]
    slug = str(front.get("slug") or name)
    path_text = inner.with_suffix("").as_posix()
    return expand(
        pattern, title=slug, date=date, categories=categories, collection=collection, path=path_text
    )


def _page_address(permalink: str, path: PurePosixPath, config: JekyllConfig) -> str:
    if permalink:
        return "/" + permalink.lstrip("/")
    folder = "" if path.parent == PurePosixPath() else f"{path.parent.as_posix()}/"
    if path.stem == "index":
        return f"/{folder}"
    is_pretty = config.permalink.endswith("/")
    return f"/{folder}{path.stem}/" if is_pretty else f"/{folder}{path.stem}.html"


def documents_by_name(documents: tuple[JekyllDocument, ...]) -> Iterator[tuple[str, JekyllDocument]]:
    """Yield (name, post) for each post. The name is that of the tag `post_url`, the post's path in `_posts`
    without extension."""
    for document in documents:
        if document.collection in ("posts", "drafts"):
            yield document.collection_path, document


_SCRIPTS = frozenset((".html", ".js", ".md", ".liquid"))


@dataclass(frozen=True, slots=True)
class JekyllSite:
    """Data of a site that is needed to translate its pages."""

    root: Path
    config: JekyllConfig
    files: JekyllFiles
    posts: Mapping[str, JekyllDocument]
    """Name in the tag `post_url` → post."""
    paths: Mapping[str, JekyllDocument]
    """Path of the source file → document. Used for the tag `link`."""
    addresses: Mapping[str, JekyllDocument]
    """Result of `address_key` for the old URL → document."""
    copied: frozenset[str]
    """Old URL paths of copied files."""
    includes: Mapping[str, Nodes]
    """Name of a file in `_includes/` → parsed template."""
    data: Mapping[str, Any]
    """Content of the Liquid variable `site.data`."""
    macros: Mapping[str, str]
    """Name of a TeX macro with backslash → TeX, for the macros of the whole site."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Name of a file in `_includes/` → source of the template."""
    list_layouts: frozenset[str] = frozenset()
    """Names of layouts that show a list of posts."""


def read_site(root: Path, config: JekyllConfig, files: JekyllFiles) -> JekyllSite:
    """Read everything that pages refer to: layouts, includes, data, macros and other pages."""
    folder = root / config.folder
    posts: dict[str, JekyllDocument] = {}
    for name, document in documents_by_name(files.documents):
        posts.setdefault(name, document)
        posts.setdefault(name.rpartition("/")[2], document)
    texts = _texts(folder / "_includes")
    return JekyllSite(
        root=root,
        config=config,
        files=files,
        posts=posts,
        paths={_inside(each.path, config): each for each in files.documents},
        addresses={address_key(each.address): each for each in files.documents if each.address},
        copied=frozenset(f"/{_inside(path, config)}" for path in files.copied),
        includes={name: parse_liquid(text) for name, text in texts.items()},
        data=_data(folder / "_data"),
        macros=_macros(folder, texts),
        texts=texts,
        list_layouts=list_layouts(
            {name.rpartition(".")[0]: text for name, text in _texts(folder / "_layouts").items()}
        ),
    )


def address_key(address: str) -> str:
    """Return a key that is the same for all URLs of a page. It has no query, fragment, `index.html`, `.html`
    and outer slashes."""
    path = address.partition("#")[0].partition("?")[0]
    return path.removesuffix("index.html").removesuffix(".html").strip("/")


def _inside(path: PurePosixPath, config: JekyllConfig) -> str:
    return path.relative_to(config.folder).as_posix()


def _texts(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    read = ((path.as_posix(), read_text(folder / path)) for path in walk_files(folder))
    return {name: text for name, text in read if text is not None}


def _data(folder: Path) -> dict[str, Any]:
    """Return name without extension → content, for YAML and JSON files in `_data/`. A folder is a nested
    mapping."""
    found: dict[str, Any] = {}
    for path in walk_files(folder) if folder.is_dir() else ():
        text = read_text(folder / path) if path.suffix in (".yml", ".yaml", ".json") else None
        if text is None:
            continue
        try:
            value = json.loads(text) if path.suffix == ".json" else load_yaml(text)
        except (DataTextError, ValueError, RecursionError):
            continue
        place = found
        for part in path.parts[:-1]:
            place = place.setdefault(part, {})
        place[path.stem] = value
    return found


def _macros(folder: Path, includes: Mapping[str, str]) -> dict[str, str]:
    """Return macros in MathJax and KaTeX settings and in `.tex` files of layouts, includes and scripts."""
    found: dict[str, str] = {}
    texts = list(includes.values())
    for name in ("_layouts", "assets/js", "js", "assets/scripts", "public/js", "_scripts"):
        texts += _texts(folder / name).values() if (folder / name).is_dir() else ()
    for text in texts:
        if "acros" in text:
            found = script_macros(text) | found
        if "\\newcommand" in text and len(text) < 100_000:
            found = tex_macros(text) | found
    return found


@dataclass(frozen=True, slots=True)
class WorkList:
    """A list of publications that a page shows."""

    file: str
    """Name of the `.bib` file; empty for the file in the settings."""
    is_selected: bool = False
    """Whether the list contains only entries with `selected = {true}`."""


@dataclass(slots=True)
class PageContext:
    """Input for the translation of one page, and results that are collected during it."""

    site: JekyllSite
    document: JekyllDocument
    lines: LineFinder
    finished: HiddenFragments = field(default_factory=HiddenFragments)
    notices: list[Notice] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    """Bibliography keys that the page cites."""
    lists: list[WorkList] = field(default_factory=list)
    """Lists of publications that the page shows."""
    start: int = 0
    """Offset in the page of the include tag that is being rendered; 0 outside of includes."""
    depth: int = 0
    """Number of nested includes being rendered."""

    def notice(
        self,
        kind: NoticeKind,
        message: str,
        *,
        line: int = 0,
        hint: str = "",
        removed: str = "",
        is_list: bool = False,
    ) -> None:
        """Add a notice about this page."""
        source = self.document.path.as_posix()
        self.notices.append(Notice(kind, message, source, line, hint, removed, is_list))

    def find_line(self, node: LiquidOutput | LiquidTag) -> int:
        """Return the line of a Liquid node in the file of the page. For a node inside an include, return the
        line of the include tag."""
        return self.lines.line_of_offset(self.start if self.depth else node.start)

    def leave_untranslated(self, node: LiquidOutput | LiquidTag, why: str) -> str:
        """Return a Liquid node as raw text, followed by a comment with the reason why it was not translated.
        Add a notice."""
        self.notice("left", why, line=self.find_line(node), hint="rewrite it in Markdown")
        return self.keep_raw(node.source, import_comment(why))

    def keep_raw(self, source: str, comment: str = "") -> str:
        """Return Markdown that shows Liquid source as written, followed by a comment."""
        return self.finished.mask(f"{{% raw %}}{source.strip()}{{% endraw %}}{comment}")
