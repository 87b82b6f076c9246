"""Parser for shortcodes. Also defines the context of a page, which their translation needs.

Hugo reads shortcodes before Markdown, in code too. A call without closing call has no inner text. Only the
template of a shortcode shows whether inner text is required.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....api.importing import lazy_pattern
from ...model import NoticeKind
from ...text.pieces import HiddenFragments

_STRING = r"\"(?:\\[\s\S]|[^\"\\])*\"|`[^`]*`"
_ANGLE = rf"(?:{_STRING}|(?!>\}}\}})[^\"`])*"
_PERCENT = rf"(?:{_STRING}|(?!%\}}\}})[^\"`])*"
_ANGLE_BODY, _PERCENT_BODY = lazy_pattern(_ANGLE), lazy_pattern(_PERCENT)
_OPENING = lazy_pattern(r"\{\{[<%]")
_QUOTED_OR_OPENING = lazy_pattern(rf"{_STRING}|\{{\{{[<%]")
_NEVER = "(?!)"
_CALL = lazy_pattern(
    rf"\{{\{{<(?P<angle>{_ANGLE})>\}}\}}|\{{\{{%(?P<percent>{_PERCENT})%\}}\}}|(?P<escaped>{_NEVER})"
)
_ESCAPED_CALL = lazy_pattern(
    r"\{\{[<%][ \t]*(?P<escaped>/\*[\s\S]*?\*/)[ \t]*[>%]\}\}"
    rf"|(?P<angle>{_NEVER})|(?P<percent>{_NEVER})"
)
"""Matches a call that is shown as text. It has the same groups as `_CALL`."""
_COMMENT_END = lazy_pattern(r"\*/[ \t]*[>%]\}\}")
_ARGUMENT = lazy_pattern(rf"(?:([\w-]+)[ \t\n]*=[ \t\n]*)?({_STRING}|[^\s\"`=]+)")
_ESCAPED = lazy_pattern(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text outside of calls, or the text of a call that is only shown. The call `{{</* name */>}}` is shown
    without asterisks and slashes."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Call:
    """A shortcode call."""

    name: str
    """Name of the shortcode in lower case."""
    positional: tuple[str, ...]
    named: Mapping[str, str]
    """Named arguments, with names in lower case."""
    start: int
    """Offset of the call in the text, in characters."""
    opener: str
    """Source of the opening call, without inner text and closing call."""
    closer: str = ""
    """Source of the closing call; empty if there is none."""
    inner: tuple[Literal | Call, ...] | None = None
    """Nodes between the opening and the closing call; None without a closing call."""

    def get(self, *names: str | int, default: str = "") -> str:
        """Return the value of the first argument in `names` that the call has; otherwise `default`. names:
        argument names, or 0-based positions."""
        for name in names:
            if isinstance(name, str) and name in self.named:
                return self.named[name]
            if isinstance(name, int) and name < len(self.positional):
                return self.positional[name]
        return default


def parse_shortcodes(text: str) -> tuple[Literal | Call, ...]:
    """Parse a text into literals and calls, in order."""
    nodes: list[Literal | Call] = []
    position = 0
    opened: Counter[str] = Counter()
    for found in _tokens(text):
        if found.start() > position:
            nodes.append(Literal(text[position : found.start()], position))
        position = found.end()
        body = found["angle"] if found["angle"] is not None else found["percent"]
        if found["escaped"] is not None:
            nodes.append(Literal(found[0].replace(found["escaped"], found["escaped"][2:-2]), found.start()))
        elif (written := (body or "").strip()).startswith("/"):
            _close(nodes, opened, written[1:].strip().casefold(), found[0], found.start())
        else:
            nodes.append(_call(written, found[0], found.start()))
            _count(nodes[-1:], opened, 1)
    if position < len(text):
        nodes.append(Literal(text[position:], position))
    return tuple(nodes)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield matches of calls, and of calls that are shown as text, in order. The time is linear.

    If a call does not end because of an unclosed quote, the calls that begin inside this quote do not end
    either. They are skipped, because matching them would read the same text again.
    """
    position, comment_end = 0, 0
    stuck: set[int] = set()
    while opening := _OPENING.search(text, position):
        start = opening.start()
        if 0 <= comment_end < start:
            ahead = _COMMENT_END.search(text, start)
            comment_end = ahead.start() if ahead else -1
        found = _ESCAPED_CALL.match(text, start) if comment_end >= 0 else None
        if found is None and start not in stuck:
            found = _CALL.match(text, start)
            stuck.update(_unclosed_calls(text, opening) if found is None else ())
        if found is None:
            position = start + 1
            continue
        yield found
        position = found.end()


