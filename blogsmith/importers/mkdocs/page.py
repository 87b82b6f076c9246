"""Translation of a MkDocs page, with its front matter, snippets and text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...api.importing import lazy_pattern, name_set, slugify
from ..model import FrontKeys, ImportedPage, Notice, NoticeKind
from ..text.containers import escape_table_code, import_comment, join_tabs
from ..text.data import iso_date, one_line, read_names
from ..text.heading_ids import PYTHON_MARKDOWN, UNICODE_MARKDOWN, add_heading_ids
from ..text.html import image, tag_attributes
from ..text.math import delimit_environment
from ..text.pieces import (
    MENTION,
    demote_headings,
    heading_text,
    link_mentions,
    literal_highlights,
    literal_shortcodes,
)
from ..text.segments import FormulaDelimiters, LineFinder, divide, mask, rewrite
from .blocks import BlockRewriter, annotate_abbreviations, rewrite_inline_syntax, split_abbreviations
from .config import MkDocsConfig
from .links import MkDocsLinks, folder_title, page_address, page_path
from .source import MkDocsDocument

KEYS = FrontKeys(
    name_set(
        "title subtitle description date date.created date.updated author authors tags categories draft slug "
        "search search.exclude image"
    ),
    name_set("hide icon search.boost social readtime pin render_macros nav order edit_url revision_date"),
)


def page_front(front: Mapping[str, Any], title: str, people: Mapping[str, str]) -> dict[str, Any]:
    """Return the front matter of the new page, in blogsmith's order. people: short name of an author → full
    name."""
    found: dict[str, Any] = {"title": title}
    for key in ("subtitle", "description"):
        if text := one_line(front.get(key)):
            found[key] = text
    found |= _dates(front.get("date"))
    if authors := [
        people.get(name, name) for name in read_names(front.get("authors") or front.get("author"))
    ]:
        found["authors"] = authors
    for key in ("categories", "tags"):
        if names := read_names(front.get(key)):
            found[key] = names
    if front.get("draft") is True:
        found["draft"] = True
    search = front.get("search")
    if isinstance(search, dict) and search.get("exclude") is True:
        found["search"] = False
    if image := one_line(front.get("image")):
        found["image"] = image
    hidden = front.get("hide")
    if isinstance(hidden, list) and "toc" in hidden:
        found["toc"] = False
    return found


def _dates(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        created, updated = iso_date(one_line(value.get("created"))), iso_date(one_line(value.get("updated")))
        return ({"date": created} if created else {}) | ({"updated": updated} if updated else {})
    date = iso_date(one_line(value))
    return {"date": date} if date else {}


_INLINE = lazy_pattern(r"^([ \t]*)(;*)-+8<-+[ \t]+(?:\"([^\"\n]+)\"|'([^'\n]+)')[ \t]*$", re.MULTILINE)
_BLOCK = lazy_pattern(r"^([ \t]*)-+8<-+[ \t]*\n(.*?)^[ \t]*-+8<-+[ \t]*$", re.MULTILINE | re.DOTALL)
_SECTION_MARK = lazy_pattern(r"^.*-+8<-+[ \t]*\[[ \t]*(?:start|end)[ \t]*:.*$\n?", re.MULTILINE)
_LINES = lazy_pattern(r"(.*?):(\d*)(?::(\d*))?")
_MAX_DEPTH = 10


def expand_snippets(text: str, read: Callable[[str], str | None], report: Callable[[str, str], None]) -> str:
    """Insert the snippets that a page includes. read: function that returns the content of a file; None if it
    is missing. report: function that is called with the line that includes a missing file, and the name of
    the file."""
    return _expand(text, read, report, 0)


def _expand(
    text: str, read: Callable[[str], str | None], report: Callable[[str, str], None], depth: int
) -> str:
    def substitute(margin: str, name: str, piece: str) -> str:
        content = _snippet(name, read) if depth < _MAX_DEPTH else None
        if content is None:
            report(piece, name)
            return piece
        inner = _expand(content, read, report, depth + 1)
        return "\n".join(f"{margin}{line}" if line.strip() else "" for line in inner.rstrip("\n").split("\n"))

    def inline(found: re.Match[str]) -> str:
        name = found[3] or found[4]
        if found[2]:
            return found[0].replace(";", "", 1)
        return substitute(found[1], name, found[0])

    def block(found: re.Match[str]) -> str:
        names = [
            line.strip() for line in found[2].split("\n") if line.strip() and not line.strip().startswith(";")
        ]
        return "\n".join(substitute(found[1], name, found[0].strip()) for name in names)

    return _INLINE.sub(inline, _BLOCK.sub(block, text))


def _snippet(name: str, read: Callable[[str], str | None]) -> str | None:
    """Return the text of a snippet; None if it does not exist. name: name as `file`, `file:section` or
    `file:first:last`."""
    content = read(name)
    if content is not None:
        return _SECTION_MARK.sub("", content)
    found = _LINES.fullmatch(name)
    if found and (content := read(found[1])) is not None:
        lines = content.split("\n")
        first = int(found[2] or 1)
        return "\n".join(lines[max(0, first - 1) : int(found[3]) if found[3] else len(lines)])
    file, _, section = name.rpartition(":")
    content = read(file) if file else None
    if content is None:
        return None
    mark = re.escape(section)
    between = re.search(
        rf"^[^\n]*-+8<-+[ \t]*\[[ \t]*start[ \t]*:[ \t]*{mark}[ \t]*\][^\n]*\n(.*?)"
        rf"^[^\n]*-+8<-+[ \t]*\[[ \t]*end[ \t]*:[ \t]*{mark}[ \t]*\]",
        content,
        re.MULTILINE | re.DOTALL,
    )
    return _SECTION_MARK.sub("", between[1]) if between else None


DIALECT = FormulaDelimiters()
_NO_ENVIRONMENTS = FormulaDelimiters(environments=False)
_BARE_FORMULA = lazy_pattern(
    r"(?m)(?:(?<=\n\n)|(?<!\n)^)([ ]*)(\\begin\{([a-z]+\*?)\}(?:\\.|(?!\n[ ]*\n)[^\\])+?\\end\{\3\})"
    r"[ ]*(?=\n[ ]*\n|\n?\Z)"
)
"""Matches a paragraph that consists of one environment, which the extension arithmatex reads as one
formula."""


_BEFORE_DIGIT = lazy_pattern(r"(?<![\\$\w])\$(?![\s$\d])((?:\\.|[^$\\\n])+)(?<!\s)\$(?=\d)")
"""Matches a formula directly before a digit, such as `$n$2`, which blogsmith would read as prices."""


def _delimit(found: re.Match[str]) -> str:
    return found[1] + delimit_environment(found[2])


_TITLE = lazy_pattern(
    r"\A\s*(?:#[ \t]+(?P<atx>[^\n]*?)[ \t]*#*[ \t]*(?:\n|\Z)|(?P<setext>[^\n]+)\n=+[ \t]*(?:\n|\Z))"
)
_TITLE_ID = lazy_pattern(r"[ \t]*\{[^{}\n]*\}[ \t]*$")
_FIGURE = lazy_pattern(r"<figure\b[^>]*>([\s\S]*?)</figure\s*>", re.IGNORECASE)
_CAPTION = lazy_pattern(r"<figcaption\b[^>]*>([\s\S]*?)</figcaption\s*>", re.IGNORECASE)
_PICTURE = lazy_pattern(r"!\[([^\]]*)\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)(?:\{([^{}]*)\})?")
_TAG = lazy_pattern(r"<img\b[^>]*>", re.IGNORECASE)
_JINJA = lazy_pattern(r"\{\{\s*([^{}\n]+?)\s*\}\}|\{%-?\s*(?!raw|endraw)\w[^{}\n]*?%\}|\{#[^{}\n]*?#\}")
_RAW = lazy_pattern(r"\{%-?\s*(?:end)?raw\s*-?%\}")
_MORE = lazy_pattern(r"^[ \t]*<!--\s*more\s*-->[ \t]*\n?", re.MULTILINE)
_INLINE_LANGUAGE = lazy_pattern(r"(`+)(?:#!|:::)\w+[ \t]+")
_ESCAPED_TARGET = lazy_pattern(r"\]\((?:[^\s()\\]|\\\S)*\)")
_BLANK = lazy_pattern(r"\n{3,}")
_HASHES = lazy_pattern(r"(?m)^([ >]{0,8}#{1,6})(?=[^#\s])")
"""Matches the start of a heading without a space after `#`, which Python-Markdown accepts."""
_AFTER_ELEMENT = lazy_pattern(
    r"(?m)^([ ]{0,3}(?:<(?P<name>div|p|center|section|figure)\b[^\n]*</(?P=name)>|<hr\b[^<>\n]*>)[ ]*)\n"
    r"(?=[^\s<])"
)
"""Matches an HTML element on one line. Python-Markdown ends the HTML after it, CommonMark at a blank line."""


@dataclass(slots=True)
class MkDocsPageTranslator:
    """Translates the pages of one site, and collects their kinds of callouts."""

    config: MkDocsConfig
    read: Callable[[str], str | None]
    """Function that returns the content of a snippet's file by its name in the page; None if the file does
    not exist."""
    links: MkDocsLinks
    titles: Mapping[str, str] = field(default_factory=dict)
    """Page → title in the navigation."""
    series: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Page → section of the navigation, and its position in the section."""
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    """Abbreviation → meaning, for all pages."""
    people: Mapping[str, str] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)

    def translate(self, document: MkDocsDocument) -> ImportedPage:
        """Translate a document to a page."""
        page = _PageText(self, document)
        title, text = page.translate()
        name = document.path.as_posix()
        title = title or str(document.front.get("title") or "") or self.titles.get(name, "")
        front = page_front(document.front, title or folder_title(document.path.stem), self.people)
        if name in self.series:
            section, part = self.series[name]
            front["series"] = {"name": section, "part": part}
        address = page_address(document.path, self.config)
        if self.config.blog_folder and document.path.parts[:2] == (self.config.blog_folder, "posts"):
            address = _blog_url(document, front, self.config)
        return ImportedPage(
            path=page_path(document.path),
            front=front,
            text=text,
            source=document.source,
            original=document.body,
            first_line=document.first_line,
            address=address,
            notices=(*document.notices, *page.notices),
        )


