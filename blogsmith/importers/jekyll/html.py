"""Conversion of HTML in Jekyll posts to Markdown, where Markdown can express it.

A block element may request Markdown with `markdown="1"`. kramdown leaves every other block element unchanged
up to its end tag, including blank lines and indentation. CommonMark ends the element at a blank line, and
reads indented lines after the blank line as code. So this module removes blank lines from elements that stay
HTML, and adds blank lines to elements that request Markdown. In CommonMark, an inline element such as `<br>`
begins an HTML block if it is alone on the first line of a paragraph.
"""

from __future__ import annotations

import re

from ...api.importing import lazy_pattern
from ..text.html import BLOCKS, Element, ElementEnds, parse_elements, replace_blocks
from ..text.html_markdown import (
    convert_video,
    first_id,
    grid,
    inline_markdown,
    read_caption,
    read_figure,
    read_image_row,
    single_images,
)
from ..text.math import optional_macros, tex_macros
from ..text.pieces import HiddenFragments
from ..text.segments import MaskedText
from .source import PageContext

_FENCE = lazy_pattern(
    r"(?m)^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[^\n]*\n(?:(?!(?P=indent)[ \t]{0,3}(?P=mark))[^\n]*\n)*"
    r"(?P=indent)[ \t]{0,3}(?P=mark)[`~]*[ \t]*$"
)
_VERBATIM = lazy_pattern(r"<(pre|script|style|textarea)\b[\s\S]*?</\1\s*>|<!--[\s\S]*?-->", re.IGNORECASE)
_PARSE_OPTION = lazy_pattern(r"\{::options[^{}]*\bparse_block_html=[\"']true[\"'][^{}]*/\}")
_CONTAINER_START = lazy_pattern(
    r"(?mi)^([ \t]*<(?:article|aside|blockquote|center|details|div|footer|header|main|section)\b)"
    r"(?![^<>]*\smarkdown\s*=)(?=[^<>]*>)"
)
"""Matches the start of an element that may contain blocks."""
_START = lazy_pattern(rf"^[ ]{{0,3}}(?=<(?:{'|'.join(sorted(BLOCKS))})\b)", re.MULTILINE | re.IGNORECASE)
_INDENTED_TAG = lazy_pattern(r"^[ \t]+(?=</?[A-Za-z])", re.MULTILINE)
_INDENTED = lazy_pattern(r"^[ \t]+", re.MULTILINE)
_BLANK = lazy_pattern(r"\n[ \t]*(?=\n)")
_HTML_LINE = lazy_pattern(
    rf"(?mi)^[ \t>]{{0,8}}</?(?:{'|'.join(sorted(BLOCKS))}|tr|td|th|tbody|summary|figcaption)\b"
)
_MARKDOWN = lazy_pattern(r"\n[ \t]*\n(?:#{1,6} |[-*+] \S|\d+\. |[\ue000\ue010\ue014]|>|[^\n<]*(?:\]\(|\*\*))")
"""Matches a blank line and unindented Markdown after it. Fences are hidden by placeholders."""
_TEXT_LINE_AFTER = lazy_pattern(r"[ \t]*\n(?=[ \t]*[^\s<])")
_LONE_TAG = lazy_pattern(
    r"(?i)"
    r"(?:(?<=\n\n)|\A)([ ]{0,3}</?(?:br|span|a|b|i|em|strong|small|font|sup|sub|u|img|big|mark|kbd|d-[a-z]+)"
    r"\b[^<>\n]*>)"
    r"[ \t]*\n(?=[ \t]*\S)"
)


def add_markdown_attributes(text: str, *, is_default: bool) -> str:
    """Add `markdown="1"` to block elements where kramdown's option `parse_block_html` applies.

    is_default: whether the site's settings set the option. Otherwise, it applies to the elements after the
    directive that sets it. Source: kramdown, option `parse_block_html`.
    """
    start = 0 if is_default else -1
    if start < 0 and (option := _PARSE_OPTION.search(text)):
        start = option.end()
    if start < 0:
        return text
    hidden = HiddenFragments("\ue014\ue015")
    text = text[:start] + hidden.hide(_VERBATIM, hidden.hide(_FENCE, text[start:]))
    return hidden.restore(text[:start] + _CONTAINER_START.sub(r'\1 markdown="1"', text[start:]))


