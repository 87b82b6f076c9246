"""The finished HTML of a page, split at headings into plain-text sections with their formulas.

The text is what readers see, with code, recorded outputs and numbers of theorems. In formulas, functions and
symbols become words. Drawings, scripts and provenance lines, which are similar on every page, are left out,
and so is the source of an example whose result follows. For results of searches, a section is also HTML: its
prose in one line with its formulas, and its code as `<pre>`. The time is linear for any input.
"""

from __future__ import annotations

import re
from html import unescape

from msgspec import Struct

from ...base.html_tags import read_text
from ...base.patterns import lazy_pattern
from ...tex.on_demand import formula_tokens, linear_text, symbol_words

# attributes that the preview adds to blocks
_MARKS = r"(?>(?: data-[a-z]+=\"\d+\")*)"
# the lookahead rejects most tags after a few characters
_EVENT = lazy_pattern(
    r"<(?=math|s(?:vg|cript|tyle|up)|button|te|pre|figc|a |h[1-6]|/h"
    rf"|(?:div|span){_MARKS} class=\"math-d|p class=\"prov)"
    r"(?:(?P<name>math|svg|script|style|button|textarea|pre)\b(?P<own>[^<>]*+)>"
    r"|(?P<note>sup class=\"footnote-ref\">|a\b[^<>]*?\brole=\"doc-backlink\"[^<>]*+>)"
    r"|(?P<label>figcaption class=\"code-header\"[^<>]*+>)"
    r"|h[1-6]\b(?P<heading>[^<>]*+)>|(?P<end>/h[1-6]>)"
    rf"|(?:div|span){_MARKS} class=\"math-display\"(?P<display>[^<>]*+)>"
    r"|(?P<provenance>p class=\"provenance\"[^<>]*+>))"
)
_INLINE = lazy_pattern(
    r"</?(?:span|em|strong|code|a|b|i|u|s|mark|abbr|kbd|small|sub|sup|q|cite|time|wbr|del|ins|var|dfn)\b[^<>]*+>"
)
_TAG = lazy_pattern(r"<[^<>]*+>")
_SPACES = lazy_pattern(r"\s+")
_ID = lazy_pattern(r"\sid=\"([^\"]*+)\"")
_TEX = lazy_pattern(r"\sdata-tex=\"([^\"]*+)\"")
_ALTTEXT = lazy_pattern(r"\salttext=\"([^\"]*+)\"")
_IS_SOURCE = lazy_pattern(r"\s*</figure>\s*(?:<!-- live -->\s*)?<div class=\"example\"")
_LANGUAGE = lazy_pattern(r"<span class=\"code-lang\">")
_NUMBER = lazy_pattern(
    r"(?:<span class=\"math-tail\">[^<>]*+</span>)?<(?P<tag>a|span) class=\"eq-number\"[^<>]*+>"
)
_ROWS = lazy_pattern(
    r"(?:<span class=\"math-tail\">[^<>]*+</span>)?((?:<a class=\"eq-anchor\"[^<>]*+></a>)+)"
)
_ROW = lazy_pattern(r"href=\"#([^\"]*+)\" aria-label=\"[^\"]*?([^\"\s]*+)\"")


class NumberedRow(Struct, frozen=True):
    """A row of a display formula with a number or label, or the whole display formula."""

    id: str
    number: str = ""
    """Number as printed, such as `(2)`; empty if there is none."""


class PageFormula(Struct, frozen=True):
    """A formula of a page."""

    index: int
    """Number of formulas before it in its section."""
    tex: str
    """TeX with macros expanded."""
    tokens: tuple[str, ...]
    """Tokens of the formula, from `formula_tokens`."""
    is_display: bool
    rows: tuple[NumberedRow, ...] = ()


class PageSection(Struct):
    """A section of a page: the content between two headings."""

    id: str = ""
    """Id of the heading; empty before the first heading."""
    heading: str = ""
    """Plain text of the heading."""
    text: str = ""
    shown: str = ""
    """HTML for results of searches."""
    formulas: tuple[PageFormula, ...] = ()


def read_sections(html: str) -> list[PageSection]:
    """Return the sections of a page in order. The first is the content before all headings."""
    return _Reader(html).read()


