r"""Reader of algorithms in LaTeX, as lines with levels: `algorithmic`, `algpseudocode` and `algorithm2e`.

Commands match in any case, so `\STATE` of `algorithmic` and `\State` of `algpseudocode` are the same command.
If the condition of a block is followed by a group, as in `\For{…}{…}`, the block is one of `algorithm2e` and
ends with this group. All other blocks end with a command such as `\EndFor`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ...model.names import name_set

MAX_LINES = 1000
"""Maximum number of lines of an algorithm. Further lines are omitted."""
_MAX_LEVEL = 9
_MAX_DEPTH = 30
_TOKEN = lazy_pattern(
    r"\\(?P<name>[A-Za-z]+)\*?|\\;|\\\\|(?P<formula>\$(?:\\[\s\S]|[^$\\])*\$|\\\((?:\\[^)]|[^\\])*\\\))"
    r"|\\[\s\S]|(?P<comment>(?<!\\)%[^\n]*)"
)
_BRACE = lazy_pattern(r"\\.|[{}]", 16)
_LABEL = lazy_pattern(r"\\label\s*\{([^{}]*)\}")
_OPENING = lazy_pattern(r"\s*(?:\\begin\{algorithmic\*?\}\s*(?:\[\w*\])?)?")
_CLOSING = lazy_pattern(r"\\end\{algorithmic\*?\}\s*\Z")
_CAPTION = lazy_pattern(r"\\caption\*?\s*(?:\[[^\[\]]*\])?(?=\s*\{)")
_OPTION = lazy_pattern(r"\s*\[\w*\]")
_MAX_TAIL = 80
"""Maximum number of characters from a caption at the end of an algorithm to the end of the text, so that a
label fits."""
_INPUTS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name.capitalize() for name in ("require", "ensure", "input", "output")},
        **{"kwin": "Input", "kwdata": "Data", "kwout": "Output", "kwresult": "Result"},
    }
)
"""Command for an unnumbered line such as the input → word at the start of this line."""
_BLOCKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "if": ("if", "then"),
        "uif": ("if", "then"),
        "eif": ("if", "then"),
        "lif": ("if", "then"),
        **dict.fromkeys(("for", "lfor"), ("for", "do")),
        **dict.fromkeys(("forall", "lforall"), ("for all", "do")),
        **dict.fromkeys(("foreach", "lforeach"), ("for each", "do")),
        **dict.fromkeys(("while", "lwhile"), ("while", "do")),
        **dict.fromkeys(("function", "fn"), ("function", "")),
        "procedure": ("procedure", ""),
        **dict.fromkeys(("loop", "repeat"), ("", "")),
    }
)
"""Command that opens a block → words before and after its condition."""
_BRANCHES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "else": ("else", ""),
        "uelse": ("else", ""),
        "lelse": ("else", ""),
        **dict.fromkeys(("elsif", "elseif", "elseif", "ulseif", "uelseif", "lelseif"), ("else if", "then")),
    }
)
_ENDS: Mapping[str, str] = MappingProxyType(
    {
        **{f"end{name}": f"end {name}" for name in ("if", "for", "while", "loop", "function", "procedure")},
        "endforall": "end for",
    }
)
_WORDS: Mapping[str, str] = MappingProxyType(
    {name: name for name in ("and", "or", "not", "to", "true", "false", "break", "continue")}
    | {"algorithmicdo": "do", "algorithmicthen": "then"}
)
"""Command inside a line → keyword, shown in bold."""
_WORD = lazy_pattern(r"\\(?P<name>[A-Za-z]+)(?:\{\})?|\$(?:\\[\s\S]|[^$\\])*\$")
_COMMENTS = name_set("comment tcp tcc tcpas linecomment")
_RETURNS: Mapping[str, str] = MappingProxyType({"return": "return", "kwret": "return", "print": "print"})
_IGNORED = name_set(
    "setalgolined setalgovlined dontprintsemicolon linesnumbered setalgonoline setalgonoend blankline small "
    "footnotesize scriptsize centering indp indm algorithmicindent printsemicolon setalgoskip normalsize"
)
_IGNORED_WITH_ARGUMENTS = name_set(
    "setkwinput setkwinout setkwfunction setkwprog setkwdata setkwcomment vspace hspace setkwrepeat "
    "renewcommand algrenewcommand setcounter setlength setkw setkwfor setkwif algsetup newcommand "
    "setalcapskip"
)


class AlgorithmLine(Struct, frozen=True):
    """One line of an algorithm."""

    text: str
    """LaTeX with the keywords in Markdown, such as `**for** $i$ **do**`."""
    level: int
    """Number of blocks that contain the line."""
    offset: int
    """Offset of the line in the text of the algorithm."""
    is_numbered: bool
    label: str
    r"""Label of the line, from `\label`; empty if it has none."""


class AlgorithmParts(Struct, frozen=True):
    """Position of the parts in an `algorithm` environment, as offsets in its content."""

    start: int
    """Start of the lines of the algorithm."""
    end: int
    caption: tuple[int, int] | None
    label: str
    """Label of the algorithm, which may be before or after the lines or in the caption; empty if it has
    none."""


def read_algorithm_parts(text: str) -> AlgorithmParts:
    """Return the range of the lines and of the caption, and the label, of an `algorithm` environment. text:
    its content."""
    opening = text.find("\\begin{algorithmic}")
    closing = text.rfind("\\end{algorithmic}")
    found = _CAPTION.search(text)
    caption = None
    if found:
        inner, after = _argument(text, found.end(), len(text))
        caption = (after - 1 - len(inner), after - 1) if after > found.end() else None
    if opening >= 0 and closing > opening:
        start = text.index("}", opening) + 1
        options = _OPTION.match(text, start)
        outside = text[:opening] + text[closing:]
        start, end = (options.end() if options else start), closing
    else:
        # algorithm2e: the caption and the label are before or after the lines
        start, end, outside = 0, len(text), text
        if caption and found and len(text) - found.start() < caption[1] - found.start() + _MAX_TAIL:
            end = found.start()
        elif caption:
            start = caption[1] + 1
    label = _LABEL.search(outside)
    return AlgorithmParts(start, end, caption, label[1].strip() if label else "")


def read_algorithm(text: str) -> tuple[AlgorithmLine, ...]:
    """Return the lines of an algorithm. text: content of the environment, or an `algorithmic` environment."""
    reader = _Reader()
    opening = _OPENING.match(text)
    start = opening.end() if opening else 0
    closing = _CLOSING.search(text, start)
    reader.read(text, start, closing.start() if closing else len(text), 0)
    reader.flush()
    return tuple(reader.lines)


class _Reader:
    def __init__(self) -> None:
        self.lines: list[AlgorithmLine] = []
        self._level = self._line_level = 0
        self._pieces: list[str] = []
        self._offset = 0
        self._is_numbered = True
        self._is_open = False
        """Whether a line has started, even if it has no text yet."""
        self._is_whole = False
        r"""Whether the argument of `\KwIn` or `\Return` has ended, so that any text after it starts a new
        line."""

    def read(self, text: str, start: int, end: int, depth: int) -> None:
        """Read a range of an algorithm. depth: number of groups that contain the range."""
        position = start
        while found := _TOKEN.search(text, position, end):
            self._add(text[position : found.start()], position)
            position = found.end()
            name = (found["name"] or "").casefold()
            if found["formula"]:
                self._add(found[0], found.start())
            elif found["comment"]:
                continue
            elif found[0] in ("\\;", "\\\\"):
                self.flush()
            elif name:
                position = self._command(text, name, found.start(), position, end, depth)
            else:
                self._add(found[0], found.start())
        self._add(text[position:end], position)

    def _command(self, text: str, name: str, start: int, position: int, end: int, depth: int) -> int:
        r"""Read the command `\name` from `start` to `position`, and its arguments. Return the end of the
        arguments."""
        if name in ("state", "statex", "algnewline"):
            self._begin(start, is_numbered=name != "statex")
        elif name in _INPUTS:
            self._begin(start, is_numbered=False)
            self._pieces.append(f"**{_INPUTS[name]}:** ")
            return self._group(text, position, end, depth)
        elif name in _BLOCKS:
            return self._block(text, name, start, position, end, depth)
        elif name in _BRANCHES:
            return self._branch(text, name, start, position, end, depth)
        elif name == "until":
            return self._until(text, start, position, end)
        elif name in _ENDS:
            self._level = max(0, self._level - 1)
            self._line(f"**{_ENDS[name]}**", start)
        elif name in _RETURNS:
            if not self._is_open or "".join(self._pieces).strip():
                self._begin(start)
            self._pieces.append(f"**{_RETURNS[name]}** ")
            return self._group(text, position, end, depth)
        elif name == "call":
            return self._call(text, start, position, end)
        elif name in _COMMENTS:
            inner, after = _argument(text, position, end)
            comment = f" [▷ {' '.join(inner.split())}]{{.algorithm-comment}}"
            if not self._is_open and self.lines and text[position - 1] == "*":
                # a comment after the semicolon of its line
                last = self.lines[-1]
                self.lines[-1] = replace(last, text=last.text + comment)
            elif self._is_open:
                self._pieces.append(comment)
            else:
                self._line(comment, start)
                self.flush()
            return after
        elif name in _IGNORED:
            return position
        elif name in _IGNORED_WITH_ARGUMENTS:
            while (after := _argument(text, position, end)[1]) > position:
                position = after
        else:
            self._add(text[start:position], start)
        return position

    def _block(self, text: str, name: str, start: int, position: int, end: int, depth: int) -> int:
        before, after = _BLOCKS[name]
        word = "loop" if name == "loop" else "repeat" if name == "repeat" else before
        condition, position = ("", position) if name in ("loop", "repeat") else _argument(text, position, end)
        if name in ("function", "procedure"):
            arguments, position = _argument(text, position, end)
            condition = f"[{condition.strip()}]{{.small-caps}}({arguments})"
        body, stop = _argument(text, position, end)
        if name == "repeat" and stop > position:
            condition, position = body, stop
            body, stop = _argument(text, position, end)
        line = f"**{word}** {condition.strip()} **{after}**" if after else f"**{word}** {condition.strip()}"
        if stop == position or depth > _MAX_DEPTH:
            self._line(line if name != "repeat" else f"**{word}**", start)
            self._level += 1
            return position
        if name.startswith("l") and name != "loop":
            self._line(f"{line} {body.replace(chr(92) + ';', '')}", start)
            return stop
        self._line("**repeat**" if name == "repeat" else line, start)
        self._inner(text, stop - 1 - len(body), stop - 1, depth)
        if name == "repeat":
            self._line(f"**until** {condition.strip()}", stop)
            return stop
        if name == "eif":
            other, last = _argument(text, stop, end)
            self._line("**else**", stop)
            self._inner(text, last - 1 - len(other), last - 1, depth)
            stop = last
        if not lazy_pattern(r"\s*\\(?:u|l)?[eE]ls").match(text, stop, end):
            self._line("**end**", stop)
        return stop

    def _branch(self, text: str, name: str, start: int, position: int, end: int, depth: int) -> int:
        word, after = _BRANCHES[name]
        condition, position = _argument(text, position, end) if after else ("", position)
        body, stop = _argument(text, position, end)
        line = f"**{word}** {condition.strip()} **{after}**" if after else f"**{word}**"
        if stop > position and depth <= _MAX_DEPTH:
            self._line(line, start)
            self._inner(text, stop - 1 - len(body), stop - 1, depth)
            if not lazy_pattern(r"\s*\\(?:u|l)?[eE]ls").match(text, stop, end):
                self._line("**end**", stop)
            return stop
        self._level = max(0, self._level - 1)
        self._line(line, start)
        self._level += 1
        return position

    def _until(self, text: str, start: int, position: int, end: int) -> int:
        condition, position = _argument(text, position, end)
        self._level = max(0, self._level - 1)
        self._line(f"**until** {condition.strip()}", start)
        return position

    def _inner(self, text: str, start: int, end: int, depth: int) -> None:
        """Read the lines inside a block, one level deeper. start and end: the content of the block's
        group."""
        level = self._level
        self._level += 1
        self.flush()
        self.read(text, start, end, depth + 1)
        self.flush()
        self._level = level

    def _call(self, text: str, start: int, position: int, end: int) -> int:
        name, position = _argument(text, position, end)
        self._add(f"[{name.strip()}]{{.small-caps}}(", start)
        arguments, position = _argument(text, position, end)
        self._add(f"{arguments})", position)
        return position

    def _group(self, text: str, position: int, end: int, depth: int) -> int:
        """Read an argument after `position`, if there is one, into the current line. Return its end."""
        inner, after = _argument(text, position, end)
        if after > position and depth <= _MAX_DEPTH:
            self.read(text, after - 1 - len(inner), after - 1, depth + 1)
            self._is_whole = True
        return after

    def _add(self, text: str, offset: int) -> None:
        if self._is_whole and text.strip(" \t\n.,;"):
            self.flush()
        if not self._is_open and text.strip(" \t\n;"):
            self._begin(offset + len(text) - len(text.lstrip()))
        if self._is_open:
            self._pieces.append(text)

    def _begin(self, offset: int, *, is_numbered: bool = True) -> None:
        self.flush()
        self._offset, self._is_numbered, self._is_open = offset, is_numbered, True
        self._line_level, self._is_whole = self._level, False

    def _line(self, text: str, offset: int) -> None:
        """Start a line with this text. A comment or label after it still belongs to the line."""
        self._begin(offset)
        self._pieces.append(text)

    def flush(self) -> None:
        """End the current line, and add it to `lines` if it has text."""
        written, self._pieces, self._is_open = "".join(self._pieces), [], False
        label = _LABEL.search(written)
        text = " ".join(_LABEL.sub(" ", _WORD.sub(_bold, written)).split())
        if text and len(self.lines) < MAX_LINES:
            level = min(self._line_level, _MAX_LEVEL)
            name = label[1].strip() if label else ""
            self.lines.append(AlgorithmLine(text, level, self._offset, self._is_numbered, name))


def _bold(found: re.Match[str]) -> str:
    name = (found["name"] or "").casefold()
    return f"**{_WORDS[name]}**" if name in _WORDS else found[0]


def _argument(text: str, position: int, end: int) -> tuple[str, int]:
    """Return the content of the braces after `position`, and their end. Without braces, return an empty
    string and `position`."""
    start = position
    while start < end and text[start].isspace():
        start += 1
    if start >= end or text[start] != "{" or "\n\n" in text[position:start]:
        return "", position
    depth = 0
    for found in _BRACE.finditer(text, start, end):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return text[start + 1 : found.start()], found.end()
    return "", position
