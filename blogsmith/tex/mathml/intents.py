"""Attributes `intent` and `arg`, which tell readers of MathML what a notation means.

Source: MathML 4, section 5, https://www.w3.org/TR/mathml4/#mixing_intent, with the names of its lists of
concepts. Only meanings that TeX itself states are written.
"""

from __future__ import annotations

from ...base.patterns import lazy_pattern

# Only the first tag may get the attribute, so the markup must be one element.
_NAME = lazy_pattern(r"<m[a-z]+")
_TAKEN = lazy_pattern(r"<[^<>]* (?:intent|arg)=")
_BOLD_CAPITAL = lazy_pattern("<mi>[\U0001d400-\U0001d419\U0001d468-\U0001d481]</mi>")
_INVERTIBLE = frozenset(
    f"<mi>{name}</mi>"
    for name in "sin cos tan cot sec csc sinh cosh tanh coth".split()  # noqa: SIM905
)
_MINUS_ONE = '<mrow><mo lspace="0" rspace="0">−</mo><mn>1</mn></mrow>'
_TRANSPOSED = frozenset(("<mi>⊤</mi>", "<mi>⊺</mi>"))


def add_intent(xml: str, intent: str) -> str:
    """Return the element `xml` with an intent."""
    return _add(xml, f'intent="{intent}"')


def add_argument(xml: str, name: str) -> str:
    """Return the element `xml` as the argument `$name` of an intent around it."""
    return _add(xml, f'arg="{name}"')


def _add(xml: str, attribute: str) -> str:
    if not xml.startswith("<m") or _TAKEN.match(xml):
        xml = f"<mrow>{xml}</mrow>"
    return _NAME.sub(lambda found: f"{found[0]} {attribute}", xml, count=1)


def superscript_intent(base: str, upper: str) -> tuple[str, str]:
    r"""Return the base of a superscript as an argument, and the attribute of the whole.

    `^\top` is a transpose; `^{-1}` is an inverse only of a bold capital letter or a trigonometric function,
    because elsewhere it may be a reciprocal.
    """
    if upper in _TRANSPOSED:
        return add_argument(base, "a"), ' intent="transpose($a)"'
    if upper == _MINUS_ONE and (base in _INVERTIBLE or _BOLD_CAPITAL.fullmatch(base)):
        return add_argument(base, "a"), ' intent="inverse($a)"'
    return base, ""
