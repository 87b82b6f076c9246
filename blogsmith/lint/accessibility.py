"""Accessibility checks that need only the source of a page.

Sources: WCAG 2.2, success criteria 1.1.1 (alt text), 1.2.2 (captions), 1.3.1 (headings, tables), 2.4.4 (link
text), 2.4.6 (headings). Matters of taste are not reported: long alt text, a URL as link text, one text for
two targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Reporter
from .elements import SourceElement

_DECORATIVE = "decorative"
_SILENT_ATTRIBUTES = ("muted", "loop", "autoplay")
_NO_TABLE = ("presentation", "none")


def report_accessibility(elements: Iterable[SourceElement], reporter: Reporter) -> None:
    """Warn about images, videos, headings, links and tables that are not accessible."""
    survey = _PageCheck(reporter)
    for element in elements:
        survey.visit(element)


class _OpenElement(Struct):
    """An element whose end tag has not been reached, with its content so far."""

    element: SourceElement
    text: str = ""
    pictures: int = 0
    has_header: bool = False
    rows: int = 0
    cells: int = 0
    has_captions: bool = False


class _PageCheck(Struct):
    """State of the checks of one page."""

    reporter: Reporter
    level: int = 1
    """Level of the last heading; the title has level 1."""
    heading: _OpenElement | None = None
    link: _OpenElement | None = None
    tables: list[_OpenElement] = field(default_factory=list)
    video: _OpenElement | None = None

    def visit(self, element: SourceElement) -> None:
        """Process the next element."""
        name = element.name
        if element.kind == "text":
            self._add_text(element.text)
        elif name in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._take_heading(element)
        elif name == "a":
            self._take_link(element)
        elif name == "img":
            self._take_image(element)
        elif name in ("table", "tr", "th", "td"):
            self._take_table(element)
        elif name in ("video", "track"):
            self._visit_video(element)

    def _add_text(self, text: str) -> None:
        for part in (self.heading, self.link):
            if part and len(part.text) < 200:
                part.text += text

    def _take_heading(self, element: SourceElement) -> None:
        if element.kind == "start":
            self.heading = _OpenElement(element)
            level, last, self.level = int(element.name[1]), self.level, int(element.name[1])
            if level > last + 1:
                before = "the title of the page" if last == 1 else f"level {last}"
                message = f"skipped heading level: level {level} follows {before}"
                hint = f"write `{_heading_markup(element, last + 1)}`: screen readers announce the gap"
                fix = _heading_fix(element, self.reporter.lines, level, last + 1)
                self.reporter.warn("heading-level", message, element.place, hint, fix)
        elif self.heading:
            if not self.heading.text.strip() and not self.heading.pictures:
                message = "missing text in this heading"
                self.reporter.warn(
                    "heading-empty", message, self.heading.element.place, "remove the heading, or add text"
                )
            self.heading = None

    def _take_link(self, element: SourceElement) -> None:
        if element.kind == "start":
            self.link = _OpenElement(element) if element.attributes.get("href") else None
            if self.link:
                names = (element.attributes.get(name, "") for name in ("aria-label", "title"))
                self.link.text = " ".join(name for name in names if name)
        elif self.link:
            self._check_link(self.link)
            self.link = None

    def _check_link(self, link: _OpenElement) -> None:
        if not link.text.strip():
            if not link.element.attributes.get("aria-hidden"):
                message = "missing text in this link" + (
                    ": its image has no alt text" if link.pictures else ""
                )
                markup = _link_markup(link) if link.element.is_markdown else ""
                hint = (
                    f"write the name of the target: `{markup}`" if markup else "write the name of the target"
                )
                self.reporter.warn("link-text", message, link.element.place, hint)
        elif is_vague_link_text(link.text):
            shown = " ".join(link.text.split())
            hint = "write the name of the target: screen readers can list links without the text around them"
            self.reporter.warn(
                "link-text", f'link text "{shown}" does not describe the target', link.element.place, hint
            )

    def _take_image(self, element: SourceElement) -> None:
        alt = element.attributes.get("alt", "")
        for part in (self.heading, self.link):
            if part:
                part.pictures += 1
                part.text += alt
        if alt.strip() or element.is_captioned or self.link or _is_decorative(element):
            return
        hint = 'write `alt=""` if the image is decorative' if not element.is_markdown else _IMAGE_HINT
        line = self.reporter.lines[element.place.line - 1 : element.place.line]
        if line and line[0].startswith("{%", element.place.column - 1):
            hint = 'describe the image with `alt="…"`, or write `alt=""` if it only decorates'
        self.reporter.warn("image-alt", "missing alt text of this image", element.place, hint)

    def _take_table(self, element: SourceElement) -> None:
        if element.name == "table" and element.kind == "start":
            self.tables.append(_OpenElement(element))
        elif self.tables and element.kind == "start":
            table = self.tables[-1]
            table.rows += element.name == "tr"
            table.cells += element.name == "td"
            table.has_header |= element.name == "th"
        elif self.tables and element.name == "table":
            table = self.tables.pop()
            is_layout = table.element.attributes.get("role") in _NO_TABLE
            # A table with a single row or column needs no header.
            is_grid = table.rows > 1 and table.cells > table.rows
            if is_grid and not table.has_header and not is_layout:
                hint = "name its columns in " + (
                    "the first row" if table.element.is_markdown else "`<th>` cells"
                )
                self.reporter.warn("table-header", "missing header of this table", table.element.place, hint)

    def _visit_video(self, element: SourceElement) -> None:
        if element.name == "track":
            if self.video and element.attributes.get("kind", "subtitles") in ("captions", "subtitles"):
                self.video.has_captions = True
            return
        if element.kind == "start":
            self.video = _OpenElement(element, has_captions=element.is_captioned)
        if self.video and (element.is_markdown or element.kind == "end"):
            self._check_video(self.video)
            self.video = None

    def _check_video(self, film: _OpenElement) -> None:
        if film.has_captions or any(name in film.element.attributes for name in _SILENT_ATTRIBUTES):
            return
        hint = "add a WebVTT file: `{data-captions=video.vtt}`, or `{.loop}` if it has no sound"
        if not film.element.is_markdown:
            hint = 'add `<track kind="captions" src="video.vtt">`, or `muted` if it has no sound'
        self.reporter.warn("film-captions", "missing captions of this video", film.element.place, hint)


_IMAGE_HINT = "describe the image: `![text](…)`, or add `{.decorative}` after it if it only decorates"


def _is_decorative(element: SourceElement) -> bool:
    attributes = element.attributes
    if attributes.get("role") in _NO_TABLE or attributes.get("aria-hidden") == "true":
        return True
    return (
        "alt" in attributes if not element.is_markdown else _DECORATIVE in attributes.get("class", "").split()
    )


def _heading_fix(element: SourceElement, lines: Sequence[str], level: int, wanted: int) -> Fix | None:
    """Return a fix that changes the level of a heading from `level` to `wanted`. Return None if the heading
    is not written in Markdown with `#`."""
    place = element.place
    before = lines[place.line - 1][: place.column - 1].rstrip(" ")
    if not element.is_markdown or not before.endswith("#" * level):
        return None
    return make_replacement(place.line, len(before) - level + 1, "#" * level, "#" * wanted)


def _link_markup(link: _OpenElement) -> str:
    return "![text](…)" if link.pictures else "[text](…)"


def _heading_markup(element: SourceElement, level: int) -> str:
    return "#" * level if element.is_markdown else f"<h{level}>"


# Phrases in links that do not describe the target, in several languages.
#
# All of them apply to every page, because authors quote other languages. The link text is compared in lower
# case, without punctuation at the ends.


_BY_LANGUAGE: Mapping[str, str] = MappingProxyType(
    {
        "en": "here | click here | click | see here | right here | over here | this | this one | link"
        " | this link | the link | more | read more | this page | this site | this website | this url | url",
        "de": "hier | klick | klicke hier | klicken sie hier | hier klicken | siehe hier | dieser link | mehr"
        " | weiterlesen | mehr lesen | diese seite",
        "fr": "ici | cliquez ici | cliquer ici | ce lien | lien | le lien | lire la suite | cette page",
        "es": "aquí | haz clic aquí | haga clic aquí | este enlace | enlace | leer más | más | esta página",
        "it": "qui | clicca qui | questo link | leggi tutto | di più | questa pagina",
        "pt": "aqui | clique aqui | este link | ler mais | leia mais | mais | esta página",
        "nl": "klik hier | deze link | lees meer | meer | deze pagina",
        "pl": "tutaj | tu | kliknij tutaj | ten link | czytaj więcej | więcej | ta strona",
        "ru": "здесь | тут | нажмите здесь | ссылка | эта ссылка | читать далее | подробнее",
        "ja": "ここ | こちら | ここをクリック | このリンク | リンク | 続きを読む",
        "zh": "这里 | 這裡 | 此处 | 此處 | 点击这里 | 點擊這裡 | 点此 | 链接 | 鏈接 | 連結 | 更多 | 阅读更多",
        "ar": "هنا | انقر هنا | اضغط هنا | هذا الرابط | رابط | المزيد | اقرأ المزيد",
    }
)
"""Language → phrases that do not describe a target, separated by `|`."""
_PHRASES = frozenset(phrase.strip() for phrases in _BY_LANGUAGE.values() for phrase in phrases.split("|"))
_PUNCTUATION = " \t\n.,:;!?…()[]\"'“”„‘’«»→⇒»›>↗-–—"


def is_vague_link_text(text: str) -> bool:
    """Return whether a link text is a phrase that does not describe the target, such as "click here"."""
    return " ".join(text.split()).strip(_PUNCTUATION).casefold() in _PHRASES
