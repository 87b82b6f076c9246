"""Files of a Hugo site. Documents have front matter and a URL; Hugo publishes all other files unchanged."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from string import hexdigits
from typing import Any
from unicodedata import category

from ...api.importing import lazy_pattern
from ..model import ImportedFile, Notice
from ..protection import add_restrictions, split_protected, withheld_notice
from ..source_files import read_text
from ..text.data import DataTextError, SplitText, as_list, load_data, split_front_matter
from .config import HugoConfig, MountedFile, find_mounts, is_ignored, missing_mounts, mounted_files

_TOKEN = lazy_pattern(r":(?:(sections)\[(\d*):?(\d*|last)\]|([a-z]+))")
_ALLOWED_CHARACTERS = frozenset("./\\_#+~-@")
_SLUG_NAMES = frozenset(("slug", "title", "filename", "slugorfilename", "contentbasename"))
_SUPPORTED_TOKENS = _SLUG_NAMES | {"slugorcontentbasename", "year", "month", "day", "section"}


@dataclass(frozen=True, slots=True)
class UrlParts:
    """Parts of a page's path and front matter that can be parts of its URL."""

    sections: Sequence[str]
    """Folders that contain the page, outermost first."""
    name: str
    """Name of the page's file, or of its folder if the page is a bundle."""
    title: str
    slug: str
    """Slug in the page's front matter; empty if not set."""
    date: dt.date | None


def urlize(text: str) -> str:
    """Return the text as a URL segment. It is in lower case, with hyphens instead of spaces, and without
    other special characters. Existing hyphens stay, so `a - b` gets three hyphens. Source: `Sanitize` in
    Hugo's common/paths."""
    kept: list[str] = []
    is_apart = was_hyphen = False
    for index, char in enumerate(text):
        if _is_kept(text, index):
            was_hyphen = char == "-"
            if is_apart and not was_hyphen:
                kept.append("-")
            is_apart = False
            kept.append(char)
        elif kept and not was_hyphen and char.isspace():
            is_apart = True
    return "".join(kept).lower()


def _is_kept(text: str, index: int) -> bool:
    char = text[index]
    if char == "%":
        return len(text) > index + 2 and all(each in hexdigits for each in text[index + 1 : index + 3])
    return char.isalpha() or char.isdecimal() or char in _ALLOWED_CHARACTERS or category(char).startswith("M")


def default_address(placed: UrlParts, *, is_ugly: bool) -> str:
    """Return the URL path, without the base path, of a page for which no permalink pattern is set. is_ugly:
    whether the path ends in `.html`."""
    last = urlize(placed.slug or placed.name).replace("/", "-")
    path = "/" + "".join(f"{urlize(section)}/" for section in placed.sections) + last
    return f"{path}.html" if is_ugly else f"{path}/"


def expand(pattern: str, placed: UrlParts) -> str:
    """Return the URL path of a page by a permalink pattern, without the base path; empty if the pattern
    contains a date but the page has none."""
    date = placed.date
    if date is None and re.search(":(year|month|day|weekday|yearday)", pattern):
        return ""
    slug_or = placed.slug or placed.name
    values = {
        **{"title": placed.title, "slug": placed.slug or placed.title, "filename": placed.name},
        **{"slugorfilename": slug_or, "contentbasename": placed.name, "slugorcontentbasename": slug_or},
        **{"section": placed.sections[0] if placed.sections else "", "sections": "/".join(placed.sections)},
    }
    if date:
        values |= {
            **{"year": f"{date.year:04}", "month": f"{date.month:02}", "day": f"{date.day:02}"},
            **{"monthname": calendar.month_name[date.month], "yearday": str(date.timetuple().tm_yday)},
            **{"weekday": str(date.isoweekday() % 7), "weekdayname": calendar.day_name[date.weekday()]},
        }

    def fill(found: re.Match[str]) -> str:
        if found[1]:
            stop = None if found[3] in ("", "last") else int(found[3])
            return "/".join(map(urlize, placed.sections[int(found[2] or 0) : stop]))
        value = values.get(found[4])
        return found[0] if value is None else "/".join(map(urlize, value.split("/")))

    filled = re.sub("/{2,}", "/", "/" + _TOKEN.sub(fill, pattern))
    return filled if filled.endswith(("/", ".html")) else f"{filled}/"


def convert_pattern(pattern: str, section: str) -> str:
    """Convert a permalink pattern to blogsmith's `permalinks`. Return an empty string if blogsmith cannot
    express the pattern, or if it is the default. section: first folder of the pages."""
    names = {found[4] or "sections" for found in _TOKEN.finditer(pattern)}
    slugs = names & (_SLUG_NAMES | {"slugorcontentbasename"})
    if not names <= _SUPPORTED_TOKENS or len(slugs) != 1:
        return ""
    own = _TOKEN.sub(lambda found: ":slug" if found[4] in slugs else found[0], pattern)
    own = re.sub("/{2,}", "/", f"/{own.replace(':section', urlize(section))}/")
    return "" if own == f"/{urlize(section)}/:slug/" else own


MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mmark"))
_HTML = frozenset((".html", ".htm"))
_ENCRYPTION = lazy_pattern(
    r"(?i)"
    r"\{\{[<%][ \t]*((?:hugo[-_]?)?encrypt(?:or|ed)?|password|protected?|private|secret|members?[-_]?only)\b"
)
"""Matches a shortcode of hugo-encryptor and similar tools, which protects its content with a password."""
_UNSUPPORTED_SUFFIXES = frozenset(
    (".org", ".adoc", ".asciidoc", ".ad", ".rst", ".ipynb", ".pandoc", ".pdc", ".rmd")
)


@dataclass(frozen=True, slots=True)
class HugoDocument:
    """A file of the source that Hugo renders to a page."""

    path: PurePosixPath
    """Path relative to the root of the source."""
    content_path: PurePosixPath
    """Path below `content/` of the new site, with suffix `.md`. Pages in other languages than the default are
    in a folder for their language."""
    front: Mapping[str, Any]
    """Front matter with keys in lower case."""
    body: str
    first_line: int
    address: str
    """Old URL path without the base path; empty if Hugo publishes no page for the file."""
    is_markdown: bool = True
    notices: tuple[Notice, ...] = ()
    language: str = ""
    """Language code; empty for the default language."""
    tag: str = ""
    """Value of `lang` in the new front matter; empty for the default language."""
    is_resource: bool = False
    """Whether the file belongs to the bundle of another page, so that Hugo publishes no page for it."""
    cascaded: frozenset[str] = frozenset()
    """Front matter keys that the page inherits from a section or from the settings."""

    @property
    def path_in_language(self) -> PurePosixPath:
        """`content_path` without the language folder."""
        return self.content_path.relative_to(self.language) if self.language else self.content_path

    @property
    def is_branch(self) -> bool:
        """Whether the document is the page of a section, or the home page."""
        return self.content_path.stem == "_index"

    @property
    def is_bundle(self) -> bool:
        """Whether the page is a bundle, which means that its file is in a folder of its own, together with
        other files of the page."""
        return self.content_path.stem in ("index", "_index")

    @property
    def name(self) -> str:
        """Name of the page's file, or of its folder if the page is a bundle."""
        return self.content_path.parent.name if self.content_path.stem == "index" else self.content_path.stem

    @property
    def sections(self) -> tuple[str, ...]:
        """Folders that contain the page, outermost first, without the language folder."""
        parent = self.path_in_language.parent
        return (parent.parent if self.content_path.stem == "index" else parent).parts


@dataclass(frozen=True, slots=True)
class HugoFiles:
    """Documents and files of a Hugo site."""

    documents: tuple[HugoDocument, ...]
    copied: tuple[ImportedFile, ...]
    notices: tuple[Notice, ...]


def find_files(root: Path, config: HugoConfig) -> HugoFiles:
    """Return all documents and files of the site. root: folder of the source."""
    documents: list[HugoDocument] = []
    copied: dict[PurePosixPath, ImportedFile] = {}
    notices: list[Notice] = list(missing_mounts(root, config))
    for static in mounted_files(root, find_mounts(config, "static")):
        target = PurePosixPath("static") / static.target
        copied.setdefault(target, ImportedFile(target, root / static.path))
    for found in mounted_files(root, find_mounts(config, "content")):
        if is_ignored(found.target, config):
            continue
        suffix, source = found.path.suffix.lower(), str(found.path)
        # an HTML file that begins with a tag has no front matter, and Hugo publishes it unchanged
        is_page = suffix in MARKDOWN or (
            suffix in _HTML and not (read_text(root / found.path) or "").lstrip().startswith("<")
        )
        place = _locate(found, config, is_page=is_page)
        if place is None:
            hint = "enable the language under `languages` in the settings, and import again"
            notices.append(Notice("dropped", "language of the file is not published", source, hint=hint))
        elif suffix in _UNSUPPORTED_SUFFIXES:
            hint = "convert it to Markdown, and import again"
            notices.append(Notice("unread", f'unsupported file type "{suffix}"', source, hint=hint))
        elif is_page:
            document = _read_document(root, found.path, place)
            if _is_search(document):
                hint = "write `search: true` in blogsmith.yaml"
                notices.append(
                    Notice(
                        "dropped", "search page is omitted because blogsmith generates it", source, hint=hint
                    )
                )
            else:
                documents.append(document)
        else:
            target = PurePosixPath("content") / place.inner
            copied.setdefault(target, ImportedFile(target, root / found.path))
    bundles = {each.content_path.parent for each in documents if each.content_path.stem == "index"}
    cascaded = (_without_cascade(each) for each in cascade(documents, config))
    open_documents, held = split_protected(cascaded, lambda each: each.path, _encrypted)
    notices += held
    whole = [each if each.is_bundle else _as_resource(each, bundles) for each in open_documents]
    placed = tuple(
        each if each.is_resource else replace(each, address=_address(each, config)) for each in whole
    )
    every = tuple(copied[path] for path in sorted(copied))
    return HugoFiles(placed, every, tuple(notices))


