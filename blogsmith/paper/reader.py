"""Conversion of the body of a page to a document tree.

The input is HTML, because it contains numbers, references, citations and recorded results, which depend on
the whole site. Interactive elements get a static form; `PageReader.statics` counts these forms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..api.books import lazy_pattern, name_set
from . import document as d
from .code_reader import read_code, read_output
from .elements import HtmlElement
from .equation_reader import read_display, read_formula

Resolve = Callable[[str], str]
"""URL of a link → its target: `#name` in the document, or an absolute URL; empty if there is none."""

_INLINE = name_set(
    "a abbr audio b bdi big br canvas cite code data del dfn em font i img input ins kbd label mark math "
    "object picture q s samp small span strike strong sub sup time tt u var wbr"
)
_REMOVED = name_set(
    "base button dialog embed link meta script select source style template textarea track wbr"
)
_LEFT_OUT = name_set(
    "heading-anchor eq-anchor footnote-backref ref-backref code-backref sweep-controls run-button "
    "compare-slider ref-number"
)
"""Classes of links and controls without use on paper."""
_STYLES = {
    **dict.fromkeys(("em", "i", "cite", "dfn", "var"), "em"),
    **dict.fromkeys(("strong", "b"), "strong"),
    **dict.fromkeys(("code", "samp", "tt"), "code"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    **dict.fromkeys(("ins", "u"), "ins"),
    **{name: name for name in ("mark", "kbd", "sub", "sup", "small")},
}
"""Element → style of a span."""
_MEDIA = {"audio": "recording", "video": "video", "object": "embedded file", "canvas": "drawing of a script"}
"""Element → name of its static form in the report."""
_KEPT_CLOSED = name_set("solution answer hint")
"""Kinds of callouts that stay closed if they are folded."""
_STATEMENTS = name_set("proof solution")
_WIDTH = lazy_pattern(r"(?:^|;)\s*width:\s*(\d+(?:\.\d+)?)(%|px)")
_SPACE = lazy_pattern(r"[ \t\r\n\f]+")
_PX_PT = 0.75
_OWN_LABELS = name_set("by-author by-style")
"""Classes of lists of references whose entries are not numbered."""


class PageReader:
    """Reads the elements of one page."""

    def __init__(
        self, resolve: Resolve, picture: Callable[[str], str], words: Callable[[str], str], page: int
    ) -> None:
        self._resolve = resolve
        self._picture = picture
        """Function from the URL of an image to its path on the site; empty if the file does not exist."""
        self._words = words
        """Function from MathML to its text alternative."""
        self.page = page
        self.statics: Counter[str] = Counter()
        """Static form → how often it was used."""
        self._notes: dict[str, HtmlElement] = {}
        self._seen: set[str] = set()

    def read(self, root: HtmlElement) -> tuple[d.Block, ...]:
        """Return the blocks of a page."""
        for section in root.find(".footnotes"):
            self._notes.update((item.get("id"), item) for item in section.find("li"))
        return self.blocks(root.children)

    def anchor(self, element: HtmlElement) -> str:
        """Return the anchor name of an element; empty if it has none."""
        return f"{self.page}-{element.get('id')}" if element.get("id") else ""

    # inline content

    def inline(self, children: Iterable[HtmlElement | str]) -> tuple[d.Inline, ...]:
        """Return inline content. Blocks inside are joined."""
        found: list[d.Inline] = []
        for child in _for_paper(children):
            if isinstance(child, str):
                found.append(_SPACE.sub(" ", child))
            elif child.name not in _REMOVED and not _LEFT_OUT.intersection(child.classes):
                if child.get("id") and child.name != "math" and "footnote-ref" not in child.classes:
                    found.append(d.PaperAnchor(self.anchor(child)))
                found.extend(self._inline_element(child))
        return tuple(found)

    def _inline_element(self, element: HtmlElement) -> tuple[d.Inline, ...]:
        name = element.name
        if name == "math":
            return (read_formula(element, self._words, self.page),)
        if name == "br":
            return (d.PaperLineBreak(),)
        if name == "a":
            return self._link(element)
        if name in ("img", "picture"):
            return self._image(element, is_inline=True)
        if name in _MEDIA:
            return self._media(element)
        if name == "svg":
            return (d.PaperPicture("", _svg_name(element), svg=element.source, is_inline=True),)
        if name == "sup" and "footnote-ref" in element.classes:
            return self._note(element)
        if name == "input":
            return (f"[{'x' if 'checked' in element.attributes else ' '}] ",) * (
                element.get("type") == "checkbox"
            )
        if name == "q":
            return ("“", *self.inline(element.children), "”")
        if "qed" in element.classes:
            return (d.PaperSpan("qed", ("∎",)),)
        style = _STYLES.get(name, "small-caps" if "math-smallcaps" in element.classes else "")
        if style == "code":
            return (d.PaperSpan("code", (element.text,)),)
        if "citation" in element.classes:
            style = ""
        content = self.inline(element.children)
        return (d.PaperSpan(style, content),) if style else content

    def _link(self, element: HtmlElement) -> tuple[d.Inline, ...]:
        content = self.inline(element.children)
        if element.get("data-mark"):
            content = (f"({element.get('data-mark')})",)
        target = self._resolve(element.get("href"))
        return (d.PaperLink(target, content),) if target and content else content

    def _media(self, element: HtmlElement) -> tuple[d.Inline, ...]:
        """Return a link to the file of a video or similar element; without a file, its fallback content."""
        self.statics[_MEDIA[element.name]] += 1
        source = next(element.find("source"), element)
        target = self._resolve(element.get("src") or element.get("data") or source.get("src"))
        words = self.inline(element.children)
        return (d.PaperLink(target, words or (target,)),) if target else words

    def _note(self, element: HtmlElement) -> tuple[d.Inline, ...]:
        mark = next(element.find("a"), element)
        name = mark.get("href").removeprefix("#")
        if name in self._seen or name not in self._notes:
            return (d.PaperNoteReference(f"{self.page}-{name}", mark.text),)
        self._seen.add(name)
        anchors = (d.PaperAnchor(self.anchor(mark)),) if mark.get("id") else ()
        content = self.blocks(self._notes[name].children)
        return (*anchors, d.PaperNote(f"{self.page}-{name}", mark.text, content))

    def _image(self, element: HtmlElement, *, is_inline: bool) -> tuple[d.Inline, ...]:
        image = element if element.name == "img" else next(element.find("img"), None)
        if image is None:
            return ()
        alt = image.get("alt")
        path = self._picture(image.get("src"))
        if not path:
            return (alt,) if alt else ()
        return (d.PaperPicture(path, alt, _picture_width(image), is_inline=is_inline),)

    # blocks

    def blocks(self, children: Iterable[HtmlElement | str]) -> tuple[d.Block, ...]:
        """Return blocks. Inline content between blocks becomes paragraphs."""
        found: list[d.Block] = []
        line: list[HtmlElement | str] = []

        def end_line() -> None:
            content = self.inline(line)
            line.clear()
            if any(not isinstance(part, str) or part.strip() for part in content):
                found.append(_paragraph(content))

        for child in _for_paper(children):
            if isinstance(child, str) or child.name in _INLINE:
                line.append(child)
            elif child.name not in _REMOVED and not _LEFT_OUT.intersection(child.classes):
                end_line()
                found.extend(self._block(child))
        end_line()
        return tuple(found)

    def _block(self, element: HtmlElement) -> tuple[d.Block, ...]:
        name, classes = element.name, element.classes
        for kind in classes:
            if read := _BY_CLASS.get(kind):
                return read(self, element)
        if read := _BY_NAME.get(name):
            return read(self, element)
        if name[:1] == "h" and name[1:].isdigit():
            return (d.PaperHeading(int(name[1:]), (*self._anchors(element), *self.inline(element.children))),)
        return (*self._anchor_block(element), *self.blocks(element.children))

    def _anchors(self, element: HtmlElement) -> tuple[d.Inline, ...]:
        return (d.PaperAnchor(self.anchor(element)),) if element.get("id") else ()

    def _anchor_block(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return (d.PaperParagraph(self._anchors(element)),) if element.get("id") else ()

    def _paragraph(self, element: HtmlElement) -> tuple[d.Block, ...]:
        content = (*self._anchors(element), *self.inline(element.children))
        if "provenance" in element.classes:
            return (d.PaperParagraph(content, "small"),)
        if "claim" in element.classes:
            return (d.PaperParagraph(content, "claim"),)
        return (_paragraph(content),) if content else ()

    def _math(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return read_display(element, self._words, self.page)

    def _callout(self, element: HtmlElement) -> tuple[d.Block, ...]:
        title = next(element.find(".callout-title"), None)
        body = next(element.find(".callout-body"), element)
        kind = element.get("data-kind")
        name = self.inline(title.children) if title else ()
        is_statement = kind in _STATEMENTS or bool(title and next(title.find(".callout-label"), None))
        content = self.blocks(body.children)
        if element.name == "details" and kind in _KEPT_CLOSED and "open" not in element.attributes:
            self.statics["closed answer"] += 1
            content = ()
        return (d.PaperCallout(kind, name, content, self.anchor(element), is_statement),)

    def _details(self, element: HtmlElement) -> tuple[d.Block, ...]:
        if "sweep-run" in element.classes and "data-default" not in element.attributes:
            return ()
        found: list[d.Block] = list(self._anchor_block(element))
        for child in element.children:
            if isinstance(child, HtmlElement) and child.name == "summary":
                found.append(d.PaperParagraph(self.inline(child.children), "label"))
        rest = [c for c in element.children if isinstance(c, str) or c.name != "summary"]
        return (*found, *self.blocks(rest))

    def _sweep(self, element: HtmlElement) -> tuple[d.Block, ...]:
        self.statics["slider"] += 1
        return self.blocks(element.children)

    def _runnable(self, element: HtmlElement) -> tuple[d.Block, ...]:
        self.statics["runnable cell"] += 1
        return self.blocks(element.children)

    def _tab(self, element: HtmlElement) -> tuple[d.Block, ...]:
        label = next(element.find("label"), None)
        title = (d.PaperParagraph(self.inline(label.children), "label"),) if label else ()
        rest = [c for c in element.children if isinstance(c, str) or c.name not in ("label", "input")]
        return (*title, *self.blocks(rest))

    def _figure(self, element: HtmlElement) -> tuple[d.Block, ...]:
        caption = next(element.find("figcaption"), None)
        rest = [c for c in element.children if c is not caption]
        return (self._with_caption(element, caption, self._figure_content(element, rest)),)

    def _with_caption(
        self, element: HtmlElement, caption: HtmlElement | None, content: tuple[d.Block, ...]
    ) -> d.Block:
        words = self.inline(caption.children) if caption else ()
        return d.PaperFigure(content, words, self.anchor(element))

    def _figure_content(self, element: HtmlElement, rest: Sequence[HtmlElement | str]) -> tuple[d.Block, ...]:
        content: list[d.Block] = []
        for child in _for_paper(rest):
            image = next(iter(_images(child)), None) if isinstance(child, HtmlElement) else None
            if image is not None:
                content.append(d.PaperParagraph(self._image(image, is_inline=False)))
            elif isinstance(child, HtmlElement):
                content.extend(self.blocks((child,)))
        return tuple(block for block in content if block != d.PaperParagraph(()))

    def _embed(self, element: HtmlElement) -> tuple[d.Block, ...]:
        self.statics["frame of another site" if "embed" in element.classes else "video"] += 1
        link = next(element.find("a"), None)
        address = self._resolve(link.get("href")) if link else ""
        words = self.inline(link.children) if link else ()
        video = next(element.find("video"), None)
        content: tuple[d.Inline, ...] = ()
        if video is not None and (poster := self._picture(video.get("poster"))):
            content = (
                d.PaperPicture(poster, video.get("aria-label") or "Poster of a video", _picture_width(video)),
            )
        if address:
            content += (d.PaperLink(address, (address,) if address.startswith("http") else words),)
        blocks = tuple(d.PaperParagraph((part,)) for part in content) or (d.PaperParagraph(words),)
        return (self._with_caption(element, next(element.find("figcaption"), None), blocks),)

    def _video(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return self._embed(HtmlElement("figure", {}, (element,)))

    def _frame(self, element: HtmlElement) -> tuple[d.Block, ...]:
        self.statics["frame of another site"] += 1
        target = self._resolve(element.get("src"))
        words = element.get("title") or target
        return (d.PaperParagraph((d.PaperLink(target, (words,)),)),) if target else ()

    def _compare(self, element: HtmlElement) -> tuple[d.Block, ...]:
        self.statics["slider"] += 1
        labels = [next(element.find(f".compare-label-{side}"), None) for side in ("before", "after")]
        images = [child for child in element.elements if child.name in ("img", "picture")]
        pairs = zip(images, labels, strict=False)
        content = tuple(
            d.PaperFigure(
                (d.PaperParagraph(self._image(image, is_inline=False)),),
                self.inline(label.children) if label else (),
            )
            for image, label in pairs
        )
        return (
            self._with_caption(element, next(element.find("figcaption"), None), (d.PaperGrid(2, content),)),
        )

    def _grid(self, element: HtmlElement) -> tuple[d.Block, ...]:
        found = next((name for name in element.classes if name.startswith("cols-")), "cols-2")
        columns = int(found[5:]) if found[5:].isdigit() else 2
        content = tuple(block for child in element.elements for block in self.blocks((child,)))
        return (*self._anchor_block(element), d.PaperGrid(max(1, columns), content))

    def _listing(self, element: HtmlElement) -> tuple[d.Block, ...]:
        caption = next(element.find("figcaption"), None)
        rest = [c for c in element.children if c is not caption]
        return (self._with_caption(element, caption, self.blocks(rest)),)

    def _code(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return (*self._anchor_block(element), *read_code(element))

    def _pre(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return (read_output(element),)

    def _svg(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return (d.PaperParagraph((d.PaperPicture("", _svg_name(element), svg=element.source),)),)

    def _list(self, element: HtmlElement) -> tuple[d.Block, ...]:
        items = tuple(
            (*self._anchor_block(item), *_indent(item, self.blocks(item.children)))
            for item in element.elements
            if item.name == "li"
        )
        start = element.get("start", "1")
        first = int(start) if re.fullmatch(r"\d{1,9}", start) else 1
        return (d.PaperItems(items, first if element.name == "ol" else None),) if items else ()

    def _references(self, element: HtmlElement) -> tuple[d.Block, ...]:
        before = [c for c in element.children if isinstance(c, str) or c.name not in ("ol", "ul")]
        found: list[d.Block] = list(self.blocks(before))
        for each in element.find("ol", "ul"):
            entries = tuple(
                (
                    _work_label(each, item, number),
                    (*self._anchor_block(item), *self.blocks(item.children)),
                )
                for number, item in enumerate(each.elements, 1)
            )
            found.append(d.PaperReferences(entries))
        return tuple(found)

    def _terms(self, element: HtmlElement) -> tuple[d.Block, ...]:
        items: list[tuple[tuple[d.Inline, ...], tuple[d.Block, ...]]] = []
        for child in element.elements:
            if child.name == "dt":
                items.append(((*self._anchors(child), *self.inline(child.children)), ()))
            elif child.name == "dd" and items:
                items[-1] = (items[-1][0], (*items[-1][1], *self.blocks(child.children)))
        return (d.PaperTerms(tuple(items)),) if items else ()

    def _quote(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return (d.PaperQuote(self.blocks(element.children)),)

    def _rule(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return (d.PaperRule(),)

    def _nothing(self, element: HtmlElement) -> tuple[d.Block, ...]:
        return ()

    def _table(self, element: HtmlElement) -> tuple[d.Block, ...]:
        rows = list(element.find("tr"))
        head_rows = {id(row) for part in element.find("thead") for row in part.find("tr")}
        if not head_rows and rows and all(cell.name == "th" for cell in rows[0].elements):
            head_rows = {id(rows[0])}
        head = tuple(self._row(row) for row in rows if id(row) in head_rows)
        body = tuple(self._row(row) for row in rows if id(row) not in head_rows)
        columns = max((sum(cell.columns for cell in row) for row in (*head, *body)), default=0)
        if not columns:
            return ()
        table = d.PaperTable(head, body, columns)
        caption = next(element.find("caption"), None)
        return (self._with_caption(element, caption, (table,)),)

    def _row(self, row: HtmlElement) -> tuple[d.PaperCell, ...]:
        return tuple(
            d.PaperCell(
                self.blocks(cell.children),
                next((name[6:] for name in cell.classes if name.startswith("align-")), ""),
                cell.name == "th",
                _span(cell, "colspan"),
                _span(cell, "rowspan"),
            )
            for cell in row.elements
            if cell.name in ("td", "th")
        )


_Read = Callable[[PageReader, HtmlElement], tuple[d.Block, ...]]
_BY_CLASS: dict[str, _Read] = {
    "callout": PageReader._callout,
    "math-display": PageReader._math,
    "code": PageReader._code,
    "listing": PageReader._listing,
    "footnotes": PageReader._nothing,
    "references": PageReader._references,
    "sweep": PageReader._sweep,
    "runnable": PageReader._runnable,
    "tab": PageReader._tab,
    "image-grid": PageReader._grid,
    "image-compare": PageReader._compare,
    "video-embed": PageReader._embed,
    "embed": PageReader._embed,
}
"""Class → method that reads an element with this class. These methods take precedence over `_BY_NAME`."""
_BY_NAME: dict[str, _Read] = {
    "p": PageReader._paragraph,
    "details": PageReader._details,
    "figure": PageReader._figure,
    "pre": PageReader._pre,
    "svg": PageReader._svg,
    **dict.fromkeys(("ul", "ol"), PageReader._list),
    "dl": PageReader._terms,
    "blockquote": PageReader._quote,
    "hr": PageReader._rule,
    "table": PageReader._table,
    "video": PageReader._video,
    "iframe": PageReader._frame,
}
"""Element → method that reads it."""


def _paragraph(content: tuple[d.Inline, ...]) -> d.PaperParagraph:
    """Return a paragraph without space at its ends. An image alone is a block."""
    parts = list(content)
    while parts and isinstance(parts[0], str) and not parts[0].strip(" "):
        del parts[0]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip(" ")
    while parts and isinstance(parts[-1], str) and not parts[-1].strip(" "):
        del parts[-1]
    if parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    if len(parts) == 1 and isinstance(parts[0], d.PaperPicture):
        image = parts[0]
        parts[0] = d.PaperPicture(image.path, image.alt, image.width, image.svg)
    return d.PaperParagraph(tuple(parts))


def _for_paper(children: Iterable[HtmlElement | str]) -> Iterable[HtmlElement | str]:
    """Yield the children without images that are only for screens."""
    found = list(children)
    if any(isinstance(child, HtmlElement) and "for-paper" in child.classes for child in found):
        return [child for child in found if isinstance(child, str) or child.name != "picture"]
    return found


def _images(element: HtmlElement) -> Iterable[HtmlElement]:
    """Yield the image if an element is an image or a link around one."""
    if element.name in ("img", "picture"):
        yield element
    elif element.name == "a" and len(element.elements) == 1:
        yield from _images(element.elements[0])


def _picture_width(image: HtmlElement) -> str:
    found = _WIDTH.search(image.get("style"))
    if found and found[2] == "%":
        return f"{min(100.0, float(found[1])):g}%"
    width = found[1] if found else image.get("width")
    return f"{float(width) * _PX_PT:g}pt" if re.fullmatch(r"\d{1,5}(\.\d+)?", width) else ""


def _svg_name(element: HtmlElement) -> str:
    title = next(element.find("title"), None)
    return element.get("aria-label") or (title.text.strip() if title else "") or "Drawing"


def _work_label(works: HtmlElement, work: HtmlElement, number: int) -> str:
    """Return the label of a reference as citations show it; empty if citations name authors."""
    own = next(work.find(".ref-number"), None)
    if own is not None:
        return own.text.strip("[]().")
    return "" if works.name != "ol" or _OWN_LABELS.intersection(works.classes) else str(number)


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1")
    return max(1, min(100, int(value))) if re.fullmatch(r"\d{1,3}", value) else 1


def _indent(item: HtmlElement, blocks: tuple[d.Block, ...]) -> tuple[d.Block, ...]:
    """Return the blocks of a list item. A line of an algorithm is indented by its nesting level."""
    level = next((name[6:] for name in item.classes if name.startswith("level-")), "")
    if not level.isdigit() or not blocks or not isinstance(blocks[0], d.PaperParagraph):
        return blocks
    return (d.PaperParagraph(("\u2003" * int(level) * 2, *blocks[0].content)), *blocks[1:])
