"""What a construct is: commands, environments and infixes, as functions of the parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from ..mathml.atoms import Atom
from .reader import Expander

P = TypeVar("P")
"""The parser, which is made of constructs and stands above this module."""
Combine = Callable[[str, str], str]
"""(what stands before an infix, what stands behind it) → one element."""


class Constructs(Struct, Generic[P], frozen=True):
    """What commands and environments do; `parser.py` says what their functions are given."""

    commands: Mapping[str, Callable[[P, str], Atom | None]]
    environments: Mapping[str, Callable[[P, str], Atom]]
    infixes: Mapping[str, Callable[[P, str], Combine]]
    expanders: Mapping[str, Expander]
    overrides: Mapping[str, Expander]
    """What a package gives another meaning."""
    known: Callable[[str], bool]
    """Whether a control sequence means something."""
    names: Callable[[], Sequence[str]]
    """All control sequences that mean something."""
