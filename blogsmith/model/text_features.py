"""What stands in the HTML of a text that layouts load something for: found once, and kept with the text."""

from __future__ import annotations

from collections.abc import Iterable

from ..base.patterns import lazy_pattern

_CLASS = lazy_pattern(
    rb'class="(diagram|by-|(?:math-(?:display|lines|long)|publications|ref-links|table-wrap|xref)(?="))'
)
_MARKS = {
    "code-mark": b"code-mark",
    "compare": b"image-compare",
    "doc-biblioref": b"doc-biblioref",
    "doc-noteref": b"doc-noteref",
    "em": b"<em>",
    "embed": b"embed-link",
    "math": b"<math",
    "pre": b"<pre",
    "video": b"<video",
}
"""Feature → what stands for it anywhere in the HTML: no word of a text, such as "embedding" is."""
_LIST = b'<ol class="by-'

FEATURES = (
    *_MARKS,
    *("diagram", "diagram-scroll", "grouped-works", "math-display", "math-lines", "math-long"),
    *("publications", "ref-links", "table-wrap", "xref"),
)
"""Names of elements, of classes and of roles; `grouped-works`: a list of works under headings."""


def text_features(html: bytes) -> frozenset[str]:
    """Those of `FEATURES` that an HTML text has. In UTF-8."""
    if not html:
        return frozenset()
    found = {name for name, mark in _MARKS.items() if mark in html}
    classes = {name.decode() for name in _CLASS.findall(html)}
    if "by-" in classes and _LIST in html:
        found.add("grouped-works")
    if "diagram" in classes and b'class="diagram-scroll"' in html:
        found.add("diagram-scroll")
    return frozenset(found | (classes - {"by-"}))


def pack_features(features: Iterable[str]) -> int:
    """Features as a number."""
    return sum(1 << FEATURES.index(name) for name in features)


def unpack_features(number: int) -> frozenset[str]:
    """What `pack_features` was given."""
    return frozenset(name for at, name in enumerate(FEATURES) if number >> at & 1)
