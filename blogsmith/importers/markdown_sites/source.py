"""Files of a site, which are documents with front matter and URL, and copied files. Also notices about other
files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set, parse_date, plural, slugify
from ..hugo.source import HugoDocument, HugoFiles, parse_day, urlize
from ..mkdocs.source import split_meta
from ..model import ImportedFile, Notice
from ..protection import (
    add_restrictions,
    excluded_notice,
    read_front_matter,
    split_protected,
    withheld_notice,
)
from ..source_files import matches_gitignore, read_text, walk_files
from ..text.data import DataTextError, as_list, iso_date, load_data, one_line, read_names, split_front_matter
from ..text.pieces import heading_text
from .rows import REPOSITORY, Section
from .settings import MarkdownSite

_MARKDOWN = frozenset((".md", ".mdx", ".markdown", ".mdoc"))
_UNSUPPORTED = frozenset((".rst", ".org", ".adoc", ".asciidoc", ".ipynb", ".rmd", ".qmd", ".tex"))
_CODE = name_set(
    ".js .jsx .ts .tsx .mjs .cjs .mts .astro .vue .svelte .njk .liquid .css .scss .less .py .jl .yml .yaml "
    ".toml .html .hbs .lock"
)
_TOOLS = (*REPOSITORY, "scaffolds", "themes", "theme", "archetypes", "node_modules", "__tests__", "plugins")
"""Patterns of Markdown files that are not pages of the site."""
_INDEXES = frozenset(("index", "_index"))
_DATED = lazy_pattern(r"(?P<folder>(?:.*/)?)(?P<day>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-_/](?P<name>.+)")
_NUMBER = lazy_pattern(r"\d+\s*[-_.]+\s*(?=[^\d\s])")
_TOKEN = lazy_pattern(r":([a-z_]+)")
_NIKOLA = lazy_pattern(r"\s*<!--[ \t]*\n((?:[ \t]*\.\.[^\n]*\n)+)[ \t]*-->[ \t]*\n?")
_FRANKLIN = lazy_pattern(r"(?m)^@def[ \t]+(\w+)[ \t]*=[ \t]*(.*)\n?")
_FIRST_HEADING = lazy_pattern(r"\A(?:(?!```|~~~|#)[^\n]*\n)*?#[ \t]+([^\n]+)")
_EXPORTED = lazy_pattern(
    r"(?m)^export const (?:metadata|meta|frontmatter)\b[^\n]*\{[^{}]*?\btitle:[ \t]*[\"']([^\"'\n]+)"
)
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "date": ("pubdate", "publishdate", "publishedat", "published_at", "created", "createdat", "pubdatetime"),
    "lastmod": (
        "updateddate",
        "updated",
        "modified",
        "lastupdated",
        "updatedat",
        "moddatetime",
        "last_update",
    ),
    "description": ("summary", "excerpt", "abstract", "rss_description", "rss"),
    "image": ("heroimage", "cover", "coverimage", "ogimage", "thumbnail", "banner", "featuredimage"),
    "aliases": ("redirect_from", "alias"),
    "authors": ("author",),
}
"""Key that the importer for Hugo reads → names of the key in other systems, in lower case."""


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Files of a site, and the unconverted front matter of its documents."""

    files: HugoFiles
    fronts: Mapping[PurePosixPath, Mapping[str, Any]]
    """Path of a document → its front matter, with keys in lower case."""
    places: Mapping[str, PurePosixPath]
    """Path of a document or copied file in the source → its path in the new site."""


def find_files(site: MarkdownSite) -> SourceFiles:
    """Return the pages and other files of the site."""
    found = _Finder(site)
    for path in walk_files(site.root):
        found.add(path)
    return found.finish()


