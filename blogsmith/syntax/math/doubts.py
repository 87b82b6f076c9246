r"""Warnings about text that was probably meant as a formula, and about formulas that were probably meant
otherwise.

`$ x^2 $` is text, because no space is allowed inside the dollars, and so is `$\alpha` without an end.
`\\(x\\)` is the syntax of kramdown and others for `\(x\)`. `$$x$$` between words of a line is display math,
which interrupts the sentence; other systems set it inline.
"""

from __future__ import annotations

from collections.abc import Callable

from ...base.diagnostics.model import Place, Reporter
from ...base.patterns import lazy_pattern
from ..lookahead import occurs_after
from .delimiters import FoundFormula, RejectedFormula, find_closing, leaves_element

PlaceOf = Callable[[int, int], Place]
"""Function that converts a range (start, end) of the text to its position in the file."""

_MARKDOWN = lazy_pattern(r"\[\^[^\]]*\]|\\[\n*_\[\]()<>#]")
"""Footnote references, line breaks and escapes between two prices."""
_LOOKS_LIKE_TEX = lazy_pattern(r"[\\^_]|^[A-Za-z]$")
_LIKE_TEX = lazy_pattern(r"[\\^_]|[A-Za-z]\s*[=<>+]|[=<>+]\s*[A-Za-z]|^\W*[A-Za-z]\W*$")
_TEX_FOLLOWS = lazy_pattern(r"\\[A-Za-z]|[A-Za-z](?:[_^]|\s*[-+*/=<>≤≥]\s*[\w\\])")
_TEX_IN_PARENTHESES = lazy_pattern(r"[^)\n]*(?:\\[A-Za-z]|\w[_^])")
_WORD = lazy_pattern(r"[^\W\d_]{2}|\b[aI]\b")
_TAG = r"</?[A-Za-z][^<>\n]*>"
_FORMULAS = lazy_pattern(rf"\$+[^$\n]*\$+|{_TAG}")
"""Formulas and HTML tags."""
_MYST_LABEL = r"\((?:[A-Za-z][\w.-]*[:_][\w:.-]*|eqn?-[\w:.-]+)\)"
_LABEL = rf"[ \t]*(?:\{{(?:#|wide=)[^{{}}]*\}}|{_MYST_LABEL}|:\w*label:`[^`]*`)"
_LABEL_TEXT = lazy_pattern(rf"[ \t]*({_MYST_LABEL})(?=[ \t]*(?:\n|$))")
_LABELLED = lazy_pattern(_LABEL)
_NO_WORDS = lazy_pattern(rf"\A{_LABEL}|\$+[^$\n]*\$+|{_TAG}")
"""Parts of a line that are not words: a label after the formula, formulas, HTML tags."""
_FOR_DISPLAYS = lazy_pattern(r"\\(?:begin|tag|label)\b")
_AMOUNT = lazy_pattern(r"\d{1,12}(?:[.,]\d{1,3})?")
_LONGEST = 200
"""Maximum number of characters between two dollars that may belong together."""
_LONGEST_ESCAPE = 1000
_SENTENCE = 500
"""Number of characters before and after a display that are searched for words of its sentence."""
_SHOWN = 60
"""Maximum number of characters of a formula in a message."""


def report_unparsed(text: str, pos: int, end: int, reporter: Reporter, place: PlaceOf) -> None:
    r"""Report a `$` or `\` at `pos` that opens no formula in `text[:end]` but was probably meant to."""
    if text.startswith(("$$", "\\("), pos):
        _report_unclosed(text, pos, end, reporter, place)
    elif text[pos] == "$":
        _report_dollar(text, pos, end, reporter, place)
    elif text.startswith(("\\\\(", "\\\\["), pos):
        _report_escape(text, pos, end, reporter, place)


def _report_unclosed(text: str, pos: int, end: int, reporter: Reporter, place: PlaceOf) -> None:
    r"""Warn about an unclosed `$$` or `\(`. Another rule has already reported an unclosed `$$` at the start
    of a block as an error. `\(` alone is an escape in CommonMark, so it is reported only if TeX follows."""
    opening = text[pos : pos + 2]
    after = text[pos + 2 : min(end, pos + 40)]
    is_doubtful = after[:1].strip("$ \t\n") if opening == "$$" else _TEX_IN_PARENTHESES.match(after)
    if not is_doubtful:
        return
    at = place(pos, pos + 2)
    if all(found.place != at for found in reporter.diagnostics):
        closing, hint = ("$$", "write `\\$\\$` for literal dollars") if opening == "$$" else ("\\)", "")
        fix = reporter.substitute(at, opening, "\\$\\$" if opening == "$$" else "(")
        reporter.warn(
            "math-unclosed", f'missing closing "{closing}": "{opening}" is shown as text', at, hint, fix
        )


def _report_dollar(text: str, pos: int, end: int, reporter: Reporter, place: PlaceOf) -> None:
    """Warn about a single dollar followed by TeX."""
    before = text[pos - 1 : pos]
    if before in ("$", "\\") or before.isalnum() or text[pos + 1 : pos + 2] in ("$", ""):
        return
    closing = find_closing(text, pos + 1, min(end, pos + _LONGEST), "$")
    if closing > 0 and leaves_element(text, pos + 1, closing):
        return
    if closing > 0 and _LIKE_TEX.search(text[pos + 1 : closing].strip()):
        message = f'space inside the dollars, shown as text: "{_shorten(text[pos : closing + 1])}"'
        hint = "remove the space next to the dollar, or write `\\$` for a literal dollar"
        if amount := _AMOUNT.match(text, closing + 1):
            hint = f"write `\\${amount[0]}` if this is an amount, or remove the space next to the dollar"
        at, written = place(pos, closing + 1), text[pos : closing + 1]
        fix = reporter.substitute(at, written, f"${written[1:-1].strip()}$")
        reporter.warn("dollar-doubtful", message, at, hint, fix)
    elif closing < 0 and _TEX_FOLLOWS.match(text, pos + 1, end):
        message, hint = 'missing closing "$": "$" is shown as text', "write `\\$` for a literal dollar"
        at = place(pos, pos + 1)
        reporter.warn("dollar-doubtful", message, at, hint, reporter.substitute(at, "$", "\\$"))


