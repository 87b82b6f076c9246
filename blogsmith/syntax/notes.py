"""Footnotes: `[^1]` in the text, `[^1]: text` anywhere at the start of a line.

The rules of mdit-py-plugins read definitions and number references by first use. We add: a reference without
a definition is an error, a definition without a reference is a warning, and both stay in the page.
Definitions may contain any block (indented by four spaces) and are shown at the end of the page.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def, footnote_ref
from msgspec.structs import replace

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Place, format_suggestion
from ..base.patterns import lazy_pattern
from .records import NoteItem, NoteRef, attach_record, get_record
from .state import PageState, block_place, get_page, inline_place, line_start

# CommonMark 6.3 has the same limit. Without it, a row of `[^` takes quadratic time.
_LABEL = r"\[\^([^\s\]]{1,999})\]"
_DEFINITION = lazy_pattern(_LABEL + r":[ \t]*")
_MARK = lazy_pattern(_LABEL)
_WORD = lazy_pattern(r"[\w-]+")
_NO_WORD = lazy_pattern(r"[.,'’]+(?=\s|$)")
_NO_LINK = lazy_pattern(r"\[(?:!|\^)")
_PHRASE = lazy_pattern(r"(?=.*[^\W\d_]{3})[^\W\d_][\w.,'’-]+(?: [\w.,'’-]+)+")
"""Footnote label of several words that contains three letters in a row. Other text with a space, such as
`[^a b]`, may be a character class of a regular expression."""
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
        message = f'duplicate footnote "[^{label}]" (first defined on line {first})'
        page.reporter.error("footnote-twice", message, place, "write another label, or remove one of the two")
    page.notes.setdefault(label, _parse_text(state, start, end))
    page.note_places.setdefault(label, place)
    return True


def _parse_text(state: StateBlock, start: int, end: int) -> list[Token]:
    # The parser drops text that is nested deeper, and check_nesting does not see notes inside notes.
    if state.level + 1 >= state.md.options["maxNesting"]:
        message = f"more than {state.level + 1} nested footnotes"
        place = block_place(state, line_start(state, start))
        get_page(state.env).reporter.error("nesting", message, place, "write footnotes outside of footnotes")
    before, state.tokens = state.tokens, []
    footnote_def(state, start, end, False)
    tokens, state.tokens = state.tokens, before
    return tokens[1:-1]


def link_definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the stock rule for link definitions, but not to `[^ 1]: x`, a footnote with an error, which would
    vanish."""
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
    hint = format_suggestion(near and f"[^{near}]") or f"add a line `[^{label}]: …` to the post"
    fix = page.reporter.correct(place, f"[^{label}]", near and f"[^{near}]")
    page.reporter.error("footnote-undefined", f'missing text for footnote "[^{label}]"', place, hint, fix)


def _report_spaces(state: StateInline) -> None:
    """Report a label with spaces, which is invalid. Only warn if the brackets may be something else."""
    found = _SPACED.match(state.src, state.pos, state.posMax)
    if not found:
        return
    page = get_page(state.env)
    label = found[1].strip()
    is_certain = found[1] in page.spaced_notes or (label != found[1] and _WORD.fullmatch(label))
    # `[^a b]` in prose may be a character class of a regular expression.
    if not is_certain and not _PHRASE.fullmatch(label):
        return
    place = inline_place(state, found.start(), found.end())
    meant = f"[^{'-'.join(_NO_WORD.sub('', label).split())}]"
    fix = page.reporter.substitute(place, found[0], meant, is_safe=label != found[1])
    message = f'invalid footnote label "{found[1]}": expected no spaces'
    hint = f"write `{meant}`"
    if is_certain:
        page.reporter.error("footnote-undefined", message, place, hint, fix)
    else:
        page.reporter.warn(
            "footnote-undefined", message, place, f"{hint}, or `\\[` for text in brackets", fix
        )


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
    """Sort notes by first use and warn about unused ones, which come last (core rule, after the inline
    rules)."""
    page = get_page(state.env)
    if not page.notes:
        return
    body, notes = _split(state.tokens)
    uses = {note["label"]: note["count"] for note in page.footnotes["list"].values()}
    unused = [label for label in page.notes if label not in uses]
    for label in unused:
        place = page.note_places[label]
        fix = _remove_note(place, page)
        hint = f"write `[^{label}]` in the text, or remove the footnote"
        page.reporter.warn("footnote-unused", f'footnote "[^{label}]" is never used', place, hint, fix)
    uses |= dict.fromkeys(unused, 0)
    result = [*body, Token("footnotes_open", "section", 1, block=True)]
    for number, (label, count) in enumerate(uses.items(), 1):
        item = NoteItem(number, count)
        for token in (notes[label][0], notes[label][-1]):
            attach_record(token, item)
        result += notes[label]
    state.tokens = [*result, Token("footnotes_close", "section", -1, block=True)]


def recount_notes(tokens: list[Token], page: PageState) -> list[Token]:
    """Assign numbers to the footnotes again after their marks were moved or left out. Return the tokens
    without notes that have lost their last mark."""
    body, notes = _split(tokens)
    unused = notes.keys() - {note["label"] for note in page.footnotes.get("list", {}).values()}
    counts: dict[str, int] = {}
    waiting = [body, *(notes[label] for label in notes if label in unused)]
    for part in waiting:
        children = (child for token in part for child in token.children or ())
        for mark in (child for child in children if child.type == "footnote_ref"):
            label = mark.meta["label"]
            if label not in counts:
                waiting.append(notes[label])
            counts[label] = counts.get(label, 0) + 1
            number = list(counts).index(label) + 1
            attach_record(mark, replace(get_record(mark, NoteRef), number=number, use=counts[label]))
    page.footnotes["list"] = {
        number: {"label": label, "count": count} for number, (label, count) in enumerate(counts.items())
    }
    for label in notes.keys() - counts.keys() - unused:
        del page.notes[label], notes[label]
    return [*body, *(token for note in notes.values() for token in note)]


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
