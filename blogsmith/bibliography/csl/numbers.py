"""Numbers: which texts are numbers, ordinals, Roman numerals, ranges of pages."""

from __future__ import annotations

from ...base.patterns import lazy_pattern
from .locale import Locale

_NUMERIC = lazy_pattern(r"[A-Za-z]*\d+[A-Za-z]*(?:\s*[-–,&]\s*[A-Za-z]*\d+[A-Za-z]*)*")
_PART = lazy_pattern(r"(\d+)|([^\d]+)")
_RANGE = lazy_pattern(r"([A-Za-z]*)(\d+)\s*[-–]+\s*([A-Za-z]*)(\d+)")
_PLURAL = lazy_pattern(r"\w\s*[-–,&]\s*\w")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def is_numeric(text: str) -> bool:
    """Whether a variable counts as a number."""
    return _NUMERIC.fullmatch(text.strip()) is not None


def is_plural(text: str) -> bool:
    """Whether it holds several numbers."""
    return _PLURAL.search(text) is not None


def format_number(text: str, form: str, locale: Locale) -> str:
    """A number in a form: `numeric`, `ordinal`, `long-ordinal`, `roman`; what is no number stays."""
    if not is_numeric(text) or form in ("", "numeric"):
        return text
    return _PART.sub(lambda found: _one(int(found[1]), form, locale) if found[1] else found[0], text)


def _one(number: int, form: str, locale: Locale) -> str:
    if form == "roman" and 0 < number < 4000:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (number // value)
            number %= value
        return text
    if form == "long-ordinal" and 0 < number <= 10 and (long := locale.term(f"long-ordinal-{number:02}")):
        return long
    return f"{number}{locale.ordinal(number)}"


def format_pages(text: str, form: str, locale: Locale) -> str:
    """Ranges of pages, their second numbers shortened as the style wants it."""
    dash = locale.term("page-range-delimiter") or "–"

    def shorten(found: object) -> str:
        start, first, end, last = found.groups()  # type: ignore[attr-defined]
        if start != end and end:
            return f"{start}{first}{dash}{end}{last}"
        if form == "expanded" and len(last) < len(first):
            last = first[: len(first) - len(last)] + last
        elif form and form != "expanded":
            whole = first[: len(first) - len(last)] + last if len(last) < len(first) else last
            last = _shortened(first, whole, form)
            end = ""
        return f"{start}{first}{dash}{end}{last}"

    made = _RANGE.sub(shorten, text)
    return made.replace("-", dash) if _PLURAL.search(made) else made


def _shortened(first: str, last: str, form: str) -> str:
    """The digits of the last page that are printed."""
    if len(first) != len(last):
        return last
    common = 0
    while common < len(first) and first[common] == last[common]:
        common += 1
    if form == "minimal":
        return last[min(common, len(last) - 1) :]
    if form == "minimal-two":
        return last[min(common, max(0, len(last) - 2)) :]
    # Chicago: 3–10, 71–72, 100–104, 107–8, 321–28, 1496–504
    number = int(first)
    if number < 100 or number % 100 == 0:
        return last
    if number % 100 < 10:
        return last[common:] or last[-1:]
    if form in ("chicago", "chicago-15") and len(first) >= 4 and common < len(first) - 2:
        return last if len(first) - common > 3 else last[common:]
    return last[min(common, len(last) - 2) :]
