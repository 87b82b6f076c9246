"""Attribute lists of MyST: `[text]{.name #id key=value}`, and lines of them in front of a block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...base.patterns import lazy_pattern
from ..text.segments import MARK

LINE = lazy_pattern(
    r"[ \t]*\{((?:[ \t]*(?:[.#%][^{}\s]+|[A-Za-z][\w-]*=(?:\"[^\"]*\"|[^\s{}\"]+)))+)[ \t]*\}[ \t]*"
)
"""A line that is a list alone."""
_BEHIND = lazy_pattern(rf"(?<=[\]){MARK[1]}])\{{([^{{}}\n]*[.#=][^{{}}\n]*)\}}")
_ITEM = lazy_pattern(r"#([\w:.-]+)|\.([\w-]+)|([A-Za-z][\w-]*)=(?:\"([^\"]*)\"|([^\s\"]+))|%\S*")
_NAMES: Mapping[str, str] = {
    **{"w": "width", "width": "width", "h": "height", "height": "height", "title": "title"},
    **{"lang": "lang", "dir": "dir", "download": "download", "rel": "rel", "loading": "loading"},
}
"""Attribute → what says the same here."""


@dataclass(frozen=True, slots=True)
class MystAttributes:
    """A list, taken apart."""

    identifier: str = ""
    classes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)

    def text(self, dropped: Callable[[str], None]) -> str:
        """As ours; dropped takes each attribute that has no meaning here."""
        items = [f"#{self.identifier}"] if self.identifier else []
        items += [f".{name}" for name in self.classes]
        for key, value in self.pairs.items():
            if name := _NAMES.get(key):
                items.append(f'{name}="{value}"' if " " in value else f"{name}={value}")
            else:
                dropped(f"{key}={value}")
        return f"{{{' '.join(items)}}}" if items else ""


def read_attributes(text: str) -> MystAttributes:
    """What stands between the braces of a list."""
    identifier, classes, pairs = "", [], {}
    for found in _ITEM.finditer(text):
        identifier = found[1] or identifier
        if found[2]:
            classes.append(found[2])
        elif found[3]:
            pairs[found[3].lower()] = found[4] if found[4] is not None else found[5]
    return MystAttributes(identifier, tuple(classes), pairs)


def rewrite_attributes(text: str, dropped: Callable[[str], None]) -> str:
    """Lists behind spans, links, images and code, in our words. text: with code and formulas hidden."""
    return _BEHIND.sub(lambda found: read_attributes(found[1]).text(dropped), text)
