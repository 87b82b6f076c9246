"""Syntax of other generators as ours, where the translation is exact; the rest is for authors to decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from ..base.diagnostics.fixes import Fix, TextEdit, exchange
from ..base.diagnostics.model import Place, Reporter
from ..base.patterns import lazy_pattern
from .emoji import EMOJI
from .state import PageState

_ROLE = lazy_pattern(r"(?::math:|\{math\})`([^`\n$]+)`")
_SIZED = lazy_pattern(r"!\[([^\[\]\n]*?)[ \t]*\|[ \t]*(\d{2,4})(?:x\d{1,4})?\]\(([^()\n]*)\)(?!\{)")
_ADMONITION = lazy_pattern(r'(!!!|\?\?\?\+?)[ \t]+([a-z][\w-]*)(?:[ \t]+"([^"\n]*)")?[ \t]*')
_FOLDS = {"!!!": "", "???": "-", "???+": "+"}
_INDENT = 4
_MOST_LINES = 500
"""Of an admonition."""


def translate_habit(text: str, place: Place, page: PageState) -> Fix | None:
    """A fix for a stretch of text that has no meaning here; None if nobody but the author can say it."""
    reporter = page.reporter
    if len(text) > 2 and text[0] == text[-1] and text[0] in "~^":
        tag = "sub" if text[0] == "~" else "sup"
        return reporter.substitute(place, text, f"<{tag}>{text[1:-1]}</{tag}>", is_safe=True)
    if text.startswith("++"):
        keys = "+".join(f"[[{key.capitalize()}]]" for key in text.strip("+").split("+"))
        return reporter.substitute(place, text, keys, is_safe=True)
    if text.strip(":") in EMOJI:
        return reporter.substitute(place, text, EMOJI[text.strip(":")], is_safe=True)
    if text.startswith("%%") and len(text) > len("%%"):
        return reporter.substitute(place, text, "", title="take the comment out")
    if text in (":math:", "{math}"):
        return _translate_at(_ROLE, place, reporter, lambda part: f"${part[1].strip()}$")
    if text.startswith(("!!!", "???")):
        return _translate_admonition(place, page)
    return None


def translate_size(place: Place | None, reporter: Reporter) -> Fix | None:
    """A fix for Obsidian's `![text|100](a.png)`."""
    if place is None or place.line > len(reporter.lines):
        return None
    return _translate_at(_SIZED, place, reporter, lambda part: f"![{part[1]}]({part[3]}){{width={part[2]}}}")


def _translate_at(
    pattern: re.Pattern[str], place: Place, reporter: Reporter, write: Callable[[Sequence[str]], str]
) -> Fix | None:
    """A fix of what stands at a place in exactly this form."""
    found = pattern.match(reporter.lines[place.line - 1], place.column - 1)
    if not found:
        return None
    parts = (found[0], *found.groups())
    return exchange(place.line, place.column, found[0], write(parts), is_safe=True)


def _translate_admonition(place: Place, page: PageState) -> Fix | None:
    """A fix for `!!! note "Title"` at the start of a line, with the indented lines below it."""
    lines = page.reporter.lines
    head = _ADMONITION.fullmatch(lines[place.line - 1])
    if head is None or head[2] not in page.options.kinds:
        return None
    below = lines[place.line : place.line + _MOST_LINES]
    body = list(takewhile(lambda line: not line.strip() or line[:_INDENT].isspace(), below))
    while body and not body[-1].strip():
        body.pop()
    if not body or any(line.strip() and not line.startswith(" " * _INDENT) for line in body):
        return None
    title = f" {head[3]}" if head[3] else ""
    quoted = [f"> [!{head[2].upper()}]{_FOLDS[head[1]]}{title}"]
    quoted += [f"> {line[_INDENT:]}".rstrip() for line in body]
    old = "\n".join((head[0], *body))
    edit = TextEdit(place.line, 1, old, "\n".join(quoted))
    return Fix(f"write {quoted[0]}", (edit,), is_safe=True)
