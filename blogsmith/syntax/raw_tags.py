"""Removes `{% raw %}` and `{% endraw %}` from code, which Jekyll authors write around code with braces.

Jekyll does not print these tags, and blogsmith does not need them. A pair is removed if both tags are in the
same code span or fence. Nested pairs stay, so code about these tags can be shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it.rules_core import StateCore

from ..base.patterns import lazy_pattern

_TAG = lazy_pattern(r"\{%-?[ \t]*(end)?raw[ \t]*-?%\}")
_OPENING = "raw"
_CODE = frozenset({"fence", "code_block"})


def raw_tags_of_blocks(state: StateCore) -> None:
    """Remove the pairs from fences (core rule, before the inline rules)."""
    for token in state.tokens:
        if token.type in _CODE and _OPENING in token.content:
            token.content = without_raw_tags(token.content)


def raw_tags_of_spans(state: StateCore) -> None:
    """Remove the pairs from code spans (core rule, after the inline rules)."""
    for token in state.tokens:
        if token.type == "inline" and _OPENING in token.content:
            for child in token.children or ():
                if child.type == "code_inline":
                    child.content = without_raw_tags(child.content)


def without_raw_tags(code: str) -> str:
    """Return the code without its outermost pairs. A tag alone on a line is removed with its line."""
    kept, at = [], 0
    for start, end in _outermost_tags(code):
        line_start = code.rfind("\n", 0, start) + 1
        line_end = code.find("\n", end)
        line_end = len(code) if line_end < 0 else line_end + 1
        if at <= line_start and not (code[line_start:start] + code[end:line_end]).strip():
            start, end = line_start, line_end
        kept.append(code[at:start])
        at = end
    return "".join((*kept, code[at:])) if kept else code


def _outermost_tags(code: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the outermost tags, in order. Unmatched tags are omitted."""
    depth, opening = 0, (0, 0)
    for found in _TAG.finditer(code):
        if not found[1]:
            opening = opening if depth else found.span()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield opening
                yield found.span()