class _Finder:
    def __init__(self, site: MarkdownSite) -> None:
        self._site = site
        self._sections = sorted(site.sections, key=lambda each: -len(PurePosixPath(each.folder).parts))
        folder = site.folder.as_posix().strip(".")
        self._statics = {f"{folder}/{name}".strip("/"): to for name, to in site.row.statics.items()}
        self._documents: list[tuple[HugoDocument, Section, PurePosixPath]] = []
        self._fronts: dict[PurePosixPath, Mapping[str, Any]] = {}
        self._copied: dict[PurePosixPath, ImportedFile] = {}
        self._places: dict[str, PurePosixPath] = {}
        self._notices: list[Notice] = []
        self._outside: Counter[str] = Counter()

    def add(self, path: PurePosixPath) -> None:
        """Add a file of the source to the documents, the copied files or the notices."""
        for folder, target in self._statics.items():
            if path.is_relative_to(folder):
                self._copy(path, PurePosixPath("static", target) / path.relative_to(folder))
                return
        suffix = path.suffix.lower()
        section = next((each for each in self._sections if path.is_relative_to(each.folder)), None)
        if section is None:
            if suffix in _MARKDOWN and path.parent.parts and not matches_gitignore(str(path), _TOOLS):
                self._outside[path.parts[0]] += 1
            return
        inner = path.relative_to(section.folder)
        if self._is_excluded(path, inner):
            if suffix in _MARKDOWN:
                notice = excluded_notice("excluded by its name or by the settings", path)
                self._notices.append(notice)
        elif suffix in _MARKDOWN:
            self._read(path, inner, section)
        elif suffix in _UNSUPPORTED:
            hint = "convert it to Markdown, for example with `pandoc --to=gfm`, and import again"
            self._notices.append(Notice("unread", f'unsupported file type "{suffix}"', str(path), hint=hint))
        elif section.is_static:
            self._copy(path, PurePosixPath("static") / self._below_static(path))
        elif suffix not in _CODE and path.name[0] != ".":
            self._copy(path, PurePosixPath("content", section.target) / inner)

    def _is_excluded(self, path: PurePosixPath, inner: PurePosixPath) -> bool:
        """Return whether the system excludes a file from the site. inner: path relative to its section.

        Patterns in the settings are relative to the section in some systems, and to the site in others; both
        are tried.
        """
        names = [inner.as_posix()]
        if path.is_relative_to(self._site.folder):
            names.append(path.relative_to(self._site.folder).as_posix())
        is_out = matches_gitignore(inner.as_posix(), self._site.row.excluded)
        return is_out or any(matches_gitignore(name, self._site.excluded or ()) for name in names)

    def _below_static(self, path: PurePosixPath) -> PurePosixPath:
        shortest = min((each for each in self._sections if each.is_static), key=lambda each: len(each.folder))
        return path.relative_to(shortest.folder) if path.is_relative_to(shortest.folder) else path

    def _copy(self, path: PurePosixPath, place: PurePosixPath) -> None:
        self._copied.setdefault(place, ImportedFile(place, self._site.root / path))
        self._places[path.as_posix()] = place

    def _read(self, path: PurePosixPath, inner: PurePosixPath, section: Section) -> None:
        text = read_text(self._site.root / path)
        if text is None:
            self._notices.append(Notice("mistake", "file cannot be read as text", path.as_posix()))
            return
        written, body, first_line, notices = _split(text, path.as_posix())
        self._fronts[path] = written
        front = _convert_front(written, self._site)
        if section.is_draft or self._site.excluded is None:
            front["draft"] = True
        if inner.parts[0] != inner.name and (
            lang := self._site.value(f"locales.{inner.parts[0].casefold()}.lang")
        ):
            front.setdefault("lang", one_line(lang))
        dated = _DATED.fullmatch(inner.with_suffix("").as_posix())
        if dated and not front.get("date"):
            front["date"] = iso_date(dated["day"].replace("/", "-"))
        if not front.get("title"):
            front["title"] = _title(body) or (dated["name"] if dated else _name(inner))
        document = HugoDocument(path, PurePosixPath(), front, body, first_line, "", notices=notices)
        self._documents.append((document, section, inner))

    def finish(self) -> SourceFiles:
        """Return all files, with new paths and the old URLs of documents."""
        taken: set[str] = set()
        documents = []
        pages = [(section.target, inner) for _, section, inner in self._documents]
        folders = {(target, folder) for target, inner in pages for folder in inner.parents}
        for document, section, inner in self._documents:
            place = _content_path(section, inner, folders, self._has_files(document.path))
            while place.as_posix().casefold() in taken:
                place = place.with_name(f"{place.stem}-2.md")
            taken.add(place.as_posix().casefold())
            self._places[document.path.as_posix()] = PurePosixPath("content") / place
            address = _address(self._site, section, inner, document.front)
            documents.append(replace(document, content_path=place, address=address))
        kept, held = split_protected(documents, lambda each: each.path, self._encryption_notice)
        notices = (*self._notices, *held, *self._site_notices())
        files = HugoFiles(tuple(kept), tuple(self._copied.values()), notices)
        return SourceFiles(files, self._fronts, self._places)

    def _has_files(self, path: PurePosixPath) -> bool:
        """Return whether the folder with the name of a document contains documents or copied files."""
        start = f"{path.with_suffix('').as_posix()}/"
        return any(each.startswith(start) for each in self._places)

    def _encryption_notice(self, document: HugoDocument) -> Notice | None:
        encrypted = self._site.encrypted_tags
        # an empty password means that the post is public
        tags = read_names(document.front.get("tags")) if "password" not in document.front else []
        tag = next((tag for tag in tags if tag.casefold() in encrypted), "")
        why = f'encrypted by the settings because of tag "{tag}"'
        return withheld_notice(why, document.path) if tag else None

    def _site_notices(self) -> Iterator[Notice]:
        if self._outside:
            names = ", ".join(f'"{name}/"' for name in sorted(self._outside))
            count = plural(self._outside.total(), "Markdown file")
            message = f"missing pages: {count} in other folders: {names}"
            yield Notice("dropped", message, hint="copy these files to `content/` if they are pages")
        if self._site.excluded is None:
            message = "invalid setting for excluded files, so all pages become drafts"
            hint = "remove `draft: true` from pages that readers may see"
            yield Notice("changed", message, self._site.file, hint=hint)
        if self._site.row.guesses_addresses:
            message = f'unknown URLs: pages get the usual URLs of "{self._site.row.title}"'
            yield Notice("changed", message, hint="compare them with your site, or import with `--against`")


