"""Translation of a Jekyll document to a page. As in Jekyll, Liquid is translated first, then kramdown, then
HTML."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set, replace_emoji
from ..bibliographies import fit_key
from ..model import FrontKeys, ImportedPage
from ..text.containers import fence_marks, join_tabs
from ..text.data import as_list, one_line
from ..text.html import link_destination, replace_elements
from ..text.math import format_display_math, format_inline_math
from ..text.segments import CODE, PLAIN, LineFinder, MaskedText, divide, mask, rewrite
from .html import HtmlTranslator, add_markdown_attributes, inline_html, normalize_blocks
from .kramdown import (
    DIALECT,
    annotate_abbreviations,
    bracket_urls,
    complete_tables,
    expand_colours,
    hard_breaks,
    mark_inline,
    move_lists,
    remove_directives,
    rewrite_formulas,
    separate_captions,
    unmark_inline,
)
from .links import missing_images, rewrite_links
from .liquid import PLAIN_FILTERS, Filter, LiquidLimitError, LiquidRenderer, LiquidScope, UnknownValueError
from .liquid_parser import LiquidOutput, LiquidTag, parse_liquid
from .personal import is_cv, page_image, person_settings, profiles_text, read_cv
from .settings import config_author, read_names
from .source import JekyllDocument, JekyllSite, PageContext, is_blog
from .tags import render_tag, restore_raw
from .works import PageBibliographies

_TEXTS = ("title", "subtitle", "description")
_DISPLAY = lazy_pattern(r"\$\$\s*([^$\s](?:[^$]*[^$\s])?)\s*\$\$(?!\d)")
_EMOJI = lazy_pattern(r":[\w+-]+:")
_YEAR_HEADING = lazy_pattern(r"(?m)^[ \t]*(?:<h[1-6]\b[^<>]*>\s*\d{4}\s*</h[1-6]>|#{1,6}[ \t]+\d{4})[ \t]*$")
_SITE_KEYS = name_set(
    "nav nav_order order dropdown children profile selected_papers social announcements latest_posts "
    "cv_format profiles"
)
"""Keys that become settings of the new site."""
KEYS = FrontKeys(
    _SITE_KEYS
    | name_set(
        "title subtitle description excerpt summary date last_modified_at lastmod updated categories "
        "category tags tag published draft search search_exclude redirect_from permalink slug "
        "bibliography image image.path image.src img cover cv_pdf"
    ),
    _SITE_KEYS
    | name_set(
        "render_with_liquid classes sidebar nav_exclude author_profile read_time share related mathjax "
        "header.overlay_filter toc_sticky toc_label toc_icon sitemap mermaid chart tabs pretty_table "
        "code_diff display_categories horizontal pagination related_posts inline pseudocode tikzjax "
        "typograms map images"
    ),
)


def page_front(document: JekyllDocument) -> dict[str, Any]:
    """Return the front matter of a page with blogsmith's keys, in a fixed order."""
    front = document.front
    found: dict[str, Any] = {}
    for key in _TEXTS:
        if text := _text(front.get(key)):
            found[key] = text
    if "description" not in found and (text := _text(front.get("excerpt") or front.get("summary"))):
        found["description"] = text
    if written := _text(front.get("date")):
        found["date"] = written
    elif document.date:
        found["date"] = document.date.isoformat()
    if updated := _text(front.get("last_modified_at") or front.get("lastmod") or front.get("updated")):
        found["updated"] = updated
    for key, singular in (("categories", "category"), ("tags", "tag")):
        if names := read_names(front.get(key) or front.get(singular)):
            found[key] = names
    subject = one_line(front.get("subject_name")) or one_line(front.get("subject"))
    if subject and "categories" not in found:
        found["categories"] = [subject]
    if document.collection == "drafts" or front.get("published") is False or front.get("draft") is True:
        found["draft"] = True
    # keys of Just the Docs and of Minimal Mistakes
    if front.get("search_exclude") is True or front.get("search") is False:
        found["search"] = False
    if aliases := redirects(front):
        found["aliases"] = aliases
    return found


def redirects(front: Mapping[str, Any]) -> list[str]:
    """Return the old URLs in `redirect_from`, a key of jekyll-redirect-from."""
    written = front.get("redirect_from")
    names = (each.strip() for each in as_list(written) if isinstance(each, str))
    return [f"/{name.lstrip('/')}" for name in names if name.strip("/ ")]