def _encrypted(document: HugoDocument) -> Notice | None:
    """Return a notice if a shortcode encrypts the page or some of its text; otherwise None."""
    found = _ENCRYPTION.search(document.body)
    return (
        withheld_notice(f'shortcode "{found[1]}" protects a part of the page', document.path)
        if found
        else None
    )


def _without_cascade(document: HugoDocument) -> HugoDocument:
    """Return the document without the key `cascade`. This key concerns other pages, and must not make this
    page private."""
    if "cascade" not in document.front:
        return document
    front = {key: each for key, each in document.front.items() if key != "cascade"}
    message = 'front matter key "cascade" is copied to each page that it applies to'
    notice = Notice("changed", message, document.path.as_posix())
    return replace(document, front=front, notices=(*document.notices, notice))


def _as_resource(document: HugoDocument, bundles: Container[PurePosixPath]) -> HugoDocument:
    if not any(folder in bundles for folder in document.content_path.parents):
        return document
    hint = "remove `draft: true` to publish the page"
    message = "becomes a draft: Hugo publishes no page inside the bundle of another page"
    notice = Notice("changed", message, document.path.as_posix(), hint=hint)
    front = {**document.front, "draft": True}
    return replace(document, front=front, is_resource=True, notices=(*document.notices, notice))


def _is_search(document: HugoDocument) -> bool:
    layout = document.front.get("layout") or document.front.get("type")
    return layout == "search" and not document.body.strip()


@dataclass(frozen=True, slots=True)
class _Location:
    """Location of a content file in the new site."""

    inner: PurePosixPath
    language: str
    """Language code; empty for the default language."""
    tag: str
    """Value of `lang` in the new front matter; empty for the default language."""


def _locate(found: MountedFile, config: HugoConfig, *, is_page: bool) -> _Location | None:
    """Return the location of a content file in the new site; None if the old site does not publish its
    language."""
    path, suffix = found.target, found.path.suffix
    stem, dot, last = path.stem.rpartition(".")
    known = config.languages
    language = found.language or known[0]
    if dot and last.casefold() in known and not found.language:
        # the name of a page loses its language suffix; that of a file keeps it, because links contain it
        path, language = (path.with_name(f"{stem}{suffix}") if is_page else path), last.casefold()
    elif dot and last.casefold() in config.mapping("languages"):
        return None
    if language not in known:
        return None
    inner = path.with_name(f"{path.stem}.md") if is_page else path
    is_own = language == known[0]
    return _Location(
        inner if is_own else language / inner,
        *(("", "") if is_own else (language, config.language_tag(language))),
    )


def _read_document(root: Path, path: PurePosixPath, place: _Location) -> HugoDocument:
    text = read_text(root / path)
    source = path.as_posix()
    notices: tuple[Notice, ...] = ()
    if text is None:
        notices, text = (Notice("mistake", "file cannot be read as text", source),), ""
    written = split_front_matter(text)
    front: dict[str, Any] = {}
    try:
        front = load_data(written.front_matter, written.form)
    except DataTextError as error:
        line = error.line + (written.form != "json")
        message = f"invalid {written.form.upper()} in the front matter: {error}"
        notices, front = (Notice("mistake", message, source, line),), _read_plain_lines(written)
    front = merge_params(add_restrictions(front, written.front_matter))
    return HugoDocument(
        path=path,
        content_path=place.inner,
        front=front,
        body=written.body,
        first_line=written.first_line,
        address="",
        is_markdown=path.suffix.lower() in MARKDOWN,
        notices=notices,
        language=place.language,
        tag=place.tag,
    )


