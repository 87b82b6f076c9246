"""The symbols that a site's formulas print, and subsets of the math font that contain them.

All pages share one font, so readers load it only once. A page with very many symbols, such as a table of all
commands, gets its own font, because the shared one would become large for every reader. Every font also
contains the symbols in `COMMON`: so its URL seldom changes, and simple sites use a subset made in advance.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ..model.template_views import PageView
from ..tex.mathml.signs import find_formula_characters, split_characters

FAMILY = "Site Math"
"""Font family name in the stylesheets of themes, the same for all subsets."""
COMMON = frozenset(
    (
        *map(chr, range(0x20, 0x7F)),
        *"𝐴𝐵𝐶𝐷𝐸𝐹𝐺𝐻𝐼𝐽𝐾𝐿𝑀𝑁𝑂𝑃𝑄𝑅𝑆𝑇𝑈𝑉𝑊𝑋𝑌𝑍",
        *"𝑎𝑏𝑐𝑑𝑒𝑓𝑔ℎ𝑖𝑗𝑘𝑙𝑚𝑛𝑜𝑝𝑞𝑟𝑠𝑡𝑢𝑣𝑤𝑥𝑦𝑧",
        *"ΓΔΘΛΠΣΦΨΩ𝛼𝛽𝛾𝛿𝜀𝜂𝜃𝜅𝜆𝜇𝜈𝜉𝜋𝜌𝜎𝜏𝜑𝜒𝜓𝜔𝜖𝜙",
        *"±·×…′ˆ˜¯‾→←⇒⇔↦∀∂∃∇∈∉∏∑−∘√∝∞∩∪∫∼≈≠≡≤≥≪≫⊂⊆⊕⊙⊤⊥⋅⋮⋯⋱ℓ‖⟨⟩ℝ\u2061\u00a0",
    )
)
"""Symbols that most posts print; few enough that the font loads quickly."""
MAX_SHARED_SYMBOLS = 600
"""Maximum number of symbols in the shared font, about 55 kB. A page with more symbols has its own font."""

_RECIPE = "1"
"""Version of the subsetting. Increase it when the same symbols give a different font."""


class FontSubset(Struct, frozen=True):
    """A subset of the math font."""

    name: str
    """File name of the font without suffix, with a digest of the symbols and the full font."""
    signs: tuple[str, ...]
    """Sorted symbols. Each is a character, or a character followed by a variation selector."""


class MathFonts(Struct, frozen=True):
    """The math fonts of a site."""

    shared: FontSubset | None
    """The font of most pages; None if no page has a formula."""
    folder: str = ""
    """Path of the fonts in the finished site, with base path."""
    own: tuple[tuple[str, FontSubset], ...] = ()
    """Pages with their own font, as pairs of URL and font."""

    def apply_to(self, page: PageView) -> PageView:
        """Return the page with the URL of its font. Pages without formulas get one too, because scripts may
        show formulas of other pages there. Browsers do not load unused fonts."""
        if self.shared is None:
            return page
        cut = dict(self.own).get(page.url, self.shared)
        return replace(page, math_font=f"{self.folder}/{cut.name}")

    def cuts(self) -> tuple[FontSubset, ...]:
        """Return every font subset of the site once, sorted by name."""
        found = {cut.name: cut for _, cut in self.own}
        if self.shared:
            found[self.shared.name] = self.shared
        return tuple(found[name] for name in sorted(found))


def fonts_of(by_page: Mapping[str, str], folder: str, stem: str, digest: str) -> MathFonts:
    """Return the fonts for the pages of a site. by_page: URL → printed symbols, as `join_characters` returns
    them. folder: see `MathFonts`. stem: file name of the full font, without suffix. digest: hex SHA-256 of
    the full font."""
    if not any(by_page.values()):
        return MathFonts(None)
    # most pages print common symbols only
    texts = {url: text for url, text in by_page.items() if not COMMON.issuperset(text)}
    rare = {url: signs for url, text in texts.items() if (signs := split_characters(text) - COMMON)}
    heavy = _pages_with_own_font(rare)
    signs = COMMON.union(*(found for url, found in rare.items() if url not in heavy))
    own = tuple((url, subset_font(signs | rare[url], stem, digest)) for url in sorted(heavy))
    return MathFonts(subset_font(signs, stem, digest), folder, own)


def page_signs(page: PageView) -> frozenset[str]:
    """Return the symbols of the page's own formulas. On a list, the formulas of listed pages do not count."""
    return find_formula_characters((page.content, page.title_html, page.description_html))


def subset_font(signs: Iterable[str], stem: str, digest: str) -> FontSubset:
    """Return the subset of the math font with these symbols. stem, digest: as in `fonts_of`."""
    ordered = tuple(sorted(signs))
    key = hashlib.sha256("\n".join((_RECIPE, digest, *ordered)).encode()).hexdigest()[:10]
    return FontSubset(f"{stem}-{key}", ordered)


def font_face(address: str) -> str:
    """Return the `@font-face` rules of `FAMILY`. address: URL of the font without suffix."""
    source = f'  src: url("{address}.woff2") format("woff2");\n  font-display: swap;\n'
    heights = "  ascent-override: 52.4%;\n  descent-override: 0%;\n  line-gap-override: 0%;\n"
    return (
        f'@font-face {{\n  font-family: "{FAMILY}";\n{source}{heights}}}\n'
        f'@font-face {{\n  font-family: "{FAMILY} Space";\n  unicode-range: U+20;\n{source}{heights}}}\n'
    )


def _pages_with_own_font(rare: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the pages that need their own font, so that the symbols of the others fit into the shared font.

    Pages with the most symbols are chosen first.
    """
    heavy: set[str] = set()
    pages = Counter(sign for signs in rare.values() for sign in signs)
    for url in sorted(rare, key=lambda url: (-len(rare[url]), url)):
        if len(COMMON) + len(pages) <= MAX_SHARED_SYMBOLS:
            break
        heavy.add(url)
        for sign in rare[url]:
            pages[sign] -= 1
            if not pages[sign]:
                del pages[sign]
    return frozenset(heavy)
