"""One document of a Jekyll site → a page of ours: Liquid first, as in Jekyll, then kramdown, then HTML."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from ...model.units import name_set
from ..bibliography.bibtex import fit_key
from ..bibliography.copied_files import SourceBibliographies
from ..model import ImportedPage
from ..text.containers import join_tabs
from ..text.segments import CODE, Lines, MaskedText, divide, mask, rewrite
from .bibliography import Bibliographies
from .context import PageContext
from .distill import distill_code, distill_notes
from .formulas import DIALECT, mark_inline, rewrite_formulas, unmark_inline, with_colours
from .front import page_front
from .html import HtmlTranslator, inline_html
from .html_blocks import ask_for_markdown, settle_blocks
from .kramdown import (
    bracket_addresses,
    complete_tables,
    hard_breaks,
    move_lists,
    part_captions,
    take_abbreviations,
    take_extensions,
)
from .links import missing_images, rewrite_links
from .liquid.filters import PLAIN_FILTERS
from .liquid.parse import LiquidOutput, LiquidTag, parse_liquid
from .liquid.render import LiquidRenderer
from .liquid.values import Filter, LiquidScope, LiquidTooLarge, UnknownValue
from .site import JekyllSite
from .source import JekyllDocument
from .tags import render_tag, unveil_raw

_LISTS = name_set("posts tags categories pages related_posts documents static_files collections html_pages")
_TEX_BEFORE = re.compile(r"[\\^_{}$][A-Za-z]*[\[{(]*$")


def page_path(document: JekyllDocument, sections: Collection[str]) -> PurePosixPath:
    """Where a document stands in the new site; `sections` are the folders that have lists of their own."""
    content = PurePosixPath("content")
    if document.address == "/":
        return content / "_index.md"
    if document.collection == "pages":
        path = PurePosixPath(document.inner)
        if path.name == "index":
            return content / path.parent / "_index.md"
        if document.address.strip("/") in sections:
            return content / document.address.strip("/") / "_index.md"
        return content / path.with_name(f"{path.name}.md")
    section = "posts" if document.collection == "drafts" else document.collection
    inner = PurePosixPath(document.inner)
    return content / section / inner.with_name("_index.md" if inner.name == "index" else f"{inner.name}.md")


class PageTranslator:
    """Translates the documents of one site."""

    def __init__(self, site: JekyllSite) -> None:
        self._site = site
        self._bibliographies = Bibliographies(site)
        self.copied_bibliographies = SourceBibliographies()
        """Those that pages name."""
        self._filters: Mapping[str, Filter] = {**PLAIN_FILTERS, **_address_filters(site)}
        used = {"posts" if each.collection == "drafts" else each.collection for each in site.files.documents}
        self._sections = frozenset(used - {"pages"})

    def translate(self, document: JekyllDocument) -> ImportedPage:
        """The page."""
        context = PageContext(self._site, document, Lines(document.body, document.first_line))
        context.notices.extend(document.notices)
        text = self._liquid(document, context)
        text = text if document.is_markdown else _joined_html(text)
        text = ask_for_markdown(distill_code(text, context), is_default=self._site.config.parses_html)
        text = settle_blocks(text)
        has_toc, html, text = self._markdown(text, context)
        text = join_tabs(_unveil(context.finished.restore(text)))
        front = self._front(document, context, html, has_toc=has_toc)
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

        def unknown(node: LiquidOutput | LiquidTag, error: Exception) -> str:
            return _unknown(context, node, error)

        def tag(node: LiquidTag, scope: LiquidScope, renderer: LiquidRenderer) -> str:
            return render_tag(context, node, scope, renderer)

        config = self._site.config
        names: dict[str, Any] = {
            "site": {
                **config.values,
                "data": self._site.data,
                "baseurl": config.base_path,
                "url": config.text("url"),
            },
            "page": {**document.front, "url": document.address, "path": document.path.as_posix()},
            "layout": {},
            "jekyll": {"environment": "production"},
        }
        scope = LiquidScope(
            names,
            lambda steps: (
                steps[0] == "paginator"
                or (
                    steps[0] == "site"
                    and steps[1:2] != []
                    and (steps[1] in _LISTS or steps[1] in config.collections)
                )
            ),
        )
        try:
            return LiquidRenderer(self._filters, tag, unknown).render(parse_liquid(document.body), scope)
        except LiquidTooLarge:
            hint = "write out what they should give"
            context.notice("left", "the templates of this page make more than a page holds", hint=hint)
            return f"{{% raw %}}{document.body}{{% endraw %}}"

    def _markdown(self, text: str, context: PageContext) -> tuple[bool, HtmlTranslator, str]:
        html = HtmlTranslator(context)
        masked = mask(rewrite(text, mark_inline, DIALECT, CODE) if "\\$$" in text else text, DIALECT)
        prose, has_toc = take_extensions(masked.text)
        prose = distill_notes(bracket_addresses(hard_breaks(prose)), context)
        prose = html.translate(MaskedText(prose, masked.hidden, masked.kinds))
        prose = inline_html(prose)
        prose = part_captions(complete_tables(move_lists(take_abbreviations(prose))))
        prose = rewrite_links(prose, context, self._path)
        missing_images(context.finished.restore(prose), context)
        masked = rewrite_formulas(prose, masked, self._site.config, html.colours)
        return has_toc, html, unmark_inline(masked.restore(re.sub(r"\n{3,}", "\n\n", masked.text)))

    def _front(
        self, document: JekyllDocument, context: PageContext, html: HtmlTranslator, *, has_toc: bool
    ) -> dict[str, Any]:
        front = page_front(document) | self._image(document)
        if html.macros:
            coloured = {name: with_colours(body, html.colours) for name, body in html.macros.items()}
            front["math"] = {"macros": coloured}
        return front | (self._references(document, context) if context.cited else {})

    def _image(self, document: JekyllDocument) -> dict[str, str]:
        """Return `image`, if the site has the picture that the page names."""
        written = document.front.get("image")
        written = written.get("path") or written.get("src") if isinstance(written, Mapping) else written
        path = f"/{str(written or '').removeprefix(self._site.config.base_path).lstrip('/')}"
        return {"image": path} if path in self._site.copied else {}

    def _references(self, document: JekyllDocument, context: PageContext) -> dict[str, Any]:
        files = self._bibliographies.files(document)
        written = {fit_key(key): key for key in self.copied_bibliographies.all_entries(files)}
        found = self.copied_bibliographies.front_of(
            [written[key] for key in context.cited if key in written], files
        )
        missing = [key for key in context.cited if key not in written]
        for key in missing:
            context.notice("mistake", f"{key} is cited, and no bibliography has it")
        unknown = [{"id": key, "title": key} for key in missing]
        return found | ({"references": [*found.get("references", ()), *unknown]} if unknown else {})


def _unknown(context: PageContext, node: LiquidOutput | LiquidTag, error: Exception) -> str:
    """What stands for a value that an import cannot know."""
    line = context.line_of(node)
    if isinstance(error, UnknownValue) and str(error).startswith(("site.", "paginator")):
        message = f"a list made from {error}: blogsmith makes its lists itself"
        context.notice("dropped", message, line=line, removed=node.source, is_list=True)
        return ""
    if isinstance(node, LiquidOutput) and not context.depth:
        before = context.document.body[: node.start]
        if _TEX_BEFORE.search(before[-40:]):
            # two braces of TeX
            return node.source
        if node.source.startswith("{{<") or not re.match(r"[A-Za-z_]", node.expression):
            context.notice("left", "braces that are no Liquid", line=line)
            return node.source
        message = f"{node.expression} has no value here"
        context.notice("dropped", message, line=line, removed=node.source)
        return ""
    if context.depth or (isinstance(node, LiquidTag) and isinstance(error, UnknownValue)):
        # what has no value in Jekyll is nothing, and a loop over it too
        message = f"a list made from {error}: blogsmith makes its lists itself"
        removed = "" if context.depth else node.source
        context.notice("dropped", message, line=line, removed=removed, is_list=True)
        return ""
    return context.leave(node, f"Liquid that cannot be read: {error}")


def _address_filters(site: JekyllSite) -> Mapping[str, Filter]:
    base, host = site.config.base_path, site.config.text("url").rstrip("/")

    def relative(value: Any) -> str:
        text = str(value or "").strip()
        return text if re.match(r"(?:https?:)?//", text) else f"{base}/{text.lstrip('/')}"

    def absolute(value: Any) -> str:
        text = relative(value)
        return text if "//" in text[:8] else host + text

    return {"relative_url": relative, "absolute_url": absolute, "date_to_string": lambda value: str(value)}


def _joined_html(text: str) -> str:
    """HTML as one block of Markdown: without blank lines and indentation, but for code."""
    parts = re.split(r"(<pre\b[\s\S]*?</pre>|<script\b[\s\S]*?</script>)", text)
    return "".join(
        part if number % 2 else re.sub(r"\n\s*\n", "\n", re.sub(r"^[ \t]+", "", part, flags=re.MULTILINE))
        for number, part in enumerate(parts)
    )


def _unveil(text: str) -> str:
    """Raw blocks as they are written here."""
    return "".join(
        unveil_raw(segment.text, is_code=segment.kind in CODE or segment.kind == "math")
        for segment in divide(text)
    )