def _text(value: Any) -> str:
    return _DISPLAY.sub(r"$\1$", one_line(value))


def distill_code(text: str, context: PageContext) -> str:
    """Convert `<d-code>` and `<d-math>` to code and formulas. Call this function before the text is
    masked."""

    def code(attributes: Mapping[str, str], inner: str) -> str | None:
        if "block" not in attributes:
            return f"`{inner.strip()}`"
        body = inner.strip("\n")
        ticks = fence_marks(body)
        return f"\n\n{ticks}{attributes.get('language', '') or 'text'}\n{unescape(body)}\n{ticks}\n\n"

    def math(attributes: Mapping[str, str], inner: str) -> str | None:
        tex = unescape(inner).strip()
        return context.finished.mask(
            format_display_math(tex) if "block" in attributes else format_inline_math(tex)
        )

    masked = mask(text, kinds={"span"})
    return masked.restore(replace_elements(replace_elements(masked.text, "d-code", code), "d-math", math))


def distill_notes(text: str, context: PageContext) -> str:
    """Convert `<d-cite>` to citations and `<d-footnote>` to footnotes at the end of the text."""
    notes: list[str] = []

    def cite(attributes: Mapping[str, str], inner: str) -> str | None:
        written = attributes.get("key") or attributes.get("bibtex-key") or ""
        keys = [fit_key(each.strip()) for each in re.split(r"[,\s]+", written) if each.strip()]
        for key in keys:
            if key not in context.cited:
                context.cited.append(key)
        return context.finished.mask(f"[{'; '.join(f'@{key}' for key in keys)}]") if keys else inner

    def note(attributes: Mapping[str, str], inner: str) -> str | None:
        notes.append(" ".join(inner.split()))
        return context.finished.mask(f"[^note-{len(notes)}]")

    text = re.sub(r"<(d-cite\b[^>]*?)/>", r"<\1></d-cite>", text, flags=re.IGNORECASE)
    # a parenthesis after a citation would turn it into a link
    text = re.sub(r"(</d-cite>)(?=\()", r"\1 ", text, flags=re.IGNORECASE)
    text = replace_elements(text, "d-cite", cite)
    text = replace_elements(text, "d-footnote", note)
    text = re.sub(r"</?(?:d-appendix|d-footnote-list|d-citation-list|d-article|d-contents)\b[^>]*>", "", text)
    if not notes:
        return text
    listed = "\n".join(f"[^note-{number}]: {each}" for number, each in enumerate(notes, 1))
    return f"{text.rstrip()}\n\n{listed}\n"


_LISTS = name_set("posts tags categories pages related_posts documents static_files collections html_pages")
_TEX_BEFORE = re.compile(r"[\\^_{}$][A-Za-z]*[\[{(]*$")


def page_path(document: JekyllDocument, sections: Collection[str]) -> PurePosixPath:
    """Return the path of a document in the new site. sections: names of the sections for which the new site
    has lists."""
    content = PurePosixPath("content")
    if document.address == "/":
        return content / "_index.md"
    if document.collection == "pages":
        path = PurePosixPath(document.collection_path)
        section = "posts" if is_blog(document) else document.address.strip("/")
        if section in sections:
            return content / section / "_index.md"
        if path.name == "index":
            return content / path.parent / "_index.md"
        return content / path.with_name(f"{path.name}.md")
    section = "posts" if document.collection == "drafts" else document.collection
    inner = PurePosixPath(document.collection_path)
    return content / section / inner.with_name("_index.md" if inner.name == "index" else f"{inner.name}.md")