def _split(text: str, source: str) -> tuple[dict[str, Any], str, int, tuple[Notice, ...]]:
    """Return the parts of a page: front matter with keys in lower case, body, line number of the body's first
    line, and notices."""
    if found := _NIKOLA.match(text):
        pairs = re.findall(r"(?m)^[ \t]*\.\.[ \t]+([\w-]+):[ \t]*(.*?)[ \t]*$", found[1])
        front = {key.casefold(): value for key, value in pairs if value}
        return front, text[found.end() :], text.count("\n", 0, found.end()) + 1, ()
    if _FRANKLIN.match(text):
        front = {key.casefold(): _julia(value) for key, value in _FRANKLIN.findall(text)}
        return front, _FRANKLIN.sub("", text), 1, ()
    written = split_front_matter(text)
    notices: tuple[Notice, ...] = ()
    if not written.front_matter:
        front, body, first_line = split_meta(text)
        return front, body, first_line, ()
    try:
        front = load_data(written.front_matter, written.form)
    except DataTextError as error:
        if written.form == "yaml":
            front, notices = read_front_matter(written.front_matter, source, by_line=True)
        else:
            pairs = re.findall(r"(?m)^(\w+)[ \t]*=[ \t]*(.+)$", written.front_matter)
            front = {key: _julia(value) for key, value in pairs}
            if source.endswith(".mdx") or not front:
                notices = (Notice("mistake", f"invalid front matter: {error}", source, error.line),)
    front = add_restrictions(
        {str(key).casefold(): value for key, value in front.items()}, written.front_matter
    )
    return front, written.body, written.first_line, notices


