r"""Definitions in a paper (macros, environments, `\newtheorem` and switches), found without executing TeX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...api.importing import lazy_pattern
from .scanning import group_end, option_end, skip_space

_DEFINER = lazy_pattern(
    r"\\(?P<kind>(?:re|provide)?newcommand|providecommand|renewcommand|DeclareRobustCommand|newcommandx"
    r"|(?:New|Renew|Provide|Declare)DocumentCommand|[gex]?def|let|DeclareMathOperator|(?:re)?newenvironment"
    r"|newtheorem|theoremstyle|DeclarePairedDelimiter(?:XPP|X)?|DeclareMathAlphabet|DeclareMathSymbol"
    r"|definecolor|newif|declaretheorem)(?P<star>\*?)(?![A-Za-z@])"
)
_NAME = lazy_pattern(r"\\(?:[A-Za-z@]+|.)")
_SWITCH = lazy_pattern(r"\\(?P<name>[A-Za-z@]+?)(?P<value>true|false)(?![A-Za-z@])")
_COUNT = lazy_pattern(r"\s*(\d)\s*\Z")
_PLAIN_PARAMETERS = lazy_pattern(r"\s*(?:#\d\s*)*")
_PROGRAM = lazy_pattern(
    r"@|\\(?:[hv]box|[hv]skip|expandafter|csname|if[a-z]*|advance|setbox|begingroup|[gex]?def|let|global"
    r"|vspace|write|typeout)(?![A-Za-z])"
)
"""Matches TeX that only changes the printed page or is a program; macros that contain it are not expanded."""
_RESERVED_STYLE = lazy_pattern(r"\\reservestyle\s*\{\\(?P<name>[A-Za-z]+)\}\s*\{(?P<style>\\[A-Za-z]+)\}")
_MAX_DEFINITIONS = 10_000
_COMMANDS = ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "def", "gdef")


@dataclass(frozen=True, slots=True)
class MacroDefinition:
    """A definition as written in the source."""

    start: int
    end: int
    kind: str
    """Name of the defining command."""
    name: str
    """Command with its backslash; name of the environment for an environment."""
    count: int = 0
    """Number of arguments."""
    default: str | None = None
    """Default of the first argument; None if the first argument is not optional."""
    body: str | None = None
    """Text of a command, or text before the content of an environment; None if only formulas can use the
    macro."""
    closing: str = ""
    """Text after the content of an environment; empty for a command."""


def find_definitions(text: str) -> Iterator[MacroDefinition]:
    """Yield the definitions in a text, in order. A definition inside another one is not yielded
    separately."""
    position = number = 0
    while number < _MAX_DEFINITIONS and (found := _DEFINER.search(text, position)):
        position = found.end()
        if found.start() and text[found.start() - 1] == "\\" and text[found.start() - 2] != "\\":
            continue
        one = _read(text, found.start(), found.end(), found["kind"])
        if one is not None:
            number += 1
            position = one.end
            yield one


def _read(text: str, start: int, position: int, kind: str) -> MacroDefinition | None:
    if kind in (
        "newtheorem",
        "newenvironment",
        "renewenvironment",
        "theoremstyle",
        "definecolor",
        "declaretheorem",
    ):
        return _read_named(text, start, position, kind)
    position = skip_space(text, position)
    is_braced = text.startswith("{", position)
    name = _NAME.match(text, position + is_braced)
    if name is None:
        return None
    position = name.end()
    if is_braced:
        position = skip_space(text, position) + 1
    if kind in ("def", "gdef", "edef", "xdef"):
        return _read_def(text, start, position, kind, name[0])
    if kind == "newif":
        return MacroDefinition(start, position, kind, name[0])
    if kind == "let":
        position = skip_space(text, position)
        position += text.startswith("=", position)
        target = _NAME.match(text, skip_space(text, position))
        end = target.end() if target else position + 1
        body = target[0] if target and target[0][1:].isalpha() else None
        return MacroDefinition(start, end, kind, name[0], body=body)
    if kind not in _COMMANDS:
        return MacroDefinition(start, _arguments_end(text, position), kind, name[0])
    count, default, position = _read_parameters(text, position)
    position = skip_space(text, position)
    end = group_end(text, position)
    if end < 0:
        one = _NAME.match(text, position)
        return MacroDefinition(start, one.end(), kind, name[0], count, default, one[0]) if one else None
    return MacroDefinition(start, end, kind, name[0], count, default, text[position + 1 : end - 1])


def _read_parameters(text: str, position: int) -> tuple[int, str | None, int]:
    """Read `[count][default]` of a definition at `position`. Return the number of arguments, the default of
    the first argument (None if it is not optional), and the position after them."""
    count, default = 0, None
    end = option_end(text, skip_space(text, position))
    if end > 0 and (found := _COUNT.match(text[skip_space(text, position) + 1 : end - 1])):
        count, position = int(found[1]), end
        start = skip_space(text, position)
        end = option_end(text, start)
        if end > 0:
            default, position = text[start + 1 : end - 1], end
    return count, default, position


def _read_def(text: str, start: int, position: int, kind: str, name: str) -> MacroDefinition | None:
    opening = text.find("{", position, position + 200)
    end = group_end(text, opening) if opening >= 0 else -1
    if end < 0:
        return None
    parameters = text[position:opening]
    is_plain = kind in ("def", "gdef") and _PLAIN_PARAMETERS.fullmatch(parameters) is not None
    body = text[opening + 1 : end - 1] if is_plain else None
    return MacroDefinition(start, end, kind, name, parameters.count("#"), None, body)


def _read_named(text: str, start: int, position: int, kind: str) -> MacroDefinition | None:
    position = skip_space(text, position)
    end = group_end(text, position)
    if kind == "declaretheorem" and end < 0:
        option = option_end(text, position)
        position = skip_space(text, option) if option > 0 else position
        end = group_end(text, position)
    if end < 0:
        return None
    name = text[position + 1 : end - 1].strip()
    if not kind.endswith("environment"):
        return MacroDefinition(start, _arguments_end(text, end), kind, name)
    count, default, position = _read_parameters(text, end)
    first = skip_space(text, position)
    middle = group_end(text, first)
    second = skip_space(text, middle)
    last = group_end(text, second) if middle > 0 else -1
    if last < 0:
        return None
    bodies = text[first + 1 : middle - 1], text[second + 1 : last - 1]
    return MacroDefinition(start, last, kind, name, count, default, *bodies)


def _arguments_end(text: str, position: int) -> int:
    """Return the position after all arguments in braces and brackets that start at `position`."""
    while True:
        start = skip_space(text, position)
        end = max(group_end(text, start), option_end(text, start))
        if end < 0:
            return position
        position = end


@dataclass(slots=True)
class Definitions:
    """All definitions of a paper."""

    commands: dict[str, MacroDefinition] = field(default_factory=dict)
    r"""Command with its backslash → its last definition. A later `\providecommand` does not replace it."""
    environments: dict[str, MacroDefinition] = field(default_factory=dict)
    written: dict[str, list[str]] = field(default_factory=dict)
    r"""Name of a command, or `\begin x` for environment `x` → its definitions as written, in order."""
    _sources: list[tuple[str, str]] = field(default_factory=list)
    """Key of `written` and definition as written, of all definitions in the order of the paper."""
    theorems: list[str] = field(default_factory=list)
    r"""`\newtheorem` and `\theoremstyle`, as written, in order."""
    switches: dict[str, bool] = field(default_factory=dict)
    r"""Name of a condition that `\newif` declares, without `\if` → its last value in the paper."""

    def add(self, text: str) -> list[MacroDefinition]:
        """Add the definitions in a text and return them."""
        found = list(find_definitions(text))
        for one in found:
            source = text[one.start : one.end]
            if one.kind in ("newtheorem", "theoremstyle", "declaretheorem"):
                self.theorems.append(source)
            elif one.kind.endswith("environment"):
                is_program = _PROGRAM.search(f"{one.body}{one.closing}")
                self.environments[one.name] = replace(one, body=None) if is_program else one
                self._write(f"\\begin {one.name}", source)
            elif one.kind == "newif":
                self.switches[one.name.removeprefix("\\if")] = False
            else:
                self._write(one.name, source)
                if one.kind == "providecommand" and one.name in self.commands:
                    continue
                is_program = _PROGRAM.search(one.body or "")
                self.commands[one.name] = replace(one, body=None) if is_program else one
        for switch in _SWITCH.finditer(text):
            if switch["name"] in self.switches:
                self.switches[switch["name"]] = switch["value"] == "true"
        return found

    def needed(self, formulas: str) -> list[str]:
        """Return all definitions that formulas use, directly or through other definitions. They are as
        written, in order."""
        used, waiting = set[str](), list(_uses(formulas))
        while waiting:
            name = waiting.pop()
            if name in used or name not in self.written:
                continue
            used.add(name)
            waiting += [one for source in self.written[name] for one in _uses(source)]
        return [source for name, source in self._sources if name in used]

    def _write(self, name: str, source: str) -> None:
        self.written.setdefault(name, []).append(source)
        self._sources.append((name, source))


def read_reserved_words(text: str) -> dict[str, str]:
    r"""Return the words that the package semantic declares: `\<word>` → LaTeX that it prints."""
    found: dict[str, str] = {}
    for style in _RESERVED_STYLE.finditer(text):
        for words in lazy_pattern(rf"\\{style['name']}\s*(?=\{{)").finditer(text):
            end = group_end(text, words.end())
            for word in text[words.end() + 1 : end - 1].split(",") if end > 0 else ():
                name, _, shown = word.strip().partition("[")
                found[f"\\<{name.strip()}>"] = f"{style['style']}{{{shown.strip(' ]') or name.strip()}}}"
    return found


def _uses(text: str) -> Iterator[str]:
    for found in _NAME.finditer(text):
        yield found[0]
    for found in lazy_pattern(r"\\begin\s*\{([^{}]+)\}").finditer(text):
        yield f"\\begin {found[1]}"
