"""Which signs the formulas of a site print, and the fonts that hold just those.

A site has one font for all its pages, so that a reader loads it once. A page with very many signs, such as
a table of all commands, would make that font large for everybody: it gets one of its own. Every font also
holds `COMMON`, so its address seldom changes and simple sites share a cut made beforehand.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ..model.template_views import PageView
from ..tex.mathml.signs import signs_of, split_signs

FAMILY = "Site Math"
"""How style sheets of themes call the font, whichever it is."""
COMMON = frozenset(
    (
        *map(chr, range(0x20, 0x7F)),
        *"𝐴𝐵𝐶𝐷𝐸𝐹𝐺𝐻𝐼𝐽𝐾𝐿𝑀𝑁𝑂𝑃𝑄𝑅𝑆𝑇𝑈𝑉𝑊𝑋𝑌𝑍",
        *"𝑎𝑏𝑐𝑑𝑒𝑓𝑔ℎ𝑖𝑗𝑘𝑙𝑚𝑛𝑜𝑝𝑞𝑟𝑠𝑡𝑢𝑣𝑤𝑥𝑦𝑧",
        *"ΓΔΘΛΠΣΦΨΩ𝛼𝛽𝛾𝛿𝜀𝜂𝜃𝜅𝜆𝜇𝜈𝜉𝜋𝜌𝜎𝜏𝜑𝜒𝜓𝜔𝜖𝜙",
        *"±·×…′ˆ˜¯‾→←⇒⇔↦∀∂∃∇∈∉∏∑−∘√∝∞∩∪∫∼≈≠≡≤≥≪≫⊂⊆⊕⊙⊤⊥⋅⋮⋯⋱ℓ‖⟨⟩ℝ\u2061\u00a0",
    )
)
"""What most posts print. Little enough that no reader minds loading it."""
SHARED_SIGNS = 600
"""So many signs take about 55 kB; a page that brings in more has a font of its own."""

_RECIPE = "1"
"""Changes when `font_cut` makes another font of the same signs."""


class FontCut(Struct, frozen=True):
    """The math font with some signs only."""

    name: str
    """File name without suffix: that of the font, and a key to signs and font."""
    signs: tuple[str, ...]
    """Sorted; a sign is a character, or one with the variation selector behind it."""


class MathFonts(Struct, frozen=True):
    """The fonts of a site."""

    shared: FontCut | None
    """None if no page has a formula."""
    folder: str = ""
    """Where they lie in the finished site, with base path."""
    own: tuple[tuple[str, FontCut], ...] = ()
    """Pages with a font of their own: URL and font."""

    def apply_to(self, page: PageView) -> PageView:
        """The page with the address of its font.

        Also without formulas of its own: scripts may show it those of other pages, and what is
        not used is not loaded.
        """
        if self.shared is None:
            return page
        cut = dict(self.own).get(page.url, self.shared)
        return replace(page, math_font=f"{self.folder}/{cut.name}")

    def cuts(self) -> tuple[FontCut, ...]:
        """Every font once, by name."""
        found = {cut.name: cut for _, cut in self.own}
        if self.shared:
            found[self.shared.name] = self.shared
        return tuple(found[name] for name in sorted(found))


def fonts_of(by_page: Mapping[str, str], folder: str, stem: str, digest: str) -> MathFonts:
    """The fonts for pages that print these signs, by URL.

    by_page: as `join_signs` gives them.
    folder: see `MathFonts`. stem: file name of the whole font, without suffix. digest: hex SHA-256 of it.
    """
    if not any(by_page.values()):
        return MathFonts(None)
    # most pages print no others than the common ones
    texts = {url: text for url, text in by_page.items() if not COMMON.issuperset(text)}
    rare = {url: signs for url, text in texts.items() if (signs := split_signs(text) - COMMON)}
    heavy = _heavy(rare)
    signs = COMMON.union(*(found for url, found in rare.items() if url not in heavy))
    own = tuple((url, font_cut_of(signs | rare[url], stem, digest)) for url in sorted(heavy))
    return MathFonts(font_cut_of(signs, stem, digest), folder, own)


def page_signs(page: PageView) -> frozenset[str]:
    """What the formulas of the page itself print; those of pages it lists count where they stand."""
    return signs_of((page.content, page.title_html, page.description_html))


def font_cut_of(signs: Iterable[str], stem: str, digest: str) -> FontCut:
    """The cut with these signs."""
    ordered = tuple(sorted(signs))
    key = hashlib.sha256("\n".join((_RECIPE, digest, *ordered)).encode()).hexdigest()[:10]
    return FontCut(f"{stem}-{key}", ordered)


def font_face(address: str) -> str:
    """The rules by which pages know a font as `FAMILY`. address: of the font without suffix."""
    source = f'  src: url("{address}.woff2") format("woff2");\n  font-display: swap;\n'
    heights = "  ascent-override: 52.4%;\n  descent-override: 0%;\n  line-gap-override: 0%;\n"
    return (
        f'@font-face {{\n  font-family: "{FAMILY}";\n{source}{heights}}}\n'
        f'@font-face {{\n  font-family: "{FAMILY} Space";\n  unicode-range: U+20;\n{source}{heights}}}\n'
    )


def _heavy(rare: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The fewest pages without which the others' signs fit a small font; those with most signs go first."""
    heavy: set[str] = set()
    pages = Counter(sign for signs in rare.values() for sign in signs)
    for url in sorted(rare, key=lambda url: (-len(rare[url]), url)):
        if len(COMMON) + len(pages) <= SHARED_SIGNS:
            break
        heavy.add(url)
        for sign in rare[url]:
            pages[sign] -= 1
            if not pages[sign]:
                del pages[sign]
    return frozenset(heavy)
