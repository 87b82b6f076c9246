"""Markers in code comments: `# (1)` refers to a note after the code, `# [!code ++]` marks a line as added.

The notes are the ordered list directly after the fence. Markers use the syntax of Material for MkDocs (`#
(1)`, `# (1)!`) and Quarto (`# <1>`). Markers are removed from the code, together with a comment that contains
nothing else, so the code shown, copied and run does not contain them. `(1)` without `!` is a marker only if
it is the whole comment and a list of notes follows, because many comments end in a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Place, list_choices
from ..base.patterns import lazy_pattern
from .cells.languages import fence_language, option_syntax
from .cells.option_lines import count_option_lines
from .code_languages import DELIMITERS, comment_delimiters
from .records import CodeMark, CodeNote, Fence, attach_record, get_record
from .state import PageState, get_page

_MARK = lazy_pattern(r"(?:\((\d{1,3})\)(!?)|<(\d{1,3})>)\Z")
_LONGEST = 6
"""Maximum length of a marker, in characters: `(123)!`."""
_CHANGE = lazy_pattern(r"\[!code[ ]([^\s\[\]]{1,20})\]\Z")
_SHOWN: Mapping[str, str] = MappingProxyType(
    {"++": "added", "--": "removed", "hl": "marked", "highlight": "marked"}
)
_ENDS = "|".join(re.escape(end) for _, end in DELIMITERS if end)
_LAST_MARK = lazy_pattern(
    rf"(?:\(\d{{1,3}}\)!?|<\d{{1,3}}>|\[!code[ ][^\s\[\]]{{1,20}}\])[ \t]*(?:{_ENDS})?[ \t]*$",
    re.MULTILINE,
)
_OTHER_COMMENT = lazy_pattern(
    rf"(?<!\S)(?P<begin>{'|'.join(re.escape(begin) for begin, _ in DELIMITERS)})"
    rf"[ \t]*\((?P<number>\d{{1,3}})\)![ \t]*(?:{_ENDS})?[ \t]*$",
)
"""A comment that consists of a marker, with the comment delimiters of any language."""
_NOTES_HINT = "write its note as item {number}. of an ordered list directly below the code"


class _Item(Struct, frozen=True):
    """An item of the list of notes after a fence."""

    opening: Token
    last: Token
    """Closing token of the item's last paragraph, or of the item if it does not end in a paragraph."""


class _Comment(Struct, frozen=True):
    """The markers in the comment at the end of a line."""

    rest: str
    """The line without the markers. A comment that contains only markers is removed too."""
    numbers: tuple[int, ...] = ()
    is_unambiguous: bool = False
    """Whether the marker has the form `(1)!` or `<1>`, which nothing else has."""
    change: str = ""
    """`++`, `--`, `hl`, `highlight`, or an unknown word; empty if the comment marks no change."""
    written: str = ""


def code_marks(state: StateCore) -> None:
    """Remove markers from code and connect them with their notes (core rule, after `fences`)."""
    page, count = get_page(state.env), 0
    for index, token in enumerate(state.tokens):
        if token.type != "fence":
            continue
        if get_record(token, Fence).is_diff:
            _read_diff(token)
        fence = get_record(token, Fence)
        if not _LAST_MARK.search(token.content):
            continue
        lines, language = token.content.split("\n"), fence_language(fence)
        comments = dict(_comments(lines, language))
        items = _following_notes(state.tokens, index)
        if not fence.include:
            _warn_of_other_comments(token, {*range(len(lines))} - comments.keys(), items, page)
        if not comments:
            continue
        has_notes = bool(items) and any(comment.numbers for comment in comments.values())
        if fence.include and not has_notes:
            # The notes for an included file may be elsewhere, so ambiguous numbers are ignored.
            comments = {
                at: replace(one, numbers=())
                for at, one in comments.items()
                if one.change or one.is_unambiguous
            }
        _warn_of_unmatched(token, comments, items, page)
        if not has_notes:
            comments = {at: comment for at, comment in comments.items() if not comment.numbers}
        if not comments:
            continue
        count += has_notes
        _remove_markers(token, lines, comments, items, count if has_notes else 0)
        if has_notes:
            _number_notes(state.tokens[index + 1], items, comments, count, page, language)


