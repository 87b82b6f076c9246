"""Allowlist for the markup of every formula, checked before it is written to a page.

The parser writes elements from its own tables and escapes the author's text, so its output is safe already.
The check guarantees this independently. It lists the elements, attributes, styles and URLs of MathML Core
and of a little HTML for text. Any other markup is rejected as an internal error, not printed.
"""

from __future__ import annotations

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..errors import TexError

ELEMENTS = name_set(
    "math mrow mi mo mn mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder "
    "mover munderover mmultiscripts mprescripts mtable mtr mtd a b i u s code span"
)
ATTRIBUTES = name_set(
    "accent accentunder columnspan depth display displaystyle fence form height largeop linethickness lspace "
    "mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits rspace scriptlevel stretchy "
    "symmetric voffset width"
)
_STYLES = name_set(
    "background-color border border-radius color-scheme font-weight justify-items margin-left padding-bottom "
    "padding-left padding-right padding-top rotate text-align width"
)

_SCHEME = r"(?:https?://|mailto:|#|/(?!/)|\.{1,2}/)"
_PLAIN = rf'(?:{"|".join(sorted(ATTRIBUTES))})="[\w#.%+-]*"'
_INK = r"color:light-dark\(#\w+,#\w+\)"
_STYLE = rf'style="(?:(?:{_INK}|(?:{"|".join(sorted(_STYLES))}):[#\w.%\s+-]+);?)+"'
_ENTITY = "&(?:lt|gt|amp|quot|#x27);"
_VALUE = rf'(?>(?:[^"<>&]++|{_ENTITY})*)'
_WORD = rf'(?:[^\s"<>&\\]++|{_ENTITY})'
# a label, which follows the # of a reference, may contain any character
_HREF = rf'href="(?:{_SCHEME}(?>{_WORD}*)|#{_VALUE})"'
_MEANING = r'intent="[\w$(),:-]*"|arg="\w+"'
_NAMES = rf'(?:alttext|aria-label)="{_VALUE}"'
_OTHER = rf'class="[\w\s-]*"|{_MEANING}|id="(?>(?:{_WORD}|\\)+)"|{_HREF}|{_NAMES}'
_HTML = "|".join(sorted(name for name in ELEMENTS if name[0] != "m"))
# the common `m` is a separate prefix, which saves two thirds of the time
_ELEMENT = f"m(?:{'|'.join(name[1:] for name in sorted(ELEMENTS) if name[0] == 'm')})|{_HTML}"
_TEXT = r"[^<>&\x00-\x08\x0b\x0c\x0e-\x1f]"
_ATTRIBUTES = f"(?>(?: (?:{_PLAIN}|{_STYLE}|{_OTHER}))*)"
# the arrows of a diagram: paths made of numbers, with a colour
_PATH = (
    r'<path d="[MLC\d. -]*+"(?: stroke="#\w+")?(?: stroke-width="[\d.]+")?(?: stroke-dasharray="[\d. ]+")?/>'
)
_DRAWING = (
    r'<svg width="[\d.]+em" height="[\d.]+em" viewBox="[\d. ]+" fill="none" stroke="currentColor" '
    r'stroke-width="0\.05" stroke-linecap="round" style="max-width:none" aria-hidden="true">'
    rf"(?>(?:{_PATH})+)</svg>"
)
_MARKUP = lazy_pattern(
    rf"(?>(?:</?(?:{_ELEMENT})>|{_TEXT}++|<(?:{_ELEMENT}){_ATTRIBUTES}/?>|{_ENTITY}|{_DRAWING})*)"
)
_ADDRESS = lazy_pattern(rf'{_SCHEME}[^\s"<>\\]*')
MAX_ELEMENT_DEPTH = 500
"""Maximum depth of elements. Browsers flatten elements nested deeper than 512."""
_TAG = lazy_pattern(r"<(/?)[a-z][^<>]*?(/?)>")


def is_safe_url(url: str) -> bool:
    """Return whether a page may link to `url`."""
    return _ADDRESS.fullmatch(url) is not None


def check(markup: str) -> str:
    """Return `markup` itself. TexError if a page may not contain it."""
    closing = markup.count("</")
    balanced = 2 * closing + markup.count("/>") == markup.count("<")
    if not balanced or _MARKUP.fullmatch(markup) is None:
        raise TexError("math-syntax", "formula cannot be typeset: its markup is not safe")
    if closing > MAX_ELEMENT_DEPTH:
        _check_depth(markup)
    return markup


def _check_depth(markup: str) -> None:
    depth = 0
    for closing, empty in _TAG.findall(markup):
        depth += -1 if closing else 0 if empty else 1
        if depth > MAX_ELEMENT_DEPTH:
            raise TexError(
                "math-limit", "formula is nested too deeply for a browser", hint="write it with fewer groups"
            )
