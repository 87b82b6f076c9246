"""Solutions of exercises: shown in place, folded or at the end of the page, or left out.

A solution belongs to the exercise that `for=` names, otherwise to the exercise that contains it, otherwise to
the last exercise before it. A solution that is left out becomes one token, which is not rendered. But its
blocks are numbered and its cells run, so that other numbers and results do not change when the solution is
published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Place, format_suggestion
from .kinds import EXERCISES, SOLUTIONS
from .notes import recount_notes
from .records import Callout, Withheld, attach_record, get_record
from .state import PageState, get_page

WITHHELD = "withheld"
"""Type of the token that replaces a solution."""


class _Block(Struct):
    """A callout among the tokens of a page."""

    callout: Callout
    line: int
    start: int
    end: int = 0
    """Index of its last token."""
    owner: _Block | None = None
    """Exercise that the solution belongs to; None if there is no exercise."""


def place_solutions(state: StateCore) -> None:
    """Show, fold, move or leave out the solutions of the page (core rule)."""
    if not any(_is_solution(token) for token in state.tokens):
        return
    page, tokens = get_page(state.env), state.tokens
    solutions = _find_solutions(tokens, page)
    is_left_out = page.solutions.show == "none" or page.solution_state == WITHHELD
    is_moved = page.solutions.show == "end"
    result: list[Token] = []
    moved: list[Token] = []
    start = 0
    for block in solutions:
        result += tokens[start : block.start]
        start = block.end + 1
        content = _update(tokens[block.start : start], block, page, is_moved=is_moved)
        if is_left_out:
            content = [Token(WITHHELD, "", 0, block=True, map=content[0].map)]
            attach_record(content[0], Withheld(tuple(tokens[block.start : start])))
        (moved if is_moved else result).extend(content)
    result += tokens[start:]
    if is_moved:
        first_note = next((i for i, token in enumerate(result) if token.type == "footnote_open"), len(result))
        if not is_left_out:
            moved.insert(0, Token("solutions_open", "section", 1, block=True))
            moved.append(Token("solutions_close", "section", -1, block=True))
        result[first_note:first_note] = moved
    state.tokens = recount_notes(result, page) if is_moved or is_left_out else result


def include_withheld(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return all tokens, including those of solutions that are left out."""
    if not any(token.type == WITHHELD for token in tokens):
        return tokens
    parts = (get_record(one, Withheld).tokens if one.type == WITHHELD else (one,) for one in tokens)
    return [token for part in parts for token in part]


def _is_solution(token: Token) -> bool:
    return token.type == "callout_open" and get_record(token, Callout).kind in SOLUTIONS


def _find_solutions(tokens: Sequence[Token], page: PageState) -> list[_Block]:
    """Return the solutions of the page that no other solution contains, with their exercises."""
    found: list[_Block] = []
    exercises: list[_Block] = []
    opened: list[_Block] = []
    for index, token in enumerate(tokens):
        if token.type == "callout_open":
            block = _Block(get_record(token, Callout), page.first_line + (token.map or [0])[0], index)
            if block.callout.kind in EXERCISES:
                exercises.append(block)
            elif block.callout.kind in SOLUTIONS and not any(one.callout.kind in SOLUTIONS for one in opened):
                around = next((one for one in reversed(opened) if one.callout.kind in EXERCISES), None)
                block.owner = around or (exercises[-1] if exercises else None)
                found.append(block)
            opened.append(block)
        elif token.type == "callout_close":
            opened.pop().end = index
    by_id = {one.callout.id: one for one in exercises if one.callout.id}
    for block in found:
        if block.callout.exercise_place:
            block.owner = by_id.get(block.callout.exercise)
            if block.owner is None:
                _report_unknown(block, by_id, page)
    return found


def _report_unknown(block: _Block, exercises: Mapping[str, _Block], page: PageState) -> None:
    place = block.callout.exercise_place
    assert place is not None, "the solution names its exercise"
    written = page.reporter.lines[place.line - 1][place.column - 1 :][: place.length]
    near = page.reporter.nearest(block.callout.exercise, exercises)
    near = near.replace("-", ":", 1) if near and ":" in written else near
    hint = format_suggestion(near) or "write the id of an exercise of this page"
    fix = page.reporter.correct(place, written, near)
    page.reporter.error("solution-exercise", f'exercise not found: "{written}"', place, hint, fix)


def _update(tokens: list[Token], block: _Block, page: PageState, *, is_moved: bool) -> list[Token]:
    """Return the tokens of a solution with its exercise, folded and dated as `page.solutions` requires.
    is_moved: whether it moves to the end of the page."""
    old, owner = block.callout, block.owner
    if is_moved and not (owner and owner.callout.id) and old.exercise_place is None:
        place = Place(owner.line if owner else block.line)
        message = "missing labelled exercise before this solution, which moves to the end of the page"
        hint = "write `> [!EXERCISE] {#exr:name}` before the solution"
        page.reporter.warn("solution-exercise", message, place, hint)
    new = replace(
        old,
        exercise=owner.callout.id if owner else "",
        fold=old.fold or ("-" if page.solutions.show == "folded" else ""),
        names_exercise=bool(owner) and (is_moved or old.exercise_place is not None),
        held_until=page.solutions.after if page.solution_state == "early" else "",
    )
    for token in tokens:
        if token.meta.get("callout") is old:
            attach_record(token, new)
            if token.type in ("callout_open", "callout_close") and new.fold:
                token.tag = "details"
    return tokens
