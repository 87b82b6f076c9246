"""Conversion of inline HTML to Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from urllib.parse import quote

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from .tree import PageElement

_LABEL = lazy_pattern(r"\s*\\label\s*\{[^{}]*\}")
_OUTER_SPACE = lazy_pattern(r"(\s*)(.*?)(\s*)\Z", re.DOTALL)
_SAFE = "/:?#[]@!$&'*+,;=%~"
"""Characters left unescaped in URLs. Parentheses are escaped, as they would end a link."""
_NO_MARK = name_set("heading-anchor eq-anchor eq-number footnote-backref ref-backref code-backref")
"""Classes of links without content, which only serve navigation within the page."""


_LABELS = frozenset({"figure-label", "table-label", "listing-label"})


class UrlBase(Struct, frozen=True):
    """URLs of the page and its site, used to make the links in the Markdown version absolute."""

    page: str
    """URL of the page, absolute if the site has a `base_url`."""
    host: str
    """Scheme and host such as `https://example.org`; empty without `base_url`."""

    def resolve(self, url: str) -> str:
        """Return the `url` of a link or image as written in Markdown."""
        if url.startswith("#"):
            url = self.page + url
        elif url.startswith("/") and not url.startswith("//"):
            url = self.host + url
        return quote(url, safe=_SAFE)


def inline_markdown(nodes: Iterable[PageElement | str], address: UrlBase) -> str:
    """Return the Markdown of inline `nodes`, without surrounding whitespace."""
    return _InlineWriter(address).write(nodes).strip()


def formula_tex(math: PageElement) -> str:
    """Return portable TeX: macros expanded, labels removed, references replaced by numbers."""
    tex = math.attributes.get("data-tex") or math.attributes.get("alttext", "")
    return _LABEL.sub("", tex).strip()


class _InlineWriter:
    def __init__(self, address: UrlBase, *, in_strong: bool = False) -> None:
        self._address = address
        self._in_strong = in_strong

    def write(self, nodes: Iterable[PageElement | str]) -> str:
        parts: list[str] = []
        texts = [*nodes]
        for index, node in enumerate(texts):
            if isinstance(node, str):
                parts.append(escape_text(collapse_spaces(node)))
            elif node.tag == "math":
                after = texts[index + 1] if index + 1 < len(texts) else ""
                parts.append(_inline_formula(node, after if isinstance(after, str) else ""))
            else:
                parts.append(self._element(node))
        return "".join(parts)

    def _element(self, element: PageElement) -> str:
        rule = _RULES.get(element.tag)
        return rule(self, element) if rule else self.write(element.children)

    def emphasis(self, element: PageElement) -> str:
        return self._delimit(element, "_" if self._in_strong else "*", self._in_strong)

    def strong(self, element: PageElement) -> str:
        return self._delimit(element, "**", in_strong=True)

    def deletion(self, element: PageElement) -> str:
        return self._delimit(element, "~~", self._in_strong)

    def mark(self, element: PageElement) -> str:
        return self._delimit(element, "==", self._in_strong)

    def _delimit(self, element: PageElement, sign: str, in_strong: bool) -> str:
        """Return the content of the element between delimiters. Spaces at its ends are moved outside, because
        Markdown allows none inside."""
        text = _InlineWriter(self._address, in_strong=in_strong).write(element.children)
        parts = _OUTER_SPACE.match(text)
        assert parts, "the pattern matches every string"
        return f"{parts[1]}{sign}{parts[2]}{sign}{parts[3]}" if parts[2] else text

    def code(self, element: PageElement) -> str:
        return code_span(element.text())

    def key(self, element: PageElement) -> str:
        return code_span(collapse_spaces(element.text()))

    def link(self, element: PageElement) -> str:
        url = element.attributes.get("href", "")
        text = self.write(element.children)
        if not element.classes.isdisjoint(_NO_MARK) or not text.strip():
            return ""
        # a numbered reference within the page needs no link
        if not url or ("xref" in element.classes and url.startswith("#")):
            return text
        return f"[{text.strip()}]({self._address.resolve(url)})"

    def image(self, element: PageElement) -> str:
        if "for-paper" in element.classes:
            return ""
        url = element.attributes.get("src", "")
        words = escape_text(collapse_spaces(element.attributes.get("alt", "")))
        return f"![{words}]({self._address.resolve(url)})"

    def superscript(self, element: PageElement) -> str:
        note = element.find("a")
        if "footnote-ref" in element.classes:
            # a footnote or citation mark in the text of a link cannot be a link itself
            number = note.attributes.get("href", "").removeprefix("#fn-") if note else element.text()
            return f"[^{number}]"
        return f"^{self.write(element.children)}^"

    def subscript(self, element: PageElement) -> str:
        return f"~{self.write(element.children)}~"

    def citation(self, element: PageElement) -> str:
        """Return a citation as plain text; on the page its keys link to the list of references."""
        if "citation" in element.classes:
            return escape_text(collapse_spaces(element.text()))
        return self.emphasis(element)

    def abbreviation(self, element: PageElement) -> str:
        title = element.attributes.get("title", "")
        text = self.write(element.children)
        return f"{text} ({escape_text(collapse_spaces(title))})" if title else text

    def span(self, element: PageElement) -> str:
        if not element.classes.isdisjoint(_LABELS):
            return self.strong(element)
        return self.write(element.children)

    def line_end(self, element: PageElement) -> str:
        return "\\\n"

    def nothing(self, element: PageElement) -> str:
        return ""


_RULES: Mapping[str, Callable[[_InlineWriter, PageElement], str]] = MappingProxyType(
    {
        "em": _InlineWriter.emphasis,
        "i": _InlineWriter.emphasis,
        "strong": _InlineWriter.strong,
        "b": _InlineWriter.strong,
        "del": _InlineWriter.deletion,
        "s": _InlineWriter.deletion,
        "mark": _InlineWriter.mark,
        "code": _InlineWriter.code,
        "samp": _InlineWriter.code,
        "kbd": _InlineWriter.key,
        "a": _InlineWriter.link,
        "img": _InlineWriter.image,
        "sup": _InlineWriter.superscript,
        "sub": _InlineWriter.subscript,
        "cite": _InlineWriter.citation,
        "abbr": _InlineWriter.abbreviation,
        "span": _InlineWriter.span,
        "br": _InlineWriter.line_end,
        "input": _InlineWriter.nothing,
        "svg": _InlineWriter.nothing,
    }
)


def code_span(text: str) -> str:
    """Return `text` as a code span, with as many backticks as needed."""
    if not text.strip():
        return text
    ticks = make_fence("`", text, 1)
    edge = " " if text.startswith("`") or text.endswith("`") or (text[0] == text[-1] == " ") else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


def _inline_formula(math: PageElement, after: str) -> str:
    tex = formula_tex(math)
    if not tex:
        return ""
    if math.attributes.get("display") == "block":
        return f"$${tex}$$"
    # Pandoc does not close a formula with a `$` before a digit
    return f"\\({tex}\\)" if after[:1].isdigit() or _contains_dollar(tex) else f"${tex}$"


def _contains_dollar(tex: str) -> bool:
    """Return whether `tex` contains a `$` that Markdown readers would take for the end of the formula."""
    return "$" in tex.replace("\\$", "") and "\\)" not in tex


# Escaping of plain text in Markdown: characters with a special meaning get a backslash.


_SPACES = lazy_pattern(r"[ \t\r\n\f]+")
_INSIDE = lazy_pattern(
    r"[\\`*<$]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|~(?=~)|(?<=~)~|=(?==)|(?<==)="
    r"|(?<![\w@])@(?=[\w{])"
    r"|\{(?=[%=@#:.])"
    r"|&(?=#?\w+;)"
    r"|-(?=--)|\.(?=\.\.)"
)
_AT_START = lazy_pattern(
    r"(?P<sign>[#>]|[-+](?=\s|$)|(?:---|\+\+\+|___)|[:|%](?=\s|$)|:::|!!!|\?\?\?|={1,}\s*$)"
    r"|(?P<number>\d{1,9})(?P<point>[.)])(?=\s|$)"
)


_BRACKET = lazy_pattern(r"\[(?=[\^!@\[-]|[ xX]\]|[^\[\]]*(?:\][(\[:{]|\Z))|(?<!\[)\](?=\])")
r"""Regular expression of brackets to escape. They become character references, because many readers treat
`\\[` as the start of a formula."""


def collapse_spaces(text: str) -> str:
    """Return `text` with each run of whitespace collapsed to one space, as browsers do."""
    return _SPACES.sub(" ", text)


def escape_text(text: str) -> str:
    """Return `text` with Markdown syntax escaped, for use within a line."""
    text = _INSIDE.sub(lambda found: "\\" + found[0], text)
    return _BRACKET.sub(lambda found: f"&#{ord(found[0])};", text) if "[" in text else text


def escape_start(line: str) -> str:
    """Return the line with its start escaped so that it does not begin another kind of block than a
    paragraph."""
    found = _AT_START.match(line)
    if not found:
        return line
    if found["number"]:
        return f"{found['number']}\\{line[found.end('number') :]}"
    return "\\" + line


def make_fence(sign: str, text: str, least: int) -> str:
    """Return a run of `sign` that is longer than all runs in `text`, with at least `least` characters."""
    longest = max((len(run) for run in re.findall(re.escape(sign) + "+", text)), default=0)
    return sign * max(least, longest + 1)
