"""The subset of the math font with the symbols of a site, and its files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import read_bytes, read_or_make
from ..model.documents import Output
from ..model.generated_files import GeneratedFile, OutputFile
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..site.frame import RenderedDocument
from ..site.math_font import FontSubset, MathFonts, font_face, fonts_of, page_signs
from ..tex.mathml.signs import join_characters


def add_fonts(
    views: Sequence[PageView], rendered: Mapping[str, RenderedDocument], context: SiteContext
) -> tuple[list[PageView], MathFonts]:
    """Return the pages with the URLs of their fonts, and the fonts. rendered: by source path."""
    font = context.theme.files.math_font
    if font is None:
        return list(views), MathFonts(None)
    signs = {view.url: _page_symbols(view, rendered.get(view.path)) for view in views}
    folder = f"{context.config.base_path}/{font.asset.path.parent}"
    fonts = fonts_of(signs, folder, font.asset.path.stem, font.version)
    return [fonts.apply_to(view) for view in views], fonts


def _page_symbols(view: PageView, item: RenderedDocument | None) -> str:
    # only the first page of a paginated list shows the text of its source file
    return item.body.signs if item and item.body.content == view.body else join_characters(page_signs(view))


def make_fonts(fonts: MathFonts, context: SiteContext) -> list[Output]:
    """Return the fonts, each with its stylesheet. Raises SiteError if the theme's font cannot be subset."""
    made = []
    for cut in fonts.cuts():
        font = _font_file(cut, context)
        made += [font, Output(font.path.with_suffix(".css"), font_face(cut.name).encode())]
    return made


def plan_fonts(fonts: MathFonts, context: SiteContext) -> list[OutputFile]:
    """Return the fonts and stylesheets as files that are made on request."""
    font = context.theme.files.math_font
    found: list[OutputFile] = []
    if font is None:
        return found
    origin = f'the math font of theme "{context.theme.name}"'
    for cut in fonts.cuts():
        path = font.asset.path.with_name(f"{cut.name}.woff2")
        found.append(OutputFile(path, origin, partial(font_bytes, cut, context)))
        found.append(OutputFile(path.with_suffix(".css"), origin, font_face(cut.name).encode))
    return found


def plan_subsetting(fonts: MathFonts, context: SiteContext) -> list[OutputFile]:
    """Return the fonts that may have to be subset, each of which takes half a second. `make_fonts` finds the
    results in the cache."""
    font = context.theme.files.math_font
    if font is None or not can_subset():
        return []
    return [
        OutputFile(
            font.asset.path.with_name(f"{cut.name}.woff2"),
            f'the math font of theme "{context.theme.name}"',
            GeneratedFile(partial(font_bytes, cut, context), (), key=cut.name, is_slow=True),
        )
        for cut in fonts.cuts()
        if not font.asset.file.with_name(f"{cut.name}.woff2").is_file()
        and read_bytes(context.root, "fonts", f"{cut.name}.woff2") is None
    ]


def font_bytes(cut: FontSubset, context: SiteContext) -> bytes:
    """Return the bytes of a subset. Raises SiteError like `make_fonts`."""
    made = _font_file(cut, context)
    return made.file.read_bytes() if made.file else made.data or b""


def _font_file(cut: FontSubset, context: SiteContext) -> Output:
    font = context.theme.files.math_font
    assert font is not None, "subsets exist only if the theme has a math font"
    name = f"{cut.name}.woff2"
    path, beside = font.asset.path.with_name(name), font.asset.file.with_name(name)
    if beside.is_file():
        return Output(path, file=beside)
    if not can_subset():
        # without the package, the full font: large, but better than formulas without their symbols
        return Output(path, file=font.asset.file)
    source = font.asset.file
    try:
        data = read_or_make(context.root, "fonts", name, lambda: cut_font(source.read_bytes(), cut.signs))
        return Output(path, data)
    except FontError as problem:
        message = f'math font "{source.name}" of theme "{context.theme.name}" cannot be subset: {problem}'
        raise SiteError(Diagnostic("theme-value", message, hint="choose another `math_font`")) from problem


# Subsetting of a math font: the subset contains everything that a browser needs for the given symbols.
#
# The MATH table is complete for the remaining glyphs: constants, larger brackets, parts of long arrows.
# fontTools is imported only when a font is subset.


_FEATURES = ("ccmp", "dtls", "flac", "ssty", "math")
"""OpenType features to keep: combining marks, dotless and flattened accents, forms for sub- and
superscripts."""
_NAMES = (0, 1, 2, 3, 4, 5, 6, 13, 14)
"""Ids of the entries of the name table to keep: copyright, names, version and licence."""


class FontError(Exception):
    """The file is not a font that can be subset."""


def can_subset() -> bool:
    """Return whether the required packages are installed."""
    return find_spec("fontTools") is not None and find_spec("brotli") is not None


def cut_font(font: bytes, signs: Collection[str]) -> bytes:
    """Return a WOFF2 font with the `signs` of `font` (TTF, OTF or WOFF). Raises FontError on failure. signs:
    characters, some followed by a variation selector. Those that the font lacks are ignored. The same input
    gives the same bytes."""
    from fontTools.ttLib import TTFont

    try:
        # `recalcTimestamp` would write the current time into the font
        opened = TTFont(BytesIO(font), recalcTimestamp=False, lazy=True)
        if "MATH" not in opened:
            raise FontError("it has no MATH table")
        return _subset(opened, signs)
    except FontError:
        raise
    except Exception as error:
        # a damaged font can raise any exception
        raise FontError(str(error) or type(error).__name__) from error


def _subset(font: Any, signs: Collection[str]) -> bytes:
    from fontTools.subset import Options, Subsetter

    _keep_selected(font, signs)
    options = Options(
        layout_features=list(_FEATURES),
        name_IDs=list(_NAMES),
        hinting=False,
        glyph_names=False,
        notdef_outline=True,
        ignore_missing_unicodes=True,
        # mirrored forms are needed only for text from right to left
        bidi_closure=False,
    )
    options.drop_tables = [*options.drop_tables, "GPOS"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes={ord(part) for sign in signs for part in sign})
    subsetter.subset(font)
    font.flavor = "woff2"
    made = BytesIO()
    font.save(made)
    return made.getvalue()


def _keep_selected(font: Any, signs: Collection[str]) -> None:
    """Remove glyphs for variation selectors that are not in `signs`."""
    asked = {(ord(sign[0]), ord(sign[1])) for sign in signs if len(sign) == 2}
    for table in font["cmap"].tables:
        if table.format == 14:
            kept = {
                selector: [(code, glyph) for code, glyph in pairs if (code, selector) in asked]
                for selector, pairs in table.uvsDict.items()
            }
            table.uvsDict = {selector: pairs for selector, pairs in kept.items() if pairs}
    font["cmap"].tables = [t for t in font["cmap"].tables if t.format != 14 or t.uvsDict]
