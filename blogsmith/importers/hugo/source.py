"""The files of a Hugo site: documents with front matter, their resources, and what is published as it is."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..model import ImportedFile, Notice
from ..source_files import read_text, walk_files
from ..text.data import FrontText, load_data, split_front
from ..text.loose_yaml import DataTextError
from .config import HugoConfig
from .permalinks import Placed, default_address, expand

MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mmark"))
_HTML = frozenset((".html", ".htm"))
_FOREIGN = frozenset((".org", ".adoc", ".asciidoc", ".ad", ".rst", ".ipynb", ".pandoc", ".pdc", ".rmd"))
_NO_PAGES = frozenset((".ds_store", ".gitkeep", ".keep"))


@dataclass(frozen=True, slots=True)
class HugoDocument:
    """A file that Hugo makes a page of."""

    path: PurePosixPath
    """Relative to the root of the source."""
    inner: PurePosixPath
    """Relative to the content folder, without language, ending in `.md`."""
    front: Mapping[str, Any]
    """Names in lower case."""
    body: str
    first_line: int
    address: str
    """Site path without the base path; empty: Hugo makes no page of it."""
    is_markdown: bool = True
    notices: tuple[Notice, ...] = ()

    @property
    def is_branch(self) -> bool:
        """Whether it is the page of a section, or the front page."""
        return self.inner.stem == "_index"

    @property
    def is_bundle(self) -> bool:
        """Whether its files lie beside it in a folder of its own."""
        return self.inner.stem in ("index", "_index")

    @property
    def name(self) -> str:
        """Of its file, or of its folder if it is a bundle."""
        return self.inner.parent.name if self.inner.stem == "index" else self.inner.stem

    @property
    def sections(self) -> tuple[str, ...]:
        """Folders it lies in, from the top."""
        parent = self.inner.parent
        return (parent.parent if self.inner.stem == "index" else parent).parts


@dataclass(frozen=True, slots=True)
class HugoFiles:
    """What there is in a Hugo site."""

    documents: tuple[HugoDocument, ...]
    copied: tuple[ImportedFile, ...]
    notices: tuple[Notice, ...]


def find_files(root: Path, config: HugoConfig) -> HugoFiles:
    """Every file of the site; `root` is that of the source."""
    documents: list[HugoDocument] = []
    copied: dict[PurePosixPath, ImportedFile] = {}
    notices: list[Notice] = []
    for folder in config.static_folders:
        for path in walk_files(root / config.folder / folder):
            place = PurePosixPath("static") / path
            copied.setdefault(place, ImportedFile(place, root / config.folder / folder / path))
    for path in _content_files(root, config):
        inner, language = _without_language(path, config)
        place = config.folder / config.content_folder / path
        if language != config.default_language or _is_below(place, config):
            notices.append(_other_language(place, language))
        elif path.suffix.lower() in _FOREIGN:
            hint = "write it as Markdown, and import again"
            notices.append(Notice("dropped", f"{path.suffix} files are not read", str(place), hint=hint))
        elif path.suffix.lower() in MARKDOWN | _HTML:
            document = _read_document(root, place, inner, config)
            if _is_search(document):
                hint = "this version has no search"
                notices.append(Notice("dropped", "the page of a search", str(place), hint=hint))
            else:
                documents.append(document)
        else:
            target = PurePosixPath("content") / inner
            copied.setdefault(target, ImportedFile(target, root / place))
    every = tuple(copied[path] for path in sorted(copied))
    return HugoFiles(tuple(documents), every, tuple(notices))


def _is_search(document: HugoDocument) -> bool:
    layout = document.front.get("layout") or document.front.get("type")
    return layout == "search" and not document.body.strip()


def _content_files(root: Path, config: HugoConfig) -> Iterator[PurePosixPath]:
    for path in walk_files(root / config.folder / config.content_folder, skipped=()):
        if path.name.lower() not in _NO_PAGES and not path.name.startswith("."):
            yield path


def _without_language(path: PurePosixPath, config: HugoConfig) -> tuple[PurePosixPath, str]:
    """The path without the language in its name, and that language."""
    stem, dot, language = path.stem.rpartition(".")
    suffix = ".md" if path.suffix.lower() in MARKDOWN | _HTML else path.suffix
    if dot and language in config.languages:
        return path.with_name(f"{stem}{suffix}"), language
    return path.with_name(f"{path.stem}{suffix}"), config.default_language


def _is_below(place: PurePosixPath, config: HugoConfig) -> bool:
    inner = place.relative_to(config.folder)
    others = set(config.other_content) - {config.content_folder}
    return any(inner.is_relative_to(folder) for folder in others)


def _other_language(place: PurePosixPath, language: str) -> Notice:
    hint = "write it as a page of its own, with lang: in its front matter"
    return Notice("dropped", f"pages in other languages are not imported ({language})", str(place), hint=hint)


def _read_document(
    root: Path, place: PurePosixPath, inner: PurePosixPath, config: HugoConfig
) -> HugoDocument:
    text = read_text(root / place)
    source = place.as_posix()
    notices: tuple[Notice, ...] = ()
    if text is None:
        notices, text = (Notice("mistake", "is no text that can be read", source),), ""
    written = split_front(text)
    front: dict[str, Any] = {}
    try:
        front = load_data(written.head, written.form)
    except DataTextError as error:
        line = error.line + (written.form != "json")
        message = f"the front matter is no {written.form.upper()}: {error}"
        notices, front = (Notice("mistake", message, source, line),), _lines_of(written)
    front = _with_params(front)
    return HugoDocument(
        path=place,
        inner=inner,
        front=front,
        body=written.body,
        first_line=written.first_line,
        address=_address(front, inner, config),
        is_markdown=place.suffix.lower() in MARKDOWN,
        notices=notices,
    )


def _lines_of(written: FrontText) -> dict[str, Any]:
    """Front matter that cannot be read, line by line: the keys with one plain value."""
    pairs = re.findall(r"^[ \t]*([\w-]+)[ \t]*[:=][ \t]*(.+?)[ \t]*$", written.head, re.MULTILINE)
    return {key: value.strip("\"'") for key, value in pairs}


def _with_params(front: Mapping[str, Any]) -> dict[str, Any]:
    """Front matter with names in lower case, and what stands under `params:` beside the rest."""
    found = {str(key).casefold(): value for key, value in front.items()}
    params = found.pop("params", None)
    more = {str(key).casefold(): value for key, value in params.items()} if isinstance(params, dict) else {}
    return more | found


def date_in(value: Any) -> dt.date | None:
    """The day that a date of the front matter begins with; None if it is none."""
    parts = re.match(r"(\d{4})-(\d{1,2})-(\d{1,2})", date_text(value))
    return dt.date(*map(int, parts.groups())) if parts else None


def date_text(value: Any) -> str:
    """A date as ours are written: one in words or with slashes as `2024-03-01`; empty for what is none."""
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


def _address(front: Mapping[str, Any], inner: PurePosixPath, config: HugoConfig) -> str:
    shape = HugoDocument(PurePosixPath(), inner, front, "", 1, "")
    date = next(
        (day for key in ("date", "publishdate", "pubdate", "published") if (day := date_in(front.get(key)))),
        None,
    )
    title, slug = str(front.get("title") or shape.name), str(front.get("slug") or "")
    if shape.is_branch:
        sections = shape.sections
        placed = Placed(sections[:-1], sections[-1] if sections else "", title, slug, date)
    else:
        placed = Placed(shape.sections, shape.name, title, slug, date)
    if url := str(front.get("url") or ""):
        return expand(url, placed)
    if shape.is_branch and not shape.sections:
        return "/"
    section = shape.sections[0] if shape.sections else "/"
    kind = "section" if shape.is_branch else "page"
    pattern = config.permalink(section, kind) or config.permalink("page" if section == "/" else "", kind)
    address = expand(pattern, placed) if pattern else ""
    return address or default_address(placed, is_ugly=config.is_ugly and not shape.is_branch)
