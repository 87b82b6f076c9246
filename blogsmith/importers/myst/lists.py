"""Directives that stand for lists or other files: tables of contents, glossaries, bibliographies,
includes."""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from ..text.containers import fence, trim_blank_lines
from ..text.loose_yaml import split_head
from .directives import Directive
from .labels import BookLabel
from .listings import chosen_lines
from .walker import Walker

_ENTRY = lazy_pattern(r"\s*(?:(.+?)\s*<([^<>]+)>|(\S.*?))\s*")
_LINK = lazy_pattern(r"(?:https?|mailto):.*")


def translate_toctree(walker: Walker, directive: Directive) -> list[str]:
    """`{toctree}` as a list of links; a hidden one only ordered the pages."""
    if "hidden" in directive.options:
        return []
    walker.lists_below = True
    out = [f"**{caption}**", ""] if (caption := directive.option("caption")) else []
    for line in directive.body:
        found = _ENTRY.fullmatch(line)
        if not found or line.lstrip().startswith(("%", "#")) or "*" in line:
            continue
        target, title = found[2] or found[3], found[1] or ""
        if _LINK.fullmatch(target):
            out.append(f"- [{title or target}]({target})")
        elif target != "self":
            out.append(f"- {{doc}}`{f'{title} <{target}>' if title else target}`")
    return [*walker.anchor(), *out]


def translate_page_list(walker: Walker, directive: Directive) -> list[str]:
    """`{tableofcontents}`: the list of the pages below this one, which `page` writes."""
    walker.lists_pages = True
    return [*walker.anchor(), PAGE_LIST]


PAGE_LIST = "\ue002pages\ue002"
"""Stands where the list of pages goes until it is known."""


def translate_dropped(walker: Walker, directive: Directive) -> list[str]:
    """A directive that shows nothing, or what is made here without asking: `{contents}`, `{index}`."""
    if directive.name in ("index", "contents", "tags"):
        shown = [*directive.raw] if directive.argument or directive.body else []
        message = f"directive {{{directive.name}}} is left out"
        walker.notice("dropped", message, directive.line, removed=shown)
    return walker.anchor()


def translate_bibliography(walker: Walker, directive: Directive) -> list[str]:
    """`{bibliography}`: the list makes itself."""
    walker.has_bibliography = True
    return walker.anchor()


def translate_glossary(walker: Walker, directive: Directive) -> list[str]:
    """`{glossary}` as a definition list, each term a place that `{term}` leads to."""
    out: list[str] = walker.anchor()
    terms: list[str] = []
    body = trim_blank_lines(directive.body)
    is_markdown = any(line.lstrip().startswith(": ") for line in body)
    text = walker.nested(body, directive.body_line)
    for line in text:
        if not line.strip():
            out.append("")
        elif line.startswith((" ", "\t", ": ")):
            if is_markdown:
                out.append(line)
                continue
            out.append(f": {line.strip()}" if terms or out[-1:] == [""] else f"  {line.strip()}")
            terms = []
        else:
            if out and out[-1].strip() and not terms:
                out.append("")
            terms.append(line.strip())
            out.append(_term(walker, line.strip()))
    return out


def _term(walker: Walker, text: str) -> str:
    slug = re.sub(r"[^\w]+", "-", text.casefold()).strip("-") or "term"
    walker.book.labels.add(f"term {text}", BookLabel("term", f"term-{slug}", walker.source, text))
    return f'<span id="term-{slug}"></span>{text}'


def translate_include(walker: Walker, directive: Directive) -> list[str]:
    """`{include} path`: the text of the file, translated as if it stood here."""
    path = walker.resolve(directive.argument)
    content = walker.book.read(path)
    if content is None or path in walker.included:
        what = "is not there" if content is None else "includes itself"
        walker.notice("missing", f"file {directive.argument} {what}", directive.line)
        return [*walker.anchor(), *fence("text", directive.raw)]
    lines = chosen_lines(split_head(content)[1].split("\n"), directive)
    if {"literal", "code"} & directive.options.keys():
        return [*walker.anchor(), *fence(directive.option("code") or "text", lines)]
    if path.endswith(".rst"):
        return [*walker.anchor(), *walker.leave(directive, "reStructuredText is not read")]
    walker.included = (*walker.included, path)
    walker.inclusions.append(path)
    before = len(walker.notices)
    out = walker.nested(lines, 1)
    # lines of the other file say nothing about this one
    walker.notices[before:] = [
        type(each)(each.kind, each.message, path, each.line, each.hint, each.removed)
        for each in walker.notices[before:]
    ]
    walker.included = walker.included[:-1]
    return out


def translate_raw(walker: Walker, directive: Directive) -> list[str]:
    """`{raw} html` as HTML; what is meant for other outputs goes."""
    formats = directive.argument.lower().split()
    if "html" in formats or not formats:
        return [*walker.anchor(), *trim_blank_lines(directive.body)]
    message = f"text for {' and '.join(formats)} alone is left out"
    walker.notice("dropped", message, directive.line, removed=directive.raw)
    return walker.anchor()


def translate_only(walker: Walker, directive: Directive) -> list[str]:
    """`{only} html`: its text, unless it is for another output."""
    if re.search(r"\bhtml\b", directive.argument) and "not html" not in directive.argument:
        return walker.nested(directive.body, directive.body_line)
    message = f"text for {directive.argument or 'nothing'} alone is left out"
    walker.notice("dropped", message, directive.line, removed=directive.raw)
    return walker.anchor()


def translate_rst(walker: Walker, directive: Directive) -> list[str]:
    """`{eval-rst}`: left, for it is another language."""
    hint = "write it in Markdown"
    return [*walker.anchor(), *walker.leave(directive, "reStructuredText is not translated", hint)]