def normalize_blocks(text: str) -> str:
    """Rewrite HTML blocks so that CommonMark ends them at the same position as kramdown."""
    hidden = HiddenFragments("\ue014\ue015")
    text = _FENCE.sub(lambda found: hidden.mask(found[0]), text)
    text = _VERBATIM.sub(lambda found: hidden.mask(found[0]), text)
    text = _LONE_TAG.sub(r"\1 ", text)
    parts: list[str] = []
    position = 0
    ends = ElementEnds(text)
    while found := _START.search(text, position):
        end = ends.find_end(found.end())
        if end is None:
            # the element is never closed, so it ends at its first blank line
            blank = re.compile(r"\n[ \t]*\n").search(text, found.end())
            end = blank.start() if blank else len(text)
        parts += [text[position : found.start()], _normalize_block(text[found.end() : end])]
        position = end
        if _TEXT_LINE_AFTER.match(text, end):
            # kramdown reads the next line as a paragraph
            parts.append("\n")
    parts.append(text[position:])
    return hidden.restore("".join(parts))


def has_markdown(html: str) -> bool:
    """Return whether an element that does not request Markdown contains blocks that the author probably meant
    as Markdown."""
    return _MARKDOWN.search(html) is not None


def is_in_html_block(before: str) -> bool:
    """Return whether the text after `before` is in an HTML block, where Markdown has no meaning."""
    start = max(before.rfind("\n\n"), 0)
    return _HTML_LINE.search(before, start) is not None


def _normalize_block(html: str) -> str:
    if re.search(r"\bmarkdown\s*=", html) or has_markdown(html):
        return _INDENTED_TAG.sub("", html)
    return _BLANK.sub("", _INDENTED.sub("", html))


_INLINE = frozenset(("a", "b", "br", "code", "em", "i", "span", "small", "strong", "sub", "sup", "u", "font"))
_PLAIN = frozenset(("div", "center", "section", "span", "p"))
_OWN_MARK = lazy_pattern(r"\s+markdown\s*=\s*(?:\"[^\"]*\"|'[^']*'|\w+)")
_HIDDEN = lazy_pattern(r"display\s*:\s*none")
_PICTURE = lazy_pattern(
    r"(?i)<picture\b[^<>]*>(?:(?!<picture\b)[\s\S])*?(<img\b[^<>]*>)(?:(?!<picture\b)[\s\S])*?</picture\s*>"
)
_CAPTION = lazy_pattern(
    r"(?i)"
    r"(</div>)[ \t]*\n[ \t]*\n?[ \t]*<div\s+class=[\"'][^\"']*\bcaption\b[^\"']*[\"'][^>]*>([\s\S]*?)</div>"
)
_COLOUR = lazy_pattern(r"\\definecolor\s*\{([^{}]+)\}\s*\{(\w+)\}\s*\{([^{}]+)\}")


