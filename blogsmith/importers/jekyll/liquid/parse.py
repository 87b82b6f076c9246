"""A Liquid template as a tree: text, outputs, tags, and blocks with their branches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ....patterns import lazy_pattern

_TOKEN = lazy_pattern(r"\{%-?\s*#[\s\S]*?%\}|\{%-?\s*([A-Za-z_]\w*)([\s\S]*?)-?%\}|\{\{-?([\s\S]*?)-?\}\}")
_VERBATIM = frozenset(("raw", "comment", "highlight"))
"""Blocks whose text is no template; of `highlight` it is one in Jekyll, and never meant as one."""
_BRANCHES = frozenset(("else", "elsif", "when"))


@dataclass(frozen=True, slots=True)
class LiquidOutput:
    """`{{ expression }}`."""

    expression: str
    source: str
    start: int


@dataclass(frozen=True, slots=True)
class LiquidBranch:
    """A part of a block: the first one, or what follows an `else`, `elsif` or `when`."""

    name: str
    arguments: str
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class LiquidTag:
    """`{% name arguments %}`; a block if it has branches."""

    name: str
    arguments: str
    source: str
    """All of it as it is written, with what stands in the block."""
    start: int
    branches: tuple[LiquidBranch, ...] = ()


Nodes = tuple[str | LiquidOutput | LiquidTag, ...]


@dataclass(slots=True)
class _Open:
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
    """The nodes of a template; a tag that opens a block which never ends is a tag without branches."""
    blocks = {found[3:] for found in re.findall(r"\{%-?\s*(end\w+)", text)}
    stack = [_Open("", "", 0)]
    position = 0
    while found := _TOKEN.search(text, position):
        _add_text(stack[-1], text[position : found.start()], text, position, found)
        position = found.end()
        name, arguments = found[1] or "", (found[2] or "").strip()
        if found[3] is not None:
            stack[-1].nodes.append(LiquidOutput(found[3].strip(), found[0], found.start()))
        elif name in _VERBATIM:
            position = _take_verbatim(stack[-1], text, found, name, arguments)
        elif name.startswith("end") and any(each.name == name[3:] for each in stack[1:]):
            while stack[-1].name != name[3:]:
                _abandon(stack)
            _close(stack, text, position)
        elif name in _BRANCHES and len(stack) > 1:
            stack[-1].close_branch()
            stack[-1].head = (name, arguments)
        elif name in blocks:
            stack.append(_Open(name, arguments, found.start(), head=(name, arguments)))
        elif name:
            stack[-1].nodes.append(LiquidTag(name, arguments, found[0], found.start()))
        position = _skip_blank(text, position, found[0])
    stack[-1].nodes.append(text[position:])
    while len(stack) > 1:
        _abandon(stack)
    return tuple(stack[0].nodes)


def _add_text(block: _Open, piece: str, text: str, position: int, found: re.Match[str]) -> None:
    piece = piece.rstrip() if found[0][2] == "-" else piece
    if piece:
        block.nodes.append(piece)


def _skip_blank(text: str, position: int, token: str) -> int:
    """Behind the blanks that a hyphen at the end of a tag takes away."""
    if not token.endswith(("-%}", "-}}")):
        return position
    blank = re.compile(r"\s*").match(text, position)
    return blank.end() if blank else position


def _take_verbatim(block: _Open, text: str, found: re.Match[str], name: str, arguments: str) -> int:
    end = re.compile(rf"\{{%-?\s*end{name}\s*-?%\}}").search(text, found.end())
    if not end:
        block.nodes.append(LiquidTag(name, arguments, found[0], found.start()))
        return found.end()
    inner = text[found.end() : end.start()]
    branch = LiquidBranch(name, arguments, (inner,) if inner else ())
    block.nodes.append(LiquidTag(name, arguments, text[found.start() : end.end()], found.start(), (branch,)))
    return end.end()


def _close(stack: list[_Open], text: str, end: int) -> None:
    done = stack.pop()
    done.close_branch()
    tag = LiquidTag(done.name, done.arguments, text[done.start : end], done.start, tuple(done.branches))
    stack[-1].nodes.append(tag)


def _abandon(stack: list[_Open]) -> None:
    """A block that does not end: what stands in it belongs to the block around."""
    done = stack.pop()
    nodes: Sequence[str | LiquidOutput | LiquidTag] = [
        *(node for branch in done.branches for node in branch.nodes),
        *done.nodes,
    ]
    source = f"{{% {done.name} {done.arguments} %}}"
    stack[-1].nodes += [LiquidTag(done.name, done.arguments, source, done.start), *nodes]
