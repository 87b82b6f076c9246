"""Relations of pages to the site: the data that all views share, and checks of the menu."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter, format_suggestion, nearest
from ..config.languages import find_version, version_config
from ..config.load import CONFIG_NAME
from ..config.schema import Config, MenuItem
from ..model.documents import Body, Document, FrontMatter, Source
from ..model.pictures import ImageInfo, ImageVariant
from ..model.profiles import Portrait
from ..model.remote_images import REMOTE_HINT, format_remote_message
from ..model.title_code import title_without_marks
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..project.report import BuildLog
from ..render.variants import srcset_of, variants_of
from ..site.citation_data import is_citable, page_authors
from ..site.foreign_keys import find_read_keys, foreign_key_warnings, has_foreign_keys
from ..site.frame import RenderedDocument, UnpublishedPost, ViewContext
from ..site.images import Measure, resolve_image
from ..site.index import SiteIndex, resolve_link
from ..stages.git_dates import read_git_dates

_PORTRAIT_WIDTHS = (160, 320, 480)
"""Widths of the copies of a portrait, which pages show 160 pixels wide."""


def place_document(document: Document, body: Body, loaded: LoadedSite) -> RenderedDocument:
    """Return a rendered document with its URL, kind and section."""
    path, urls = str(document.path), loaded.urls
    return RenderedDocument(
        document, body, urls.urls[path], urls.kinds[path], urls.sections[path], urls.editions.get(path, "")
    )


def settings_problems(context: SiteContext, index: SiteIndex, loaded: LoadedSite) -> list[Diagnostic]:
    """Return diagnostics about pages and sections that are named in the settings but missing in the site."""
    return [*_menu_problems(context, index), *_list_problems(context, loaded)]


def _menu_problems(context: SiteContext, index: SiteIndex) -> list[Diagnostic]:
    """Return errors for menu entries that do not point to a page of the site."""
    reporter = Reporter(CONFIG_NAME, context.settings.lines)
    at_the_root = Document(Source(PurePosixPath(CONFIG_NAME), "", ""), FrontMatter(), "", 1)
    config = context.config
    menus: dict[tuple[str, ...], tuple[MenuItem, ...]] = {("menu",): config.menu}
    menus |= {("languages", tag, "menu"): found.menu for tag, found in config.languages.items()}
    for path, menu in menus.items():
        for number, item in enumerate(menu):
            target = resolve_link(index, item.url, at_the_root)
            if target.problem:
                place = context.settings.locations.get((*path, number, "url"))
                fix = reporter.substitute(place, target.written, target.correction or None)
                reporter.error(target.code, target.problem, place, target.hint, fix)
    return reporter.diagnostics


class _Portraits(Struct, frozen=True):
    """The portraits that the settings name."""

    by_path: Mapping[str, Portrait]
    """Path in the settings → portrait."""
    variants: tuple[ImageVariant, ...]
    """Smaller copies that pages refer to."""


def _read_portraits(
    context: SiteContext, index: SiteIndex, loaded: LoadedSite, measure: Measure, log: BuildLog
) -> _Portraits:
    """Return the portraits of people in the settings. Report portraits that cannot be shown."""
    config, reporter = context.config, Reporter(CONFIG_NAME, context.settings.lines)
    people = {("person",): config.person} | {("authors", key): one for key, one in config.authors.items()}
    at_the_root = Document(Source(PurePosixPath(CONFIG_NAME), "", ""), FrontMatter(), "", 1)
    found, copies = dict[str, Portrait](), list[ImageVariant]()
    settings = replace(config.images, widths=_PORTRAIT_WIDTHS, formats=config.images.formats[-1:])
    for path, person in people.items():
        if not person.portrait:
            continue
        image = resolve_image(index, person.portrait, at_the_root, loaded.assets, measure)
        if isinstance(image, ImageInfo):
            own = variants_of(image, settings)
            srcset = srcset_of(own, settings.formats[0], config.base_path) if own else ""
            url = f"{config.base_path}/{own[-1].path}" if own else image.url
            found[person.portrait] = Portrait(url, image.width_px, image.height_px, srcset)
            copies += own
        else:
            place = context.settings.locations.get((*path, "portrait"))
            fix = reporter.substitute(place, image.written, image.correction or None)
            reporter.error(image.code, image.problem, place, image.hint, fix)
    log.add(reporter.diagnostics)
    return _Portraits(found, tuple(copies))


def _list_problems(context: SiteContext, loaded: LoadedSite) -> list[Diagnostic]:
    """Return warnings for sections in `lists.sections` that do not exist."""
    reporter = Reporter(CONFIG_NAME, context.settings.lines)
    known = sorted({name for name in loaded.urls.sections.values() if name})
    for name in context.config.list_settings.sections:
        if name.strip("/") not in known:
            place = context.settings.key_locations.get(("lists", "sections", name))
            near = nearest(name, known)
            hint = format_suggestion(near) or "write the path of a folder with posts, such as `posts`"
            fix = reporter.correct(place, name, near)
            reporter.warn("config-value", f'unknown section "{name}"', place, hint, fix)
    return reporter.diagnostics


def build_frame(
    context: SiteContext,
    index: SiteIndex,
    loaded: LoadedSite,
    measure: Measure,
    log: BuildLog,
) -> ViewContext:
    """Return the data that all views share."""

    def image(path: str, document: Document) -> str:
        found = resolve_image(index, path, document, loaded.assets, lambda file: ImageInfo("", None, None))
        reporter = Reporter(str(document.path), document.source.text.split("\n"))
        place = document.front.places.get("image")
        if not isinstance(found, ImageInfo):
            fix = reporter.substitute(place, found.written, found.correction or None)
            reporter.error(found.code, found.problem, place, found.hint, fix)
        elif found.is_remote and index.remote.rule == "warn":
            reporter.warn("image-remote", format_remote_message(path), place, REMOTE_HINT)
        log.add(reporter.diagnostics)
        return found.url if isinstance(found, ImageInfo) else ""

    history = read_git_dates(context, loaded.documents)
    log.add(history.diagnostics)

    def git_date(document: Document) -> dt.datetime | None:
        return history.dates.get(str(document.path)) if document.front.is_dated_by_git else None

    portraits = _read_portraits(context, index, loaded, measure, log)
    config, find_language = version_config("", context.config), context.theme.language
    layouts = frozenset(context.theme.layouts())
    language = find_language(config.lang)
    return ViewContext(
        config,
        index.with_base,
        image,
        layouts,
        portraits=portraits.by_path,
        copies=portraits.variants,
        git_date=git_date,
        language=language,
        find_language=find_language,
        settings=context.config,
    )


def layout_problems(document: Document, context: SiteContext) -> list[Diagnostic]:
    """Return a warning if the layout of a page does not exist. The page then uses the layout for its kind."""
    named, theme = document.front.template, context.theme
    if not named or named in theme.layouts():
        return []
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    place, hint = document.front.places.get("template"), theme.layout_hint(named)
    fix = reporter.correct(place, named, nearest(named, theme.layouts()))
    reporter.warn("layout-unknown", f'unknown layout "{named}"', place, hint, fix)
    return reporter.diagnostics


def citable_problems(document: Document, context: SiteContext) -> list[Diagnostic]:
    """Return a warning if a page with “Cite this post” has no author."""
    front, config = document.front, context.config
    if page_authors(front, config) or not is_citable(front, config):
        return []
    reporter = Reporter(str(document.path), document.source.text.split("\n"))
    place = front.places.get("citable") or front.places.get("doi")
    hint = "write `authors: NAME` here, or `author: NAME` in blogsmith.yaml"
    reporter.warn("citable-author", "missing author in the citation of this page", place, hint)
    return reporter.diagnostics


def foreign_key_problems(document: Document, context: SiteContext) -> tuple[Diagnostic, ...]:
    """Return warnings about front matter keys of other systems that nothing on this site reads."""
    plugins = context.plugins
    if plugins.installed or not has_foreign_keys(document.front.extra):
        return ()
    templates = (file.text for file in context.theme.files.templates.values())
    code = (
        data.decode("utf-8", "replace") for data in (plugins.code.sources.values() if plugins.code else ())
    )
    read = find_read_keys(templates, code, context.config)
    return () if read.reads_all else foreign_key_warnings(document, read)


def unpublished_parts(loaded: LoadedSite, config: Config) -> list[UnpublishedPost]:
    """Return the posts of series that are not built, except for those that request protection."""
    found = []
    for document, state in loaded.unbuilt.values():
        series = document.front.series
        if series and state != "protected":
            edition = find_version(document.front.lang, config)
            title = title_without_marks(document.front.title) or document.path.stem
            found.append(UnpublishedPost(title, series.name, series.part, edition))
    return found
