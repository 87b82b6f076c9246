"""Theme options and stylesheets of a site: checks that their files exist, and adds versions to their URLs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any
from urllib.parse import unquote

from ..base.diagnostics.model import Diagnostic, Place, Reporter, format_suggestion, nearest
from ..base.schema.yaml_loader import YamlPath
from ..config.load import CONFIG_NAME
from ..model.documents import Asset
from ..model.generated_files import GeneratedFile
from ..model.template_views import Ground, PageView
from ..project.context import SiteContext
from ..render.templates.ground_color import find_background
from ..render.templates.style_sheets import StyleSheet, file_version
from ..site.math_font import font_face

Assets = Mapping[str, tuple[Asset, str]]
"""Result of `published_assets`."""


def resolve_options(context: SiteContext, assets: Assets) -> dict[str, Any]:
    """Return the `theme_options` of the site. URLs of the site's own files get a version, which changes with
    the file."""
    files = _published_files(context, assets)
    found = dict(context.config.theme_options)
    for path, value in option_files(context):
        name = str(path[1])
        is_one = len(path) == 2
        found[name] = (
            _add_version(value, files)
            if is_one
            else [_add_version(one, files) for one in context.config.theme_options[name]]
        )
    return found


def option_problems(context: SiteContext, assets: Assets) -> list[Diagnostic]:
    """Return errors for options that refer to files missing in the site."""
    reporter = Reporter(CONFIG_NAME, context.settings.lines)
    files = _published_files(context, assets)
    for path, value in option_files(context):
        if _is_external(value) or site_path(value) in files:
            continue
        near = nearest(value if value.startswith("/") else f"/{value}", files)
        hint = (
            format_suggestion(near)
            or f"put it into `static/`, and write its path from there, such as `/{PurePosixPath(value).name}`"
        )
        place = _place(context, path)
        fix = reporter.correct(place, value, near)
        reporter.error("config-value", f'file not found in the site: "{value}"', place, hint, fix)
    return reporter.diagnostics


def site_background(context: SiteContext, assets: Assets) -> Ground:
    """Return the background colours of pages, from the stylesheets of the theme and of the site."""
    files = _published_files(context, assets)
    theme = [
        file.asset.file
        for sheet in context.theme.sheets.values()
        if sheet.is_standalone
        for file, media in sheet.parts
        if not media
    ]
    own = [files.get(site_path(value)) for _, value in option_files(context)]
    paths = [*dict.fromkeys(theme), *(file for file in own if file and file.suffix == ".css")]
    return find_background(_texts(paths))


def _texts(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        try:
            yield path.read_text("utf-8-sig", errors="replace")
        except OSError:
            # the error is reported when the file is copied
            continue


def option_files(context: SiteContext) -> Iterator[tuple[YamlPath, str]]:
    """Yield each setting that names a file, as the path of the setting and the name of the file."""
    for name, option in context.theme.files.options.items():
        value = context.config.theme_options.get(name)
        if not value or option.problem(value):
            continue
        if option.kind == "file":
            yield ("theme_options", name), value
        elif option.kind == "files":
            yield from ((("theme_options", name, index), one) for index, one in enumerate(value))


def _published_files(context: SiteContext, assets: Assets) -> dict[str, Path]:
    """Return site path → file on disk, for each file that the build copies unchanged."""
    own = {url: asset.file for asset, url in assets.values()}
    return own | {f"/{asset.path}": asset.file for asset in context.theme.static_files()}


def _add_version(value: str, files: Mapping[str, Path]) -> str:
    file = files.get(site_path(value))
    if file is None or "?" in value or "#" in value:
        return value
    try:
        return f"{value}?v={file_version(file.read_bytes())}"
    except OSError:
        return value


def site_path(value: str) -> str:
    """Return the site path in the value of an option, without query and fragment."""
    return unquote(value.partition("#")[0].partition("?")[0])


def _is_external(value: str) -> bool:
    return value.startswith("//") or "://" in value or value.startswith("data:")


def _place(context: SiteContext, path: YamlPath) -> Place | None:
    places = context.settings.locations
    return places.get(path) or places.get(path[:2])


# The stylesheets of the site: one for each group of pages, and one for each font of formulas.


def sheet_files(
    views: Sequence[PageView], context: SiteContext
) -> Iterator[tuple[PurePosixPath, GeneratedFile]]:
    """Yield output path and content of every stylesheet that pages may use. One process makes all of them,
    because they share files."""
    fonts = sorted({view.math_font for view in views})
    for sheet in context.theme.sheets.values():
        for path, font in {sheet.path(font): font for font in fonts}.items():
            make = partial(_make, sheet, font, f"{context.config.base_path}/{path.parent}")
            # after a save, pages show the new stylesheet under its old URL until they are rendered again
            yield path, GeneratedFile(make, (), key=path.name, is_joint=True, is_current=sheet.is_current)


def _make(sheet: StyleSheet, font: str, folder: str) -> bytes:
    return sheet.text(font_face(relpath(font, folder)) if font else "").encode()
