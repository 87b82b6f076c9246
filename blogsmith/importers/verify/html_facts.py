"""Facts of a page from its HTML.

One reader for both sides: formulas are `<math>` with `alttext` or an annotation, what MathJax 2 and KaTeX
leave of the source, and text between dollars or brackets where a script would have set it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from operator import itemgetter

from ...base.patterns import lazy_pattern
from ...model.units import VOID_ELEMENTS, name_set
from .facts import (
    Facts,
    compared_address,
    compared_code,
    compared_image,
    compared_key,
    compared_tex,
    words_in,
)

_SILENT = frozenset(("script", "style", "template", "noscript", "svg", "nav"))
_SILENT_CLASSES = name_set(
    "code-header heading-anchor heading-number footnote-backref eq-number references spoken provenance "
    "katex-html MathJax_Preview MathJax reversefootnote anchor lineno gutter gl footnote-ref filename "
    "code-title linenos"
)
"""What is not part of the author's text, in our pages and others."""
_ASIDE_CLASSES = frozenset(("sidenote", "marginnote", "margin-note", "side-note", "sidenote-number"))
"""Text beside the text, in the middle of a line."""
_NO_MATH = frozenset(("pre", "code", "textarea", "kbd", "samp"))
_MATH = lazy_pattern(
    r"\$\$((?:\\[\s\S]|(?!\$\$)[^\\])+?)\$\$|\\\[([\s\S]+?)\\\]|\\\(([\s\S]+?)\\\)"
    r"|(?<!\\)\$(?!\s)((?:\\[\s\S]|[^\\$])*?)(?<!\s)\$(?!\d)"
    r"|(?<!\\)\$\s*(?![\s\d])((?:\\[\s\S]|[^\\$])+?)\$"
    r"|(\\begin\{((?:align|equation|gather)\*?)\}[\s\S]*?\\end\{\7\})"
)
_MATH_ML = lazy_pattern(r"(<math\b[^>]*\salttext=\"[^\"]*\"[^>]*>)[\s\S]*?</math>")
_CODE_SPAN = lazy_pattern(r'<span class="(?!gl")(?:line|[a-z][a-z0-9]{0,2})">([^<]*)</span>')
"""An element for the color or the line of code, as Pygments and Chroma name them; `gl` is a line number."""
_CODE_SPAN_DEPTH = 3
"""Chroma nests them this deep: a line, its code, its tokens."""
_LONE_SCRIPT = lazy_pattern(r"\s*[_^]\{(?:\\text\{)?([\w+−-]{1,20})\}?\}\s*\Z")
"""A formula that is nothing but a raised or lowered sign or word."""
_REFERENCE = lazy_pattern(r"\\(?:eq)?ref\{[^{}]*\}")
_BOX_MARK = lazy_pattern(r"\A\s*\[![A-Za-z]+\][+-]?(?=\s|\Z)")
_HIDDEN_STYLE = lazy_pattern(r"display\s*:\s*none")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = name_set(
    "p div section article li ul ol dl dt dd table tr td th thead tbody h1 h2 h3 h4 h5 h6 blockquote figure "
    "figcaption pre label details summary br hr aside center d-footnote d-cite sup"
)


def facts_of_html(html: str) -> Facts:
    """What stands in a page; whatever the HTML is like."""
    reader = _Reader()
    reader.feed(_without_presentation(html))
    reader.close()
    return reader.finish()


def _without_presentation(html: str) -> str:
    """Remove the elements inside formulas and the colors of code: nine in ten tags, and none is a fact."""
    # a template such as `\1` is filled by Python code, three times as slow
    html = _MATH_ML.sub(lambda found: f"{found[1]}</math>", html)
    for _ in range(_CODE_SPAN_DEPTH):
        html = _CODE_SPAN.sub(itemgetter(1), html)
    return html


@dataclass(slots=True)
class _Open:
    """An element that is open."""

    tag: str
    is_silent: bool
    is_code: bool
    heading: list[str] | None = None