class PageTranslator:
    """Translator for the documents of one site."""

    def __init__(self, site: JekyllSite) -> None:
        self._site = site
        self.bibliographies = PageBibliographies(site)
        self.cv = read_cv(site)
        self._has_emoji = "jemoji" in as_list(site.config.values.get("plugins"))
        self.person = person_settings(site, config_author(site.config))
        self._filters: Mapping[str, Filter] = {**PLAIN_FILTERS, **_address_filters(site)}
        used = {"posts" if each.collection == "drafts" else each.collection for each in site.files.documents}
        self._sections = frozenset(used - {"pages"})

    def translate(self, document: JekyllDocument) -> ImportedPage:
        """Translate a document to a page."""
        context = PageContext(self._site, document, LineFinder(document.body, document.first_line))
        context.notices.extend(document.notices)
        text = self._liquid(document, context)
        text = text if document.is_markdown else _join_html_lines(text)
        if context.lists and (years := _YEAR_HEADING.findall(text)):
            # the list of publications has these headings
            text = _YEAR_HEADING.sub("", text)
            context.notice(
                "changed",
                "headings of years have no effect: the list generates them",
                removed="\n\n".join(years),
            )
        if people := profiles_text(document, self._site):
            text = f"{text.rstrip()}\n\n{people}\n"
        text = add_markdown_attributes(distill_code(text, context), is_default=self._site.config.parses_html)
        text = normalize_blocks(text)
        html, text = self._markdown(text, context)
        text = join_tabs(_restore_raw_blocks(context.finished.restore(text)))
        text = self._emoji(text, context)
        text = f"{text.rstrip()}\n\n{self._cv_text(document)}".strip("\n") + "\n" if is_cv(document) else text
        front = self._front(document, context, html)
        return ImportedPage(
            path=self._path(document),
            front=front,
            text=text,
            source=document.path.as_posix(),
            original=document.body,
            first_line=document.first_line,
            address=document.address,
            notices=tuple(context.notices),
        )

    def _path(self, document: JekyllDocument) -> PurePosixPath:
        return page_path(document, self._sections)

    def _liquid(self, document: JekyllDocument, context: PageContext) -> str:
        if document.front.get("render_with_liquid") is False or "{" not in document.body:
            return document.body

        config = self._site.config
        own = {"data": self._site.data, "baseurl": config.base_path, "url": config.text("url")}
        names: dict[str, Any] = {
            "site": {**config.values, **own},
            "page": {**document.front, "url": document.address, "path": document.path.as_posix()},
            "layout": {},
            "jekyll": {"environment": "production"},
        }
        lists = _LISTS | config.collections.keys()

        def is_list(steps: Sequence[str]) -> bool:
            return steps[0] == "paginator" or (steps[0] == "site" and not lists.isdisjoint(steps[1:2]))

        scope = LiquidScope(names, is_list)
        try:
            return LiquidRenderer(
                self._filters, partial(render_tag, context), partial(_replace_unknown, context)
            ).render(parse_liquid(document.body), scope)
        except LiquidLimitError:
            hint = "replace the templates with their output"
            context.notice("left", "templates of this page produce too much text", hint=hint)
            return f"{{% raw %}}{document.body}{{% endraw %}}"

    def _markdown(self, text: str, context: PageContext) -> tuple[HtmlTranslator, str]:
        html = HtmlTranslator(context)
        masked = mask(rewrite(text, mark_inline, DIALECT, CODE) if "\\$$" in text else text, DIALECT)
        prose = hard_breaks(remove_directives(masked.text))
        prose = distill_notes(bracket_urls(prose), context)
        prose = html.translate(MaskedText(prose, masked.hidden, masked.kinds))
        prose = inline_html(prose)
        prose = separate_captions(complete_tables(move_lists(annotate_abbreviations(prose))))
        prose = rewrite_links(prose, context, self._path)
        missing_images(context.finished.restore(prose), context)
        masked = rewrite_formulas(prose, masked, self._site.config, html.colours)
        return html, unmark_inline(masked.restore(re.sub(r"\n{3,}", "\n\n", masked.text)))

    def _front(self, document: JekyllDocument, context: PageContext, html: HtmlTranslator) -> dict[str, Any]:
        front = page_front(document) | self._image(document)
        if html.macros:
            coloured = {name: expand_colours(body, html.colours) for name, body in html.macros.items()}
            front["math"] = {"macros": coloured}
        front |= self.bibliographies.publications(context)
        if document.address == "/":
            front |= {"listing": False} if _is_disabled(document.front.get("latest_posts")) else {}
            if self.person.get("line") and front.pop("subtitle", ""):
                context.notice(
                    "changed", 'front matter key "subtitle" has no effect: it is a line of the profile'
                )
        if is_cv(document) and self.cv.file:
            front["cv"] = str(self.cv.file.path)
        return front | (self._references(document, context) if context.cited else {})

    def _emoji(self, text: str, context: PageContext) -> str:
        new = rewrite(text, replace_emoji, PLAIN, CODE | {"math"}) if self._has_emoji else text
        if new != text:
            names = " ".join(dict.fromkeys(_EMOJI.findall(text)))
            context.notice("changed", "names of emoji have no effect: characters replace them", removed=names)
        return new

    def _cv_text(self, document: JekyllDocument) -> str:
        """Return the Markdown to append to a CV page; may be empty. It is a link to the PDF in `cv_pdf` and,
        if the CV could not be converted to JSON Resume, the CV itself."""
        pdf = one_line(document.front.get("cv_pdf"))
        return "\n\n".join(filter(None, (f"[PDF]({link_destination(pdf)})" if pdf else "", self.cv.text, "")))

    def _image(self, document: JekyllDocument) -> dict[str, str]:
        """Return the front matter key `image`; empty if the page's image is not a file of the site."""
        written = document.front.get("image")
        written = written.get("path") or written.get("src") if isinstance(written, Mapping) else written
        written = written or page_image(document)
        path = f"/{str(written or '').removeprefix(self._site.config.base_path).lstrip('/')}"
        return {"image": path} if path in self._site.copied else {}

    def _references(self, document: JekyllDocument, context: PageContext) -> dict[str, Any]:
        files = self.bibliographies.files(document)
        written = {fit_key(key): key for key in self.bibliographies.copied.all_entries(files)}
        cited = [written[key] for key in context.cited if key in written]
        found = self.bibliographies.copied.page_front_matter(cited, files)
        missing = [key for key in context.cited if key not in written]
        for key in missing:
            context.notice("mistake", f'citation not found in a bibliography: "{key}"')
        unknown = [{"id": key, "title": key} for key in missing]
        return found | ({"references": [*found.get("references", ()), *unknown]} if unknown else {})


