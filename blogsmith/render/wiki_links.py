"""HTML for text in double brackets: a key, or a link if it names a page as in Obsidian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..model.links import LinkTarget
from ..model.slugs import github_slug, slugify
from ..syntax.links import is_key, is_likely_page
from ..syntax.records import WikiLink, get_record
from .context import PageRendering, Rule
from .prose import escape_html

_CODE = "foreign-syntax"
_PATH_HINT = "write `[text](page.md)`"


def _wiki_link(rendering: PageRendering, tokens: Sequence[Token], index: int) -> str:
    shown = escape_html(tokens[index].content)
    if "wikilink" not in tokens[index].meta:
        return f"<kbd>{shown}</kbd>"
    written = get_record(tokens[index], WikiLink)
    target = _find_page(written.target, rendering)
    is_plain = not written.text and "#" not in written.target
    if is_plain and (target is None or is_key(written.target)):
        if not rendering.is_in_link:
            _warn_of_key(written, rendering, names_page=target is not None)
        return f"<kbd>{shown}</kbd>"
    if rendering.is_in_link:
        # a link inside a link would end the outer one
        if target is None:
            return f"<kbd>{shown}</kbd>"
        rendering.report_nested(written.written, written.place)
        return shown
    if target is None:
        hint = rendering.tools.slug_hint(_slug(written.target, rendering)) if written.text else ""
        message = f'page not found: "{written.written}" is shown as text'
        rendering.reporter.warn(_CODE, message, written.place, hint if "mean" in hint else _PATH_HINT)
        return escape_html(written.written)
    rendering.report_target(target, written.place)
    return f'<a href="{escape_html(target.url)}">{shown}</a>'


def _warn_of_key(written: WikiLink, rendering: PageRendering, *, names_page: bool) -> None:
    if names_page and len(written.target) > 1:
        message = f'"{written.written}" is shown as a keyboard key, although a page has this name'
        rendering.reporter.warn(_CODE, message, written.place, _PATH_HINT)
    elif not names_page and is_likely_page(written.target):
        message = f'page not found: "{written.written}" is shown as a keyboard key'
        rendering.reporter.warn(_CODE, message, written.place, _PATH_HINT)


def _slug(target: str, rendering: PageRendering) -> str:
    name = target.partition("#")[0].removesuffix(".md").rpartition("/")[2]
    return slugify(name, marks=rendering.tools.config.slug_settings.keeps_marks)


def _find_page(target: str, rendering: PageRendering) -> LinkTarget | None:
    """Return the target of a name as in Obsidian: a page by its file name, and a heading by its text. None if
    the page is unknown."""
    page, _, heading = target.partition("#")
    tools, document = rendering.tools, rendering.document
    # a heading inside another one is written `page#Chapter#Section`
    heading = heading.rpartition("#")[2].strip()
    slugs = tools.config.slug_settings
    made = github_slug(heading) if slugs.ids == "github" else slugify(heading, marks=slugs.keeps_marks)
    anchor = f"#{made}" if heading else ""
    if not page.strip():
        return tools.link(anchor, document) if anchor else None
    url = tools.post_url(_slug(page, rendering), rendering.document)
    path = url.removeprefix(tools.config.base_path)
    return tools.link(f"{path}{anchor}", document) if url else None


RULES: Mapping[str, Rule] = MappingProxyType({"kbd": _wiki_link})
