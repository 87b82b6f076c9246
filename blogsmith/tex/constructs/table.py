"""The table of all constructs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from ..mathml.alphabets import TEXT_SYMBOLS
from ..mathml.glyph_atoms import atoms
from ..packages.physics import expanders as physics
from ..packages.siunitx import expanders as siunitx
from ..parse.parser import Command, Environment, Parser
from ..parse.reader import Expander, FormulaReader
from ..parse.state import Constructs
from . import (
    aliases,
    alignments,
    arrays,
    boxes,
    conditionals,
    definitions,
    delimiters,
    diagrams,
    fonts,
    fractions,
    groups,
    links,
    loops,
    math_codes,
    operators,
    stacks,
    structures,
    text,
    text_boxes,
)

_COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        **groups.COMMANDS,
        **fractions.COMMANDS,
        **delimiters.COMMANDS,
        **operators.COMMANDS,
        **stacks.COMMANDS,
        **fonts.COMMANDS,
        **boxes.COMMANDS,
        **text.COMMANDS,
        **text_boxes.COMMANDS,
        **links.COMMANDS,
        **alignments.COMMANDS,
        **definitions.COMMANDS,
        **conditionals.COMMANDS,
        **loops.COMMANDS,
        **structures.COMMANDS,
        **diagrams.COMMANDS,
    }
)
_ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {
        **alignments.ENVIRONMENTS,
        **arrays.ENVIRONMENTS,
        **diagrams.ENVIRONMENTS,
        **structures.ENVIRONMENTS,
        **text_boxes.ENVIRONMENTS,
    }
)


def _chemistry(reader: FormulaReader, command: str) -> list[str]:
    from ..packages.mhchem import (
        expanders as chemistry,  # compiling its patterns takes 20 ms, and most sites have no chemistry
    )

    return chemistry.EXPANDERS[command](reader, command)


_EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **physics.EXPANDERS,
        **siunitx.EXPANDERS,
        **dict.fromkeys(("\\ce", "\\cee", "\\cf", "\\pu"), _chemistry),
        **aliases.EXPANDERS,
        **groups.EXPANDERS,
        **structures.EXPANDERS,
        **math_codes.EXPANDERS,
        "\\qty": physics.EXPANDERS["\\qty"],
    }
)


@cache
def constructs(packages: frozenset[str] = frozenset()) -> Constructs[Parser]:
    """Return the constructs of TeX with these packages. Created once for each set of packages."""

    def known(name: str) -> bool:
        return (
            name in TEXT_SYMBOLS
            or name in _COMMANDS
            or name in _EXPANDERS
            or name in atoms("", False)
            or name in fractions.INFIXES
        )

    @cache
    def names() -> tuple[str, ...]:
        letters = (name for name in atoms("", False) if name[0] == "\\")
        return tuple(sorted({*_COMMANDS, *_EXPANDERS, *fractions.INFIXES, *letters}))

    return Constructs(
        _COMMANDS,
        _ENVIRONMENTS,
        fractions.INFIXES,
        _EXPANDERS,
        physics.REDEFINED if "physics" in packages else {},
        known,
        names,
    )


def is_command(name: str) -> bool:
    r"""Return whether a command such as `\alpha` exists without a package."""
    return constructs().is_known(name)
