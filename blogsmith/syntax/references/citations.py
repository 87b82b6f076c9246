"""Citations: `[@key]`, `[@a; @b]`, `[@key, p. 3]`, and `@key` in running text.

Numeric style: an entry's number is its place in the author's list, as printed, so that uncited entries
leave no gap and a list carried over from elsewhere keeps its numbers. A bare `@word` is a citation only
if it is a key of the page, since handles and addresses look the same; in brackets an unknown key is an
error.
"""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec.structs import replace

from ...patterns import lazy_pattern
from ..records import Citation, CitationEntry, Cited, Shortcode, get, put
from ..state import PageState, inline_place, page_of
from .references import is_label

_KEY = r"@([A-Za-z0-9_](?:[\w:.#$%&+?<>~/-]*[\w/])?)"
_GROUP = lazy_pattern(r"\[\s*(@[^\[\]]+)\](?![(\[])")
_ITEM = lazy_pattern(rf"\s*{_KEY}\s*(?:,\s*([^;]*?))?\s*(?:;|$)")
_BARE = lazy_pattern(_KEY)


def group(state: StateInline, silent: bool) -> bool:
    """Inline rule: citations in brackets."""
    found = _GROUP.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    items, at = [], 0
    while at < len(found[1]) and (item := _ITEM.match(found[1], at)):
        start = found.start(1) + item.start(1)
        place = inline_place(state, start - 1, start + len(item[1]))
        items.append(Cited(item[1], (item[2] or "").strip(), place))
        at = item.end()
    if at < len(found[1]) or not items or _are_labels(state, items):
        return False
    if not silent:
        _push(state, tuple(items))
    state.pos = found.end()
    return True


def _are_labels(state: StateInline, items: list[Cited]) -> bool:
    """`[@fig-x]`, as Quarto has it: references to labels, read in `references.py` without the brackets."""
    page = page_of(state.env)
    return all(is_label(item.key, page) and item.key not in page.references for item in items)


def bare(state: StateInline, silent: bool) -> bool:
    """Inline rule: `@key` in the text."""
    found = _BARE.match(state.src, state.pos, state.posMax)
    if not found or (state.pos > 0 and state.src[state.pos - 1].isalnum()):
        return False
    page = page_of(state.env)
    if found[1] not in page.references:
        return False
    if not silent:
        place = inline_place(state, found.start(), found.end())
        _push(state, (Cited(found[1], "", place),))
    state.pos = found.end()
    return True


def _push(state: StateInline, items: tuple[Cited, ...]) -> None:
    page = page_of(state.env)
    keys = list(page.references)
    for item in items:
        if item.key not in page.references:
            _unknown(item, page)
    numbers = tuple(keys.index(item.key) + 1 if item.key in page.references else 0 for item in items)
    put(state.push("citation", "cite", 0), Citation(items, numbers))


def number_citations(state: StateCore) -> None:
    """Core rule: count the uses of each entry, for back links; the list of entries at the end."""
    page = page_of(state.env)
    uses = dict.fromkeys(_keys_in_calls(state.tokens), 0)
    for token in _citations(state.tokens):
        citation = get(token, Citation)
        counts = []
        for item in citation.items:
            uses[item.key] = uses.get(item.key, 0) + 1
            counts.append(uses[item.key])
        put(token, replace(citation, uses=tuple(counts)))
    if page.references:
        _append_entries(state, page, uses)


def _keys_in_calls(tokens: list[Token]) -> Iterator[str]:
    """Keys in the arguments of shortcodes, whose texts are parsed only when they are rendered."""
    for token in tokens:
        for call in (token, *(token.children or ())):
            if call.type.startswith("shortcode"):
                for text in get(call, Shortcode).args.values():
                    yield from _BARE.findall(text)


def _citations(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "citation":
                yield child


def _unknown(item: Cited, page: PageState) -> None:
    page.reporter.error(
        "citation-key",
        f"no reference has the key {item.key}",
        item.place,
        page.reporter.did_you_mean(item.key, page.references)
        or "add it under references: in the front matter",
    )


def _append_entries(state: StateCore, page: PageState, uses: dict[str, int]) -> None:
    for key, reference in page.references.items():
        if key not in uses and reference.is_named:
            hint = f"cite it with [@{key}], or silence citation-unused under diagnostics: ignore:"
            page.reporter.warn("citation-unused", f"reference {key} is never cited", reference.place, hint)
    token = Token("bibliography", "section", 0, block=True)
    token.meta["entries"] = tuple(CitationEntry(key, uses.get(key, 0)) for key in page.references)
    state.tokens.append(token)


def cite_rules(md: MarkdownIt) -> None:
    """Register the inline rules before links."""
    md.inline.ruler.before("link", "cite_group", group)
    md.inline.ruler.before("link", "cite_bare", bare)