def _julia(value: str) -> Any:
    """Parse a value in Franklin's front matter. It is a list of strings, a date, a boolean, or a string."""
    value = value.strip()
    if value.startswith("["):
        return re.findall(r"\"([^\"]*)\"", value)
    words: dict[str, Any] = {"true": True, "false": False}
    date = re.fullmatch(r"Date\((\d+),[ ]*(\d+),[ ]*(\d+)\)", value)
    return (
        "-".join(part.zfill(2) for part in date.groups()) if date else words.get(value, value.strip("\"';"))
    )


def _convert_front(written: Mapping[str, Any], site: MarkdownSite) -> dict[str, Any]:
    """Return front matter with the keys that the importer for Hugo reads. written: front matter with keys in
    lower case."""
    front = dict(written)
    for container in ("taxonomies", "extra"):
        inner = front.pop(container, None)
        if isinstance(inner, Mapping):
            front = {**{str(key).casefold(): value for key, value in inner.items()}, **front}
    for key, names in _SYNONYMS.items():
        found = next((front[name] for name in names if front.get(name)), None)
        if not front.get(key) and found:
            front[key] = found.get("date") if isinstance(found, Mapping) and "date" in found else found
    for key in ("tags", "categories", "category", "authors"):
        if isinstance(front.get(key), str):
            front[key] = read_names(front[key])
    if isinstance(front.get("categories"), list):
        front["categories"] = [name for each in front["categories"] for name in read_names(each)]
    for key in ("date", "lastmod"):
        if value := one_line(front.get(key)):
            value = re.sub(r"[ ]?UTC(?=[+-]\d)", "", value)
            front[key] = value if _is_date(value) else iso_date(value)
    aliases = [one_line(each) for each in as_list(front.get("aliases") or [])]
    front["aliases"] = [f"/{alias.lstrip('/')}" for alias in aliases if alias]
    is_unpublished = str(front.get("published")).casefold() in ("false", "no")
    if is_unpublished or str(front.get("status")).casefold() in ("draft", "skip"):
        front["draft"] = True
    if site.row.name == "nikola":
        tags = read_names(front.get("tags"))
        front["draft"] = front.get("draft") or "draft" in tags
        front["build"] = {"list": "never"} if "private" in tags else None
        front["tags"] = [tag for tag in tags if tag not in ("draft", "private", "mathjax")]
    return {key: value for key, value in front.items() if value not in ("", [], None) or key == "password"}


def _title(body: str) -> str:
    """Return the title that an MDX page exports, otherwise its first heading. Return an empty string if there
    is none, or if that heading is not of level 1."""
    exported = _EXPORTED.search(body)
    found = _FIRST_HEADING.search(body)
    return exported[1] if exported else heading_text(found[1]) if found else ""


def _name(inner: PurePosixPath) -> str:
    is_index = inner.stem.casefold() in (*_INDEXES, "readme", "page")
    return inner.parent.name if is_index and inner.parent.name else inner.stem


def _is_date(text: str) -> bool:
    try:
        return parse_date(text) is not None
    except ValueError:
        return False


def _content_path(
    section: Section, inner: PurePosixPath, folders: Iterable[tuple[str, PurePosixPath]], has_files: bool
) -> PurePosixPath:
    """Return the path of a document relative to `content/`. If a folder of pages next to it has the same
    name, the document becomes the index page of that folder. inner: path relative to the section. folders:
    section and path of each folder. has_files: whether the document gets its own folder."""
    top = PurePosixPath(section.target)
    if inner.stem.casefold() in (*_INDEXES, "readme") or (inner.stem == "page" and inner.suffix == ".mdx"):
        is_list = inner.stem == "_index" or not inner.parent.parts or _has_more(section, inner, folders)
        return top / inner.parent / ("_index.md" if is_list else "index.md")
    beside = inner.with_suffix("")
    if (section.target, beside) in folders:
        return top / beside / "_index.md"
    return top / beside / "index.md" if has_files else top / inner.with_suffix(".md")