def _report_escape(text: str, pos: int, end: int, reporter: Reporter, place: PlaceOf) -> None:
    r"""Warn about `\\(x\\)`, which in Markdown is an escaped backslash and parentheses."""
    opening = text[pos + 2]
    closing = "\\\\)" if opening == "(" else "\\\\]"
    if not occurs_after(text, closing, pos):
        return
    at = text.find(closing, pos + 3, min(end, pos + _LONGEST_ESCAPE))
    if at < 0 or not text[pos + 3 : at].strip():
        return
    form = "\\(…\\)" if opening == "(" else "\\[…\\]"
    message = f'unsupported syntax: "{_shorten(text[pos : at + 3])}"'
    written, found = text[pos : at + 3], place(pos, at + 3)
    meant = f"\\{opening}{written[3:-3]}\\{written[-1]}"
    fix = reporter.substitute(found, written, meant, is_safe=True)
    reporter.warn("foreign-syntax", message, found, f"write a formula with one backslash: `{form}`", fix)


def report_rejected(text: str, pair: RejectedFormula, reporter: Reporter, place: PlaceOf) -> None:
    """Warn about two dollars that are text only because a digit follows, if TeX is between them."""
    if _LOOKS_LIKE_TEX.search(_MARKDOWN.sub("", text[pair.start + 1 : pair.end - 1])):
        message = f'digit after the closing dollar, shown as text: "{_shorten(text[pair.start : pair.end])}"'
        hint = "write `\\(…\\)`, or put the digit inside"
        at, written = place(pair.start, pair.end), text[pair.start : pair.end]
        fix = reporter.substitute(at, written, f"\\({written[1:-1]}\\)")
        reporter.warn("math-dollar", message, at, hint, fix)


def report_between_words(
    text: str, found: FoundFormula, *, start: int, end: int, reporter: Reporter, place: PlaceOf
) -> None:
    """Warn about display math on a line with other words of the sentence, which kramdown sets inline. start,
    end: range of `text` to search for words."""
    tex = text[found.start : found.end]
    if not tex.startswith("$$") or "\n" in tex:
        return
    # Searching only nearby text limits the work on a line with thousands of displays.
    start, end = max(start, found.start - _SENTENCE), min(end, found.end + _SENTENCE)
    first = max(start, text.rfind("\n", start, found.start) + 1)
    last = text.find("\n", found.end, end)
    before, after = text[first : found.start], text[found.end : last if last >= 0 else end]
    has_words = _WORD.search(_FORMULAS.sub("", before)) is not None
    goes_on = _WORD.search(_NO_WORDS.sub("", after)) is not None
    is_meant = _FOR_DISPLAYS.search(tex) or _LABELLED.match(after) or before.rstrip().endswith(":")
    if is_meant and has_words != goes_on:
        return
    if has_words or goes_on:
        message = f'display math interrupts this sentence: "{_shorten(tex)}"'
        hint = "write `$…$`, put the display on lines of its own, or set `math: {double_dollar: kramdown}`"
        at = place(found.start, found.end)
        fix = reporter.substitute(at, tex, f"${tex[2:-2].strip()}$")
        reporter.warn("math-in-sentence", message, at, hint, fix)


def report_label(text: str, pos: int, end: int, reporter: Reporter, place: PlaceOf) -> None:
    """Warn about MyST's `(name)` after a display, which is a label only if it starts with `eq:`."""
    found = _LABEL_TEXT.match(text, pos, end)
    if found:
        name = found[1].strip("()")
        meant = f"{{#{name if name.startswith(('eq:', 'eq-')) else f'eq:{name}'}}}"
        at = place(*found.span(1))
        fix = reporter.substitute(at, found[1], meant)
        message = f'unsupported syntax: "{_shorten(found[1])}" after a display is text'
        reporter.warn("foreign-syntax", message, at, f"write `{_shorten(meant)}`", fix)


def report_prose(text: str, found: FoundFormula, reporter: Reporter, place: PlaceOf) -> None:
    r"""Warn about `\[…\]` or `\(…\)` around words only, which CommonMark reads as escapes."""
    if text[found.start] != "\\" or not _PROSE.fullmatch(text, found.inner, found.inner_end):
        return
    shown = _shorten(text[found.start : found.end])
    opening, closing = text[found.start + 1], {"(": ")", "[": "]"}.get(text[found.start + 1], "")
    hint = f"write `{opening}…{closing}` for brackets in text, or `\\text{{…}}` for words in a formula"
    message = f'words are set as a product of letters in this formula: "{shown}"'
    at, inner = place(found.start, found.end), text[found.inner : found.inner_end]
    fix = reporter.substitute(at, text[found.start : found.end], f"{opening}{inner}{closing}")
    reporter.warn("dollar-doubtful", message, at, hint, fix)


_PROSE = lazy_pattern(r"\s*[^\W\d_]{2,}[,.;:!?]?(?:\s+[^\W\d_]+[,.;:!?]?)*\s+[^\W\d_]{2,}[,.;:!?]?\s*")
"""Two words or more, and no TeX."""


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
