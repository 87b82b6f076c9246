"""Nodes of the syntax tree of a text with LaTeX."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

NodeKind = Literal["text", "raw", "sign", "break", "comment", "command", "environment", "fence"]
Span = tuple[int, int]


class LatexNode(Struct):
    """A part of the text. `start`, `end` and spans are offsets in the whole text."""

    kind: NodeKind
    """`raw`: text to copy unchanged. `sign`: a symbol; the field `text` contains its Markdown. `fence`: code,
    an algorithm or a drawing."""
    start: int
    end: int
    name: str = ""
    """Name of a command or environment, without a star at the end; otherwise empty."""
    is_starred: bool = False
    text: str = ""
    option: Span | None = None
    argument: Span | None = None
    """First argument, without its braces; None if there is none."""
    second: Span | None = None
    children: tuple[LatexNode, ...] = ()
    """Nodes in the last argument of a command, or in the content of an environment. Empty if this part is not
    read as text."""
    title: tuple[LatexNode, ...] = ()
    r"""Nodes in the option of an `\item` or callout; otherwise empty."""


class Problem(Struct, frozen=True):
    """LaTeX that cannot be translated and is copied unchanged."""

    start: int
    written: str
    name: str
    """Name of the command or environment, used to suggest a similar name."""
    is_missing: bool = False
    r"""Whether the problem is that the environment `written` has no `\end`."""


class Frame(Struct):
    r"""An environment whose `\end` is not read yet."""

    node: LatexNode
    children: list[LatexNode]