@dataclass(slots=True)
class _Found:
    counters: dict[str, Counter[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    hidden: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, thing: str) -> None:
        self.counters.setdefault(kind, Counter())[thing] += 1


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._found = _Found()
        self._stack: list[_Open] = []
        self._text: list[str] = []
        self._code: list[str] | None = None
        self._math: list[str] | None = None
        self._tex = ""
        self._is_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        classes = set(values.get("class", "").split())
        if tag in _BLOCKS or not _ASIDE_CLASSES.isdisjoint(classes):
            self._flush()
        hidden = "style" in values and _HIDDEN_STYLE.search(values["style"]) is not None
        hidden = hidden or values.get("role") == "doc-biblioref" or (tag == "sup" and _is_note(values))
        silent = self._is_silent or tag in _SILENT or hidden or not _SILENT_CLASSES.isdisjoint(classes)
        is_inside_silent = self._is_silent
        self._take_start(
            tag, values, classes, is_silent=is_inside_silent or (silent and tag not in ("a", "sup"))
        )
        if tag not in VOID_ELEMENTS:
            heading: list[str] | None = [] if tag in _HEADINGS and not silent else None
            code = tag in _NO_MATH or (bool(self._stack) and self._stack[-1].is_code)
            self._stack.append(_Open(tag, silent, code, heading))

    def _take_start(self, tag: str, values: dict[str, str], classes: set[str], *, is_silent: bool) -> None:
        if tag == "script" and values.get("type", "").startswith("math/tex"):
            self._is_script, self._math = True, []
        if is_silent:
            return
        if tag == "math" and (script := _LONE_SCRIPT.match(values.get("alttext", ""))):
            # a part of the word before it, as in `<sub>`
            self._text.append(script[1])
        elif tag == "math":
            # words on both sides of a formula are two
            self._text.append(" ")
            self._tex, self._math = values.get("alttext", ""), []
        elif tag == "code" and "math-error" in classes:
            # shown as it was written, and named by a diagnostic
            self._tex, self._math = "", []
        elif tag == "img" and "for-paper" not in classes:
            self._found.add("images", compared_image(values.get("src", "")))
        elif tag == "source" and values.get("srcset", "").strip() and "dark" in values.get("media", ""):
            self._found.add("images", compared_image(values["srcset"].split()[0]))
        elif tag == "table" and not {"rouge-table", "highlighttable"} & classes:
            self._found.add("tables", "table")
        elif tag == "pre" and self._code is None:
            self._code = []
        elif tag == "a" and values.get("role") == "doc-biblioref":
            self._found.add("citations", compared_key(values.get("href", "").removeprefix("#ref-")))
        elif tag == "a" and (address := compared_address(values.get("href", ""))):
            self._found.add("links", address)
        elif tag == "abbr":
            # its meaning, which other systems have in the text
            self._text.append(f" {values.get('title', '')} ")
        elif tag == "d-footnote" or (tag == "sup" and _is_note(values)):
            self._flush()
            self._found.add("footnotes", "footnote")
        elif tag == "d-cite":
            for key in filter(None, re.split(r"[\s,]+", values.get("key") or values.get("bibtex-key", ""))):
                self._found.add("citations", compared_key(key))

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()
        if tag in ("math", "code") and self._math is not None:
            self._formula(self._tex or "".join(self._math))
            self._math = None
        if tag == "script" and self._is_script:
            self._formula("".join(self._math or ()))
            self._is_script, self._math = False, None
        if tag == "pre" and self._code is not None:
            self._take_code()
        index = next((n for n in range(len(self._stack) - 1, -1, -1) if self._stack[n].tag == tag), None)
        if index is None:
            return
        for closed in self._stack[index:]:
            if closed.heading is not None:
                self._found.add("headings", " ".join(words_in("".join(closed.heading))))
        del self._stack[index:]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if self._math is not None:
            self._math.append(data)
        elif self._code is not None and not self._is_silent:
            self._code.append(data)
        elif not self._is_silent:
            # a formula may not reach over the border of code
            self._text.append(data if not (self._stack and self._stack[-1].is_code) else _without_math(data))
            is_note = any(element.tag == "d-footnote" for element in self._stack)
            for element in self._stack if not is_note else ():
                if element.heading is not None:
                    element.heading.append(data)

    def updatepos(self, i: int, j: int) -> int:
        """Count no lines: nobody asks for the place of a tag."""
        return j

    @property
    def _is_silent(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_silent

    def _formula(self, tex: str) -> None:
        if compared := compared_tex(tex):
            self._found.add("formulas", compared)
            self._found.hidden.update(words_in(tex.replace("_", " ")))

    def _flush(self) -> None:
        if not self._text:
            return
        text = "".join(self._text)
        self._text = []

        def substitute(found: re.Match[str]) -> str:
            self._formula(next(group for group in found.groups() if group is not None))
            return " "

        # the mark of a box that the old system did not know
        text = _BOX_MARK.sub(" ", text, count=1) if "[!" in text else text
        if "$" in text or "\\" in text:
            text = _REFERENCE.sub(" ", _MATH.sub(substitute, text))
        self._found.words.extend(words_in(text.replace(_DOLLAR, "$")))

    def finish(self) -> Facts:
        """All that was found."""
        self._flush()
        if self._code is not None:
            self._take_code()
        found = self._found
        found.counters["words"] = Counter(found.words)
        return Facts(found.counters, tuple(found.words), found.hidden)

    def _take_code(self) -> None:
        code = "".join(self._code or ())
        self._found.add("code", compared_code(code))
        self._found.hidden.update(words_in(code))
        self._code = None


def _is_note(values: Mapping[str, str]) -> bool:
    """Whether a raised text is the mark of a footnote."""
    return "footnote-ref" in values.get("class", "") or values.get("id", "").startswith("fnref")


_DOLLAR = "\ue003"


def _without_math(code: str) -> str:
    """Code as text that holds no formula."""
    return re.sub(r"\\([()\[\]])", r"\1", code.replace("$", _DOLLAR))
