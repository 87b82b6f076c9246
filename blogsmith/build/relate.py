"""Relations of pages to the site: the data that their views are built from, and checks of the menu."""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath

from ..base.diagnostics.model import Diagnostic, Reporter, nearest
from ..config.languages import find_version, version_config
from ..config.load import CONFIG_NAME
from ..config.schema import Config, MenuItem
from ..model.documents import Body, Document, FrontMatter, Source
from ..model.pictures import ImageInfo
from ..model.remote_images import REMOTE_HINT, format_remote_message
from ..model.title_code import title_without_marks
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..project.report import BuildLog
from ..site.frame import RenderedDocument, UnpublishedPost, ViewContext
from ..site.images import resolve_image
from ..site.index import SiteIndex, resolve_link
from ..stages.git_dates import read_git_dates


def place_document(document: Document, body: Body, loaded: LoadedSite) -> RenderedDocument:
    """Return a rendered document with its URL, kind and section."""
    path, urls = str(document.path), loaded.urls
    return RenderedDocument(
        document, body, urls.urls[path], urls.kinds[path], urls.sections[path], urls.editions.get(path, "")
    )


def menu_problems(context: SiteContext, index: SiteIndex) -> list[Diagnostic]:
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


def build_frame(context: SiteContext, index: SiteIndex, loaded: LoadedSite, log: BuildLog) -> ViewContext:
    """Return the data that all views are built from."""

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

    config, find_language = version_config("", context.config), context.theme.language
    layouts = frozenset(context.theme.layouts())
    language = find_language(config.lang)
    return ViewContext(
        config,
        index.with_base,
        image,
        layouts,
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


def unpublished_parts(loaded: LoadedSite, config: Config) -> list[UnpublishedPost]:
    """Return the parts of series that are not built, without those that require protection."""
    found = []
    for document, state in loaded.unbuilt.values():
        series = document.front.series
        if series and state != "protected":
            edition = find_version(document.front.lang, config)
            title = title_without_marks(document.front.title) or document.path.stem
            found.append(UnpublishedPost(title, series.name, series.part, edition))
    return found
