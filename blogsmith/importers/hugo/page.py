"""Translation of a Hugo document to a page. The result is front matter and text, and the callout kinds and
files that the page needs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from ...api.importing import alias_problem, lazy_pattern, name_set
from ..model import FrontKeys, ImportedPage, Notice, NoticeKind
from ..page_work import translate_document
from ..source_files import read_text, walk_files
from ..text.containers import join_tabs
from ..text.data import DataTextError, as_list, load_data, load_yaml, one_line, read_strings
from ..text.heading_ids import HUGO, add_heading_ids
from ..text.math import script_macros, tex_macros
from ..text.pieces import HiddenFragments
from ..text.segments import LineFinder, divide, mask, rewrite
from .config import FORMS, HugoConfig, find_mounts, mounted_files
from .independent import PASSTHROUGH
from .links import LinkTable
from .markdown import formula_dialect, rewrite_formulas, rewrite_markdown
from .shortcodes.parse import CallContext
from .shortcodes.translate import HugoShortcodeTranslator
from .source import HugoDocument, HugoFiles, date_text, parse_day

_TEXTS = ("title", "subtitle")
_COVERS = ("featured-image", "featured", "cover", "header")
_UNSEARCHED = ("searchhidden", "exclude_search", "excludesearch")
KEYS = FrontKeys(
    name_set(
        "title subtitle description summary date publishdate pubdate published lastmod modified updated "
        "slug url aliases alias tags categories category tag series series_order seriesorder author "
        "author.name authors authors.name draft expirydate unpublishdate build build.render build.list "
        "_build headless toc showtoc comments menu menus lang image cover images featured_image "
        "featuredimage thumbnail banner resources searchhidden exclude_search excludesearch"
    ),
    name_set(
        "resources menu menus build _build type markup weight tocopen hidesummary hidemeta "
        "showbreadcrumbs showreadingtime outputs showpostnavlinks showwordcount sharebuttons "
        "showsharebuttons socialshare cascade disableshare robotsnoindex canonicalurl editpost linktitle "
        "sitemap commentable featured hideheader hidefooter placeholder iscjklanguage translationkey prev "
        "next sidebar breadcrumbs disablehljs css javascript js highlight format noindex libraries"
    ),
)


def page_front(document: HugoDocument) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Return the front matter with blogsmith's keys in a fixed order. Also return notices about keys whose
    meaning changes."""
    front, source = document.front, document.path.as_posix()
    found: dict[str, Any] = {key: text for key in _TEXTS if (text := one_line(front.get(key)))}
    if description := one_line(front.get("description")) or one_line(front.get("summary")):
        found["description"] = description
    notices = list(_dates(front, found, source))
    for key, others in (("categories", ("category",)), ("tags", ("tag",))):
        if names := read_strings(front.get(key) or front.get(others[0])):
            found[key] = names
    if series := read_strings(front.get("series")):
        order = front.get("series_order", front.get("seriesorder"))
        has_part = isinstance(order, int) and order > 0
        found["series"] = {"name": series[0], "part": order} if has_part else series[0]
    if authors := _authors(front):
        found["authors"] = authors
    toc = front.get("toc", front.get("showtoc"))
    if isinstance(toc, bool):
        found["toc"] = toc
    # key names of PaperMod, Docsy and Hextra
    if any(front.get(key) is True for key in _UNSEARCHED):
        found["search"] = False
    if isinstance(front.get("comments"), bool):
        found["comments"] = front["comments"]
    if lang := one_line(front.get("lang")) or document.tag:
        found["lang"] = lang
    notices += _draft(front, found, source)
    aliases = _aliases(front, document)
    if fit := [alias for alias in aliases if not alias_problem(alias)]:
        found["aliases"] = fit
    hint = "redirect the URL on your host; otherwise it shows the 404 page"
    notices += [
        Notice("changed", f'unsupported page URL "{alias}"', source, hint=hint)
        for alias in aliases
        if alias not in fit
    ]
    return found, tuple(notices)


