"""A style of the Citation Style Language (CSL) on a page: output of the processor as HTML with links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from ...base.diagnostics.model import Place
from ...base.patterns import lazy_pattern
from ...bibliography.citation_styles import read_bundled_style
from ...bibliography.csl.markup import (
    FIRST_FORMULA,
    MOST_FORMULAS,
    PRIVATE,
    find_tag,
    is_mark,
    item_markers,
    tag_character,
)
from ...bibliography.csl.processor import CslProcessor
from ...bibliography.csl.style_tree import StyleError
from ...model.publications import CslStyle, Publication
from ...syntax.records import Citation, CitationItem
from ..context import PageRendering
from ..prose import escape_html
from .cited_works import BibliographyEntry, PageReferences
from .rich_text import text_html
from .styles import format_locator, link_to, short_authors

_NUMBER = lazy_pattern(r"\s*([\[(]?\d+[\])]?\.?)\s*")


def make_csl_style(rendering: PageRendering, named: CslStyle, cited: PageReferences) -> CslPageStyle | None:
    """Return the citation style `named` in the settings, for one page. Report an error and return None if the
    style cannot be used."""
    place = rendering.document.front.places.get("csl", Place(1))
    text = CslEncoder()
    works = [_encode_work(one.work, text) for one in _citation_order(cited)]
    xml = read_bundled_style(named.name) if named.is_bundled else named.text
    try:
        processor = CslProcessor(xml, rendering.document.front.lang or rendering.tools.config.lang, works)
        return CslPageStyle(processor, cited, text)
    except StyleError as error:
        rendering.reporter.error(
            "citation-style",
            f'citation style "{named.name}" cannot be used: {error}',
            place,
            "choose another style under `csl`",
        )
        return None


def _citation_order(cited: PageReferences) -> list[BibliographyEntry]:
    """Return the entries by first citation, followed by the uncited ones."""
    keys = dict.fromkeys(item.key for cluster in cited.clusters for item in cluster.items)
    return [cited.works[key] for key in dict.fromkeys((*keys, *cited.works))]


def _encode_work(work: Publication, text: CslEncoder) -> Publication:
    return replace(work, variables={name: text.encode(value) for name, value in work.variables.items()})


class CslPageStyle:
    """A `CitationStyle` that runs a CSL processor."""

    def __init__(self, processor: CslProcessor, cited: PageReferences, text: CslEncoder) -> None:
        self._processor = processor
        self._cited = cited
        self._text = text
        self.keys = processor.keys
        self.list_class = "by-style"
        # All entries are made first, so that a faulty style fails before anything is printed.
        self._entries = {key: processor.entry(key) for key in self.keys}

    def cite(self, rendering: PageRendering, citation: Citation, names: Sequence[str]) -> str:
        """Return the HTML of a citation, as in `CitationStyle`."""
        items = list(zip(citation.items, names, strict=True))
        if citation.form == "text":
            return ", ".join(self._in_text(rendering, item, name) for item, name in items)
        if not self._processor.has_numbers and any(item.hides_author for item in citation.items):
            pieces = (self._separate_item(rendering, item, name) for item, name in items)
            return f"({'; '.join(pieces)})"
        return self._cluster(rendering, items)

    def _cluster(self, rendering: PageRendering, items: Sequence[tuple[CitationItem, str]]) -> str:
        written = [(item.key, item.prefix, *split_locator(item.locator)) for item, _ in items]
        html = self._html(rendering, self._processor.cluster(written), items[0][0].key)
        for index, (item, name) in enumerate(items):
            opening, closing = item_markers(index)
            before, _, rest = html.partition(opening)
            inner, _, behind_it = rest.partition(closing)
            # a number inside a range such as [1–3] is not printed, but the link back from the entry needs a
            # target
            link = link_to(item.key, name, inner) if inner else f"<span{name}></span>"
            html = f"{before}{link}{behind_it}"
        return html

    def _separate_item(self, rendering: PageRendering, item: CitationItem, name: str) -> str:
        """Return the HTML of one item of a citation in which some items leave out the authors. name:
        attribute ` id="…"` of the link, or an empty string."""
        if item.hides_author:
            return self._year(rendering, item, name)
        opening, closing = item_markers(0)
        text = self._processor.cluster([(item.key, "", *split_locator(item.locator))])
        inner = text.partition(opening)[2].partition(closing)[0]
        prefix = f"{escape_html(item.prefix)} " if item.prefix else ""
        return prefix + link_to(item.key, name, self._html(rendering, inner, item.key))

    def _in_text(self, rendering: PageRendering, item: CitationItem, name: str) -> str:
        authors = escape_html(short_authors(self._cited.works[item.key].work))
        if not self._processor.has_numbers:
            inner = self._year(rendering, item, name)
            return f"{authors or escape_html(self._title(item.key))} ({inner})"
        inner = self._cluster(rendering, [(item, name)])
        return f"{authors}{'' if inner.startswith('<sup>') else ' '}{inner}" if authors else inner

    def _year(self, rendering: PageRendering, item: CitationItem, name: str) -> str:
        """Return a link with the year of an entry, with its letter as in `2017a`, without authors. name:
        attribute ` id="…"` of the link, or an empty string."""
        work = self._cited.works[item.key].work
        year = (work.year or rendering.language.translate("n.d.")) + self._processor.letters.get(item.key, "")
        prefix = f"{escape_html(item.prefix)} " if item.prefix else ""
        return f"{prefix}{link_to(item.key, name, escape_html(year))}{format_locator(item.locator)}"

    def _title(self, key: str) -> str:
        return self._text.plain_text(self._text.encode(self._cited.works[key].work.title))

    def describe(self, rendering: PageRendering, key: str) -> str:
        """Return the HTML of the bibliography entry `key`."""
        text = self._entries[key]
        number = _NUMBER.match(text) if self._processor.has_numbers else None
        html = self._html(rendering, text[number.end() :] if number else text, key)
        return f'<span class="ref-number">{escape_html(number[1])}</span> {html}' if number else html

    def _html(self, rendering: PageRendering, text: str, key: str) -> str:
        return self._text.html(text, lambda formula: text_html(rendering, formula, key))


# Encoding of fields for the CSL processor: each formula and tag is a single character on the way in, and HTML
# on the way out.


_FORMULA = lazy_pattern(r"\$(?:[^\\$]|\\.)+\$|\\\$")
_WRITTEN_TAG = lazy_pattern(r'</?(?:i|b|sup|sub)>|<span class="nocase">.*?</span>')
_ADDRESS = lazy_pattern(r"https?://[^\s<>\"\ue000-\uf8ff]*[^\s<>\".,;:)\]\ue000-\uf8ff]")
_HTML = {"<sc>": '<span class="small-caps">', "</sc>": "</span>", "<nocase>": "", "</nocase>": ""}


class CslEncoder:
    """Encoder of strings for the CSL processor, and decoder of its output. Remembers the formulas of one
    page."""

    def __init__(self) -> None:
        self._formulas: list[str] = []

    def encode(self, text: str) -> str:
        """Return a string with each formula and each tag replaced by a single character of Unicode's private
        use area."""
        text = PRIVATE.sub("", text)
        text = _FORMULA.sub(lambda found: self._formula(found[0]), text)
        return _WRITTEN_TAG.sub(lambda found: self._tag(found[0]), text)

    def _tag(self, written: str) -> str:
        if not written.startswith("<span"):
            return tag_character(written)
        inner = _WRITTEN_TAG.sub(lambda found: tag_character(found[0]), written[21:-7])
        return f"{tag_character('<nocase>')}{inner}{tag_character('</nocase>')}"

    def _formula(self, written: str) -> str:
        if written == "\\$":
            return "$"
        if len(self._formulas) >= MOST_FORMULAS:
            return written
        self._formulas.append(written)
        return chr(FIRST_FORMULA + len(self._formulas) - 1)

    def plain_text(self, text: str) -> str:
        """Return output of the processor as plain text, with formulas as the author wrote them."""
        pieces = (self._decode_formula(char) or ("" if is_mark(char) else char) for char in text)
        return "".join(pieces)

    def _decode_formula(self, char: str) -> str:
        index = ord(char) - FIRST_FORMULA
        return self._formulas[index] if 0 <= index < len(self._formulas) else ""

    def html(self, text: str, formula: Callable[[str], str]) -> str:
        """Return output of the processor as HTML, with URLs as links. Characters that mark the items of a
        citation stay. formula: function that converts `$x$` to HTML."""
        pieces, position = list[str](), 0
        for found in _ADDRESS.finditer(text):
            pieces.append(self._plain(text[position : found.start()], formula))
            address = escape_html(found[0])
            pieces.append(f'<a href="{address}">{address}</a>')
            position = found.end()
        pieces.append(self._plain(text[position:], formula))
        return "".join(pieces)

    def _plain(self, text: str, formula: Callable[[str], str]) -> str:
        return "".join(self._character(char, formula) for char in escape_html(text))

    def _character(self, char: str, formula: Callable[[str], str]) -> str:
        if not "\ue000" <= char <= "\uf8ff":
            return char
        tag = find_tag(char)
        if tag:
            return _HTML.get(tag, tag)
        if written := self._decode_formula(char):
            return formula(written)
        return char if is_mark(char) else ""


# Locators as authors write them: `p. 3`, `ch. 2`, `12–15`.


_LABELS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("p", "pp", "page", "pages"), "page"),
        **dict.fromkeys(("ch", "chap", "chapter", "chapters"), "chapter"),
        **dict.fromkeys(("sec", "sect", "section", "sections", "§"), "section"),
        **dict.fromkeys(("fig", "figs", "figure", "figures"), "figure"),
        **dict.fromkeys(("vol", "vols", "volume"), "volume"),
        **dict.fromkeys(("no", "nos", "issue"), "issue"),
        **dict.fromkeys(("l", "ll", "line", "lines"), "line"),
        **dict.fromkeys(("n", "note", "notes"), "note"),
        **dict.fromkeys(("para", "paragraph", "¶"), "paragraph"),
        **dict.fromkeys(("tab", "tbl", "table"), "table"),
    }
)
_LOCATOR = lazy_pattern(r"([A-Za-z]+|§|¶)\.?\s*([\dIVXLCivxlc][\w.\-–, ]*)")
_NUMBERS = lazy_pattern(r"\d[\d\-–, ]*")


def split_locator(locator: str) -> tuple[str, str]:
    """Return the CSL label and the number of a locator. A locator of an unknown kind gets the label `custom`
    and is printed as written."""
    if _NUMBERS.fullmatch(locator):
        return "page", locator
    found = _LOCATOR.fullmatch(locator.replace("\u00a0", " "))
    label = _LABELS.get(found[1].lower(), "") if found else ""
    return (label, found[2]) if found and label else ("custom" if locator else "", locator)
