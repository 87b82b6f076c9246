"""Directives and attribute lists as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...api.importing import lazy_pattern
from ..text.containers import trim_blank_lines
from ..text.data import DataTextError, load_mapping
from ..text.segments import MARK

_HEAD = lazy_pattern(r"\{\s*(?!\.)([\w:.+-]+)\s*\}[ \t]*(.*)")
_OPTION = lazy_pattern(r"[ \t]*:([\w-]+):(?:[ \t]+(.*)|[ \t]*)")


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive as it is written."""

    name: str
    """In lower case."""
    argument: str
    """What follows the name in its line."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Values as texts; of an option without a value empty, of a list its items with commas."""
    body: Sequence[str] = ()
    """Lines behind the options."""
    line: int = 1
    """1-based, of its first line in the file."""
    body_line: int = 1
    raw: Sequence[str] = ()
    """All its lines."""

    @property
    def classes(self) -> frozenset[str]:
        """The words of `:class:`."""
        return frozenset(self.option("class").replace(",", " ").split())

    @property
    def label(self) -> str:
        """What references call it."""
        return self.option("label", "name")

    def option(self, *names: str) -> str:
        """The first of these options that is there; empty without one."""
        return next((self.options[name].strip() for name in names if name in self.options), "")


def read_directive(info: str, body: Sequence[str], raw: Sequence[str], line: int) -> Directive | None:
    """The directive of a fence; None if its info string names none.

    info: what stands behind the fence's marks. line: 1-based, of the fence.
    """
    found = _HEAD.fullmatch(info.strip())
    if not found:
        return None
    options, used = _read_options(body)
    return Directive(
        name=found[1].lower(),
        argument=found[2].strip(),
        options=options,
        body=list(body[used:]),
        line=line,
        body_line=line + 1 + used,
        raw=raw,
    )


def _read_options(body: Sequence[str]) -> tuple[dict[str, str], int]:
    """Options at the head of a body, and how many of its lines they are."""
    if body and body[0].strip() == "---":
        end = next((n for n, line in enumerate(body[1:], 1) if line.strip() in ("---", "...")), 0)
        if end:
            return _read_yaml(body[1:end]), end + 1
    options: dict[str, str] = {}
    used = 0
    for line in body:
        found = _OPTION.fullmatch(line)
        if not found:
            break
        options[found[1].lower()] = (found[2] or "").strip()
        used += 1
    return options, used


def _read_yaml(lines: Sequence[str]) -> dict[str, str]:
    try:
        values = load_mapping("\n".join(lines))
    except DataTextError:
        return {}
    options: dict[str, str] = {}
    for name, value in values.items():
        # a mapping of myst-nb, such as `mystnb: {figure: {caption: …}}`, counts by its innermost names
        stack = [(name, value)]
        while stack:
            key, each = stack.pop()
            if isinstance(each, dict):
                stack.extend((str(inner), one) for inner, one in each.items())
            elif isinstance(each, list):
                options.setdefault(str(key).lower(), ", ".join(str(one) for one in each))
            else:
                options.setdefault(str(key).lower(), "" if each is None or each is True else str(each))
    return options


def split_paragraph(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The first paragraph of a body, and the rest of it."""
    body = trim_blank_lines(lines)
    end = next((n for n, line in enumerate(body) if not line.strip()), len(body))
    return body[:end], trim_blank_lines(body[end:])


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
