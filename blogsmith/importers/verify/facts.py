"""Counts the content of a page's HTML. The page may be from blogsmith or from another system.

Four forms of a formula are recognized: a `<math>` with `alttext`, a `<math>` with an annotation, the source
that MathJax 2 and KaTeX keep in the page, and text between dollars or brackets that a script would typeset.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html.parser import HTMLParser
from itertools import pairwise
from operator import itemgetter
from types import MappingProxyType
from urllib.parse import unquote

from ...api.importing import VOID_ELEMENTS, lazy_pattern, name_set
from ..model import Difference
from ..text.math import unescape_entities
from ..text.segments import ENVIRONMENT_NAMES, LineFinder

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "formulas": "formula",
        "code": "code block",
        "footnotes": "footnote",
        "citations": "citation",
        "tables": "table",
        "images": "image",
        "headings": "heading",
        "links": "link",
        "words": "word",
    }
)
"""Kind of content → its name in the singular, in the order of reports."""
_CODE_ANNOTATIONS = lazy_pattern(
    r"(?:(?:^|[ \t]+)(?:#|//|--|;+|%|/\*|<!--))?(?:[ \t]+(?:\(\d{1,3}\)!?|<\d{1,3}>)){1,9}"
    r"[ \t]*(?:\*/|-->)?[ \t]*\Z"
)
"""Matches annotation numbers in a code comment, which refer to notes after the code."""
_ANNOTATION_ENDS = (")", "!", ">", "/")
"""Last characters of lines with annotations, for a quick test: few other lines end in them."""
_CJK_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Ranges of Chinese and Japanese characters. These languages have no spaces between words, so each character
counts as a word."""
_WORD = lazy_pattern(rf"[{_CJK_CHARACTER}]|[^\W_{_CJK_CHARACTER}]+(?:[’'][^\W_{_CJK_CHARACTER}]+)*")
_ASCII_WORD = lazy_pattern(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
"""Matches the same words as `_WORD` in ASCII text, in a third of the time."""
_LANGUAGE = lazy_pattern(r"\.[a-z]{2}(?:-[a-z]{2,4})?(?=\.[a-z]+\Z)")
_TEX_SPACE = lazy_pattern(r"\s+")
_TEX_LAYOUT = lazy_pattern(
    r"\\(?:begin|end)\{(?:split|aligned)\}|\\(?:text)?color\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}"
    r"|\\(?:displaystyle|textstyle|nonumber|notag|limits)(?![A-Za-z])|\\label\s*\{[^{}]*\}|\\(?![A-Za-z])|[,;:!~.]"
)
"""Matches commands that only position or label a formula, environments that Sphinx adds, and punctuation.
Also matches backslashes that remain without a command."""
_TYPOGRAPHY = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "“": "''", "”": "''", '"': "''"}
    | {"…": "", "–": "--", "—": "---", "«": "<<", "»": ">>"}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
)
"""Character → its replacement in a formula. Typographic quotes and dashes become ASCII; zero-width characters
and ellipses are removed."""
_EMPHASIS = lazy_pattern(r"[_*~`>\\]+")
_TEX_COMMENT = lazy_pattern(r"(?<!\\)%[^\n]*")
_DEFINITION = lazy_pattern(
    r"\\(?:let\s*\\[A-Za-z]+\s*=?\s*(?:\\[A-Za-z]+|\S)"
    r"|(?:(?:re|provide)?newcommand|providecommand|renewcommand|DeclareMathOperator|g?def|require)(?![A-Za-z]))"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Content of one page, as kind of content → item → count. The order of words is stored too."""

    counters: Mapping[str, Counter[str]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """Normalized words in the order of the page."""
    hidden: Counter[str] = field(default_factory=Counter)
    """Words inside formulas and code."""

    def counter(self, kind: str) -> Counter[str]:
        """Return item → count for a kind of content; empty if the page has no items of this kind."""
        return self.counters.get(kind, Counter())

    @property
    def sizes(self) -> dict[str, int]:
        """Return the number of items of each kind."""
        return {kind: self.counter(kind).total() for kind in KINDS}


def normalize_tex(tex: str) -> str:
    """Return a formula without whitespace, punctuation, and commands that only position or label.

    Return an empty string for a formula that only defines macros.
    """
    tex = unescape_entities(tex).translate(_TYPOGRAPHY)
    return "" if _only_defines(tex) else _TEX_SPACE.sub("", _TEX_LAYOUT.sub("", tex))


def _only_defines(tex: str) -> bool:
    """Return whether a formula contains only definitions and comments."""
    if "\\" not in tex:
        return False
    tex = _TEX_COMMENT.sub("", tex).strip()
    if not _DEFINITION.match(tex):
        return False
    depth = 0
    rest = []
    for char in _DEFINITION.sub("", tex):
        depth += (char == "{") - (char == "}")
        rest.append(char if depth <= 0 and char != "}" else "")
    return not re.sub(r"\\[A-Za-z]+|\[[^\]]*\]|#\d|[\s*]", "", "".join(rest))


def strip_emphasis(tex: str) -> str:
    """Remove the characters of a normalized formula that Markdown may read as emphasis, code or quotes. They
    may be missing on pages of old systems."""
    return _EMPHASIS.sub("", tex)


def normalize_code(code: str) -> str:
    """Return a code block without whitespace at line ends, blank lines and annotations."""
    lines = (_without_marks(line).strip() for line in code.strip().splitlines())
    return "\n".join(line for line in lines if line)


def _without_marks(line: str) -> str:
    return _CODE_ANNOTATIONS.sub("", line) if line.rstrip().endswith(_ANNOTATION_ENDS) else line


def split_words(text: str) -> list[str]:
    """Return the words of a text, in lower case and with straight apostrophes."""
    text = unquote(text) if "%" in text else text
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    return _WORD.findall(folded)


def normalize_url(address: str) -> str:
    """Return the URL of a link without scheme, fragment and query; empty if the URL has no host."""
    address = unquote(address.strip().partition("#")[0].partition("?")[0])
    if re.match(r"(?:https?:)?//", address):
        return unquote(address).partition("//")[2].rstrip("/").casefold()
    return ""


def normalize_key(key: str) -> str:
    """Return only the letters and digits of a bibliography key."""
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    return re.sub(r"[\W_]+", "", plain.casefold())


def normalize_image_name(address: str) -> str:
    """Return the file name of an image without a language code, for comparison. An attachment of a notebook
    has a name, too. All data URLs get the same name."""
    if address.startswith("data:"):
        return "data:"
    path = unquote(address.strip().removeprefix("attachment:").partition("#")[0].partition("?")[0])
    name = re.sub(r"[^\w.]+", "-", path.rstrip("/").rpartition("/")[2].casefold())
    return _LANGUAGE.sub("", name)


_SILENT = frozenset(("script", "style", "template", "noscript", "svg", "nav"))
_SILENT_CLASSES = name_set(
    "code-header heading-anchor heading-number footnote-backref eq-number references spoken provenance "
    "katex-html MathJax_Preview MathJax reversefootnote anchor lineno gutter gl footnote-ref filename "
    "code-title linenos"
)
"""Classes of elements whose content the author did not write, in pages of blogsmith and of other systems."""
_ASIDE_CLASSES = frozenset(("sidenote", "marginnote", "margin-note", "side-note", "sidenote-number"))
"""Classes of margin notes that are inside a paragraph."""
_NO_MATH = frozenset(("pre", "code", "textarea", "kbd", "samp"))
_MATH = lazy_pattern(
    r"\$\$((?:\\[\s\S]|(?!\$\$)[^\\])+?)\$\$|\\\[([\s\S]+?)\\\]|\\\(([\s\S]+?)\\\)"
    r"|(?<!\\)\$(?!\s)((?:\\[\s\S]|[^\\$])*?)(?<!\s)\$(?!\d)"
    r"|(?<!\\)\$\s*(?![\s\d])((?:\\[\s\S]|[^\\$])+?)\$"
    rf"|(\\begin\{{({ENVIRONMENT_NAMES})\}}[\s\S]*?\\end\{{\7\}})"
)
_MATH_ML = lazy_pattern(r"(<math\b[^>]*\salttext=\"[^\"]*\"[^>]*>)[\s\S]*?</math>")
_CODE_SPAN = lazy_pattern(r'<span class="(?!gl")(?:line|[a-z][a-z0-9]{0,2})">([^<]*)</span>')
"""Matches an element for a color or a line of code in Pygments and Chroma; its text is group 1. The class
`gl`, a line number, is excluded."""
_CODE_SPAN_DEPTH = 3
"""Nesting depth of these elements in Chroma: line, code of the line, token."""
_SCRIPT_FORMULA = lazy_pattern(r"\s*[_^]\{(?:\\text\{)?([\w+−-]{1,20})\}?\}\s*\Z")
"""Matches a formula that is only a superscript or subscript."""
_REFERENCE = lazy_pattern(r"\\(?:eq)?ref\{[^{}]*\}")
_BOX_MARK = lazy_pattern(r"\A\s*\[![A-Za-z]+\][+-]?(?=\s|\Z)")
_HIDDEN_STYLE = lazy_pattern(r"display\s*:\s*none")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = name_set(
    "p div section article li ul ol dl dt dd table tr td th thead tbody h1 h2 h3 h4 h5 h6 blockquote figure "
    "figcaption pre label details summary br hr aside center d-footnote d-cite sup"
)


def read_facts(html: str) -> Facts:
    """Count the content of a page. Invalid HTML raises no error."""
    reader = _Reader()
    reader.feed(_without_presentation(html))
    reader.close()
    return reader.finish()


def _without_presentation(html: str) -> str:
    """Remove the elements inside formulas and the elements for colors of code. They are nine in ten tags, but
    contain no content."""
    # a function is three times as fast as the replacement string `\1`
    html = _MATH_ML.sub(lambda found: f"{found[1]}</math>", html)
    for _ in range(_CODE_SPAN_DEPTH):
        html = _CODE_SPAN.sub(itemgetter(1), html)
    return html


@dataclass(slots=True)
class _OpenElement:
    """An element whose end the reader has not reached yet."""

    tag: str
    is_silent: bool
    is_code: bool
    heading: list[str] | None = None


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._counters: dict[str, Counter[str]] = {}
        self._words: list[str] = []
        self._hidden: Counter[str] = Counter()
        self._stack: list[_OpenElement] = []
        self._text: list[str] = []
        self._code: list[str] | None = None
        self._math: list[str] | None = None
        self._tex = ""
        self._item = 1
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
            self._stack.append(_OpenElement(tag, silent, code, heading))

    def _take_start(self, tag: str, values: dict[str, str], classes: set[str], *, is_silent: bool) -> None:
        if tag == "script" and values.get("type", "").startswith("math/tex"):
            self._is_script, self._math = True, []
        if is_silent:
            return
        if tag == "math" and (script := _SCRIPT_FORMULA.match(values.get("alttext", ""))):
            # a superscript or subscript belongs to the word before it, as with `<sub>`
            self._text.append(script[1])
        elif tag == "math":
            # words on both sides of a formula are separate words
            self._text.append(" ")
            self._tex, self._math = values.get("alttext", ""), []
        elif tag == "code" and "math-error" in classes:
            # a formula with an error is shown as written, and a diagnostic reports it
            self._tex, self._math = "", []
        elif tag == "img" and "for-paper" not in classes:
            self._add("images", normalize_image_name(values.get("src", "")))
        elif tag == "source" and values.get("srcset", "").strip() and "dark" in values.get("media", ""):
            self._add("images", normalize_image_name(values["srcset"].split()[0]))
        elif tag == "table" and not {"rouge-table", "highlighttable"} & classes:
            self._add("tables", "table")
        elif tag == "ol":
            self._item = int(start) if (start := values.get("start", "")).isdecimal() else 1
        elif tag == "li" and self._stack and self._stack[-1].tag == "ol":
            # where the old system continued a paragraph, the number was a word
            self._hidden[str(self._item)] += 1
            self._item += 1
        elif tag == "pre" and self._code is None:
            self._code = []
        elif tag == "a" and values.get("role") == "doc-biblioref":
            self._add("citations", normalize_key(values.get("href", "").removeprefix("#ref-")))
        elif tag == "a" and (address := normalize_url(values.get("href", ""))):
            self._add("links", address)
        elif tag == "abbr":
            # the meaning of the abbreviation, which other systems show in the text
            self._text.append(f" {values.get('title', '')} ")
        elif tag == "d-footnote" or (tag == "sup" and _is_note(values)):
            self._flush()
            self._add("footnotes", "footnote")
        elif tag == "d-cite":
            for key in filter(None, re.split(r"[\s,]+", values.get("key") or values.get("bibtex-key", ""))):
                self._add("citations", normalize_key(key))

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
            if closed.heading is not None and (words := split_words("".join(closed.heading))):
                self._add("headings", " ".join(words))
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
            # a formula cannot begin outside of code and end inside
            self._text.append(data if not (self._stack and self._stack[-1].is_code) else _without_math(data))
            is_note = any(element.tag == "d-footnote" for element in self._stack)
            for element in self._stack if not is_note else ():
                if element.heading is not None:
                    element.heading.append(data)

    def updatepos(self, i: int, j: int) -> int:
        """Return `j` without counting lines, because no position of a tag is used. Overrides a slow method of
        HTMLParser."""
        return j

    def _add(self, kind: str, thing: str) -> None:
        self._counters.setdefault(kind, Counter())[thing] += 1

    @property
    def _is_silent(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_silent

    def _formula(self, tex: str) -> None:
        if compared := normalize_tex(tex):
            self._add("formulas", compared)
            self._hidden.update(split_words(tex.replace("_", " ")))

    def _flush(self) -> None:
        if not self._text:
            return
        text = "".join(self._text)
        self._text = []

        def substitute(found: re.Match[str]) -> str:
            self._formula(next(group for group in found.groups() if group is not None))
            return " "

        # remove the marker of a callout that the old system did not support
        text = _BOX_MARK.sub(" ", text, count=1) if "[!" in text else text
        if "$" in text or "\\" in text:
            text = _REFERENCE.sub(" ", _MATH.sub(substitute, text))
        self._words.extend(split_words(text.replace(_DOLLAR, "$")))

    def finish(self) -> Facts:
        """Return the content counted in all HTML so far."""
        self._flush()
        if self._code is not None:
            self._take_code()
        return Facts({**self._counters, "words": Counter(self._words)}, tuple(self._words), self._hidden)

    def _take_code(self) -> None:
        code = "".join(self._code or ())
        self._add("code", normalize_code(code))
        self._hidden.update(split_words(code))
        self._code = None


def _is_note(values: Mapping[str, str]) -> bool:
    """Return whether a superscript with these attributes is a footnote reference."""
    return "footnote-ref" in values.get("class", "") or values.get("id", "").startswith("fnref")


_DOLLAR = "\ue003"


def _without_math(code: str) -> str:
    return re.sub(r"\\([()\[\]])", r"\1", code.replace("$", _DOLLAR))


_MAX_QUOTE = 200
"""Maximum number of characters of a lost item that a report quotes."""
_MAX_WORDS = 20_000
"""Maximum number of words of a page for a comparison of word order, whose cost grows with the square."""


def losses(
    source: str, before: Facts, after: Facts, allowed: Facts, lines: LineFinder, own: str = ""
) -> Iterator[Difference]:
    """Yield the items that `before` contains more often than `after`. Items in `allowed` may be lost.

    source: name of the file in the differences. own: host and path of the site, whose links are ignored. A
    word that became part of a formula or of code does not count as lost.
    """
    for kind in KINDS:
        lost = before.counter(kind) - after.counter(kind) - allowed.counter(kind)
        if kind == "words":
            lost -= after.hidden - before.hidden
            lost = _remove_joined_words(lost, after.words)
            for run in _runs(before.words, after.words, lost):
                yield Difference(kind, _shorten(" ".join(run)), source, find_words(lines, run), len(run))
        else:
            for thing, count in lost.items():
                if kind == "links" and own and (thing == own or thing.startswith(f"{own}/")):
                    continue
                yield Difference(kind, thing[:_MAX_QUOTE], source, lines.find(thing), count)


def _remove_joined_words(lost: Counter[str], words: Sequence[str]) -> Counter[str]:
    """Return the lost words, except those that are two adjacent words of the other page joined together.
    words: words of that page."""
    if not lost:
        return lost
    joined = Counter(first + second for first, second in pairwise(words))
    return lost - joined


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]} …"


def _runs(before: Sequence[str], after: Sequence[str], lost: Counter[str]) -> Iterator[Sequence[str]]:
    """Yield lost words, grouped into runs that are next to each other in the old page. before, after: words
    of the old and of the new page; lost: word → number of lost occurrences."""
    if not lost:
        return
    left = Counter(lost)
    if max(len(before), len(after)) > _MAX_WORDS:
        yield from ([word] * count for word, count in left.items())
        return
    for tag, start, end, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("delete", "replace"):
            run = []
            for word in before[start:end]:
                if left[word] > 0:
                    left[word] -= 1
                    run.append(word)
            if run:
                yield run
    # words that the comparison matched with other occurrences
    yield from ([word] * count for word, count in left.items() if count > 0)


def find_words(lines: LineFinder, words: Sequence[str]) -> int:
    """Return the line that contains the first six of these words in a row; 0 if there is none."""
    return lines.search(r"[\W_]*".join(re.escape(word) for word in words[:6]))
