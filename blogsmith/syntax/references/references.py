r"""References to labels in prose: `\eqref{eq:x}`, `\ref{eq:x}`, `{@eq:x}`, `@eq-x`, MyST's `[](#eq-x)`.

A label starts with an abbreviation such as `eq`, or with the name of a callout kind: `{@axiom:choice}`. In
braces, a label that starts in another way is an error. Without braces, the callout kind must be numbered:
`@name-of-somebody` is text. If the id of an element on the page is `name-of-somebody`, that text is reported
as an error. A label of another post follows the slug of that post and `#`: `{@attention#eq:score}`. The
number of a label, and whether the label exists, are determined when the page is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ...base.diagnostics.model import Place, Reporter, TextMap, format_suggestion
from ...base.patterns import lazy_pattern
from ...model.letters import IN_NAMES
from ..records import XRef, attach_record, get_record
from ..state import PageState, get_page, inline_place
from .labels import normal_id

PREFIXES = (
    *("eq", "fig", "tbl", "tab", "thm", "lem", "cor", "prp", "def", "sec", "lst"),
    *("cnj", "exm", "exr", "sol", "rem", "alg", "line"),
)
"""Abbreviations that labels start with; most come from Quarto. Labels may also start with the name of a
callout kind."""
_COMMAND = lazy_pattern(r"\\(eqref|ref)\{\s*([^{}\s][^{}]*?)\s*\}")
_BRACED = lazy_pattern(rf"\{{@(?:([{IN_NAMES}./-]+)#)?([{IN_NAMES}.:-]+)\}}")
_IN_BRACES = lazy_pattern(r"\{@([^{}\s]{1,200}(?:[;,][ \t]+[^{}\s]{1,200}){0,9})\}")
_LABEL = lazy_pattern(rf"(?:[{IN_NAMES}./-]+#)?[{IN_NAMES}.:-]+")
_WRITTEN = lazy_pattern(f"{_COMMAND.pattern}|{_IN_BRACES.pattern}")
_EMPTY = lazy_pattern(rf"\[\]\(#([{IN_NAMES}.:-]+)\)")
_BARE = lazy_pattern(r"@(?:([\w-]+)#)?([A-Za-z][\w-]*)")
_NAME = lazy_pattern(rf"[:-][{IN_NAMES}-]*[{IN_NAMES}]")
_HANDLE = lazy_pattern(r"(?<![\w./@{])@([A-Za-z]\w*[:-][\w:-]*\w)")


def command(state: StateInline, silent: bool) -> bool:
    r"""Parse `\eqref{eq:x}` and `\ref{eq:x}`, which both print (1) for an equation (inline rule). In LaTeX,
    `\ref` prints 1, so authors write `(\ref{eq:x})`. This also prints (1), not ((1))."""
    found = find_command(state.src, state.pos, state.posMax)
    if not found:
        return False
    page, _, target = found[2].rpartition("#")
    is_enclosed = state.pending.endswith("(") and state.src.startswith(")", found.end())
    takes_both = is_enclosed and found[1] == "ref" and label_id(target).startswith("eq-") and not silent
    if takes_both:
        state.pending = state.pending[:-1]
    _push(state, found, page, target, "number", silent)
    state.pos += takes_both
    return True


def find_command(text: str, pos: int, end: int) -> re.Match[str] | None:
    r"""Return the match of `\eqref{…}` or `\ref{…}` at `pos`, or None. Its groups are the name
    and the label."""
    return _COMMAND.match(text, pos, end)


def label_kind(label: str, kinds: Iterable[str]) -> str:
    """Return the longest of `kinds` that is at the start of the label, before `-` or `:`. Return an empty
    string if the label starts with none of them."""
    found = (kind for kind in kinds if label.startswith((f"{kind}-", f"{kind}:")))
    return max(found, key=len, default="")


def braced_reference(state: StateInline, silent: bool) -> bool:
    """Parse `{@eq:x}`, which prints "Equation (1)" (inline rule)."""
    found = _BRACED.match(state.src, state.pos, state.posMax)
    if found and label_kind(found[2], (*PREFIXES, *get_page(state.env).options.kinds)):
        return _push(state, found, found[1] or "", found[2], "full", silent)
    written = _IN_BRACES.match(state.src, state.pos, state.posMax)
    if written and not silent:
        _report_kind(written[0], inline_place(state, *written.span()), get_page(state.env))
    return False


def _report_kind(written: str, place: Place, page: PageState) -> None:
    key = written.strip("{@}")
    meant = _corrected(key, page)
    if meant:
        fix = page.reporter.substitute(place, written, meant, is_safe=True)
        parts = len(meant.split(", "))
        why = f"one label, found {parts}" if parts > 1 else "a kind in lower case"
        message = f'invalid reference "{written}": expected {why}'
        page.reporter.error("ref-kind", message, place, f"write `{meant}`", fix)
        return
    prefix = re.split(r"[:-]", key.rpartition("#")[2], maxsplit=1)[0]
    known = (*PREFIXES, *page.options.reference_kinds)
    kinds = ", ".join(f"`{kind}`" for kind in known[:9])
    hint = f"start the label with {kinds}, … or with a kind from `callouts:`"
    fix = None
    if key in page.references:
        hint = f"write a citation as `[@{key}]`"
        fix = page.reporter.substitute(place, written, f"[@{key}]", is_safe=True)
    elif near := page.reporter.nearest(prefix, known):
        hint = format_suggestion(near)
        fix = page.reporter.correct(place, prefix, near)
    message = f'unknown label kind "{prefix}" in "{written}"'
    page.reporter.error("ref-kind", message, place, hint, fix)


def _corrected(key: str, page: PageState) -> str:
    """Return the corrected text for `key` if it is a list of labels or has a kind in capitals. Otherwise
    return an empty string."""
    labels = [f"{label[:1].lower()}{label[1:]}".lstrip("@") for label in re.split("[;,][ \t]*", key)]
    is_list = all(_LABEL.fullmatch(label) and is_label(label, page) for label in labels)
    return ", ".join(f"{{@{label}}}" for label in labels) if is_list else ""


def empty_link(state: StateInline, silent: bool) -> bool:
    """Parse `[](#eq-x)`, which prints "Equation (1)" (inline rule)."""
    found = _EMPTY.match(state.src, state.pos, state.posMax)
    if not found or not is_label(found[1], get_page(state.env)):
        return False
    return _push(state, found, "", found[1], "full", silent)


def is_label(text: str, page: PageState) -> bool:
    """Return whether text without braces starts like a label."""
    return bool(label_kind(text, (*PREFIXES, *page.options.reference_kinds)))


def bare_reference(state: StateInline, silent: bool) -> bool:
    """Parse `@eq-x`, which prints (1), and `@fig-x`, which prints "Figure 1" (inline rule). In `a@eq-x`,
    `@eq-x` stays text. A word that is a key of the bibliography is a citation."""
    found = _BARE.match(state.src, state.pos, state.posMax)
    before = state.src[state.pos - 1 : state.pos]
    if not found or before.isalnum() or before in tuple("_/."):
        return False
    page, start = get_page(state.env), found.start(2)
    kind = label_kind(state.src[start : found.end() + 1], (*PREFIXES, *page.options.reference_kinds))
    name = _NAME.match(state.src, start + len(kind), state.posMax) if kind else None
    if not name or state.src[found.start() + 1 : name.end()] in page.references:
        return False
    target = state.src[start : name.end()]
    form = "number" if kind == "eq" else "full"
    return _push_to(state, name.end(), found[1] or "", target, form, silent)


def report_text_references(tokens: Iterable[Token], labels: Container[str], page: PageState) -> None:
    """Report text that looks like a reference to a label of the page, such as `@axiom-one` if axioms are not
    numbered."""
    for token in tokens:
        if token.type != "inline" or "@" not in token.content:
            continue
        origin, cursor = get_record(token, TextMap), 0
        for child in token.children or ():
            for found in _HANDLE.finditer(child.content) if child.type == "text" else ():
                at = origin.text.find(found[0], cursor)
                if at >= 0 and label_id(found[1]) in labels and found[1] not in page.references:
                    cursor = at + len(found[0])
                    _report_undeclared(found[1], origin.place(at, len(found[0])), page)


def _report_undeclared(name: str, place: Place, page: PageState) -> None:
    prefix = re.split(r"[:-]", name, maxsplit=1)[0]
    link = f"[text](#{label_id(name)})"
    hint = f"write `{link}`, or declare the callout kind: `callouts: {{{prefix}: {{numbered: true}}}}`"
    meant = None
    if label_kind(name, page.options.kinds):
        meant = f"{{@{name}}}"
        hint = f"write `{meant}`: without braces, only numbered kinds are references"
    fix = page.reporter.substitute(place, f"@{name}", meant)
    page.reporter.error(
        "ref-kind", f'"@{name}" is not a reference: "{prefix}" is not a numbered kind', place, hint, fix
    )


def _push(state: StateInline, found: re.Match[str], page: str, target: str, form: str, silent: bool) -> bool:
    return _push_to(state, found.end(), page, target, form, silent)


def _push_to(state: StateInline, end: int, page: str, target: str, form: str, silent: bool) -> bool:
    """Consume a reference, whose source is the text from the current position to `end`. Add its token unless
    `silent`. Return True, because the rule has matched. form: as in `XRef`."""
    if not silent:
        token = state.push("xref", "a", 0)
        place = inline_place(state, state.pos, end)
        attach_record(token, XRef(label_id(target), page, form, place, state.src[state.pos : end]))
    state.pos = end
    return True


def warn_of_unparsed_references(tokens: Iterable[Token], origin: TextMap, reporter: Reporter) -> None:
    """Warn about references in a title or description, where only formulas have a meaning."""
    cursor = 0
    for token in tokens:
        if token.type != "text":
            cursor = max(cursor, origin.text.find(token.content, cursor) + len(token.content))
            continue
        for found in _WRITTEN.finditer(token.content):
            cursor = max(cursor, origin.text.find(found[0], cursor))
            message = f'unsupported syntax: "{found[0]}"'
            place = origin.place(cursor, len(found[0]))
            reporter.warn("foreign-syntax", message, place, "move the reference to the text of the post")
            cursor += len(found[0])


def label_id(label: str) -> str:
    """Return the id that an element with this label has on the page. `tab:x` and `tbl:x` have the same id."""
    return re.sub(r"^tab-", "tbl-", normal_id(label))


def ref_rules(md: MarkdownIt) -> None:
    r"""Register the rules: `\eqref` before escapes, the others before citations and links."""
    md.inline.ruler.before("escape", "ref_command", command)
    md.inline.ruler.before("link", "ref_braced", braced_reference)
    md.inline.ruler.before("link", "ref_empty_link", empty_link)
    md.inline.ruler.before("link", "ref_bare", bare_reference)
