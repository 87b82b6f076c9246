"""The files of a Jekyll site: documents with front matter, and what is copied."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.units import name_set
from ..model import Notice
from ..protection import complete_front, excluded, part_protected, withheld
from ..source_files import read_text, walk_files
from ..text.loose_yaml import DataTextError, load_mapping, split_head
from .config import JekyllConfig
from .permalinks import expand, names_in

MARKDOWN = frozenset((".md", ".markdown", ".mkd", ".mkdown", ".mkdn"))
_HTML = frozenset((".html", ".htm"))
_INNER = frozenset(("_posts", "_drafts"))
_DATED = lazy_pattern(r"(\d{2,4})-(\d{1,2})-(\d{1,2})-(.+)")
_TOOLS = frozenset(("_layouts", "_includes", "_sass", "_plugins", "_data", "_scripts", "_bibliography"))
_OWN_FILES = name_set(
    "Gemfile Gemfile.lock Rakefile Makefile LICENSE LICENSE.md LICENSE.txt README.md Dockerfile package.json "
    "package-lock.json CONTRIBUTING.md CHANGELOG.md docker-compose.yml"
)


@dataclass(frozen=True, slots=True)
class JekyllDocument:
    """A file that Jekyll makes a page of."""

    path: PurePosixPath
    """Relative to the root of the source."""
    collection: str
    """`posts`, `drafts`, `pages`, or the name of a collection."""
    front: Mapping[str, Any]
    """Its own front matter, over what `defaults:` gives it."""
    body: str
    first_line: int
    name: str
    """The file's name without date and ending."""
    inner: str
    """Path in its collection without the ending."""
    date: dt.date | None
    address: str
    """Site path without the base path; empty: Jekyll makes no page of it."""
    notices: tuple[Notice, ...] = field(default=())

    @property
    def is_markdown(self) -> bool:
        """Whether its text is Markdown, not HTML."""
        return self.path.suffix.lower() in MARKDOWN


@dataclass(frozen=True, slots=True)
class JekyllFiles:
    """What there is in a Jekyll site."""

    documents: tuple[JekyllDocument, ...]
    copied: tuple[PurePosixPath, ...]
    """Files that are published as they are."""
    notices: tuple[Notice, ...] = ()
    """One for each page held back."""


def find_files(root: Path, config: JekyllConfig) -> JekyllFiles:
    """Every file of the site; `root` is that of the source."""
    documents, copied, notices = [], [], []
    for path in walk_files(root / config.folder):
        if _is_tool(path):
            continue
        place = config.folder / path
        found = _read_document(root, place, path, config)
        if why := _hidden_by(path, config):
            if found:
                notices.append(excluded(why, place))
        elif found:
            documents.append(found)
        elif not path.parts[0].startswith("_") and path.suffix.lower() not in (".scss", ".sass"):
            copied.append(place)
    kept, held = part_protected(documents, lambda each: each.path, lambda each: _encrypted(each, config))
    return JekyllFiles(tuple(kept), tuple(copied), (*notices, *held))


def _is_tool(path: PurePosixPath) -> bool:
    if path.parts[0] in _TOOLS or path.name.startswith(".") or path.name.startswith("_config"):
        return True
    return len(path.parts) == 1 and path.name in _OWN_FILES


def _hidden_by(path: PurePosixPath, config: JekyllConfig) -> str:
    """Return why Jekyll and Hexo leave a file out of the site; empty if they do not."""
    if config.excludes(path):
        return "the settings exclude it"
    # at the top they may be collections, which `_collection` knows
    hidden = [part for part in path.parts[1:] if part[0] in "_#~" and part not in _INNER | config.included]
    return f"the name {hidden[0]} hides it" if hidden else ""


def _encrypted(document: JekyllDocument, config: JekyllConfig) -> Notice | None:
    """Return a notice for a post that hexo-blog-encrypt encrypts by one of its tags."""
    front = document.front
    # an empty password says that the post is open
    tags = names_in(front.get("tags") or front.get("tag")) if "password" not in front else []
    tag = next((tag for tag in tags if tag.casefold() in config.encrypted_tags), "")
    return withheld(f'the settings encrypt posts with the tag "{tag}"', document.path) if tag else None


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
    """The collection a file belongs to, and its path in it; an empty name: none."""
    for number, part in enumerate(path.parts[:-1]):
        if part in ("_posts", "_drafts"):
            return part[1:], PurePosixPath(*path.parts[number + 1 :])
    first = path.parts[0]
    if not first.startswith("_"):
        return "pages", path
    name = first[1:]
    known = config.collections
    if name == "pages" and name not in known:
        # many themes list `_pages` under `include:`
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
    head, body, first_line = split_head(text)
    notices: tuple[Notice, ...] = ()
    try:
        own = complete_front(load_mapping(head), head)
    except DataTextError as error:
        message = f"the front matter is not YAML: {error}"
        notices, own = (Notice("mistake", message, place.as_posix(), error.line + 1),), _lines_of(head)
    front = config.defaults(path, collection) | own
    if (known := config.collections.get(collection)) and not known.is_output:
        # Jekyll makes no page of it
        front["draft"] = True
    dated = _DATED.fullmatch(path.stem) if collection in ("posts", "drafts") else None
    name = dated[4] if dated else path.stem
    date = _date(str(front.get("date") or ""), dated)
    return JekyllDocument(
        path=place,
        collection=collection,
        front=front,
        body=body,
        first_line=first_line,
        name=name,
        inner=inner.with_suffix("").as_posix(),
        date=date,
        address=_address(front, collection, name, inner, path, date, config),
        notices=notices,
    )


def _lines_of(head: str) -> dict[str, Any]:
    """Front matter that is no YAML, line by line: the keys with one plain value."""
    pairs = re.findall(r"^([\w-]+):[ \t]*(.+?)[ \t]*$", head, re.MULTILINE)
    return {key: value.strip("\"'") for key, value in pairs}


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
    categories = [*above, *names_in(front.get("categories") or front.get("category"))]
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
    """Posts by what `post_url` calls them: path in `_posts` without the ending."""
    for document in documents:
        if document.collection in ("posts", "drafts"):
            yield document.inner, document
