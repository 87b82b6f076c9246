r"""Citations: `[@key]`, `[see @a, p. 3; -@b]`, `@key` in running text, LaTeX's `\cite`, `\citep`, `\nocite`.

Outside brackets, `@word` is a citation only if a reference has that key, because handles and e-mail addresses
look the same. In brackets, an unknown key is an error. The parser knows the keys under `references:`, but not
those in `.bib` files. If a page has such files, all text that looks like a citation becomes one. When the
page is rendered and no entry is found, it is reported, or printed as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec.structs import replace

from ...base.diagnostics.model import format_suggestion
from ...base.patterns import lazy_pattern
from ..records import Citation, CitationEntry, CitationItem, Shortcode, attach_record, get_record
from ..state import PageState, get_page, inline_place
from .references import is_label

ALL_KEYS = "*"
r"""Key in `\nocite` and `nocite:` that means all entries."""
KEY = r"@([A-Za-z0-9_](?:[\w:.#$%&+?<>~/-]*[\w/])?)"
_GROUP = lazy_pattern(r"\[\s*((?:[^\[\]@;\n]{0,80}\s)?-?@[^\[\]]+)\](?![(\[])")
_ITEM = lazy_pattern(rf"\s*(?:([^@;]{{0,80}}?)\s+)?(-?){KEY}\s*(?:,([^;]*))?(?:;|$)")
_BARE = lazy_pattern(KEY)
_LOCATED = lazy_pattern(
    r"[ ]\[((?:pp?\.|ch(?:ap)?\.|chapters?|sec(?:tion|\.)|§|eqs?\.|figs?\.|th|lemma|vol\.|\d)"
    r"[^\[\]\n]{0,80})\](?![(\[])"
)
"""Text in brackets after `@key` that is a locator, as in Pandoc: `[p. 3]`."""
_COMMANDS = "|".join(
    sorted(
        (
            *("cite", "citep", "citet", "citealp", "citealt", "citeyear", "citeyearpar", "Citet", "Citep"),
            *("parencite", "textcite", "autocite", "Textcite", "Parencite", "footcite", "supercite"),
        ),
        key=len,
        reverse=True,
    )
)
_COMMAND = lazy_pattern(
    rf"\\({_COMMANDS})\*?((?:\s*\[[^\[\]\n]{{0,200}}\]){{0,2}})\s*\{{\s*([^{{}}\n]{{1,2000}}?)\s*\}}"
)
_NOCITE = lazy_pattern(r"\\nocite\s*\{\s*([^{}\n]{1,2000}?)\s*\}")
_OPTION = lazy_pattern(r"\[([^\[\]]*)\]")
_COMMAND_KEY = lazy_pattern(r"[^\s,{}]+")
_TEXTUAL = frozenset(("citet", "citealt", "textcite", "Citet", "Textcite"))
_YEAR_ONLY = frozenset(("citeyear", "citeyearpar"))
_KEYLIKE = r"[A-Za-z][\w:.+/-]*(?:1[6-9]|20)\d\d\w*|[A-Za-z]\w*:\w+"
KEYLIKE = lazy_pattern(_KEYLIKE)
_BARE_KEY = lazy_pattern(rf"\s*({_KEYLIKE})\s*(?:;|$)")
_UNSEPARATED = lazy_pattern(r"(-?@[\w:.-]+)[ ,]+(-?@[\w:.-]+)")
"""Key in the style of reference managers: `vaswani2017attention`, `doe:thing`."""


def citation_group(state: StateInline, silent: bool) -> bool:
    """Parse citations in brackets (inline rule)."""
    found = _GROUP.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    page, items, at = get_page(state.env), list[CitationItem](), 0
    while at < len(found[1]) and (item := _ITEM.match(found[1], at)):
        start = found.start(1) + item.start(3)
        place = inline_place(state, start - 1, start + len(item[3]))
        locator, prefix = (item[4] or "").strip(), (item[1] or "").strip()
        items.append(CitationItem(item[3], locator, place, prefix, bool(item[2])))
        at = item.end()
    if at < len(found[1]) or not items or _are_labels(page, items):
        if not silent and _has_entries(page):
            _report_malformed(state, found, at)
        return False
    if any(item.prefix for item in items) and not _has_entries(page):
        # `[write to @somebody]` is text on pages that cannot cite anything.
        return False
    if not silent:
        if any(item.locator.startswith(("@", "-@")) for item in items):
            _report_malformed(state, found, 0)
        _push(state, Citation(tuple(items)))
    state.pos = found.end()
    return True


def _report_malformed(state: StateInline, found: re.Match[str], at: int) -> None:
    """Report a missing `@` or `;` in brackets with citations, which are then text. at: offset in the brackets
    of the first item that cannot be read."""
    reporter, first = get_page(state.env).reporter, found.start(1)
    if bare := _BARE_KEY.match(found[1], at):
        place = inline_place(state, first + bare.start(1), first + bare.end(1))
        message, hint = f'missing "@" before "{bare[1]}"', f"write `@{bare[1]}`"
        reporter.error("citation-key", message, place, hint)
    elif pair := _UNSEPARATED.search(found[1], at):
        place = inline_place(state, first + pair.start(), first + pair.end())
        message = f'missing ";" between citations in "{pair[0]}"'
        reporter.error("citation-key", message, place, f"write `{pair[1]}; {pair[2]}`")


def _has_entries(page: PageState) -> bool:
    return page.has_bibliography or bool(page.references)


def _are_labels(page: PageState, items: list[CitationItem]) -> bool:
    """Return whether all items are labels, as in Quarto's `[@fig-x]`. If so, `references.py` parses them,
    without the brackets."""
    return all(is_label(item.key, page) and item.key not in page.references for item in items)


def bare_citation(state: StateInline, silent: bool) -> bool:
    """Parse `@key` in the text, and `@key [p. 3]` (inline rule)."""
    found = _BARE.match(state.src, state.pos, state.posMax)
    if not found or (state.pos > 0 and state.src[state.pos - 1].isalnum()):
        return False
    page, key = get_page(state.env), found[1]
    is_known = key in page.references
    if not is_known and not (_has_entries(page) and _may_be_key(state, found, page)):
        return False
    located = _LOCATED.match(state.src, found.end(), state.posMax) if is_known or is_keylike(key) else None
    end = located.end() if located else found.end()
    if not silent:
        place = inline_place(state, found.start(), found.end())
        cited = CitationItem(key, located[1].strip() if located else "", place)
        written = "" if is_known else state.src[found.start() : end]
        _push(state, Citation((cited,), "text", written=written))
    state.pos = end
    return True


def _may_be_key(state: StateInline, found: re.Match[str], page: PageState) -> bool:
    """Return whether `@word` may be a citation or a misspelled one, although the bibliography has no entry
    with this key."""
    if state.src.startswith("@", found.end()) or state.src[state.pos - 1 : state.pos] == "{":
        # A Fediverse handle, or an invalid reference to a label.
        return False
    return page.has_bibliography or is_keylike(found[1])


def is_keylike(key: str) -> bool:
    """Return whether a word looks like a citation key and like nothing else: a name with a year, or with a
    colon."""
    return KEYLIKE.fullmatch(key) is not None


def command(state: StateInline, silent: bool) -> bool:
    r"""Parse `\citep[see][p. 3]{a,b}` on pages that have a bibliography (inline rule)."""
    page = get_page(state.env)
    found = _COMMAND.match(state.src, state.pos, state.posMax) if _has_entries(page) else None
    if not found:
        return False
    options = [option.strip().replace("~", "\u00a0") for option in _OPTION.findall(found[2])]
    # A single option is the locator. Of two, the first is the prefix.
    prefix, locator = (options[0], options[1]) if len(options) == 2 else ("", "".join(options))
    keys = list(_COMMAND_KEY.finditer(state.src, found.start(3), found.end(3)))
    if not keys:
        return False
    if not silent:
        last, items = len(keys) - 1, list[CitationItem]()
        for index, key in enumerate(keys):
            place = inline_place(state, key.start(), key.end())
            before, after = prefix if index == 0 else "", locator if index == last else ""
            items.append(CitationItem(key[0], after, place, before, found[1] in _YEAR_ONLY))
        _push(state, Citation(tuple(items), "text" if found[1] in _TEXTUAL else "brackets"))
    state.pos = found.end()
    return True


def nocite(state: StateInline, silent: bool) -> bool:
    r"""Parse `\nocite{a,b}` and `\nocite{*}`, which only add entries to the bibliography (inline rule)."""
    page = get_page(state.env)
    found = _NOCITE.match(state.src, state.pos, state.posMax) if _has_entries(page) else None
    if not found:
        return False
    if not silent:
        for key in _COMMAND_KEY.finditer(state.src, found.start(1), found.end(1)):
            if not page.has_bibliography and key[0] not in (*page.references, ALL_KEYS):
                _report_unknown(CitationItem(key[0], place=inline_place(state, key.start(), key.end())), page)
            page.uncited.append((key[0], inline_place(state, key.start(), key.end())))
        state.push("nocite", "", 0)
    state.pos = found.end()
    return True


def _push(state: StateInline, citation: Citation) -> None:
    page = get_page(state.env)
    if not page.has_bibliography:
        for item in citation.items:
            if item.key not in page.references:
                _report_unknown(item, page)
    token = state.push("citation", "cite", 0)
    if citation.written and not is_keylike(citation.items[0].key):
        # It is most likely a handle, so plain text contains it as written.
        token.content = citation.written
    attach_record(token, citation)


def number_citations(state: StateCore) -> None:
    """Count the citations of each entry, for back links, and append the bibliography (core rule)."""
    page = get_page(state.env)
    uses = dict.fromkeys(shortcode_keys(state.tokens), 0)
    for token in citation_tokens(state.tokens):
        citation = get_record(token, Citation)
        counts = []
        for item in citation.items:
            uses[item.key] = uses.get(item.key, 0) + 1
            counts.append(uses[item.key])
        attach_record(token, replace(citation, uses=tuple(counts)))
    for listed, _ in page.uncited:
        keys = page.references if listed == ALL_KEYS else ()
        uses |= {key: uses.get(key, 0) for key in (*keys, listed)}
    if page.uncited:
        state.tokens = _without_empty(state.tokens)
    if page.references or page.has_bibliography:
        _append_bibliography(state, page, uses)


def _without_empty(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens without paragraphs that contain only `\nocite`."""
    dropped: set[int] = set()
    for index, token in enumerate(tokens):
        kinds = {child.type for child in token.children or ()}
        if (
            "nocite" in kinds
            and kinds <= {"nocite", "softbreak"}
            and tokens[index - 1].type == "paragraph_open"
        ):
            dropped |= {index - 1, index, index + 1}
    return [token for index, token in enumerate(tokens) if index not in dropped]


