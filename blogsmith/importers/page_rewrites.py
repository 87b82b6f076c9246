"""Rewrites of single pages that apply to all systems. They concern titles, scripts, links, formulas, code and
HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType

from markdown_it import MarkdownIt

from ..api.importing import Progress, lazy_pattern
from .html_blocks import convert_alert_boxes, convert_tables
from .kept_lines import keep_white_space
from .model import ImportedPage, Notice, SiteImport
from .page_work import Workers, map_pages
from .text.html import tag_attributes
from .text.math import (
    delimit_environment,
    escape_underscores,
    pair_braces,
    script_macros,
    unescape_entities,
)
from .text.pieces import link_mentions
from .text.segments import CODE, TEX, FormulaDelimiters, SegmentKind, divide, mask, rewrite, rewrite_segments

_PLAIN_TITLES = frozenset(("jekyll", "hugo"))
_HIDDEN_RAW_TAGS: Mapping[str, tuple[SegmentKind, ...]] = MappingProxyType(
    {"jekyll": ("block", "span"), "hexo": ("span",)}
)
"""System → kinds of code where it removes the tags `{% raw %}`, as blogsmith does."""
_MARKDOWN_CHARACTERS = frozenset("*_`[<~\\&")
_DOLLAR = "\ue01f"
"""Placeholder for a dollar character that does not start a formula."""


def simplify_title(page: ImportedPage) -> ImportedPage:
    """Remove markup from the title of a page. If the title contains a link or an image, also insert the title
    with its markup at the start of the text."""
    title = page.front.get("title")
    if not isinstance(title, str) or _MARKDOWN_CHARACTERS.isdisjoint(title):
        return page
    masked = mask(title.replace("\\$", _DOLLAR), FormulaDelimiters(), {"math"})
    (line,) = _parser().parseInline(masked.text)
    tokens = line.children or []
    words = "".join(each.content for each in tokens if each.type in ("text", "code_inline", "image"))
    plain = masked.restore(" ".join(words.split())).replace(_DOLLAR, "\\$")
    if not plain or plain == title:
        return page
    has_more = any(token.type in ("link_open", "image") for token in tokens)
    above = f"{title}\n\n" if has_more else ""
    return replace(page, front={**page.front, "title": plain}, text=above + page.text.lstrip("\n"))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


_ELEMENT = lazy_pattern(
    r"(?i)[ \t]*(?:(?P<script><script\b[^<>]*>)(?P<code>[\s\S]*?)</script\s*>|(?P<sheet><link\b[^<>]*>))"
    r"[ \t]*\n?"
)
_SCRIPT_TAG = lazy_pattern(r"<(?:script|link)\b", re.IGNORECASE)
_ADDRESS = lazy_pattern(r"(?i)mathjax|katex|asciimath|mathtex-script|/polyfill(?:\.min)?\.js|polyfill\.io")
"""Matches URLs of scripts that typeset formulas, and of a polyfill that MathJax's manual recommends before
them."""
_CODE = lazy_pattern(r"\b(?:MathJax|renderMathInElement|katex\.render)\b")
_SETTINGS = "text/x-mathjax-config"


def remove_formula_scripts(page: ImportedPage) -> ImportedPage:
    """Remove scripts that typeset formulas in the browser, because the build typesets them.

    Old posts often load MathJax themselves, from URLs that no longer exist. Macros that the script defines
    become macros of the page.
    """
    has_element = _SCRIPT_TAG.search(page.text) is not None
    if not has_element or not (_ADDRESS.search(page.text) or _CODE.search(page.text)):
        return page
    removed = list[str]()

    def take(found: re.Match[str]) -> str:
        if not _sets_formulas(found):
            return found[0]
        removed.append(found[0])
        return "\n" if found[0].endswith("\n") else ""

    masked = mask(page.text, kinds=CODE - {"opaque"})
    text = _ELEMENT.sub(take, masked.text)
    if not removed:
        return page
    written = masked.restore("".join(removed))
    message = "script that typesets formulas is removed because builds typeset them"
    notice = Notice("dropped", message, page.source, removed=written)
    front = _merge_macros(page, script_macros(written))
    return replace(page, text=masked.restore(text), front=front, notices=(*page.notices, notice))


def _sets_formulas(element: re.Match[str]) -> bool:
    values = tag_attributes(element["script"] or element["sheet"])
    address = values.get("src", "") or values.get("href", "")
    if element["sheet"] or address:
        return _ADDRESS.search(address) is not None
    return values.get("type", "") == _SETTINGS or _CODE.search(element["code"]) is not None


def _merge_macros(page: ImportedPage, macros: dict[str, str]) -> dict[str, object]:
    front = dict(page.front)
    if macros:
        math = dict(front.get("math") or {})
        front["math"] = {**math, "macros": {**macros, **math.get("macros", {})}}
    return front


_TAG = lazy_pattern(r"</?[A-Za-z][^<>]*>")
_BREAK = lazy_pattern(r"(?i)<(?:br|p|hr)\b[^<>]*>")


def remove_description_tags(page: ImportedPage) -> ImportedPage:
    """Remove HTML tags from the description, because blogsmith shows them as text."""
    written = page.front.get("description")
    if not isinstance(written, str) or not _TAG.search(written):
        return page
    text = " ".join(unescape_entities(_TAG.sub("", _BREAK.sub(" ", written))).split())
    return replace(page, front={**page.front, "description": text})


_TABLE = lazy_pattern(
    r"(?m)^(?P<head>[ ]{0,3}[^\s|][^\n|]*\|[^\n]*\n|[ ]{0,3}\|[^\n]*\n)"
    r"(?P<rule>[ ]{0,3}(?=[^\n]*\|)(?=[^\n]*-)[-|: ]+\n)(?P<rows>(?:[^\n|]*\|[^\n]*(?:\n|\Z))+)"
)
_INDENTED_ROW = lazy_pattern(r"(?m)^(?:[ ]{4}|[ ]{0,3}\t)[ \t]*")


def align_rows(page: ImportedPage) -> ImportedPage:
    """Remove the indentation of table rows that other parsers accept, but that would end the table in
    blogsmith."""
    if "|" not in page.text:
        return page

    def table(found: re.Match[str]) -> str:
        return found["head"] + found["rule"] + _INDENTED_ROW.sub("", found["rows"])

    text = rewrite(page.text, lambda text: _TABLE.sub(table, text), FormulaDelimiters(), TEX - {"indented"})
    return replace(page, text=text)


_RELATIVE = lazy_pattern(
    r"(?m)((?<!\\)\]\(<?|^[ ]{0,3}\[[^\[\]\n]+\]:[ \t]*<?|<|\bhref=[\"']?)//(?=[\w-]+\.)"
)
_FTP_LINK = lazy_pattern(r"(?i)(?<![!\\])\[([^\[\]\n]*)\]\(<?(ftp://[^()\s<>]+)>?(?:[ \t]+\"[^\"\n]*\")?\)")
_FTP_TAG = lazy_pattern(r"<a\b[^<>]*\bhref=[\"']?(ftp://[^\s<>\"']+)[^<>]*>([^<>]*)</a\s*>", re.IGNORECASE)
_FTP = lazy_pattern(
    r"(?i)<(ftp://[^\s<>]+)>|(?<![\w`/(\"'=.])(ftp://[^\s<>()`]*[^\s<>()`.,;:!?，。；：！？）])"
)


def fix_link_schemes(page: ImportedPage) -> ImportedPage:
    """Add `https:` to links that begin with `//`, and convert FTP links to code.

    Browsers do not open FTP URLs, so a notice names the page.
    """
    if "//" not in page.text:
        return page
    masked = mask(page.text, kinds=CODE | {"math"})
    text = _RELATIVE.sub(r"\1https://", masked.text)
    if "ftp://" not in text.lower():
        return replace(page, text=masked.restore(text))
    text, links = _FTP_LINK.subn(r"\1 (`\2`)", text)
    text, tags = _FTP_TAG.subn(r"\2 (`\1`)", text)
    text, bare = _FTP.subn(lambda found: f"`{found[1] or found[2]}`", text)
    if not links + tags + bare:
        return replace(page, text=masked.restore(text))
    hint = "check whether the files are available over HTTPS"
    message = "FTP link becomes text because browsers do not open FTP URLs"
    notice = Notice("changed", message, page.source, hint=hint)
    return replace(page, text=masked.restore(text), notices=(*page.notices, notice))


def fix_formulas(page: ImportedPage) -> ImportedPage:
    r"""Fix formulas that MathJax accepts although they are not valid TeX. Examples are underscores in
    `\text`, braces with one backslash too many, and environments without delimiters."""
    if "\\" not in page.text:
        return page
    return replace(page, text=rewrite_segments(page.text, "math", _tex_formula, FormulaDelimiters()))


def _tex_formula(formula: str) -> str:
    formula = delimit_environment(formula)
    return pair_braces(escape_underscores(formula)) if "_" in formula or "\\\\{" in formula else formula


_QUOTE_PREFIX = lazy_pattern(r"[ \t]*>[ \t>]*")


def quote_formula_lines(page: ImportedPage) -> ImportedPage:
    """In a quote, add a missing quote marker `>` to the lines of a formula that begins in the quote.

    Markdown parsers accept lines without the marker in a paragraph, but blogsmith ends the quote at display
    math.
    """
    if ">" not in page.text:
        return page
    parts = []
    for segment in divide(page.text, FormulaDelimiters()):
        shown = segment.text
        if segment.kind == "math" and "\n" in shown:
            prefix = _QUOTE_PREFIX.match(
                page.text, page.text.rfind("\n", 0, segment.start) + 1, segment.start
            )
            lines = shown.split("\n")
            if prefix and not all(line.lstrip().startswith(">") for line in lines[1:]):
                rest = (line if line.lstrip().startswith(">") else prefix[0] + line for line in lines[1:])
                shown = "\n".join((lines[0], *rest))
        parts.append(shown)
    return replace(page, text="".join(parts))


def fix_mentions(page: ImportedPage) -> ImportedPage:
    """Turn `[@name]` with a link definition into a link, because in blogsmith it would be a citation."""
    if "[@" not in page.text:
        return page
    return replace(page, text=rewrite(page.text, link_mentions, FormulaDelimiters()))


_FENCE = lazy_pattern(
    r"(?i)(?P<head>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:`{3,}|~{3,})[ \t]*"
    r"(?:python|python3|py|ipython3?)\b[^\n{]*\n)"
    r"(?P<options>(?:[ \t>]*#[ \t]?\|[^\n]*\n)+)"
)


def remove_option_lines(page: ImportedPage) -> ImportedPage:
    """Remove lines with `#|` from a plain fence, because in blogsmith they would make it a cell. They are
    options of Quarto or of a notebook that remained as comments. Without them, the code is shown but not
    run."""
    if "#|" not in page.text and "# |" not in page.text:
        return page
    notices: list[Notice] = []
    parts = []
    for segment in divide(page.text, FormulaDelimiters()):
        found = _FENCE.match(segment.text) if segment.kind == "block" else None
        if found:
            line = found["options"].strip().split("\n")[0].strip()
            message = f'cell option is removed from code that is not run: "{line}"'
            notices.append(Notice("dropped", message, page.source, removed=segment.text))
            parts.append(found["head"] + segment.text[found.end() :])
        else:
            parts.append(segment.text)
    return replace(page, text="".join(parts), notices=(*page.notices, *notices)) if notices else page


_RAW = lazy_pattern(r"(\{%-?[ \t]*raw[ \t]*-?%\})([\s\S]*?)(\{%-?[ \t]*endraw[ \t]*-?%\})")


def double_raw_tags(page: ImportedPage, kinds: Collection[SegmentKind]) -> ImportedPage:
    """Double `{% raw %}` and `{% endraw %}` in code, because blogsmith removes one pair.

    kinds: kinds of code where the old system shows these tags.
    """
    if "endraw" not in page.text:
        return page
    parts = (
        _RAW.sub(r"\1\1\2\3\3", each.text) if each.kind in kinds else each.text
        for each in divide(page.text, FormulaDelimiters())
    )
    return replace(page, text="".join(parts))


_REWRITES: tuple[Callable[[ImportedPage], ImportedPage], ...] = (
    remove_description_tags,
    align_rows,
    remove_formula_scripts,
    fix_link_schemes,
    fix_formulas,
    quote_formula_lines,
    fix_mentions,
    remove_option_lines,
    convert_tables,
    convert_alert_boxes,
)
"""Rewrites in their order. Each may change text, front matter and notices of a page."""


def rewrite_page(system: str, page: ImportedPage) -> ImportedPage:
    """Apply all rewrites to a page. system: name of the old system."""
    # titles in front matter of Jekyll and Hugo are literal, including Markdown characters
    page = page if system in _PLAIN_TITLES else simplify_title(page)
    for change in _REWRITES:
        page = change(page)
    hidden = _HIDDEN_RAW_TAGS.get(system, ())
    code: tuple[SegmentKind, ...] = ("block", "span")
    page = double_raw_tags(page, [kind for kind in code if kind not in hidden])
    return replace(page, text=keep_white_space(page.original, page.text))


def rewrite_pages(site: SiteImport, progress: Progress, workers: Workers) -> SiteImport:
    """Apply all rewrites to the pages of an import."""
    pages = list[ImportedPage]()
    for page in map_pages(partial(rewrite_page, site.system), site.pages, len(site.pages), workers):
        progress("rewrite", len(pages), len(site.pages))
        pages.append(page)
    return replace(site, pages=tuple(pages))