class HtmlTranslator:
    """Translator for the HTML of one page; each page has its own."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self.macros: dict[str, str] = {}
        """Macros that hidden elements of the page define: name with backslash → TeX."""
        self._optional_macros: list[str] = []
        self.colours: dict[str, str] = {}
        """Colors that hidden elements of the page define: name → `[model]{value}`."""

    def translate(self, masked: MaskedText) -> str:
        """Translate the HTML of a masked text. The result is masked too."""
        text = _PICTURE.sub(r"\1", masked.text)
        # a caption after a row of images belongs to the row
        text = _CAPTION.sub(lambda found: f"<figcaption>{found[2].strip()}</figcaption>{found[1]}", text)
        text = replace_blocks(text, lambda element, indent: self._block(element, indent, masked))
        if self._optional_macros:
            # front matter has no form for macros with an optional argument
            definitions = self._context.finished.mask("$$\n" + "\n".join(self._optional_macros) + "\n$$")
            text = f'<div style="display:none">\n{definitions}\n</div>\n\n{text.lstrip()}'
        return text

    def _block(self, element: Element, indent: str, masked: MaskedText) -> str:
        if _HIDDEN.search(element.attributes.get("style", "")) and self._read_macros(element, masked):
            return ""
        if video := convert_video(element):
            return _as_block(video)
        if pictures := read_image_row(element):
            return _as_block(grid(pictures, read_caption(element), first_id(element)))
        if found := read_figure(element):
            return _as_block(found.markdown())
        if "markdown" in element.attributes and element.attributes["markdown"] not in ("0", "span"):
            return self._markdown_inside(element, masked)
        if element.name == "details":
            return self._details(element, masked)
        if element.name == "p" and not element.attributes and not element.inner_source().strip():
            # the element is only spacing; kramdown reads the next line as text, but blogsmith would read it
            # as HTML
            return "\n"
        if has_markdown(element.source()):
            inner = replace_blocks(
                element.inner_source(), lambda each, indent: self._block(each, indent, masked)
            )
            if element.name == "p" and not element.attributes:
                # browsers allow no list in a paragraph, and Markdown needs no tag for it
                return _as_block(_dedent(inner).strip())
            head, *_ = re.split(r"\n[ \t]*\n", inner.lstrip("\n"), maxsplit=1)
            space = "\n\n" if self._cites(head) and not re.search(r"^[ \t]*<", head) else ""
            return f"{element.tag}{space}{inner}</{element.name}>"
        return self._with_paragraphs(_remove_blank_lines(element))

    def _with_paragraphs(self, element: Element) -> str:
        """Return an element as HTML. Text with citations or footnote references, which have no meaning in
        HTML, becomes a Markdown paragraph inside the element."""
        if element.name not in _INLINE and any(
            self._cites(child if isinstance(child, str) else child.source())
            for child in element.children
            if isinstance(child, str) or child.name in _INLINE
        ):
            text = " ".join(inline_markdown(element.inner_source()).split())
            return f"{element.tag}\n\n{text}\n\n</{element.name}>"
        if not element.children:
            return element.source()
        inner = "".join(
            child if isinstance(child, str) else self._with_paragraphs(child) for child in element.children
        )
        return f"{element.tag}{inner}</{element.name}>"

    def _cites(self, html: str) -> bool:
        text = self._context.finished.restore(html)
        return "[@" in text or "[^" in text

    def _read_macros(self, element: Element, masked: MaskedText) -> bool:
        """Read macros and colors that a hidden element defines. Return whether the element defines any."""
        text = masked.restore(element.inner_source())
        definitions = tex_macros(text)
        colours = {
            found[1].strip(): f"[{found[2]}]{{{found[3].strip()}}}" for found in _COLOUR.finditer(text)
        }
        if not definitions and not colours:
            return False
        self.macros |= definitions
        self.colours |= colours
        self._context.notice(
            "changed", "macros in a hidden element are moved to the front matter", removed=text
        )
        self._optional_macros += optional_macros(text)
        return True

    def _markdown_inside(self, element: Element, masked: MaskedText) -> str:
        if element.name == "details":
            return self._details(element, masked)
        inner = _dedent(element.inner_source())
        # the element may contain images and rows of images
        inner = replace_blocks(inner, lambda each, indent: self._block(each, indent, masked))
        if element.name in _PLAIN and not element.classes - {"caption", "l-body"}:
            return _as_block(inner.strip())
        if "collapsible" in element.classes:
            label = element.attributes.get("data-label", "").replace('"', "&quot;")
            return _as_block(f'<div class="collapsible" data-label="{label}">\n\n{inner.strip()}\n\n</div>')
        tag = _OWN_MARK.sub("", element.tag)
        return f"{tag}\n\n{inner.strip()}\n\n</{element.name}>"

    def _details(self, element: Element, masked: MaskedText) -> str:
        """Return a `<details>` element with its content translated. If it requests Markdown and its label is
        plain text, return a fold."""
        summary = next((each for each in element.elements if each.name == "summary"), None)
        rest = "".join(
            child if isinstance(child, str) else child.source()
            for child in element.children
            if child is not summary
        )
        label = inline_markdown(summary.inner_source()) if summary else ""
        inner = _dedent(rest).strip()
        if label and not re.search(r"[<>\"*_`$\\\[\ue000\ue010]", label) and "markdown" in element.attributes:
            return _as_block(
                f'<div class="collapsible" data-label="{" ".join(label.split())}">\n\n{inner}\n\n</div>'
            )
        if "markdown" in element.attributes:
            tag = _OWN_MARK.sub("", element.tag)
            head = summary.source() if summary else ""
            return _as_block(f"{tag}\n{' '.join(head.split())}\n\n{inner}\n\n</details>")
        head = self._with_paragraphs(summary) if summary else ""
        if "\n\n" not in head:
            head = " ".join(head.split())
        inner = replace_blocks(rest, lambda each, indent: self._block(each, indent, masked))
        return _as_block(f"{element.tag}\n{head}\n\n{inner.strip()}\n\n</details>")


def _as_block(text: str) -> str:
    return f"\n\n{text}\n\n"


def _remove_blank_lines(element: Element) -> Element:
    """Return the element without blank lines, because a blank line would end its HTML block."""
    (plain, *_) = parse_elements(re.sub(r"\n[ \t]*(?=\n)", "", element.source()))
    return plain if isinstance(plain, Element) else element


def _dedent(text: str) -> str:
    """Remove the indentation that all lines except the first have in common."""
    lines = text.strip("\n").split("\n")
    shared = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    first = lines[0].lstrip() if lines else ""
    return "\n".join([first, *(line[shared:] if line.strip() else "" for line in lines[1:])])


def inline_html(text: str) -> str:
    """Convert `<img>` tags in paragraphs to Markdown images. In HTML blocks, the tags stay."""
    return _IMAGE.sub(
        lambda found: found[0] if is_in_html_block(text[: found.start()]) else single_images(found[0]), text
    )


_IMAGE = lazy_pattern(r"<img\b(?:\"[^\"]*\"|'[^']*'|[^\"'<>])*>", re.IGNORECASE)