def _has_more(section: Section, inner: PurePosixPath, folders: Iterable[tuple[str, PurePosixPath]]) -> bool:
    """Return whether the folder of an index page contains subfolders with pages."""
    return any(
        target == section.target and folder.parent == inner.parent != folder for target, folder in folders
    )


def _address(site: MarkdownSite, section: Section, inner: PurePosixPath, front: Mapping[str, Any]) -> str:
    """Return the old URL of a document, without the site's base path; empty if it is unknown."""
    written = (one_line(front.get(key)) for key in ("path", "permalink", "url", "rpath", "save_as"))
    if own := next(filter(None, written), ""):
        return _complete(own.removesuffix("index.html"))
    parts = inner.with_suffix("").as_posix()
    dated = _DATED.fullmatch(parts) if site.row.dates_in_names else None
    if site.row.name == "hexo" and ":year" not in str(site.value("new_post_name") or ""):
        dated = None
    parts = f"{dated['folder']}{dated['name']}" if dated else parts
    steps = [
        _NUMBER.sub("", step, count=1) if site.row.name == "docusaurus" else step for step in parts.split("/")
    ]
    is_index = steps[-1].casefold() in (*_INDEXES, "readme") or (
        inner.suffix == ".mdx" and steps[-1] == "page"
    )
    is_index = is_index or (site.row.name == "docusaurus" and steps[-2:-1] == steps[-1:])
    slug = one_line(front.get("slug") or (front.get("id") if site.row.name == "docusaurus" else ""))
    pattern = section.dated if dated and section.dated and not slug else section.address
    if not pattern:
        return ""
    if "/" in slug:
        route = pattern.partition(":")[0]
        return _complete(route + slug.strip("/") if slug.startswith("/") else slug)
    if is_index and not slug and "." in pattern.rpartition("/")[2]:
        pattern = "/:folders/"
    elif is_index and not slug and len(steps) > 1:
        steps = steps[:-1]
    elif is_index and not slug:
        return _complete(pattern.partition(":")[0])
    return _fill(site, pattern, [_segment(site, step) for step in steps], slug, front)


def _fill(site: MarkdownSite, pattern: str, steps: list[str], slug: str, front: Mapping[str, Any]) -> str:
    if site.row.name == "pelican":
        slug = slug or slugify(str(front.get("title") or steps[-1]))
    date = parse_day(front.get("date"))
    category = next(iter(as_list(front.get("categories") or front.get("category") or [])), "")
    values = {
        "folders": "/".join(steps[:-1]),
        "name": steps[-1],
        "slug": slug or steps[-1],
        "category": slugify(str(category)),
    }
    if date:
        values |= {"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"}
    names = set(_TOKEN.findall(pattern))
    if site.row.name == "hexo" and ":folders" not in pattern:
        values["name"] = "/".join(steps)
    if not names <= values.keys() or re.search(r"[{}]", pattern):
        return ""
    return _complete(_TOKEN.sub(lambda found: values[found[1]], pattern))


def _segment(site: MarkdownSite, name: str) -> str:
    if site.row.keeps_case:
        return re.sub(r"\s", "-", name) if site.row.name == "hexo" else name
    return slugify(name) if site.row.name in ("zola", "nikola") else urlize(name)


def _complete(url: str) -> str:
    """Return a URL with a slash at the start, and also at the end unless it ends in `.html`."""
    url = re.sub("/{2,}", "/", f"/{url}")
    return url if url.endswith(("/", ".html")) else f"{url}/"