def _dates(front: Mapping[str, Any], found: dict[str, Any], source: str) -> Iterator[Notice]:
    date = front.get("date")
    published = front.get("publishdate") or front.get("pubdate") or front.get("published")
    first, release = parse_day(date), parse_day(published)
    shown = published if release and not first else date
    if first and release and release > first:
        found["publish_date"] = date_text(published)
    if expiry := date_text(front.get("expirydate") or front.get("unpublishdate")):
        found["expiry_date"] = expiry
    updated = front.get("lastmod") or front.get("modified") or front.get("updated")
    for key, value in (("date", shown), ("updated", updated)):
        if text := date_text(value):
            found[key] = text
        elif value and not isinstance(value, bool):
            message = f'invalid date "{value}" in front matter key "{key}"'
            yield Notice("mistake", message, source, hint=f"write a date such as `{key}: 2024-03-01`")


def _draft(front: Mapping[str, Any], found: dict[str, Any], source: str) -> Iterator[Notice]:
    """Set `draft` or `unlisted` in `found` for a page that Hugo hides, so that the import publishes nothing
    hidden. Yield notices."""
    build = front.get("build") or front.get("_build")
    renders = build.get("render", "always") if isinstance(build, Mapping) else "always"
    reasons = {"headless": front.get("headless") is True, "build.render": renders in (False, "never", "link")}
    if front.get("draft") is True or str(front.get("draft")).casefold() == "true":
        found["draft"] = True
    if isinstance(build, Mapping) and build.get("list") in (False, "never"):
        found["unlisted"] = True
    for name, holds in reasons.items():
        if holds:
            found["draft"] = True
            hint = "remove `draft: true` to publish the page"
            yield Notice(
                "changed", f'unsupported front matter "{name}": the page becomes a draft', source, hint=hint
            )


def _authors(front: Mapping[str, Any]) -> list[str]:
    written = front.get("authors") or front.get("author")
    every = as_list(written)
    names = [each.get("name") if isinstance(each, Mapping) else each for each in every]
    return [text for name in names if (text := one_line(name)) and text != "admin"]


def _aliases(front: Mapping[str, Any], document: HugoDocument) -> list[str]:
    """Return the old URLs in the front matter key `aliases`. An alias without a leading slash is relative to
    the page's URL."""
    folder = document.address.rstrip("/").rpartition("/")[0]
    start = f"/{document.language}" if document.language else ""
    found = []
    for alias in read_strings(front.get("aliases") or front.get("alias")):
        address = f"{start}{alias}" if alias.startswith("/") else f"{folder}/{alias}"
        if address.strip("/") and address.strip("/").casefold() != document.address.strip("/").casefold():
            found.append(address)
    return list({address.strip("/").casefold(): address for address in reversed(found)}.values())[::-1]


def image_candidates(front: Mapping[str, Any]) -> Iterator[str]:
    """Yield the URLs that may be the page's image, most likely first."""
    cover = front.get("cover")
    written = [
        cover.get("image") if isinstance(cover, Mapping) else cover,
        *(front.get(key) for key in ("image", "featured_image", "featuredimage", "thumbnail", "banner")),
        *read_strings(front.get("images")),
        *_named_resources(front.get("resources")),
    ]
    for each in written:
        address = each.get("filename") or each.get("src") if isinstance(each, Mapping) else each
        if isinstance(address, str) and address.strip():
            yield address.strip()


def _named_resources(resources: Any) -> Iterator[str]:
    """Yield the files in `resources` that have a name which themes use for the page's image."""
    for each in resources if isinstance(resources, list) else ():
        if isinstance(each, Mapping) and each.get("name") in _COVERS:
            yield str(each.get("src") or "")


def read_data(root: Path, config: HugoConfig) -> dict[str, Any]:
    """Return the content of the data files as nested mappings. Keys are the names of folders, and of files
    without extension.

    Files that cannot be read are omitted.
    """
    found: dict[str, Any] = {}
    for file in mounted_files(root, find_mounts(config, "data")):
        text = read_text(root / file.path) if file.path.suffix.lower() in FORMS else None
        if text is not None:
            _store_value(found, file.target, _load(text, file.path.suffix.lower()))
    return found


