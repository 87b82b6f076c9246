"""Nodes of the tree of a text with LaTeX."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

NodeKind = Literal["text", "raw", "sign", "break", "comment", "command", "environment", "fence"]
Span = tuple[int, int]


class LatexNode(Struct):
    """A part of the text. `start`, `end` and spans are indices into the whole text."""

    kind: NodeKind
    """`raw`: text that is copied unchanged. `sign`: a symbol, written as `text`."""
    start: int
    end: int
    name: str = ""
    """Name of a command or environment, without its star."""
    is_starred: bool = False
    text: str = ""
    option: Span | None = None
    argument: Span | None = None
    """The first argument, without braces."""
    second: Span | None = None
    children: tuple[LatexNode, ...] = ()
    """Content of the argument that is text, or of an environment."""
    title: tuple[LatexNode, ...] = ()
    """Content of the option."""


class Problem(Struct, frozen=True):
    """LaTeX that cannot be translated and stays text."""

    start: int
    written: str
    name: str
    """Name of the command or environment, to suggest a similar one."""
    is_missing: bool = False
    r"""Whether the `\end` that closes `written` is missing."""


class Frame(Struct):
    """An environment that is not closed yet."""

    node: LatexNode
    children: list[LatexNode]