def _read_diff(token: Token) -> None:
    """Remove the `+`, `-` and space characters at the start of the lines of a diff. Record added and removed
    lines."""
    fence = get_record(token, Fence)
    lines, added, removed = [], set(fence.added), set(fence.removed)
    for number, line in enumerate(token.content.split("\n"), 1):
        if line[:1] in ("+", "-", " ") and not line.startswith(("+++ ", "--- ")):
            {"+": added, "-": removed}.get(line[0], set[int]()).add(number)
            line = line[1:]
        lines.append(line)
    token.content = "\n".join(lines)
    attach_record(token, replace(fence, added=frozenset(added), removed=frozenset(removed)))


def _comments(lines: Sequence[str], language: str) -> Iterator[tuple[int, _Comment]]:
    """Yield (0-based line, comment) for each line with markers."""
    for number, line in enumerate(lines):
        if _LAST_MARK.search(line) and (comment := _comment(line.rstrip(), comment_delimiters(language))):
            yield number, comment


def mark_comment(number: str, language: str) -> str:
    """Return a comment in `language` whose text is the marker `number`."""
    begin, end = next(iter(comment_delimiters(language)), ("#", ""))
    return f"{begin} ({number}) {end}".rstrip()


def _comment(text: str, signs: Sequence[tuple[str, str]]) -> _Comment | None:
    for begin, end in signs:
        if not text.endswith(end):
            continue
        inside = text[: len(text) - len(end)].rstrip() if end else text
        found = _read(inside, begin)
        if found is not None and not (end and found.rest.rstrip() and begin in found.rest):
            return found
    return None


def _read(text: str, begin: str) -> _Comment | None:
    change = _CHANGE.search(text, max(0, len(text) - 30))
    if change:
        rest = _without_empty_comment(text[: change.start()], begin)
        return None if rest is None else _Comment(rest, change=change[1], written=change[0])
    numbers: list[int] = []
    is_sure, rest = True, text
    while found := _MARK.search(rest, max(0, len(rest) - _LONGEST)):
        numbers.insert(0, int(found[1] or found[3]))
        is_sure = is_sure and bool(found[2] or found[3])
        rest = rest[: found.start()].rstrip()
    if not numbers:
        return None
    written = text[len(rest) :].strip()
    bare = _without_empty_comment(rest, begin)
    if bare is None and not (is_sure and _begins_comment(rest, begin)):
        return None
    return _Comment(rest if bare is None else bare, tuple(numbers), is_sure, written=written)


def _without_empty_comment(text: str, begin: str) -> str | None:
    """Return the code before an empty comment, or None if `text` does not end in a comment delimiter."""
    text = text.rstrip()
    if not text.endswith(begin):
        return None
    before = text.removesuffix(begin)
    return before.rstrip() if not before or before[-1].isspace() else None


def _begins_comment(text: str, begin: str) -> bool:
    at = text.find(begin)
    return at == 0 or (at > 0 and (text[at - 1].isspace() or f" {begin}" in text))


def _following_notes(tokens: Sequence[Token], index: int) -> dict[int, _Item]:
    """Return the items of the ordered list directly after a fence, by number."""
    opening = tokens[index + 1] if index + 1 < len(tokens) else None
    if opening is None or opening.type != "ordered_list_open" or opening.level != tokens[index].level:
        return {}
    number = int(opening.attrs.get("start", 1))
    items: dict[int, _Item] = {}
    for at in range(index + 2, len(tokens)):
        token, before = tokens[at], tokens[at - 1]
        if token.level == opening.level:
            break
        if token.type == "list_item_open" and token.level == opening.level + 1:
            begin = token
        elif token.type == "list_item_close" and token.level == opening.level + 1:
            ends_in_text = before.type == "paragraph_close" and not before.hidden
            items[number] = _Item(begin, before if ends_in_text else token)
            number += 1
    return items


