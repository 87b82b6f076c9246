"""Compares the built import with its source, page by page. The work is done in one or several processes.

Values of old front matter and settings are read again from the source. Only the words of a value are
compared, so the new site may contain the value under another key, in the text, or in a list. Dates are
compared by day and site paths by file name, because imports rewrite both.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard
from urllib.parse import quote, unquote

from ...api.importing import (
    Diagnostic,
    PageTimeout,
    Progress,
    RenderedDocument,
    SiteSnapshot,
    find_restrictions,
    lazy_pattern,
    name_set,
)
from ..model import Difference, ImportedPage, Notice, OldSettings, PageCheck, SiteImport, SourcePart
from ..page_work import ONE_PROCESS, Workers, map_pages, page_limit
from ..repair import FORMULA_CODES, BuiltImport
from ..source_files import read_text
from ..systems import load_system
from ..text.data import DataTextError, iso_date, load_data, load_mapping, split_front_matter
from ..text.segments import LineFinder
from .facts import Facts, losses, read_facts, split_words
from .published_pages import PublishedCheck, check_published, published_facts, published_losses

Scalar: TypeAlias = str | int | float | bool
ADDRESS_KEYS = name_set("permalink slug url aliases alias redirect_from")
"""Keys that determine the URLs of a page; they are not compared, because old URLs are checked separately."""
_MAX_DEPTH = 20
_TOO_DEEP = "values nested too deeply to compare"
_MIN_SENTENCE_WORDS = 8
"""Minimum number of words of a value that is searched for as a set of words: they need not be adjacent in the
new site, for example because a URL separates them."""
_TAG = lazy_pattern(r"</?[A-Za-z][^<>]*>")
_DAY = lazy_pattern(r"\d{4}-\d{1,2}-\d{1,2}\b")
_HOST = lazy_pattern(r"[A-Za-z][\w+.-]*://|//")
_CONTENT = lazy_pattern(r"https?://\S|[^\s@]+@[^\s@]+\.\w|\S+\s+\S+\s+\S")
"""Matches a value that is meant for readers: a URL, an e-mail address, or at least three words."""


class Leaf(NamedTuple):
    """A value that is neither a mapping nor a list."""

    path: str
    """Keys from the outermost mapping inwards, joined by dots. Positions in lists are left out."""
    value: Scalar


def leaves(data: Any, path: str = "", depth: int = 0) -> Iterator[Leaf]:
    """Yield the values of nested data in order. Empty values are omitted. path: path of `data` itself."""
    if isinstance(data, Mapping | list | tuple) and data and depth > _MAX_DEPTH:
        yield Leaf(path, _TOO_DEEP)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from leaves(value, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from leaves(value, path, depth + 1)
    elif data is not None and str(data).strip():
        yield Leaf(path, data if isinstance(data, str | int | float) else str(data))


def is_content(value: Scalar) -> bool:
    """Return whether a value is meant for readers, whatever its key. Such values are URLs, e-mail addresses
    and sentences."""
    return isinstance(value, str) and _CONTENT.search(value) is not None


def is_named(path: str, messages: Iterable[str]) -> bool:
    """Return whether a message contains, in double quotes, a path of keys or the path of a mapping that
    contains it.

    Only messages with the word "key" or "setting", and messages that start with a quoted name, are
    considered. Quoted names in other messages are shortcodes, files and similar.
    """
    parts = path.split(".")
    names = {f'"{".".join(parts[:count])}"'.casefold() for count in range(1, len(parts) + 1)}
    about_keys = [message.casefold() for message in messages if _NAMES_KEY.search(message)]
    return any(name in message for message in about_keys for name in names)


_NAMES_KEY = lazy_pattern(r"\A\"|\b(?:key|setting)s?\b")


class ValueIndex:
    """Search index of the values in the new site."""

    def __init__(self, data: Iterable[Any], texts: Iterable[str] = ()) -> None:
        """Create the index.

        data: front matter and settings. `texts`: Markdown of the pages.
        """
        self._leaves = [leaf for each in data for leaf in leaves(each)]
        self._texts = texts
        self.keys = frozenset(key.casefold() for leaf in self._leaves for key in leaf.path.split("."))
        """Keys of all mappings, in lower case."""

    def has(self, leaf: Leaf, translated: Collection[str]) -> bool:
        """Return whether the new site contains a value. A boolean is found if its key is in the new site or
        in `translated`. translated: keys that an importer translates, in lower case."""
        if isinstance(leaf.value, bool):
            path = leaf.path.casefold()
            return path in translated or path.rpartition(".")[2] in self.keys
        return self._has_value(leaf.value)

    def _has_value(self, value: str | float) -> bool:
        if isinstance(value, int | float):
            return str(value) in self._spellings
        words = split_words(value)
        if not words or self._has_words(words) or self._has_day(value) or self._has_file(value):
            return True
        shown = split_words(unescape(_TAG.sub(" ", value)))
        return shown != words and self._has_words(shown)

    def _has_words(self, words: list[str]) -> bool:
        needed = frozenset(words)
        rarest = min((self._word_sets.get(word, ()) for word in needed), key=len, default=())
        if any(needed <= known for known in rarest):
            return True
        phrase = f" {' '.join(words)} "
        return any(
            phrase in text or (len(words) >= _MIN_SENTENCE_WORDS and needed <= known)
            for text, known in self._prose
        )

    def _has_day(self, value: str) -> bool:
        day = iso_date(value)[:10]
        return bool(day) and day in self._days

    def _has_file(self, value: str) -> bool:
        name = _file_name(value)
        return bool(name) and (name in self._files or self._has_words(split_words(name)))

    @cached_property
    def _spellings(self) -> frozenset[str]:
        return frozenset(str(leaf.value).strip() for leaf in self._leaves)

    @cached_property
    def _word_sets(self) -> Mapping[str, Collection[frozenset[str]]]:
        """Word → sets of words. Each set contains the words of one value or list that contains the word."""
        lists: dict[str, set[str]] = {}
        for leaf in self._leaves:
            lists.setdefault(leaf.path, set()).update(split_words(str(leaf.value)))
        every = [frozenset(split_words(spelling)) for spelling in self._spellings]
        found: dict[str, list[frozenset[str]]] = {}
        for words in (*map(frozenset, lists.values()), *every):
            for word in words:
                found.setdefault(word, []).append(words)
        return found

    @cached_property
    def _prose(self) -> list[tuple[str, frozenset[str]]]:
        found = [split_words(text) for text in self._texts]
        return [(f" {' '.join(words)} ", frozenset(words)) for words in found]

    @cached_property
    def _days(self) -> frozenset[str]:
        return frozenset(iso_date(text)[:10] for text in self._spellings if _DAY.match(text))

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(filter(None, map(_file_name, self._spellings)))


def _file_name(value: str) -> str:
    """Return the last segment of a site path, in lower case; empty for any other value."""
    path = value.strip().partition("#")[0].partition("?")[0]
    if _HOST.match(path) or re.search(r"\s", path) or not re.search(r"/|\.\w{1,5}\Z", path):
        return ""
    return re.sub(r"\.(?:html?|md|qmd|ipynb)\Z", "", path.rstrip("/").rpartition("/")[2].casefold())


_SETTINGS_SUFFIXES = frozenset((".yml", ".yaml", ".toml", ".json"))
"""Extensions of settings files. If a page replaces a generated list, its source is a file with one of
these."""
FRONT, SETTINGS = "front matter", "settings"
"""Kinds of differences that are values instead of content of a page."""


def read_old_front(file: Path) -> dict[str, Any] | None:
    """Return the front matter of a file of any system; None if it cannot be read."""
    text = read_text(file) if file.is_file() and file.suffix not in _SETTINGS_SUFFIXES else ""
    if text is None:
        return None
    if file.suffix == ".ipynb":
        text = _first_cell(text)
    found = split_front_matter(text)
    try:
        return load_data(found.front_matter, found.form)
    except DataTextError:
        return None


def _first_cell(text: str) -> str:
    """Return the source of a notebook's first cell; empty if the notebook has none or if it is code."""
    try:
        cell = json.loads(text)["cells"][0]
        return "".join(cell["source"]) if cell["cell_type"] in ("raw", "markdown") else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def old_leaves(page: ImportedPage, written: Mapping[str, Any]) -> list[Leaf]:
    """Return the distinct values of a page's old front matter, as the system reads it and as it is written.
    written: front matter read again from the source file."""
    found = {(leaf.path.casefold(), leaf.value): leaf for leaf in leaves(page.old_front)}
    found |= {(leaf.path.casefold(), leaf.value): leaf for leaf in leaves(written)}
    return [*found.values()]


