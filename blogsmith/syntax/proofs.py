"""The end mark of proofs: exactly one, whether or not the author wrote it."""

from __future__ import annotations

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from .records import Callout, Math, record_of

_MARKS = "∎□■◻◼"
_TEX_MARKS = frozenset({r"\square", r"\blacksquare", r"\Box", r"\qed", r"\QED", r"\qedsymbol"})


def end_marks(state: StateCore) -> None:
    """Core rule: put a `qed` token at the end of every proof's body."""
    if "callout_body_close" not in [token.type for token in state.tokens]:
        return
    result: list[Token] = []
    for token in state.tokens:
        if token.type == "callout_body_close" and record_of(token, Callout).kind == "proof":
            _end(result)
        result.append(token)
    state.tokens = result


def _end(body: list[Token]) -> None:
    """Add the mark to the last paragraph of `body`, or as a line of its own behind other blocks."""
    if len(body) > 1 and body[-1].type == "paragraph_close" and body[-2].children:
        children = body[-2].children
        _drop_own_mark(children)
        children.append(Token("qed", "span", 0))
    else:
        body.append(Token("qed", "p", 0, block=True))


def _drop_own_mark(children: list[Token]) -> None:
    last = children[-1]
    if last.type == "text":
        last.content = last.content.rstrip().rstrip(_MARKS).rstrip()
    elif last.type == "math_inline" and record_of(last, Math).tex.strip() in _TEX_MARKS:
        children.pop()
    if children and children[-1].type == "text":
        children[-1].content = children[-1].content.rstrip()
