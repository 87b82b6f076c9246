"""Applies the attributes that many elements share, for affixes, font styles, quotes and case."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...base.patterns import lazy_pattern
from .markup import is_mark, tag_character, wrap
from .rendering_context import RenderingContext
from .style_tree import StyleNode

_FONT_TAGS: Mapping[tuple[str, str], str] = {
    ("font-style", "italic"): "i",
    ("font-style", "oblique"): "i",
    ("font-weight", "bold"): "b",
    ("font-variant", "small-caps"): "sc",
    ("text-decoration", "underline"): "u",
    ("vertical-align", "sup"): "sup",
    ("vertical-align", "sub"): "sub",
}
_INNER_QUOTES = str.maketrans({"“": "‘", "”": "’"})


def finish(text: str, node: StyleNode, scene: RenderingContext, *, affixes: bool = True) -> str:
    """Return text with the attributes of an element applied in this order: case, periods, quotes, font
    styles, affixes."""
    if not text:
        return ""
    if node.has("text-case"):
        text = change_case(text, node.get("text-case"), is_english=scene.is_english)
    if node.get("strip-periods") == "true":
        text = text.replace(".", "")
    if node.get("quotes") == "true":
        text = quote(text, scene)
    text = apply_font_style(text, node)
    return affix(text, node, scene) if affixes else text


def quote(text: str, scene: RenderingContext) -> str:
    """Put text in quotes. Quotes inside of it become inner quotes."""
    opening, closing = scene.locale.term("open-quote") or "“", scene.locale.term("close-quote") or "”"
    inner = text.translate(_INNER_QUOTES) if opening == "“" else text
    return f"{opening}{inner}{closing}"


def apply_font_style(text: str, node: StyleNode) -> str:
    """Apply the font styles of an element."""
    for (name, value), tag in _FONT_TAGS.items():
        if node.get(name) == value:
            text = wrap(text, tag)
    return text


def affix(text: str, node: StyleNode, scene: RenderingContext) -> str:
    """Add the prefix and suffix of an element."""
    if not text:
        return ""
    return scene.concat(scene.concat(node.get("prefix"), text), node.get("suffix"))


# Changes of case. Text between `nocase` markers is unchanged, and so are formulas.


_OPEN, _CLOSE = tag_character("<nocase>"), tag_character("</nocase>")
_WORD = lazy_pattern(r"[^\s\-–—/]+|[\s\-–—/]+")
_SKIPPED_WORDS = (
    "a an the and but or yet so for nor as at by from in into of off on onto out over per to up upon "
    "via with within without about above across after against along alongside amid amidst among "
    "amongst around astride athwart atop barring before behind below beneath beside besides between "
    "beyond circa despite down during except given inside lest like modulo near next notwithstanding "
    "outside plus pro qua sans since than through throughout till toward towards under underneath "
    "until unto versus vs. vs v. v et al de d' von van c ca"
)
_LOWER_CASE_WORDS = frozenset(_SKIPPED_WORDS.split())
"""Words that stay in lower case in titles."""


def change_case(text: str, case: str, *, is_english: bool) -> str:
    """Change the case of text. case: value of the attribute `text-case`. is_english: whether English title
    case may be used."""
    if case == "lowercase":
        return _outside_nocase(text, str.lower)
    if case == "uppercase":
        return _outside_nocase(text, str.upper)
    if case == "capitalize-first":
        word = next(iter(_WORD.findall(text.lstrip())), "")
        # names such as `arXiv` keep their case
        return _first_up(text) if word == word.lower() else text
    if case == "capitalize-all":
        return "".join(_first_up(piece) for piece in _WORD.findall(text))
    if case == "sentence":
        return _sentence(text)
    return _title(text) if case == "title" and is_english else text


def _outside_nocase(text: str, change: Callable[[str], str]) -> str:
    pieces, depth = list[str](), 0
    for char in text:
        depth += (char == _OPEN) - (char == _CLOSE)
        pieces.append(char if depth > 0 else change(char))
    return "".join(pieces)


def _first_up(text: str) -> str:
    for index, char in enumerate(text):
        if char == _OPEN:
            return text
        if char.isalpha():
            return text[:index] + char.upper() + text[index + 1 :]
        if not is_mark(char) and not char.isspace() and char not in "“‘\"'([":
            return text
    return text


def _sentence(text: str) -> str:
    letters = [char for char in text if char.isalpha()]
    lowered = _outside_nocase(text, str.lower) if letters and all(map(str.isupper, letters)) else text
    return _first_up(lowered)


def _title(text: str) -> str:
    words = _WORD.findall(text)
    real = [index for index, word in enumerate(words) if any(char.isalnum() for char in word)]
    depth, after_colon, made = 0, True, list[str]()
    for index, word in enumerate(words):
        is_protected = depth > 0 or _OPEN in word
        depth += word.count(_OPEN) - word.count(_CLOSE)
        bare = "".join(char for char in word.strip() if not is_mark(char)).strip("“”‘’\"'()[],;:?!")
        is_edge = after_colon or (real and index == real[-1])
        if is_protected or not bare or bare != bare.lower() or (bare in _LOWER_CASE_WORDS and not is_edge):
            made.append(word)
        else:
            made.append(_first_up(word))
        if bare:
            seen = "".join(char for char in word if not is_mark(char))
            after_colon = seen.endswith((":", "?", "!", ".”", "—"))
        elif "—" in word:
            after_colon = True
    return "".join(made)
