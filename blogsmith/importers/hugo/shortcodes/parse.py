"""The shortcodes of a text as a tree.

Hugo reads them before Markdown, in code too. A call without an end is one without inner text; whether an end
is missing nobody knows but the template.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ....patterns import lazy_pattern

_STRING = r"\"(?:\\[\s\S]|[^\"\\])*\"|`[^`]*`"
_TOKEN = lazy_pattern(
    r"\{\{[<%][ \t]*(?P<escaped>/\*[\s\S]*?\*/)[ \t]*[>%]\}\}"
    rf"|\{{\{{<(?P<angle>(?:{_STRING}|(?!>\}}\}})[^\"`])*)>\}}\}}"
    rf"|\{{\{{%(?P<percent>(?:{_STRING}|(?!%\}}\}})[^\"`])*)%\}}\}}"
)
_ARGUMENT = lazy_pattern(rf"(?:([\w-]+)[ \t\n]*=[ \t\n]*)?({_STRING}|[^\s\"`=]+)")
_ESCAPED = lazy_pattern(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text outside of calls, or a call that is shown: `{{</* name */>}}` without its stars."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Call:
    """A shortcode."""

    name: str
    """Lower case."""
    positional: tuple[str, ...]
    named: Mapping[str, str]
    """Names in lower case."""
    start: int
    """Where it stands in the text, in characters."""
    opener: str
    """The call as it is written, without inner text and end."""
    closer: str = ""
    """Its end as it is written; empty: it has none."""
    inner: tuple[Literal | Call, ...] | None = None
    """What stands between the two; None without an end."""

    def get(self, *names: str | int, default: str = "") -> str:
        """The first argument of these names or positions that is given."""
        for name in names:
            if isinstance(name, str) and name in self.named:
                return self.named[name]
            if isinstance(name, int) and name < len(self.positional):
                return self.positional[name]
        return default


def parse_shortcodes(text: str) -> tuple[Literal | Call, ...]:
    """Text and calls, in order."""
    nodes: list[Literal | Call] = []
    position = 0
    for found in _TOKEN.finditer(text):
        if found.start() > position:
            nodes.append(Literal(text[position : found.start()], position))
        position = found.end()
        body = found["angle"] if found["angle"] is not None else found["percent"]
        if found["escaped"] is not None:
            nodes.append(Literal(_shown(found[0], found["escaped"]), found.start()))
        elif (written := (body or "").strip()).startswith("/"):
            _close(nodes, written[1:].strip().casefold(), found[0], found.start())
        else:
            nodes.append(_call(written, found[0], found.start()))
    if position < len(text):
        nodes.append(Literal(text[position:], position))
    return tuple(nodes)


def _shown(written: str, escaped: str) -> str:
    return written.replace(escaped, escaped[2:-2])


def _call(written: str, opener: str, start: int) -> Call | Literal:
    is_closed = written.endswith("/")
    name, _, arguments = written.removesuffix("/").strip().partition(" ")
    name, newline, more = name.partition("\n")
    if not name:
        return Literal(opener, start)
    positional: list[str] = []
    named: dict[str, str] = {}
    for key, value in _ARGUMENT.findall(f"{more} {arguments}" if newline else arguments):
        plain = _plain(value)
        if key:
            named.setdefault(key.casefold(), plain)
        else:
            positional.append(plain)
    inner = () if is_closed else None
    return Call(name.casefold(), tuple(positional), named, start, opener, inner=inner)


def _plain(value: str) -> str:
    if value.startswith('"') and "$" in value:
        # Hugo takes the backslash of a command away, and nobody meant that
        return re.sub(r"\\([^A-Za-z])", r"\1", value[1:-1])
    if value.startswith('"'):
        return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], value[1:-1])
    return value[1:-1] if value.startswith("`") else value


def _close(nodes: list[Literal | Call], name: str, closer: str, start: int) -> None:
    """Gives the last open call of this name what stands behind it as its inner text."""
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if isinstance(node, Call) and node.name == name and node.inner is None:
            inner = tuple(nodes[index + 1 :])
            nodes[index:] = [
                Call(node.name, node.positional, node.named, node.start, node.opener, closer, inner)
            ]
            return
    nodes.append(Literal(closer, start))


def source_of(nodes: tuple[Literal | Call, ...]) -> str:
    """The text of nodes as it was written, but for shown calls."""
    parts = []
    for node in nodes:
        if isinstance(node, Literal):
            parts.append(node.text)
        else:
            parts.append(node.opener + source_of(node.inner or ()) + node.closer)
    return "".join(parts)