def _remove_markers(
    token: Token,
    lines: list[str],
    comments: Mapping[int, _Comment],
    items: Mapping[int, _Item],
    count: int,
) -> None:
    """Remove the markers from the code. Store their line numbers in the fence, as counted in the remaining
    code."""
    fence = get_record(token, Fence)
    shift = count_option_lines(
        token.content, myst=fence.form == "code-cell", marks=option_syntax(fence_language(fence))
    )
    shown: dict[str, set[int]] = {"added": set(), "removed": set(), "marked": set()}
    marks: list[CodeMark] = []
    for at, comment in comments.items():
        if comment.change and comment.change not in _SHOWN:
            continue
        lines[at] = comment.rest
        line = at + 1 - shift
        if comment.change:
            shown[_SHOWN[comment.change]].add(line)
        marks += (CodeMark(line, number, number in items) for number in comment.numbers)
    token.content = "\n".join(lines)
    attach_record(
        token,
        replace(
            fence,
            added=fence.added | shown["added"],
            removed=fence.removed | shown["removed"],
            marked=fence.marked | shown["marked"],
            number_in_page=count,
            marks=tuple(marks),
        ),
    )


def _number_notes(
    opening: Token,
    items: Mapping[int, _Item],
    comments: Mapping[int, _Comment],
    count: int,
    page: PageState,
    language: str,
) -> None:
    """Assign ids to the notes of a list. Warn about each note without a marker."""
    opening.attrJoin("class", "code-notes")
    numbers = {number for comment in comments.values() for number in comment.numbers}
    lost = [number for number in items if number not in numbers]
    if lost:
        place = Place(page.first_line + (items[lost[0]].opening.map or [0])[0])
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        message = f"missing marker in the code above for note {lost[0]}{more}"
        hint = f"add the comment `{mark_comment(str(lost[0]), language)}` to its line of code"
        page.reporter.warn("code-mark", message, place, hint)
    for number, item in items.items():
        if number in numbers:
            item.opening.attrSet("id", f"cn-{count}-{number}")
            item.last.type = "code_note_close"
            attach_record(item.last, CodeNote(count, number))


def _warn_of_unmatched(
    token: Token, comments: Mapping[int, _Comment], items: Mapping[int, _Item], page: PageState
) -> None:
    """Warn about markers without a note, and about unknown words in `[!code …]`."""
    is_reported = False
    for at, comment in comments.items():
        if comment.change and comment.change not in _SHOWN:
            message = f'unknown marker "{comment.written}"'
            place = _place(token, at, comment.written, page)
            page.reporter.warn("fence-info", message, place, _CODE_MARKERS)
        lost = [number for number in comment.numbers if number not in items]
        if lost and (items or (comment.is_unambiguous and not is_reported)):
            message = f'missing note for marker "{comment.written}"'
            hint = _NOTES_HINT.format(number=lost[0])
            page.reporter.warn("code-mark", message, _place(token, at, comment.written, page), hint)
            is_reported = True


def _warn_of_other_comments(
    token: Token, lines: Collection[int], items: Mapping[int, _Item], page: PageState
) -> None:
    """Warn about the first marker in a comment that is written as in another language, for example after `//`
    in Python."""
    code, fence = token.content.split("\n"), get_record(token, Fence)
    language = fence_language(fence)
    is_quoting = not comment_delimiters(language)
    for at in sorted(lines):
        found = _OTHER_COMMENT.search(code[at])
        has_note = found is not None and int(found["number"]) in items
        if found is None or (is_quoting and not (has_note and language == "diff")):
            continue
        written = found[0].strip()
        place = _place(token, at, written, page)
        where = f'"{fence.language}"' if language else "a fence without language"
        message = f'"{written}" is text because "{found["begin"]}" does not start a comment in {where}'
        if is_quoting:
            hint, fix = "add the language of the code to the fence, as in `diff python`", None
        else:
            meant = mark_comment(found["number"], language).replace(")", ")!", 1)
            hint, fix = f"write `{meant}`", page.reporter.substitute(place, written, meant, is_safe=has_note)
        page.reporter.warn("code-mark", message, place, hint, fix)
        return


_CODE_MARKERS = list_choices(f"[!code {word}]" for word in _SHOWN)


def _place(token: Token, at: int, written: str, page: PageState) -> Place | None:
    line = (token.map or [0])[0] + 1 + at
    text = page.lines[line] if line < len(page.lines) else ""
    column = text.rfind(written)
    return Place(page.first_line + line, max(0, column) + 1, len(written))
