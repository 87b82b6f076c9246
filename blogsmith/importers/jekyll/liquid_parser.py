"""Parser for Liquid templates. The result is a tree of text, outputs, tags, and blocks with branches."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from ...api.importing import lazy_pattern

_TOKEN = lazy_pattern(r"\{%-?\s*#[\s\S]*?%\}|\{%-?\s*([A-Za-z_]\w*)([\s\S]*?)-?%\}|\{\{-?([\s\S]*?)-?\}\}")
_OPENING = lazy_pattern(r"\{[%{]")
_MAX_DEPTH = 100
"""Maximum nesting depth of blocks, as in Liquid. A deeper tag is not treated as a block."""
_VERBATIM = frozenset(("raw", "comment", "highlight"))
"""Verbatim blocks, whose content is not parsed as a template. Jekyll does parse the content of `highlight`,
but authors do not rely on this."""
_BRANCHES = frozenset(("else", "elsif", "when"))


@dataclass(frozen=True, slots=True)
class LiquidOutput:
    """An output `{{ expression }}`."""

    expression: str
    source: str
    start: int


@dataclass(frozen=True, slots=True)
class LiquidBranch:
    """Nodes of a block before the next `else`, `elsif` or `when`. The fields `name` and `arguments` are those
    of the tag before these nodes."""

    name: str
    arguments: str
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class LiquidTag:
    """A tag `{% name arguments %}`. If it has branches, it is a block."""

    name: str
    arguments: str
    source: str
    """Full source, including the content of the block."""
    start: int
    branches: tuple[LiquidBranch, ...] = ()


Nodes = tuple[str | LiquidOutput | LiquidTag, ...]


@dataclass(slots=True)
class _OpenBlock:
    name: str
    arguments: str
    start: int
    branches: list[LiquidBranch] = field(default_factory=list)
    head: tuple[str, str] = ("", "")
    nodes: list[str | LiquidOutput | LiquidTag] = field(default_factory=list)

    def close_branch(self) -> None:
        self.branches.append(LiquidBranch(*self.head, tuple(self.nodes)))
        self.nodes = []


def parse_liquid(text: str) -> Nodes:
    """Parse a template. A block tag without an end tag has no branches."""
    blocks = {found[3:] for found in re.findall(r"\{%-?\s*(end\w+)", text)}
    stack = [_OpenBlock("", "", 0)]
    opened: Counter[str] = Counter()
    position = 0
    tokens = _Tokenizer(text)
    while found := tokens.next(position):
        before = text[position : found.start()]
        if before := before.rstrip() if found[0][2] == "-" else before:
            stack[-1].nodes.append(before)
        position = found.end()
        name, arguments = found[1] or "", (found[2] or "").strip()
        if found[3] is not None:
            stack[-1].nodes.append(LiquidOutput(found[3].strip(), found[0], found.start()))
        elif name in _VERBATIM:
            position = _take_verbatim(stack[-1], tokens, found, name, arguments)
        elif name.startswith("end") and opened[name[3:]]:
            _merge_unclosed(stack, name[3:], opened)
            opened[name[3:]] -= 1
            _close(stack, text, position)
        elif name in _BRANCHES and len(stack) > 1:
            stack[-1].close_branch()
            stack[-1].head = (name, arguments)
        elif name in blocks and len(stack) <= _MAX_DEPTH:
            opened[name] += 1
            stack.append(_OpenBlock(name, arguments, found.start(), head=(name, arguments)))
        elif name:
            stack[-1].nodes.append(LiquidTag(name, arguments, found[0], found.start()))
        position = _skip_whitespace(text, position, found[0])
    stack[-1].nodes.append(text[position:])
    _merge_unclosed(stack, "", opened)
    return tuple(stack[0].nodes)


def _skip_whitespace(text: str, position: int, token: str) -> int:
    """Return the position after a tag that ends at `position`. If the tag ends with a hyphen, also skip the
    whitespace after it. token: source of the tag."""
    if not token.endswith(("-%}", "-}}")):
        return position
    blank = re.compile(r"\s*").match(text, position)
    return blank.end() if blank else position


def _take_verbatim(
    block: _OpenBlock, tokens: _Tokenizer, found: re.Match[str], name: str, arguments: str
) -> int:
    text, end = tokens.text, tokens.find_end(name, found.end())
    if not end:
        block.nodes.append(LiquidTag(name, arguments, found[0], found.start()))
        return found.end()
    inner = text[found.end() : end.start()]
    branch = LiquidBranch(name, arguments, (inner,) if inner else ())
    block.nodes.append(LiquidTag(name, arguments, text[found.start() : end.end()], found.start(), (branch,)))
    return end.end()


def _close(stack: list[_OpenBlock], text: str, end: int) -> None:
    done = stack.pop()
    done.close_branch()
    tag = LiquidTag(done.name, done.arguments, text[done.start : end], done.start, tuple(done.branches))
    stack[-1].nodes.append(tag)


def _merge_unclosed(stack: list[_OpenBlock], name: str, opened: Counter[str]) -> None:
    """Close the unclosed blocks inside the last open block named `name`. They become tags without content,
    and their nodes become nodes of that block. opened: block name → number of open blocks."""
    depth = next(index for index in range(len(stack) - 1, -1, -1) if stack[index].name == name or not index)
    for done in stack[depth + 1 :]:
        opened[done.name] -= 1
        source = f"{{% {done.name} {done.arguments} %}}"
        nodes = (node for branch in done.branches for node in branch.nodes)
        stack[depth].nodes += [LiquidTag(done.name, done.arguments, source, done.start), *nodes, *done.nodes]
    del stack[depth + 1 :]


class _Tokenizer:
    """Splits a text into tokens from left to right. The search for a missing end tag is not repeated."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._missing: set[str] = set()
        """Names of verbatim blocks that have no end tag in the rest of the text."""
        self._next: dict[str, int] = {"%}": 0, "}}": 0}
        """Closing delimiter → position where it occurs next; after the end of the text if it does not
        occur."""

    def next(self, position: int) -> re.Match[str] | None:
        """Return the first token, a tag or an output, at or after `position`; None if there is none."""
        while opening := _OPENING.search(self.text, position):
            closing = "%}" if opening[0] == "{%" else "}}"
            if self._is_ahead(closing, opening.end()) and (found := _TOKEN.match(self.text, opening.start())):
                return found
            position = opening.start() + 1
        return None

    def _is_ahead(self, piece: str, position: int) -> bool:
        if self._next[piece] < position:
            found = self.text.find(piece, position)
            self._next[piece] = found if found >= 0 else len(self.text) + 1
        return self._next[piece] <= len(self.text)

    def find_end(self, name: str, position: int) -> re.Match[str] | None:
        """Return the first end tag of a verbatim block at or after `position`; None if there is none."""
        if name in self._missing:
            return None
        end = re.compile(rf"\{{%-?\s*end{name}\s*-?%\}}").search(self.text, position)
        if end is None:
            self._missing.add(name)
        return end