def _load(text: str, suffix: str) -> Any:
    try:
        if suffix == ".json":
            # in data files, a list may be at the top level, but the reader requires a mapping
            return json.loads(text)
        return load_yaml(text) if suffix in (".yaml", ".yml") else load_data(text, FORMS[suffix])
    except (DataTextError, ValueError, RecursionError):
        return None


def _store_value(found: dict[str, Any], place: PurePosixPath, value: Any) -> None:
    for folder in place.parent.parts:
        inner = found.setdefault(folder, {})
        if not isinstance(inner, dict):
            return
        found = inner
    if value is not None:
        found.setdefault(place.stem, value)


_ARCHIVES = frozenset(("archives", "archive"))
_TEMPLATES = ("layouts/shortcodes", "layouts/_shortcodes")


class SiteRequirements(NamedTuple):
    """Callout kinds and files that the site must have for a page."""

    kinds: frozenset[str] = frozenset()
    """Kinds of callouts that the settings of the new site must define."""
    assets: Mapping[str, Path] = MappingProxyType({})
    """Path below `static/` → file of `assets/` to copy there."""


class HugoPageTranslator:
    """Translator for the documents of one site, with the data that they share. Picklable."""

    def __init__(self, root: Path, config: HugoConfig, files: HugoFiles) -> None:
        self._root = root
        self._config = config
        self._documents = files.documents
        self._links = LinkTable(root, config, files.documents, files.copied)
        self._templates = _templates(root / config.folder)
        self._kinds: set[str] = set()
        self.macros = _macros(root / config.folder)
        """TeX macros of the whole site: name with backslash → TeX."""

    @cached_property
    def _data(self) -> dict[str, Any]:
        return read_data(self._root, self._config)

    def translate_number(self, number: int) -> tuple[ImportedPage, SiteRequirements]:
        """Return the page of a document, and what the page needs from the site. The time limit for pages
        applies. number: index of the document."""
        page = translate_document(self.translate, self._documents[number])
        kinds, self._kinds = frozenset(self._kinds), set()
        return page, SiteRequirements(kinds, self._links.take_shown_assets())

    def translate(self, document: HugoDocument) -> ImportedPage:
        """Translate a document to a page."""
        layout = str(document.front.get("layout") or document.front.get("type") or "").casefold()
        front, notices = page_front(document)
        found = [*document.notices, *notices, *self._raw_html(document)]
        text = self._text(document, found)
        if layout in _ARCHIVES and not document.body.strip():
            text = "[→](/archive/)"
        if image := self._image(document):
            front["image"] = image
        home = PurePosixPath("_index.md")
        if document.content_path == home and document.address == "/" and len(self._config.languages) > 1:
            # Hugo redirects from the folder of the site's language to its home page
            front["aliases"] = [*front.get("aliases", ()), f"/{self._config.default_language.casefold()}/"]
        delimiters = self._config.passthrough
        mark = "" if delimiters is None else PASSTHROUGH.format(" ".join(delimiters))
        return ImportedPage(
            path=PurePosixPath("content") / document.content_path,
            front=front,
            text=text,
            source=document.path.as_posix(),
            original=document.body + mark,
            first_line=document.first_line,
            address=document.address,
            notices=tuple(found),
        )

    def _raw_html(self, document: HugoDocument) -> Iterator[Notice]:
        """Yield notices about raw HTML, which Hugo omits by default."""
        is_kept = self._config.value("markup", "goldmark", "renderer", "unsafe") is True
        if is_kept or not document.is_markdown or not re.search("<[A-Za-z]", document.body):
            return
        for segment in divide(document.body, formula_dialect(self._config)):
            if segment.kind in ("tag", "opaque"):
                line = LineFinder(document.body, document.first_line).line_of_offset(segment.start)
                message = (
                    'HTML that Hugo omits without "markup.goldmark.renderer.unsafe" is shown in the new site'
                )
                yield Notice("changed", message, document.path.as_posix(), line)
                return

    def _text(self, document: HugoDocument, notices: list[Notice]) -> str:
        lines = LineFinder(document.body, document.first_line)
        source = document.path.as_posix()

        def notice(kind: NoticeKind, message: str, hint: str, removed: str) -> None:
            name = re.escape(_shortcode_name(message))
            line = lines.search(rf"\{{\{{[<%]\s*{name}(?!\w)") if name else 0
            notices.append(Notice(kind, message, source, line, hint, removed))

        finished = HiddenFragments()
        text = self.expand_calls(document, finished, notice)
        if document.is_markdown:
            title = str(document.front.get("title") or "")
            if self._config.value("markup", "goldmark", "parser", "autoheadingidtype") in (None, "github"):
                masked = mask(text, formula_dialect(self._config))
                text = masked.restore(add_heading_ids(masked.text, masked.restore, HUGO))
            text = rewrite_formulas(text, self._config)
            text = rewrite_markdown(text, self._config, title=title, notice=notice)
        text = rewrite(text, lambda masked: self._links.rewrite(masked, document))
        return join_tabs(finished.restore(text))

    def expand_calls(
        self,
        document: HugoDocument,
        finished: HiddenFragments,
        notice: Callable[[NoticeKind, str, str, str], None],
    ) -> str:
        """Return the text of a document with its shortcodes translated. finished: collection of fragments
        that later conversions must not change. notice: function that gets kind, message, hint and the removed
        text."""
        context = CallContext(
            finished=finished,
            link=lambda target: self._links.reference(target, document),
            image=lambda address: self._links.destination(address, document),
            param=lambda name: self._param(name, document.front),
            file=lambda name: self._file(name, document),
            notice=notice,
            data=lambda: self._data,
            kinds=self._kinds,
        )
        return HugoShortcodeTranslator(context, self._templates).translate(document.body)

    def _param(self, name: str, front: Mapping[str, Any]) -> str:
        value = front.get(name.casefold())
        if value is None:
            value = self._config.value("params", *name.casefold().split("."))
        return str(value) if isinstance(value, (str, int, float)) else ""

    def _file(self, name: str, document: HugoDocument) -> str:
        site = self._root / self._config.folder
        beside = self._root / document.path.parent / name
        for file in (beside, site / name.lstrip("/"), site / "assets" / name.lstrip("/")):
            if file.resolve().is_relative_to(self._root.resolve()) and file.is_file():
                return read_text(file) or ""
        return ""

    def _image(self, document: HugoDocument) -> str:
        """Return the URL of the page's image; empty if it is not a file of the site."""
        for written in image_candidates(document.front):
            address = self._links.destination(written, document)
            if self._links.has_file(address, document):
                return address
        if document.is_bundle:
            pictures = self._links.neighbours(document)
            return next((name for name in pictures if PurePosixPath(name).stem == "featured"), "")
        return ""


