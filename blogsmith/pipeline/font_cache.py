"""The math fonts of the site, with the signs of each page remembered as long as its HTML is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model.template_views import PageView
from ..project.context import SiteContext
from ..site.math_font import MathFonts, fonts_of, page_signs


@dataclass(slots=True)
class FontCache:
    """Belongs to one preview, and is used by one thread."""

    _signs: dict[str, tuple[tuple[str, str, str], frozenset[str]]] = field(default_factory=dict)

    def apply(self, views: Sequence[PageView], context: SiteContext) -> tuple[list[PageView], MathFonts]:
        """The pages with the addresses of their fonts, and these fonts."""
        font = context.theme.files.math_font
        if font is None:
            return list(views), MathFonts(None)
        signs = {view.url: self._signs_of(view) for view in views}
        self._signs = {url: known for url, known in self._signs.items() if url in signs}
        folder = f"{context.config.base_path}/{font.asset.path.parent}"
        fonts = fonts_of(signs, folder, font.asset.path.stem, font.version)
        return [fonts.apply_to(view) for view in views], fonts

    def _signs_of(self, view: PageView) -> frozenset[str]:
        html = (view.content, view.title_html, view.description_html)
        known = self._signs.get(view.url)
        # equal texts are mostly the same object, so this is quick
        if known is None or known[0] != html:
            known = self._signs[view.url] = (html, page_signs(view))
        return known[1]