def front_losses(page: ImportedPage, old: Iterable[Leaf], new: ValueIndex) -> Iterator[Difference]:
    """Yield the values of old front matter that are missing in the new site and are not named in a notice."""
    messages = [notice.message for notice in page.notices]
    restrictions = find_restrictions(page.old_front, is_foreign=True)
    settled = {".".join(filter(_is_key, one.path)).casefold() for one in restrictions}
    translated = page.front_keys.translated
    for leaf in old:
        path = leaf.path.casefold()
        if path in settled or path.partition(".")[0] in ADDRESS_KEYS or is_named(path, messages):
            continue
        if not new.has(leaf, translated):
            yield Difference(FRONT, f"{leaf.path}: {leaf.value}", page.source)


def _is_key(step: str | int) -> TypeGuard[str]:
    return isinstance(step, str)


class NewValues(NamedTuple):
    """Indexes of the new site, for finding the values of old settings."""

    settings: ValueIndex
    site: ValueIndex
    """Index of settings, front matter and text of pages."""


def lost_settings(old: OldSettings, new: NewValues) -> list[str]:
    """Return the paths of old settings that are missing in the new site. If a whole mapping is missing,
    return only its path."""
    return list(dict.fromkeys(_find_lost(old.values, "", new, old.translated)))


def _find_lost(data: Any, path: str, new: NewValues, translated: Collection[str]) -> Iterator[str]:
    every = [*leaves(data, path)]
    lost = [leaf for leaf in every if not _is_taken_over(leaf, new, translated)]
    if lost and ((len(lost) == len(every) and path) or not isinstance(data, Mapping)):
        yield path
    elif lost:
        for key, value in data.items():
            yield from _find_lost(value, f"{path}.{key}" if path else str(key), new, translated)


