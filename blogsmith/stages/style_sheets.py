"""The style sheets of the site: one file for each group of pages and each font for formulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from posixpath import relpath

from ..base.storage.site_cache import read_or_make
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..render.templates.style_sheets import StyleSheet
from ..site.math_font import font_face

_MOST = 64
"""Sheets that are kept: those of a site, for each of its fonts, and of the settings before these."""


def sheet_files(
    views: Sequence[PageView], context: SiteContext
) -> Iterator[tuple[PurePosixPath, partial[bytes]]]:
    """Path in the output → what makes the sheet, for all that pages may name."""
    fonts = sorted({view.math_font for view in views})
    for sheet in context.theme.sheets.values():
        for path, font in {sheet.path(font): font for font in fonts}.items():
            yield path, partial(_sheet_bytes, sheet, font, context)


def _sheet_bytes(sheet: StyleSheet, font: str, context: SiteContext) -> bytes:
    path = sheet.path(font)
    make = partial(_make, sheet, font, f"{context.config.base_path}/{path.parent}")
    # a sheet that was saved a moment ago is shown under the address it had: the new one is not known yet
    return read_or_make(context.root, "styles", path.name, make, _MOST) if sheet.is_current() else make()


def _make(sheet: StyleSheet, font: str, folder: str) -> bytes:
    return sheet.text(font_face(relpath(font, folder)) if font else "").encode()