def _unclosed_calls(text: str, opening: re.Match[str]) -> Iterator[int]:
    """Yield the offsets of calls with the same opening delimiter that do not end, because the call at
    `opening` does not end."""
    body = (_ANGLE_BODY if opening[0].endswith("<") else _PERCENT_BODY).match(text, opening.end())
    end = body.end() if body else opening.end()
    position = opening.end()
    while position < end:
        found = _QUOTED_OR_OPENING.search(text, position, end)
        if found is None:
            return
        if found[0] == opening[0]:
            yield found.start()
        position = found.end()


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
        # Hugo removes the backslash of a TeX command, but no author meant that
        return re.sub(r"\\([^A-Za-z])", r"\1", value[1:-1])
    if value.startswith('"'):
        return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], value[1:-1])
    return value[1:-1] if value.startswith("`") else value


def _count(nodes: Iterable[Literal | Call], opened: Counter[str], by: int) -> None:
    for node in nodes:
        if isinstance(node, Call) and node.inner is None:
            opened[node.name] += by


def _close(nodes: list[Literal | Call], opened: Counter[str], name: str, closer: str, start: int) -> None:
    """Close the last open call with this name. The nodes after it become its inner nodes. If there is no open
    call, append the closing call as text. opened: name → number of open calls."""
    for index in range(len(nodes) - 1, -1, -1) if opened[name] else ():
        node = nodes[index]
        if isinstance(node, Call) and node.name == name and node.inner is None:
            inner = tuple(nodes[index + 1 :])
            _count(nodes[index:], opened, -1)
            nodes[index:] = [
                Call(node.name, node.positional, node.named, node.start, node.opener, closer, inner)
            ]
            return
    nodes.append(Literal(closer, start))


def write_source(nodes: tuple[Literal | Call, ...]) -> str:
    """Return the source of nodes as written. Only calls that are shown as text lose their asterisks."""
    parts = []
    for node in nodes:
        if isinstance(node, Literal):
            parts.append(node.text)
        else:
            parts.append(node.opener + write_source(node.inner or ()) + node.closer)
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class CallContext:
    """Data of the page that contains a call, and functions for resolving links and files."""

    finished: HiddenFragments
    """Fragments of the page that later conversions do not see. A translation is added if it must not be
    converted further."""
    link: Callable[[str], str]
    """Function that returns the link destination for a target of `ref`; empty if the page does not exist."""
    image: Callable[[str], str]
    """Function that returns the new URL of an image or file for the old URL."""
    param: Callable[[str], str]
    """Function that returns the value of a parameter by its name, for the page or otherwise for the site;
    empty if it is not set."""
    file: Callable[[str], str]
    """Function that returns the content of a file; empty if it cannot be read. The path is relative to the
    site's root or to the page."""
    notice: Callable[[NoticeKind, str, str, str], None]
    """Function that adds a notice; called with kind, message, hint and the removed text."""
    data: Callable[[], Mapping[str, Any]] = dict
    """Function that returns the content of `data/` as nested mappings, by names of folders and files."""
    notes: list[str] = field(default_factory=list)
    """Margin notes of the page in Markdown, in order. They become footnotes."""
    kinds: set[str] = field(default_factory=set)
    """Kinds of callouts that the new site must define."""