def _is_taken_over(leaf: Leaf, new: NewValues, translated: Collection[str]) -> bool:
    if is_content(leaf.value):
        return new.site.has(leaf, ())
    parts = leaf.path.casefold().split(".")
    is_read = any(".".join(parts[:count]) in translated for count in range(1, len(parts) + 1))
    return is_read or (isinstance(leaf.value, str) and new.settings.has(leaf, ()))


def settings_losses(old: OldSettings, new: NewValues, notices: Iterable[Notice]) -> Iterator[Difference]:
    """Yield the settings of a file that are missing in the new site and are not named in a notice."""
    messages = [notice.message for notice in notices if notice.source in (old.file, "")]
    for path in lost_settings(old, new):
        if not is_named(path, messages):
            yield Difference(SETTINGS, path, old.file)


_ADDRESS = lazy_pattern(r'\b(src|srcset|href)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Input for the comparison of a page."""

    page: ImportedPage
    html: str | None
    """HTML of the new page from `page_html`; None if the new site has no page."""
    address_losses: tuple[Difference, ...] = ()
    """The page's old URL, if the new site has no page at this URL; otherwise empty."""
    published: Facts | None = None
    """Content of the page that the old system published; None without a published page."""
    errors: int = 0
    """Number of errors that the build reported for the page."""
    warnings: int = 0


@dataclass(frozen=True, slots=True)
class PageComparer:
    """Compares the pages of one import. Picklable."""

    system: str
    """Name of the old system, from `systems.system_names`."""
    old_root: Path
    new_root: Path
    settings: Mapping[str, Any]
    """Settings of the new site, as written."""
    base_url: str
    """Base URL of the new site."""
    title: str

    def compare(self, request: PageRequest) -> PageCheck:
        """Return the diagnostics and losses of a page."""
        page = request.page
        try:
            with page_limit():
                return self._with_front(self._compare(request), page)
        except (PageTimeout, RecursionError):
            lost = Difference("page", "takes too long to compare", page.source)
            return PageCheck(str(page.path), page.source, {}, (lost,))

    def _compare(self, request: PageRequest) -> PageCheck:
        page, system = request.page, load_system(self.system)
        lines = LineFinder(page.original, page.first_line)
        before = read_facts(system.render(page.original, page))
        after = read_facts(request.html) if request.html is not None else Facts()
        removed = "\n\n".join(notice.removed for notice in page.notices if notice.removed)
        allowed = read_facts(system.render(removed, page)) if removed else Facts()
        home = self.base_url.partition("//")[2].rstrip("/").casefold()
        differences = [*losses(page.source, before, after, allowed, lines, home), *request.address_losses]
        differences = [_locate(each, page.parts) for each in differences]
        if request.published is not None:
            differences += published_losses(page, request.published, after, allowed, self.title)
        return PageCheck(
            str(page.path), page.source, before.sizes, tuple(differences), request.errors, request.warnings
        )

    def _with_front(self, check: PageCheck, page: ImportedPage) -> PageCheck:
        """Add the losses in front matter to a check. Old and new front matter are read from their files."""
        written = read_old_front(self.old_root / page.source)
        new = split_front_matter(read_text(self.new_root / page.path) or "")
        index = ValueIndex([load_data(new.front_matter, new.form), self.settings], [new.body])
        old = old_leaves(page, written or {})
        lost = front_losses(page, old, index)
        differences = (*check.differences, *lost)
        return replace(check, differences=differences, values=len(old), is_front_read=written is not None)


def _locate(found: Difference, parts: Sequence[SourcePart]) -> Difference:
    """Return a difference with file and line in the source, if the page comes from several files. Otherwise,
    return it unchanged."""
    part = next((one for one in reversed(parts) if one.line <= found.line), None)
    return replace(found, source=part.source, line=part.first + found.line - part.line) if part else found


def page_html(rendered: RenderedDocument, base_path: str) -> str:
    """Return title, summary and content as HTML, because an import may move text between them."""
    body = rendered.body
    originals = {f"{base_path}/{one.path}": one.source for one in body.variants}
    html = _restore_image_urls(body.html, originals) if originals else body.html
    return f"<h1>{body.title_html}</h1><div>{body.description_html}</div>{html}"


def _restore_image_urls(html: str, originals: Mapping[str, str]) -> str:
    """Replace URLs of scaled copies of images with the URLs of the original images."""

    def original(found: re.Match[str]) -> str:
        first = found[2].split(" ", 1)[0].rstrip(",")
        return f'{found[1]}="{originals[first]}"' if first in originals else found[0]

    return _ADDRESS.sub(original, html)


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """Diagnostics and losses of an imported site."""

    pages: tuple[PageCheck, ...]
    diagnostics: tuple[Diagnostic, ...]
    """Diagnostics of the whole site, sorted as a build prints them."""
    published: PublishedCheck | None = None
    """Comparison with the pages that the old system published; None if there are no such pages."""
    settings: tuple[Difference, ...] = ()
    """Settings of the old site that are missing in the new site."""
    setting_count: int = 0
    """Number of compared values in the old settings."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return all losses that no notice explains."""
        return (*self.settings, *(difference for page in self.pages for difference in page.differences))

    @property
    def unreadable_files(self) -> tuple[str, ...]:
        """Return the files whose front matter could not be read and compared."""
        return tuple(page.source for page in self.pages if not page.is_front_read)

    @property
    def formula_errors(self) -> int:
        """Return the number of errors in formulas. A page shows the TeX of a formula with an error."""
        return sum(found.code in FORMULA_CODES for found in self.diagnostics)

    @property
    def unknown_commands(self) -> Counter[str]:
        """Return name → count for the unknown TeX commands in formulas."""
        places = (
            (found.source_line, found.place) for found in self.diagnostics if found.code == "math-command"
        )
        return Counter(
            line[place.column - 1 : place.column - 1 + place.length] for line, place in places if place
        )

    @property
    def errors(self) -> int:
        """Return the number of errors."""
        return sum(found.severity == "error" for found in self.diagnostics)


def check_site(
    built: BuiltImport, progress: Progress, *, against: Path | None = None, workers: Workers = ONE_PROCESS
) -> SiteCheck:
    """Compare an imported site with its source.

    against: folder with pages that the old system published, for an additional comparison.
    """
    site, snapshot = built.site, built.snapshot
    root = snapshot.context.root
    own = dict[str, list[Diagnostic]]()
    for found in built.diagnostics:
        own.setdefault(found.path, []).append(found)
    new_settings = load_mapping(read_text(root / "blogsmith.yaml") or "")
    addresses = [page.address for page in site.pages if page.address and not page.front.get("draft")]
    published = published_facts(against, addresses, workers) if against else {}
    base_url, title = snapshot.config.base_url, snapshot.config.title
    comparer = PageComparer(site.system, site.root, root, new_settings, base_url, title)
    requests = (_request(page, snapshot, own, published) for page in site.pages)
    checks = list[PageCheck]()
    for check in map_pages(comparer.compare, requests, len(site.pages), workers):
        progress("compare", len(checks), len(site.pages))
        checks.append(check)
    base = snapshot.config.base_path
    answers = frozenset(unquote(each).removeprefix(base) for each in snapshot.files_by_url)
    compared = check_published(against, published, addresses, answers) if against else None
    new = site_values(site, new_settings)
    settings = [each for old in site.old_settings for each in settings_losses(old, new, site.all_notices)]
    count = sum(len(list(leaves(old.values))) for old in site.old_settings)
    return SiteCheck(tuple(checks), built.diagnostics, compared, tuple(settings), count)


def site_values(site: SiteImport, settings: Mapping[str, Any]) -> NewValues:
    """Return indexes of the values in the new site."""
    fronts, texts = [page.front for page in site.pages], [page.text for page in site.pages]
    return NewValues(ValueIndex([settings]), ValueIndex([settings, *fronts], texts))


def _request(
    page: ImportedPage,
    snapshot: SiteSnapshot,
    own: Mapping[str, Sequence[Diagnostic]],
    published: Mapping[str, Facts],
) -> PageRequest:
    path = str(page.path)
    rendered, found = snapshot.rendered.get(path), own.get(path, ())
    errors = sum(each.severity == "error" for each in found)
    return PageRequest(
        page=page,
        html=page_html(rendered, snapshot.config.base_path) if rendered else None,
        address_losses=_address_losses(page, snapshot),
        published=published.get(page.address),
        errors=errors,
        warnings=len(found) - errors,
    )


def _address_losses(page: ImportedPage, snapshot: SiteSnapshot) -> tuple[Difference, ...]:
    """Return the old URL of a page as a difference, if the new site has no page at this URL. Otherwise,
    return an empty tuple."""
    address = unquote(page.address)
    if not address:
        return ()
    base = snapshot.config.base_path
    known = {f"{base}{address}", f"{base}{quote(address)}", f"{base}{address.rstrip('/')}/"}
    answers = known & snapshot.files_by_url.keys()
    return () if answers else (Difference("addresses", page.address, page.source),)