_SHORTCODE_NAME = lazy_pattern(r"\bshortcode \"([^\"\s]+)\"")


def _shortcode_name(message: str) -> str:
    found = _SHORTCODE_NAME.search(message)
    return found[1] if found else ""


def _templates(site: Path) -> dict[str, str]:
    """Return name → source of the shortcode templates of the site and its themes. Templates of the site take
    precedence."""
    found: dict[str, str] = {}
    themes = sorted((site / "themes").iterdir()) if (site / "themes").is_dir() else []
    for folder in (site, *themes):
        for place in _TEMPLATES:
            top = folder / place
            for path in walk_files(top, skipped=()) if top.is_dir() else ():
                if path.suffix == ".html" and (text := read_text(top / path)) is not None:
                    found.setdefault(path.with_suffix("").as_posix().casefold(), text)
    return found


def _macros(site: Path) -> dict[str, str]:
    """Return name with backslash → TeX, for the macros that the site's templates define for MathJax or
    KaTeX."""
    found: dict[str, str] = {}
    for folder in ("layouts", "assets", "static"):
        top = site / folder
        for path in walk_files(top) if top.is_dir() else ():
            if path.suffix in (".html", ".js") and path.name.endswith(".min.js") is False:
                text = read_text(top / path) or ""
                if "acros" in text:
                    found |= script_macros(text)
                if folder == "layouts" and "\\newcommand" in text:
                    found |= tex_macros(text)
    return found
