"""Constructs: commands, environments and infixes as functions of the parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct

from ..mathml.atoms import Atom
from .reader import Expander

P = TypeVar("P")
"""The parser. It is a type variable because this module is below `parser.py`."""
Combine = Callable[[str, str], str]
"""Function from (pieces before an infix, pieces after it) to one element."""


class Constructs(Struct, Generic[P], frozen=True):
    """Functions of commands and environments. `parser.py` defines their parameters."""

    commands: Mapping[str, Callable[[P, str], Atom | None]]
    environments: Mapping[str, Callable[[P, str], Atom]]
    infixes: Mapping[str, Callable[[P, str], Combine]]
    expanders: Mapping[str, Expander]
    overrides: Mapping[str, Expander]
    """Expanders of a package that replace the usual meaning of commands."""
    is_known: Callable[[str], bool]
    """Returns whether a control sequence is defined."""
    names: Callable[[], tuple[str, ...]]
    """Returns all defined control sequences."""
