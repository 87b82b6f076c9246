"""Everything that readers of the five posts of `tests/sites/seeds/` must find, point by point.

A point is a CSS selector with the number of elements it matches, or with text that one of them contains.
`tests/sites/seeds/README.md` lists the points; a test compares it with this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Point:
    """A check of a page."""

    name: str
    selector: str
    count: int | None = None
    """Number of matching elements; None: at least one."""
    text: str = ""
    """Text of one of them; spaces are folded."""


def figure(name: str, selector: str, caption: str) -> Point:
    """Return the point of a numbered figure with a caption."""
    return Point(name, f"figure{selector} figcaption", text=caption)


_BOXES = (
    "note",
    "tip",
    "warning",
    "question",
    "abstract",
    "definition",
    "proof",
    "example",
    "critical",
    "success",
)
DICTIONARY = (
    Point("displays", ".math-display", 3),
    *(Point(f"box {kind}", f"aside.callout-{kind} .callout-body") for kind in _BOXES),
    Point("one end of proof, not two", ".callout-proof .qed", 1),
    Point("heading with a formula", "h2#why-divide-by-sqrt-d-k math", 1),
    Point("two tables, one with formulas", ".table-wrap table", 2),
    Point(
        "space behind a click",
        "figure.hf-space a.embed-link[href*='huggingface.co/spaces/exbert-project/exbert']",
        1,
    ),
    Point("no frame before a click", "iframe", 0),
    Point("code that readers run", ".runnable .run-button", 1),
    Point("folded code", "details.collapsible summary", text="A whole block"),
    Point("video with its own picture", "figure.video-embed#fig-video img[src*='layer-1']", 1),
    figure("number and formula in the caption of a video", "#fig-video", "A model of n letters"),
    Point("comparison", "figure.image-compare#fig-before input.compare-slider", 1),
    figure("number and formula in the caption of a comparison", "#fig-before", "Scores before and after"),
    Point("labels of a comparison", ".compare-label-after", text="Soft"),
    Point("references to a comparison and a video", "a.xref[href^='#fig-']", 2),
    Point("image with a caption", "figure.figure figcaption", text="One image with a caption"),
    Point("two images side by side", ".image-grid.cols-2 img", 2),
    Point("grid of six images", ".image-grid.cols-3 img", 6),
    Point("every image has a size", "main img:not([width])", 0),
    Point(
        "usage of shortcodes stays text",
        "figure.code code",
        text='{% include img.html src="/path/image.png" cap="With a caption" %}',
    ),
    Point(
        "usage of a comparison stays text",
        "figure.code code",
        text='<div class="image-compare" data-before="/path/to/before.png"',
    ),
    Point("list of takeaways", "main ol li", text="Quadratic cost is the reason for faster variants."),
    Point("computed number in a box", ".callout-critical .value", text="256"),
    Point("output of PyTorch", ".output-stdout", text="in (2, 10, 64), out (2, 10, 64)"),
    Point("where and with what it ran", ".provenance", text="PyTorch"),
    Point("badge of an unfinished post", ".post-header", text="progress"),
    Point("tags", ".post-header a[rel=tag]", 2),
    Point("reading time", ".reading-time", text="min read"),
    Point("way back", "a.back-link", 1),
    Point("next post", ".post-nav a[rel=next]", 1),
)
NOTES = (
    Point("category", ".post-categories", text="Deep Learning"),
    Point("tags as their author spells them", "a[rel=tag]", text="Deep Learning"),
    Point("lists", "main li", text="(query)"),
    Point("the module", "figure.code code", text="class HeadsOfAttention(nn.Module):"),
    Point("shape from PyTorch", ".output-stdout", text="(2, 10, 64)"),
    Point("agreement with PyTorch", ".output-stdout", text="True"),
    Point("note in bold", "blockquote strong, .callout", text="Note"),
    Point("way back", "a.back-link", 1),
)
DETAIL = (
    Point("description as a lead", ".post-description", text="Where the scaling comes from"),
    Point("boxes by their text", ".callout-insight .callout-body", 6),
    Point("analogies by their text", ".callout-analogy", 2),
    Point("research by its text", ".callout-research", 1),
    Point("citations", "cite.citation", 7),
    Point("works, cited and not", "section.references li", 9),
    Point("way back from a work", "section.references a[href^='#']"),
    Point("numbered equation", "#eq-attention .eq-number", text="(1)"),
    Point("tables", ".table-wrap table", 6),
    Point("signs in tables", "td", text="💀"),
    Point("code with line numbers", "figure.code.numbered", 5),
    Point("computed spreads", ".output-stdout", text="64: 8.0"),
    Point("mask", ".output-stdout", text="[1 1 1 1]"),
    Point("shape from PyTorch", ".output-stdout", text="(2, 8, 10, 16)"),
    Point(
        "claim that NumPy and PyTorch agree",
        ".claim, [class*=claim]",
        text="NumPy and PyTorch give the same mixture",
    ),
    Point("computed size", ".value", text="32"),
    Point("folded questions", "details.callout summary", text="Is a dot product the only choice?"),
    Point("questions for search engines", "script[type='application/ld+json']", text='"FAQPage"'),
    Point("contents with a formula", "nav.toc math", None),
)
PAYING = (
    Point("subtitle", ".post-subtitle", text="Part 2 of 4 · What a mixture of words is good for"),
    Point("place in the series", "header", text="Attention, part 2 of 4"),
    Point("all parts of the series", "main a[href^='/posts/'], nav a[href^='/posts/']", text="Training"),
    Point("part before", ".post-nav a[rel=prev]", text="Counting"),
    Point("part after", ".post-nav a[rel=next]", text="Networks"),
    Point("five notes", "sup.footnote-ref", 5),
    Point("output of the code", ".output-stdout", text="[[0.37 0.21 0.22 0.21]"),
    Point("computed sum", ".value", text="1"),
    Point("curly quotes", "main p", text="“the”")
    if False
    else Point("curly quotes", "main li", text="“What am I looking for?”"),
    Point("reading time", ".reading-time", text="min read"),
)
PICTURES = (
    Point("description as a lead", ".post-description", text="How every token comes to look"),
    Point("drawn diagram", "figure.diagram#fig-flow svg"),
    figure("number and formula in the caption of a diagram", "#fig-flow", "From tokens to outputs"),
    Point("tags", "a[rel=tag]", 3),
    Point("reading time", ".reading-time", text="min read"),
    Point("links to other posts", ".post-content a[href='/posts/soft-dictionary/']", 1),
    Point("way back", "a.back-link", 1),
)
POINTS = MappingProxyType(
    {
        "soft-dictionary": DICTIONARY,
        "notes-on-heads": NOTES,
        "attention-in-detail": DETAIL,
        "paying-attention": PAYING,
        "self-attention-in-pictures": PICTURES,
    }
)
"""Slug of a post → its points."""
