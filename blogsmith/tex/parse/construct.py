"""What a construct is: commands, environments and infixes, as functions of the parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..mathml.atoms import Atom
from .reader import Expander

Parser = Any
"""`parser.Parser`, which imports this module."""
Command = Callable[[Parser, str], Atom | None]
"""(parser, command) → what it prints; None: nothing."""
Environment = Callable[[Parser, str], Atom]
"""(parser, name) → what it prints; called behind `\\begin{name}`, takes everything up to `\\end{name}`."""
Combine = Callable[[str, str], str]
"""(what stands before an infix, what stands behind it) → one element."""
Infix = Callable[[Parser, str], Combine]
"""(parser, command) → how to combine; reads what stands behind the command and belongs to it."""


@dataclass(frozen=True, slots=True)
class Constructs:
    """What commands and environments do."""

    commands: Mapping[str, Command]
    environments: Mapping[str, Environment]
    infixes: Mapping[str, Infix]
    expanders: Mapping[str, Expander]
    overrides: Mapping[str, Expander]
    """What a package gives another meaning."""
    known: Callable[[str], bool]
    """Whether a control sequence means something."""
    names: Callable[[], Sequence[str]]
    """All control sequences that mean something."""