class _Reader:
    """Reads a page in one pass."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._at = 0
        """Position of the first character not read yet."""
        self._sections = [PageSection()]
        self._texts: list[str] = []
        """Fragments of text of the current section."""
        self._shown: list[str] = []
        """Fragments of HTML of the current section, for search results."""
        self._label = ""
        """HTML with language and title of the code that follows."""
        self._formulas: list[PageFormula] = []
        """Formulas of the current section."""
        self._display: str | None = None
        """Id of the display formula that is being read; empty if it has no id, None outside of display
        formulas."""
        self._in_heading = False
        self._unclosed: set[str] = set()
        """End tags that do not occur in the rest of the page. Searching for them each time would take
        quadratic time."""

    def read(self) -> list[PageSection]:
        """Read the page and return its sections."""
        for event in _EVENT.finditer(self._html):
            if event.start() < self._at:
                continue
            self._add_prose(self._html[self._at : event.start()])
            self._at = event.end()
            self._handle_event(event)
        self._add_prose(self._html[self._at :])
        self._close_section()
        return self._sections

    def _handle_event(self, event: re.Match[str]) -> None:
        if event["name"] == "math":
            self._read_formula(event)
        elif event["name"] == "pre":
            self._read_code()
        elif event["note"]:
            self._skip_to("</sup>" if event["note"].startswith("sup") else "</a>")
        elif event["label"]:
            start = self._at
            self._skip_to("</figcaption>")
            self._label = self._html[start : self._at]
        elif event["name"]:
            self._skip_to(f"</{event['name']}>")
        elif event["display"] is not None:
            self._display = _value(_ID, event["display"])
        elif event["provenance"]:
            self._skip_to("</p>")
        elif event["end"]:
            if self._in_heading:
                self._sections[-1].heading, self._shown = self._plain_text(), []
                self._in_heading = False
        elif anchor := _value(_ID, event["heading"]):
            self._close_section()
            self._sections.append(PageSection(anchor))
            self._in_heading = True

    def _add_prose(self, html: str) -> None:
        prose = _TAG.sub(" ", _INLINE.sub("", html))
        self._texts.append(prose)
        self._shown.append(_SPACES.sub(" ", prose))

    def _read_code(self) -> None:
        start, label, self._label = self._at, self._label, ""
        self._skip_to("</pre>")
        if "markdown" in label and _IS_SOURCE.match(self._html, self._at):
            return
        code = _TAG.sub("", self._html[start : self._at])
        title = _TAG.sub("", label.partition("</span>")[2])
        self._texts.append(f" {_TAG.sub('', label)} {code} ")
        self._shown.append(f'<pre title="{" ".join(title.split())}">{code}</pre>')

    def _read_formula(self, event: re.Match[str]) -> None:
        attributes = event["own"]
        self._skip_to("</math>")
        self._shown.append(self._html[event.start() : self._at])
        tex = _value(_TEX, attributes) or _value(_ALTTEXT, attributes)
        rows: tuple[NumberedRow, ...] = ()
        is_display = self._display is not None
        if self._display is not None:
            rows = self._read_numbers(self._display)
            self._display = None
        tokens = formula_tokens(tex)
        self._formulas.append(PageFormula(len(self._formulas), tex, tokens, is_display, rows))
        # results show headings; other text is only searched
        words = linear_text(tex) if self._in_heading else symbol_words(tokens)
        self._texts.append(f" {_escape(words)} ")

    def _read_numbers(self, anchor: str) -> tuple[NumberedRow, ...]:
        """Read the numbers of a display and move past them."""
        found = _NUMBER.match(self._html, self._at)
        if found:
            self._at = found.end()
            self._skip_to(f"</{found['tag']}>")
            number = self._html[found.end() : self._at]
            return (NumberedRow(anchor, read_text(number)),)
        rows = _ROWS.match(self._html, self._at)
        if rows:
            self._at = rows.end()
            return tuple(NumberedRow(unescape(row[1]), unescape(row[2])) for row in _ROW.finditer(rows[1]))
        return (NumberedRow(anchor),) if anchor else ()

    def _skip_to(self, closing: str) -> None:
        """Move past the next `closing` tag, if there is one."""
        end = -1 if closing in self._unclosed else self._html.find(closing, self._at)
        if end < 0:
            self._unclosed.add(closing)
        else:
            self._at = end + len(closing)

    def _close_section(self) -> None:
        if self._in_heading:
            # the heading has no end tag
            self._sections[-1].heading, self._shown = self._plain_text(), []
            self._in_heading = False
        section = self._sections[-1]
        section.text, section.formulas = self._plain_text(), tuple(self._formulas)
        section.shown, self._shown, self._formulas = "".join(self._shown).strip(), [], []

    def _plain_text(self) -> str:
        """Return the collected text as one line, and clear it."""
        text, self._texts = "".join(self._texts), []
        return " ".join(unescape(text).split())


def _escape(text: str) -> str:
    """Escape plain text, so that it stays unchanged when all collected HTML is unescaped at the end."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _value(pattern: re.Pattern[str], attributes: str) -> str:
    found = pattern.search(attributes)
    return unescape(found[1]) if found else ""
