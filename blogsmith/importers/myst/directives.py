"""Directives and attribute lists, parsed into records."""

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
    """A directive as written."""

    name: str
    """Name in lower case, such as `note`."""
    argument: str
    """Text after the name on the first line."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Option → value. The value is empty if the option has none. The items of a list are separated by
    commas."""
    body: Sequence[str] = ()
    """Lines after the options."""
    line: int = 1
    """1-based line of the directive in the file."""
    body_line: int = 1
    raw: Sequence[str] = ()
    """All lines of the directive."""

    @property
    def classes(self) -> frozenset[str]:
        """Return the class names in `:class:`."""
        return frozenset(self.option("class").replace(",", " ").split())

    @property
    def label(self) -> str:
        """Return the label that references to this element use; empty if it has none."""
        return self.option("label", "name")

    def option(self, *names: str) -> str:
        """Return the value of the first of these options that is set; empty if none of them is set."""
        return next((self.options[name].strip() for name in names if name in self.options), "")


def read_directive(info: str, body: Sequence[str], raw: Sequence[str], line: int) -> Directive | None:
    """Return the directive of a fence; None if the info string contains no name of a directive.

    info: text after the fence's marker. body: lines inside the fence. raw: all lines of the fence, including
    the first and last. line: 1-based line of the fence.
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
        # for a mapping of myst-nb, such as `mystnb: {figure: {caption: …}}`, only the innermost names are
        # used
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
    """Return the first paragraph of a body, and the lines after it."""
    body = trim_blank_lines(lines)
    end = next((n for n, line in enumerate(body) if not line.strip()), len(body))
    return body[:end], trim_blank_lines(body[end:])


LINE = lazy_pattern(
    r"[ \t]*\{((?:[ \t]*(?:[.#%][^{}\s]+|[A-Za-z][\w-]*=(?:\"[^\"]*\"|[^\s{}\"]+)))+)[ \t]*\}[ \t]*"
)
"""Matches a line that consists of an attribute list."""
_TRAILING_LIST = lazy_pattern(rf"(?<=[\]){MARK[1]}])\{{([^{{}}\n]*[.#=][^{{}}\n]*)\}}")
_ITEM = lazy_pattern(r"#([\w:.-]+)|\.([\w-]+)|([A-Za-z][\w-]*)=(?:\"([^\"]*)\"|([^\s\"]+))|%\S*")
_NAMES: Mapping[str, str] = {
    **{"w": "width", "width": "width", "h": "height", "height": "height", "title": "title"},
    **{"lang": "lang", "dir": "dir", "download": "download", "rel": "rel", "loading": "loading"},
}
"""Name of an attribute in MyST → its name in blogsmith."""


@dataclass(frozen=True, slots=True)
class MystAttributes:
    """A parsed attribute list."""

    identifier: str = ""
    classes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)

    def text(self, dropped: Callable[[str], None]) -> str:
        """Return the attribute list in blogsmith's syntax. dropped: function that is called with each
        unsupported attribute."""
        items = [f"#{self.identifier}"] if self.identifier else []
        items += [f".{name}" for name in self.classes]
        for key, value in self.pairs.items():
            if name := _NAMES.get(key):
                items.append(f'{name}="{value}"' if " " in value else f"{name}={value}")
            else:
                dropped(f"{key}={value}")
        return f"{{{' '.join(items)}}}" if items else ""


def read_attributes(text: str) -> MystAttributes:
    """Parse the text between the braces of an attribute list."""
    identifier, classes, pairs = "", [], {}
    for found in _ITEM.finditer(text):
        identifier = found[1] or identifier
        if found[2]:
            classes.append(found[2])
        elif found[3]:
            pairs[found[3].lower()] = found[4] if found[4] is not None else found[5]
    return MystAttributes(identifier, tuple(classes), pairs)


def rewrite_attributes(text: str, dropped: Callable[[str], None]) -> str:
    """Convert attribute lists after spans, links, images and code. text: Markdown with code and formulas
    replaced by placeholders. dropped: function that is called with each unsupported attribute."""
    return _TRAILING_LIST.sub(lambda found: read_attributes(found[1]).text(dropped), text)
