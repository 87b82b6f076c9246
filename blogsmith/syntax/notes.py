"""Footnotes: `[^1]` in the text, `[^1]: text` anywhere at the start of a line.

The rules of mdit-py-plugins read definitions and number references by first use. Our rules extend them: a
reference without a definition is an error, a definition without a reference is a warning, and both stay in
the page. Definitions may contain any block (indented by four spaces) and move to the end of the page.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def, footnote_ref

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Place, format_suggestion
from ..base.patterns import lazy_pattern
from .records import NoteItem, NoteRef, attach_record
from .state import PageState, block_place, get_page, inline_place, line_start

# Limited as in CommonMark 6.3. Without a limit, a row of `[^` needs quadratic time.
_LABEL = r"\[\^([^\s\]]{1,999})\]"
_DEFINITION = lazy_pattern(_LABEL + r":[ \t]*")
_MARK = lazy_pattern(_LABEL)
_WORD = lazy_pattern(r"[\w-]+")
_NO_LINK = lazy_pattern(r"\[(?:!|\^)")
_SPACED = lazy_pattern(r"\[\^([^\[\]\n]{0,99}[ \t][^\[\]\n]{0,99})\]")


def definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a definition into blocks, which are stored in the page state (block rule)."""
    pos = line_start(state, start)
    found = _DEFINITION.match(state.src, pos, state.eMarks[start])
    if not found or state.is_code_block(start):
        return False
    if silent:
        return True
    page = get_page(state.env)
    label = found[1]
    place = block_place(state, pos, len(label) + 3)
    if label in page.notes:
        first = page.note_places[label].line
        page.reporter.error(
            "footnote-twice", f'duplicate footnote "[^{label}]" (first defined on line {first})', place
        )
    page.notes.setdefault(label, _parse_text(state, start, end))
    page.note_places.setdefault(label, place)
    return True


def _parse_text(state: StateBlock, start: int, end: int) -> list[Token]:
    # The parser skips deeper text, and no token of a note in a note would show this.
    if state.level + 1 >= state.md.options["maxNesting"]:
        message = f"more than {state.level + 1} nested footnotes"
        get_page(state.env).reporter.error("nesting", message, block_place(state, line_start(state, start)))
    before, state.tokens = state.tokens, []
    footnote_def(state, start, end, False)
    tokens, state.tokens = state.tokens, before
    return tokens[1:-1]


def link_definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the stock rule, except to a failed footnote or callout, which would vanish: `[^ 1]: x`."""
    pos = line_start(state, start)
    if not _NO_LINK.match(state.src, pos, state.eMarks[start]):
        return reference(state, start, end, silent)
    if found := _SPACED.match(state.src, pos, state.eMarks[start]):
        get_page(state.env).spaced_notes.add(found[1])
    return False


def footnote_reference(state: StateInline, silent: bool) -> bool:
    """Parse `[^1]` (inline rule)."""
    found = _MARK.match(state.src, state.pos, state.posMax)
    if not found:
        if not silent:
            _report_spaces(state)
        return False
    page = get_page(state.env)
    label = found[1]
    if page.is_parsed:
        if not silent:
            place = inline_place(state, found.start(), found.end())
            hint = "put it in the text that refers to the figure"
            page.reporter.error(
                "footnote-place", "a footnote is not allowed in the text of a shortcode", place, hint
            )
        return False
    if label not in page.notes:
        if not silent:
            _report_undefined(state, label, page)
        return False
    footnote_ref(state, silent)
    if not silent:
        token = state.tokens[-1]
        place = inline_place(state, found.start(), found.end())
        attach_record(token, NoteRef(token.meta["id"] + 1, token.meta["subId"] + 1, place, found[0]))
    return True


def _report_undefined(state: StateInline, label: str, page: PageState) -> None:
    place, near = (
        inline_place(state, state.pos, state.pos + len(label) + 3),
        page.reporter.nearest(label, page.notes),
    )
    hint = format_suggestion(near) or f"add a line `[^{label}]: …` to the post"
    fix = page.reporter.correct(place, f"[^{label}]", near and f"[^{near}]")
    page.reporter.error("footnote-undefined", f'missing text for footnote "[^{label}]"', place, hint, fix)


def _report_spaces(state: StateInline) -> None:
    """Report a label with spaces, which is not valid."""
    found = _SPACED.match(state.src, state.pos, state.posMax)
    if not found:
        return
    page = get_page(state.env)
    label = found[1].strip()
    if found[1] not in page.spaced_notes and (label == found[1] or not _WORD.fullmatch(label)):
        # `[^a b]` in prose may be a character class.
        return
    place = inline_place(state, found.start(), found.end())
    meant = f"[^{'-'.join(label.split())}]"
    fix = page.reporter.substitute(place, found[0], meant, is_safe=label != found[1])
    message = f'invalid footnote label "{found[1]}": expected no spaces'
    page.reporter.error("footnote-undefined", message, place, f"write `{meant}`", fix)


def _remove_note(place: Place, page: PageState) -> Fix | None:
    """Return a fix that removes a note of one line, or None."""
    line, after = [*page.reporter.lines, "", ""][place.line - 1 : place.line + 1]
    is_whole = line.startswith("[^") and (not after.strip() or after.startswith("[^"))
    title = "remove the note"
    return (
        make_replacement(place.line, 1, f"{line}\n", "", title=title)
        if is_whole and place.column == 1
        else None
    )


def append_notes(state: StateCore) -> None:
    """Append the notes' blocks to the page, marked with their labels (core rule, before the inline rules)."""
    page = get_page(state.env)
    for label, tokens in page.notes.items():
        opening = Token("footnote_open", "li", 1, block=True)
        opening.meta["label"] = label
        closing = Token("footnote_close", "li", -1, block=True)
        closing.meta["label"] = label
        state.tokens += [opening, *tokens, closing]


def sort_notes(state: StateCore) -> None:
    """Sort notes by first use and warn about unused ones (core rule, after the inline rules)."""
    page = get_page(state.env)
    if not page.notes:
        return
    body, notes = _split(state.tokens)
    uses = {note["label"]: note["count"] for note in page.footnotes["list"].values()}
    unused = [label for label in page.notes if label not in uses]
    for label in unused:
        place = page.note_places[label]
        fix = _remove_note(place, page)
        page.reporter.warn("footnote-unused", f'footnote "[^{label}]" is never used', place, fix=fix)
    uses |= dict.fromkeys(unused, 0)
    result = [*body, Token("footnotes_open", "section", 1, block=True)]
    for number, (label, count) in enumerate(uses.items(), 1):
        item = NoteItem(number, count)
        for token in (notes[label][0], notes[label][-1]):
            attach_record(token, item)
        result += notes[label]
    state.tokens = [*result, Token("footnotes_close", "section", -1, block=True)]


def _split(tokens: list[Token]) -> tuple[list[Token], dict[str, list[Token]]]:
    body: list[Token] = []
    notes: dict[str, list[Token]] = {}
    label = ""
    for token in tokens:
        if token.type == "footnote_open":
            label = token.meta["label"]
            notes[label] = [token]
        elif label:
            notes[label].append(token)
            label = "" if token.type == "footnote_close" else label
        else:
            body.append(token)
    return body, notes


def note_rules(md: MarkdownIt) -> None:
    """Register the rules. Definitions come before link reference definitions."""
    md.block.ruler.before("reference", "footnote", definition, {"alt": ["paragraph", "reference"]})
    md.block.ruler.at("reference", link_definition)
    md.inline.ruler.before("link", "footnote", footnote_reference)
