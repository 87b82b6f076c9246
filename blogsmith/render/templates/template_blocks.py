"""Named blocks of templates, and blocks that are never printed because the parent template lacks them.

A template that extends another one fills its blocks. Jinja ignores a block that the parent does not have, so
its content never appears. The text of templates is scanned; nothing is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from ...base.diagnostics.fixes import make_replacement
from ...base.diagnostics.model import (
    Diagnostic,
    Place,
    confirm_typo,
    format_suggestion,
    list_choices,
    nearest,
)
from ...base.patterns import lazy_pattern

_TAG = lazy_pattern(
    r"\{#.*?#\}"
    r"|\{%[-+]?\s*raw\s*[-+]?%\}.*?\{%[-+]?\s*endraw\s*[-+]?%\}"
    r"|\{%[-+]?\s*(?:(?P<extends>extends)\s+(?P<quote>[\"'])(?P<parent>.*?)(?P=quote)"
    r"|block\s+(?P<block>[A-Za-z_]\w*)|(?P<end>endblock)\b)",
    re.DOTALL,
)
_LONGEST_CHAIN = 50


class TemplateText(Protocol):
    """A template as read from disk."""

    @property
    def label(self) -> str:
        """Path for messages."""

    @property
    def text(self) -> str:
        """The template's source."""


class Block(Struct, frozen=True):
    """A block of a template."""

    name: str
    start: int
    """Offset of its name in the text."""
    is_nested: bool
    """Whether it is inside another block."""


class TemplateBlocks(Struct, frozen=True):
    """The blocks of one template."""

    parent: str
    """Name of the template that this one extends; empty if there is none, or if it is chosen at run time."""
    blocks: tuple[Block, ...]


def read_blocks(text: str) -> TemplateBlocks:
    """Return the blocks and the parent of a template."""
    parent, depth = "", 0
    blocks = []
    for tag in _TAG.finditer(text):
        if tag["extends"]:
            parent = parent or tag["parent"]
        elif tag["block"]:
            blocks.append(Block(tag["block"], tag.start("block"), depth > 0))
            depth += 1
        elif tag["end"]:
            depth -= 1
    return TemplateBlocks(parent, tuple(blocks))


def unknown_blocks(templates: Mapping[str, TemplateText]) -> Iterator[Diagnostic]:
    """Yield a warning for each block that a template fills but its parent does not have."""
    seen = set()
    known: dict[str, TemplateBlocks] = {}
    for name, template in templates.items():
        if template.label in seen or "extends" not in template.text:
            continue
        seen.add(template.label)
        read = read_blocks(template.text)
        inherited = _inherited(name, read.parent, templates, known)
        for block in read.blocks:
            if inherited is not None and not block.is_nested and block.name not in inherited:
                yield _warning(template, block, sorted(inherited))


def _inherited(
    name: str, parent: str, templates: Mapping[str, TemplateText], known: dict[str, TemplateBlocks]
) -> set[str] | None:
    """Return the names of the blocks of all parents. None if a parent is unknown or missing, or if templates
    extend each other in a circle; other checks report these errors."""
    found: set[str] = set()
    seen = {name}
    while parent:
        if parent in seen or parent not in templates or len(seen) > _LONGEST_CHAIN:
            return None
        seen.add(parent)
        read = known.setdefault(parent, read_blocks(templates[parent].text))
        found.update(block.name for block in read.blocks)
        parent = read.parent
    return found if len(seen) > 1 else None


def _warning(template: TemplateText, block: Block, choices: list[str]) -> Diagnostic:
    line = template.text.count("\n", 0, block.start) + 1
    begin = template.text.rfind("\n", 0, block.start) + 1
    source = template.text[begin:].partition("\n")[0]
    near = nearest(block.name, choices)
    typo_of = confirm_typo(block.name, near)
    column = block.start - begin + 1
    listed = list_choices(choices) or "remove it: the parent template has no blocks"
    return Diagnostic(
        "template-block",
        f'block "{block.name}" has no effect because no parent template has a block of this name',
        template.label,
        Place(line, column, len(block.name)),
        source,
        format_suggestion(near) or listed,
        "warning",
        fix=make_replacement(line, column, block.name, typo_of) if typo_of else None,
    )