def cascade(documents: Sequence[HugoDocument], config: HugoConfig) -> Iterator[HugoDocument]:
    """Yield the documents with the `cascade` values of the sections and settings that apply to them."""
    given = {
        document.content_path.parent: list(_cascades(document.front.get("cascade")))
        for document in documents
        if document.is_branch and document.front.get("cascade")
    }
    of_site = list(_cascades(config.value("cascade")))
    for document in documents:
        folders = [folder for folder in document.content_path.parents if folder in given]
        more: dict[str, Any] = {}
        # the nearest section takes precedence
        for target, values in [*(each for folder in folders for each in given[folder]), *of_site]:
            if _is_target(document, target):
                more = values | more
        added = {key: value for key, value in more.items() if key not in document.front}
        front = {**added, **document.front}
        yield replace(document, front=front, cascaded=frozenset(added)) if added else document


def _cascades(written: Any) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield the entries of the key `cascade` as pairs. A pair contains conditions for pages, and front matter
    for the pages that meet them."""
    for entry in as_list(written):
        if isinstance(entry, Mapping):
            values = merge_params(entry)
            target = values.pop("_target", None) or values.pop("target", None)
            yield target if isinstance(target, Mapping) else {}, values


def _is_target(document: HugoDocument, target: Mapping[str, Any]) -> bool:
    written = {str(key).casefold(): str(value) for key, value in target.items() if isinstance(value, str)}
    place = "/" + "/".join([*document.sections, *([] if document.is_branch else [document.name])])
    kind = ("section" if document.sections else "home") if document.is_branch else "page"
    is_placed = fnmatchcase(place, written.get("path", "*").replace("{", "").replace("}", ""))
    is_language = written.get("lang", "").casefold() in ("", document.language)
    return is_placed and is_language and written.get("kind", kind) == kind


def _read_plain_lines(written: SplitText) -> dict[str, Any]:
    """Return the keys of invalid front matter that have a plain value on the same line. Each line is read
    separately."""
    pairs = re.findall(r"^[ \t]*([\w-]+)[ \t]*[:=][ \t]*(.+?)[ \t]*$", written.front_matter, re.MULTILINE)
    return {key: value.strip("\"'") for key, value in pairs}


def merge_params(front: Mapping[str, Any]) -> dict[str, Any]:
    """Return the front matter with keys in lower case, and with the keys of the mapping `params` at the top
    level."""
    found = {str(key).casefold(): value for key, value in front.items()}
    params = found.pop("params", None)
    more = {str(key).casefold(): value for key, value in params.items()} if isinstance(params, dict) else {}
    return more | found


def parse_day(value: Any) -> dt.date | None:
    """Return the day of a date in front matter; None if the value is not a date."""
    parts = re.match(r"(\d{4})-(\d{1,2})-(\d{1,2})", date_text(value))
    return dt.date(*map(int, parts.groups())) if parts else None


def date_text(value: Any) -> str:
    """Return a date in blogsmith's form, for example `2024-03-01`; empty if the value is not a date.

    Dates with slashes or month names are converted.
    """
    text = " ".join(str(value or "").split())
    try:
        if re.match(r"\d{4}-\d{1,2}-\d{1,2}", text):
            dt.date(*map(int, re.split("[-T ]", text)[:3]))
            return text
        day = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|,", "", text)
        return next(
            dt.datetime.strptime(day, form).date().isoformat() for form in _DATES if _is_date(day, form)
        )
    except (ValueError, StopIteration):
        return ""


_DATES = ("%Y/%m/%d", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%Y.%m.%d")


def _is_date(text: str, form: str) -> bool:
    try:
        dt.datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def _address(document: HugoDocument, config: HugoConfig) -> str:
    front = document.front
    date = next(
        (
            day
            for key in ("date", "publishdate", "pubdate", "published")
            if (day := parse_day(front.get(key)))
        ),
        None,
    )
    sections, name = document.sections, document.name
    if document.is_branch:
        sections, name = sections[:-1], sections[-1] if sections else ""
    title, slug = str(front.get("title") or document.name), str(front.get("slug") or "")
    placed = UrlParts(sections, name, title, slug, date)
    start = _url_prefix(document, config)
    if url := str(front.get("url") or ""):
        # with a leading slash it is relative to the site, otherwise to its language
        return ("" if url.startswith("/") else start) + expand(url, placed)
    if document.is_branch and not document.sections:
        return f"{start}/"
    section = document.sections[0] if document.sections else "/"
    kind = "section" if document.is_branch else "page"
    pattern = config.permalink(section, kind) or config.permalink("page" if section == "/" else "", kind)
    address = expand(pattern, placed) if pattern else ""
    is_ugly = config.is_ugly and not document.is_branch
    return start + (address or default_address(placed, is_ugly=is_ugly))


def _url_prefix(document: HugoDocument, config: HugoConfig) -> str:
    in_folder = config.value("defaultcontentlanguageinsubdir") is True and len(config.languages) > 1
    own = config.default_language.casefold() if in_folder else ""
    return f"/{document.language or own}" if document.language or own else ""