def shortcode_keys(tokens: list[Token]) -> Iterator[str]:
    """Yield the citation keys in arguments of shortcodes, which are parsed only when they are rendered."""
    for token in tokens:
        for call in (token, *(token.children or ())):
            if call.type.startswith("shortcode"):
                for text in get_record(call, Shortcode).args.values():
                    yield from _BARE.findall(text)


def citation_tokens(tokens: list[Token]) -> Iterator[Token]:
    """Yield every citation in the text, in order."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "citation":
                yield child


def _report_unknown(item: CitationItem, page: PageState) -> None:
    near = page.reporter.nearest(item.key, page.references)
    hint = format_suggestion(near) or "add it under `references:` in the front matter"
    fix = page.reporter.correct(item.place, item.key, near)
    page.reporter.error("citation-key", f'unknown citation key "{item.key}"', item.place, hint, fix)


def _append_bibliography(state: StateCore, page: PageState, uses: dict[str, int]) -> None:
    for key, reference in page.references.items():
        if key not in uses and reference.is_named:
            hint = f"cite it with `[@{key}]`, or add `citation-unused` to `diagnostics: ignore:`"
            page.reporter.warn("citation-unused", f'reference "{key}" is never cited', reference.place, hint)
    token = Token("bibliography", "section", 0, block=True)
    keys = dict.fromkeys((*page.references, *(uses if page.has_bibliography else ())))
    token.meta["entries"] = tuple(CitationEntry(key, uses.get(key, 0)) for key in keys)
    state.tokens.append(token)


def cite_rules(md: MarkdownIt) -> None:
    """Register the inline rules: LaTeX commands before escapes, the others before links."""
    md.inline.ruler.before("escape", "nocite", nocite)
    md.inline.ruler.before("escape", "cite_command", command)
    md.inline.ruler.before("link", "cite_group", citation_group)
    md.inline.ruler.before("link", "cite_bare", bare_citation)