def _blog_url(document: MkDocsDocument, front: Mapping[str, object], config: MkDocsConfig) -> str:
    """Return the old URL of a post in Material's blog, such as `/blog/2024/01/31/title/`; empty if it is
    unknown."""
    options = config.plugins.get("blog", {})
    date = str(front.get("date", ""))[:10].split("-")
    written = str(document.front.get("slug") or slugify(heading_text(str(front["title"]))))
    pattern = str(options.get("post_url_format") or "{date}/{slug}")
    if len(date) != 3 or options.get("post_url_date_format", "yyyy/MM/dd") != "yyyy/MM/dd":
        return ""
    names = {"date": "/".join(date), "slug": written, "file": document.path.stem, "categories": ""}
    filled = re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], ""), pattern).strip("/")
    return re.sub("/+", "/", f"/{config.blog_folder}/{filled}/")


class _PageText:
    """Translates the text of one page."""

    def __init__(self, site: MkDocsPageTranslator, document: MkDocsDocument) -> None:
        self._site = site
        self._document = document
        self._lines = LineFinder(document.body, document.first_line)
        self.notices: list[Notice] = []

    def translate(self) -> tuple[str, str]:
        """Return the title at the start of the text, and the translated text without this title. The title is
        empty if there is none."""
        config = self._site.config
        text = expand_snippets(self._document.body, self._site.read, self._missing)
        if "macros" in config.plugins:
            text = _RAW.sub("", text)
        text, abbreviations = split_abbreviations(text) if config.has("abbr") else (text, {})
        blocks = BlockRewriter(lambda piece, message: self._notice("changed", message, piece))
        text = join_tabs("\n".join(blocks.rewrite(text.expandtabs(4).split("\n"))))
        self._site.kinds.update(blocks.kinds)
        title, text = self._title(text)
        known = {**self._site.abbreviations, **abbreviations}
        text = rewrite(text, lambda part: _BARE_FORMULA.sub(_delimit, part), _NO_ENVIRONMENTS)
        text = escape_table_code(text, DIALECT)
        # in a link target these would start a formula
        text = _ESCAPED_TARGET.sub(lambda found: found[0].replace(r"\(", "%28").replace(r"\)", "%29"), text)
        text = _escape_inline_brackets(text)
        text = rewrite(text, lambda part: self._prose(part, known), DIALECT)
        if config.has("pymdownx.inlinehilite"):
            text = _remove_span_languages(text)
        masked = mask(text, DIALECT)
        ids = UNICODE_MARKDOWN if config.extensions.get("toc", {}).get("slugify") else PYTHON_MARKDOWN
        text = masked.restore(add_heading_ids(masked.text, masked.restore, ids, title))
        return title, _BLANK.sub("\n\n", text)

    def _title(self, text: str) -> tuple[str, str]:
        found = _TITLE.match(text)
        if not found:
            return "", text
        title = _TITLE_ID.sub("", (found["atx"] or found["setext"] or "").strip())
        return title, text[found.end() :]

    def _prose(self, text: str, abbreviations: Mapping[str, str]) -> str:
        config = self._site.config
        text = _AFTER_ELEMENT.sub(r"\1\n\n", _HASHES.sub(r"\1 ", text))
        text = demote_headings(_MORE.sub("", text))
        text = _BEFORE_DIGIT.sub(r"\\(\1\\)", text)
        text = _FIGURE.sub(self._figure, text)
        text = self._site.links.wikilinks(text, self._document.path, config)
        if not config.has("pymdownx.mark"):
            text = literal_highlights(text)
        if "macros" not in config.plugins:
            text = literal_shortcodes(text)
        text = rewrite_inline_syntax(
            text, config, lambda piece, why: self._notice("dropped", why, piece, piece)
        )
        if "macros" in config.plugins or config.variables:
            text = _JINJA.sub(self._variable, text)
        text = MENTION.sub(r"&#91;\@\1&#93;", link_mentions(text))
        text = self._site.links.rewrite(text, self._document.path)
        return annotate_abbreviations(text, abbreviations)

    def _figure(self, found: re.Match[str]) -> str:
        """Convert a `<figure>` with one image and its caption to an image. To any other figure, only add
        `markdown="1"`."""
        caption = _CAPTION.search(found[1])
        inner = _CAPTION.sub("", found[1])
        pictures, tags = list(_PICTURE.finditer(inner)), _TAG.findall(inner)
        rest = _TAG.sub("", _PICTURE.sub("", inner)).strip()
        if len(pictures) + len(tags) != 1 or rest:
            return re.sub(r"\bmarkdown(?:=[\"']?\w*[\"']?)?", 'markdown="1"', found[0], count=1)
        words = " ".join((caption[1] if caption else "").split())
        if pictures:
            values = tag_attributes(f"<img {pictures[0][3] or ''}>")
            alt, address = pictures[0][1], pictures[0][2]
        else:
            values = tag_attributes(tags[0])
            alt, address = values.get("alt", ""), values.get("src", "")
        return f"\n{image(address, alt, caption=words, width=values.get('width', ''))}\n"

    def _variable(self, found: re.Match[str]) -> str:
        name = (found[1] or "").removeprefix("config.extra.").strip()
        value = self._site.config.variables.get(name)
        if value is None:
            self._notice("left", f'template of plugin "macros" is not computed: "{found[0]}"', found[0])
            return found[0] + import_comment('template of plugin "macros" is not computed')
        return value

    def _missing(self, piece: str, name: str) -> None:
        self._notice("missing", f'snippet not found: "{name}"', piece)

    def _notice(self, kind: NoticeKind, message: str, piece: str, removed: str = "") -> None:
        line = self._lines.find(piece)
        self.notices.append(Notice(kind, message, self._document.source, line, removed=removed))


def _escape_inline_brackets(text: str) -> str:
    r"""Escape `\[` and `\]` inside a line, such as `[\[1\]](a.md)`, which would be display math in blogsmith.

    The extension arithmatex reads `\[` as a formula only at the start of a block.
    """
    parts = []
    for segment in divide(text, DIALECT):
        before = text[: segment.start].rpartition("\n")[2]
        is_bracket = segment.kind == "math" and segment.text.startswith(r"\[")
        is_false = is_bracket and before.strip(" >*+-0123456789.")
        parts.append(f"&#91;{segment.text[2:-2]}&#93;" if is_false else segment.text)
    return "".join(parts)


def _remove_span_languages(text: str) -> str:
    return "".join(
        _INLINE_LANGUAGE.sub(r"\1", segment.text, count=1) if segment.kind == "span" else segment.text
        for segment in divide(text, DIALECT)
    )