def _is_disabled(written: Any) -> bool:
    return isinstance(written, Mapping) and written.get("enabled") is False


def _replace_unknown(context: PageContext, node: LiquidOutput | LiquidTag, error: Exception) -> str:
    """Return the text for a node whose value an import cannot know, and add a notice. node: the output or
    tag; error: the reason."""
    line = context.find_line(node)
    if isinstance(error, UnknownValueError) and str(error).startswith(("site.", "paginator")):
        message = f'list from "{error}" is omitted: blogsmith generates its own lists'
        context.notice("dropped", message, line=line, removed=node.source, is_list=True)
        return ""
    if isinstance(node, LiquidOutput) and not context.depth:
        before = context.document.body[: node.start]
        if _TEX_BEFORE.search(before[-40:]):
            # double braces of TeX, not Liquid
            return node.source
        if node.source.startswith("{{<") or not re.match(r"[A-Za-z_]", node.expression):
            context.notice("left", "unsupported syntax: double braces that are not Liquid", line=line)
            return node.source
        message = f'unknown Liquid value "{node.expression}" is removed'
        context.notice("dropped", message, line=line, removed=node.source)
        return ""
    if context.depth or (isinstance(node, LiquidTag) and isinstance(error, UnknownValueError)):
        # in Jekyll an undefined value is empty, and a loop over it too
        message = f'list from "{error}" is omitted: blogsmith generates its own lists'
        removed = "" if context.depth else node.source
        context.notice("dropped", message, line=line, removed=removed, is_list=True)
        return ""
    return context.leave_untranslated(node, f'invalid Liquid "{error}"')


def _address_filters(site: JekyllSite) -> Mapping[str, Filter]:
    base, host = site.config.base_path, site.config.text("url").rstrip("/")

    def relative(value: Any) -> str:
        text = str(value or "").strip()
        return text if re.match(r"(?:https?:)?//", text) else f"{base}/{text.lstrip('/')}"

    def absolute(value: Any) -> str:
        text = relative(value)
        return text if "//" in text[:8] else host + text

    return {"relative_url": relative, "absolute_url": absolute, "date_to_string": lambda value: str(value)}


def _join_html_lines(text: str) -> str:
    """Remove blank lines and indentation from HTML, except in code and scripts, so that Markdown reads it as
    one block."""
    parts = re.split(r"(<pre\b[\s\S]*?</pre>|<script\b[\s\S]*?</script>)", text)
    return "".join(
        part if number % 2 else re.sub(r"\n\s*\n", "\n", re.sub(r"^[ \t]+", "", part, flags=re.MULTILINE))
        for number, part in enumerate(parts)
    )


def _restore_raw_blocks(text: str) -> str:
    return "".join(
        restore_raw(segment.text, is_code=segment.kind in CODE or segment.kind == "math")
        for segment in divide(text)
    )
