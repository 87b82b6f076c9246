"""Features of content equal those found by separate searches, and are stored with the content."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.model.texts import FEATURES, PageText, compress_text, lazy_text, text_features

CLASSES = ("math-display", "math-lines", "math-long", "publications", "ref-links", "table-wrap", "xref")
MARKS = {
    **{name: name for name in ("code-mark", "doc-biblioref", "doc-noteref")},
    "compare": "image-compare",
    "embed": "embed-link",
    **{name: f'class="{name}"' for name in (*CLASSES, "diagram-scroll")},
    "diagram": 'class="diagram',
    "em": "<em>",
    "grouped-works": '<ol class="by-',
    "math": "<math",
    "pre": "<pre",
    "video": "<video",
}
PIECES = (
    'class="',
    '"',
    " ",
    "<",
    "<ol ",
    "by-",
    "-scroll",
    "x",
    "𝑥",
    "\n",
    *CLASSES,
    *MARKS,
    *MARKS.values(),
)


def test_every_feature_has_a_mark() -> None:
    assert sorted(FEATURES) == sorted(MARKS)


def test_words_of_a_text_are_no_features() -> None:
    """Posts compare embeddings: no stylesheet is loaded for that."""
    assert text_features(b"<p>We compare embeddings in a video.</p>") == frozenset()


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_features_are_what_is_found_mark_by_mark(html: str) -> None:
    wanted = {name for name, mark in MARKS.items() if mark in html}
    assert text_features(html.encode()) == wanted
    text = PageText.from_string(html)
    packed = lazy_text(text.digest, lambda: compress_text(text))
    assert [one.features() for one in (text, text.open(), packed, packed.open())] == [wanted] * 4
    assert packed.read() == html
