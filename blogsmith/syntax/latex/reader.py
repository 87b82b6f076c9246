r"""Reader of LaTeX in text, as a tree of commands with their arguments, and environments.

Formulas, code, HTML, shortcodes and URLs are recognised first and stay unchanged. All other text stays
Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cached_property

from ...base.patterns import lazy_pattern
from ..lookahead import code_span_end, occurs_after, run_length
from ..math.delimiters import ENVIRONMENTS, RejectedFormula, find_closing, find_formula
from . import commands as table
from .nodes import Frame, LatexNode, Problem, Span

_MOST_CHARACTERS = 4000
"""Maximum number of characters of an argument."""
_MAX_DEPTH = 40
_STOP = lazy_pattern(r"[\\`$<{~%]|\]\(|--|''|https?://")
_BLANK_LINE = lazy_pattern(r"\n[ \t>]*(?=\n|\Z)")
_PREFIX = r"(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*"
_FENCE = lazy_pattern(rf"{_PREFIX}(?P<signs>`{{3,}}(?=[^`\n]*(?:\n|\Z))|~{{3,}})[^\n]*")
_RULE_LINE = lazy_pattern(r"(?=[^\n]*-)[ \t>|:+=-]+(?=\n|\Z)")
_LIST_LINE = lazy_pattern(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_INDENTED = lazy_pattern(r"(?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n)+")
_LATEX_LINE = lazy_pattern(r"[ \t]*\\(?:begin\{|end\{|item\b)")
_COMMENT_LINE = lazy_pattern(r"[ \t]*%(?![}%])(?P<text>[^\n]*)(?:\n|\Z)")
_RAW_HTML = lazy_pattern(r"<(pre|script|style|textarea|title|svg|math|code)\b", re.IGNORECASE)
_TAG = lazy_pattern(r"</?[A-Za-z][^<>]{0,2000}>|<!--.*?(?:-->|\Z)", re.DOTALL)
_DESTINATION = lazy_pattern(r"\]\((?:<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)")
_URL = lazy_pattern(r"https?://[^\s<>{}\"]*")
_BRACED = lazy_pattern(r"\{[@#.:][^{}\n]*\}")
_BRACE_PAIRS = {"{%": "%}", "{{": "}}", "{=": "=}"}
_RAW_OPENING = lazy_pattern(r"\{%[ ]*raw[ ]*%\}")
_SWITCH = lazy_pattern(rf"\{{\\({'|'.join(table.SWITCHES)})(?![A-Za-z])[ \t]*")
_NATIVE = lazy_pattern(
    r"\\(?P<name>eqref|ref|[A-Za-z]*[cC]ite[a-z]*)\*?(?:\s*\[[^\[\]\n]*\]){0,2}\s*\{(?P<keys>[^{}\n]*)\}"
)
_TEX = lazy_pattern(r"\s*[A-Za-z\\({|]")
_NAME = lazy_pattern(r"\\([A-Za-z]+)(\*?)")
_BEGIN = lazy_pattern(r"\\(begin|end)\{([A-Za-z]+)(\*?)\}")
_VERB = lazy_pattern(r"\\(?:verb\*?|lstinline(?:\[[^\]\n]*\])?)(?P<sign>[^\w\s{*])(?P<code>[^\n]*?)(?P=sign)")
_BREAK = lazy_pattern(r"\\\\\*?(?:\[-?[\d.]+[ ]*[a-z]{2}\])?(?=[ \t\n]|\\[A-Za-z]|\Z)[ \t]*")
_GROUPS = r"(?:[^\[\]{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\[[^\[\]]*\])*"
_OPTION = lazy_pattern(rf"[ \t]*\[({_GROUPS})\]")
_BRACE = lazy_pattern(r"\\.|[{}]", re.DOTALL)
_STEPS = lazy_pattern(r"\\(?:begin\{algorithmic|;|Kw[A-Z]|S(?:tate|TATE)(?![a-z]))")
"""Matches commands in an `algorithm` that show that it is a list of steps instead of a statement in text."""
_LENGTH = lazy_pattern(
    r"\*?[ \t]*(?:\([a-z]*\))?(?:\{[^{}\n]*\}|-?\d*\.?\d+[ ]*(?:[a-z]{2}|\\[a-z]+))(?:\{[^{}\n]*\})?"
)
_TIED = lazy_pattern(r"~(?=\$|\\\(|\\(?:eq|auto|[cC]|v)?ref\b|\\[a-z]*cite|\{@|\[@)")
_QUOTATION = lazy_pattern(r"``(?=[^`\s][^`]{0,1000}?'')")
_CERTAIN_QUOTATION = lazy_pattern(r"``(?=[^`'\n\"\s][^`'\n\"]{0,300}'')")
_CERTAIN_ACCENT = lazy_pattern(r"\\[vHcukr]\{")
_CERTAIN_SYMBOLS = ("LaTeX", "TeX")


class LatexReader:
    """Reader of one text. kinds: names of callout kinds. is_certain: ignore LaTeX that may be Markdown."""

    def __init__(self, text: str, kinds: Container[str], *, is_certain: bool = False) -> None:
        self.text = text
        self.kinds = kinds
        self.reports = not is_certain
        self._is_careful = is_certain
        self.problems: list[Problem] = []
        self._paragraph_end = -1
        self._literal = -1
        self._quotations = 0
        self._in_list = False
        self._comments = (0, False)
        """Result of `_read_comments` for the last block of comment lines."""
        self._level = 0
        """Number of arguments and environments around the position. Inside them, text is certainly LaTeX."""

    @property
    def is_certain(self) -> bool:
        """Whether to read only LaTeX that cannot be Markdown at the current position."""
        return self._is_careful and not self._level

    def read(self) -> tuple[LatexNode, ...]:
        """Return the nodes of the whole text."""
        return self._nodes(0, len(self.text), is_block=True)

    def _nodes(self, start: int, end: int, *, is_block: bool = False) -> tuple[LatexNode, ...]:
        frames = [Frame(LatexNode("environment", start, end), [])]
        pos = copied = start
        while pos < end:
            if is_block and (pos == 0 or self.text[pos - 1] == "\n"):
                node = self._read_line(pos, end, is_inside=len(frames) > 1)
                if node is not None:
                    self._append(frames, node, copied)
                    pos = copied = node.end
                    continue
            stop = _STOP.search(self.text, pos, end)
            at = stop.start() if stop else end
            line = self.text.find("\n", pos, at) if is_block else -1
            if line >= 0:
                pos = line + 1
                continue
            if stop is None:
                break
            read = self._read_at(at, end)
            if isinstance(read, int):
                pos = max(read, at + 1)
                continue
            if read.kind == "environment" and read.text == "end":
                self._close(frames, read, copied)
            elif read.kind == "environment":
                self._append(frames, None, copied, read.start)
                frames.append(Frame(read, []))
                self._level += 1
            else:
                self._append(frames, read, copied)
            pos = copied = read.end
        self._append(frames, None, copied, end)
        while len(frames) > 1:
            self._unclosed(frames)
        return tuple(frames[0].children)

    def _append(self, frames: list[Frame], node: LatexNode | None, copied: int, end: int = -1) -> None:
        """Add to the innermost frame the text from `copied`, up to `node` or `end`, and then the node."""
        children = frames[-1].children
        until = node.start if node else end
        if copied < until:
            children.append(LatexNode("text", copied, until))
        if node is not None:
            children.append(node)

    def _close(self, frames: list[Frame], closing: LatexNode, copied: int) -> None:
        r"""Close the environment that an `\end` names; if none is open, write the `\end` as text."""
        key = (closing.name, closing.is_starred)
        if all((frame.node.name, frame.node.is_starred) != key for frame in frames[1:]):
            self._report(closing.start, self.text[closing.start : closing.end], closing.name)
            self._append(frames, LatexNode("text", closing.start, closing.end), copied)
            return
        self._append(frames, None, copied, closing.start)
        while (frames[-1].node.name, frames[-1].node.is_starred) != key:
            self._unclosed(frames)
        frame = frames.pop()
        self._level -= 1
        frame.node.children, frame.node.second = tuple(frame.children), (frame.node.end, closing.start)
        frame.node.end = closing.end
        frames[-1].children.append(frame.node)

    def _unclosed(self, frames: list[Frame]) -> None:
        r"""Remove the innermost frame, whose `\end` is missing. Its `\begin` becomes text."""
        frame = frames.pop()
        self._level -= 1
        written = f"\\begin{{{frame.node.name}{'*' * frame.node.is_starred}}}"
        self._report(frame.node.start, written, frame.node.name, is_missing=True)
        frames[-1].children += [LatexNode("text", frame.node.start, frame.node.end), *frame.children]

    def _report(self, start: int, written: str, name: str, *, is_missing: bool = False) -> None:
        if self.reports:
            self.problems.append(Problem(start, written, name, is_missing))

    # Lines that are not text.

    def _read_line(self, pos: int, end: int, *, is_inside: bool) -> LatexNode | None:
        text = self.text
        if found := _FENCE.match(text, pos, end):
            closing = re.compile(rf"^[ \t>]*{re.escape(found['signs'])}+[ \t]*$", re.MULTILINE)
            last = closing.search(text, found.end(), end)
            return LatexNode("raw", pos, last.end() if last else end)
        if found := _RULE_LINE.match(text, pos, end):
            return LatexNode("raw", pos, found.end())
        if found := _COMMENT_LINE.match(text, pos, end):
            return self._read_comment(found, pos, end)
        if is_inside:
            return None
        if _LIST_LINE.match(text, pos, end):
            self._in_list = True
        elif text[pos] not in " \t\n":
            self._in_list = self._in_list and not self._follows_blank(pos)
        is_code = text[pos] in " \t" and not self._in_list and self._follows_blank(pos)
        found = _INDENTED.match(text, pos, end) if is_code and not _LATEX_LINE.match(text, pos) else None
        return LatexNode("raw", pos, found.end()) if found and found[0].strip() else None

    def _follows_blank(self, pos: int) -> bool:
        before = self.text.rfind("\n", 0, max(0, pos - 1))
        return not self.text[before + 1 : pos].strip()

    def _read_comment(self, found: re.Match[str], pos: int, end: int) -> LatexNode | None:
        """Return the node of a comment line; None if the line may be Markdown."""
        note = found["text"].strip("% \t")
        if pos >= self._comments[0]:
            self._comments = self._read_comments(pos, end)
        is_apart = self._comments[1]
        is_printable = "--" not in note and ">" not in note and bool(note)
        if self.is_certain and not (is_apart and is_printable and found["text"][:1].isspace()):
            return None
        if is_apart and is_printable and not self._level:
            return LatexNode("sign", pos, found.end() - found[0].endswith("\n"), text=f"<!-- {note} -->")
        return LatexNode("comment", pos, found.end())

    def _read_comments(self, pos: int, end: int) -> tuple[int, bool]:
        """Return the end of the comment lines at `pos`, and whether blank lines surround these lines."""
        last = pos
        while last < end and (found := _COMMENT_LINE.match(self.text, last, end)):
            last = found.end()
        stop = self.text.find("\n", last, end)
        return last, self._follows_blank(pos) and not self.text[last : stop if stop >= 0 else end].strip()

    # Constructs inside lines.

    def _paragraph(self, pos: int, end: int) -> int:
        """Return the end of the paragraph that contains `pos`, but at most `end`."""
        if pos >= self._paragraph_end:
            found = _BLANK_LINE.search(self.text, pos)
            self._paragraph_end = found.start() if found else len(self.text)
        return min(end, max(pos, self._paragraph_end))

    def _read_at(self, pos: int, end: int) -> LatexNode | int:
        """Return the node at `pos`; if there is only text, return the offset where reading continues."""
        text, char = self.text, self.text[pos]
        if char in "$\\" and (node := self._read_formula(pos, end)):
            return node
        if char == "\\":
            return self._read_backslash(pos, end)
        if char == "`":
            return self._read_code(pos, end)
        if char == "{":
            return self._read_brace(pos, end)
        if char == "~":
            return self._read_tie(pos, end)
        if char == "%":
            return self._read_percent(pos, end)
        if char == "-":
            return self._read_dash(pos, end)
        if char == "'":
            self._quotations = max(0, self._quotations) - 1
            return LatexNode("sign", pos, pos + 2, text="”") if self._quotations >= 0 else pos + 2
        if char == "<":
            return self._read_html(pos, end)
        pattern = _DESTINATION if char == "]" else _URL if char == "h" else None
        found = pattern.match(text, pos, end) if pattern else None
        return LatexNode("raw", pos, found.end()) if found else pos + 1

    def _read_formula(self, pos: int, end: int) -> LatexNode | None:
        text = self.text
        if pos == self._literal:
            return None
        line = text.rfind("\n", 0, pos) + 1
        is_block = text.startswith(("$$", "\\[", "\\begin{"), pos) and not text[line:pos].strip(" \t>-*+")
        found = find_formula(text, pos, end if is_block else self._paragraph(pos, end))
        if isinstance(found, RejectedFormula):
            self._literal = found.end - 1
            return None
        if found is None and not self.is_certain and text[pos] == "$":
            return self._read_spaced_formula(pos, end)
        return LatexNode("raw", pos, found.end) if found else None

    def _read_spaced_formula(self, pos: int, end: int) -> LatexNode | None:
        """Return a formula with spaces inside its dollar signs; None for dollar signs in text."""
        limit = self._paragraph(pos, end)
        last = find_closing(self.text, pos + 1, limit, "$")
        written = self.text[pos + 1 : last] if last > 0 else ""
        if not _TEX.match(written):
            return None
        start = pos + 1 + len(written) - len(written.lstrip())
        return LatexNode(
            "command", pos, last + 1, "ensuremath", argument=(start, start + len(written.strip()))
        )

    def _read_code(self, pos: int, end: int) -> LatexNode | int:
        text, limit = self.text, self._paragraph(pos, end)
        pattern = _CERTAIN_QUOTATION if self.is_certain else _QUOTATION
        if run_length(text, pos, end) == 2 and pattern.match(text, pos, limit):
            self._quotations += 1
            return LatexNode("sign", pos, pos + 2, text="“")
        after = code_span_end(text, pos, limit)
        return LatexNode("raw", pos, after) if after > pos else pos + run_length(text, pos, end)

    def _read_html(self, pos: int, end: int) -> LatexNode | int:
        if found := _RAW_HTML.match(self.text, pos, end):
            closing = self.text.find(f"</{found[1]}", pos, end)
            return LatexNode("raw", pos, closing) if closing > pos else found.end()
        found = _TAG.match(self.text, pos, end)
        return LatexNode("raw", pos, found.end()) if found else pos + 1

    def _read_brace(self, pos: int, end: int) -> LatexNode | int:
        """Return the node of a group or shortcode in braces; for any other brace, the next offset."""
        limit = self._paragraph(pos, end)
        if found := _BRACED.match(self.text, pos, end):
            return LatexNode("raw", pos, found.end())
        closing = (
            "endraw" if _RAW_OPENING.match(self.text, pos) else _BRACE_PAIRS.get(self.text[pos : pos + 2])
        )
        if (
            closing
            and occurs_after(self.text, closing, pos)
            and (at := self.text.find(closing, pos, end)) >= 0
        ):
            return LatexNode("raw", pos, at + len(closing))
        switch = None if self.is_certain else _SWITCH.match(self.text, pos, limit)
        if switch is None and not self._level:
            accent = None if self.is_certain else table.ACCENT.match(self.text, pos + 1, limit)
            if accent is None or not self.text.startswith("}", accent.end()):
                return pos + 1
        last = self._closing_brace(pos, limit)
        if last < 0:
            return pos + 1
        inside = (switch.end() if switch else pos + 1, last)
        name = table.SWITCHES[switch[1]] if switch else "textrm"
        return LatexNode("command", pos, last + 1, name, argument=inside, children=self.read_span(inside))

    def _read_tie(self, pos: int, end: int) -> LatexNode | int:
        if run_length(self.text, pos, end) > 1:
            return pos + run_length(self.text, pos, end)
        before, after = self.text[pos - 1 : pos], self.text[pos + 1 : pos + 2]
        is_tie = not before.isspace() and bool(before and after) and not after.isspace()
        if self.is_certain:
            is_tie = (before.isalnum() or before in tuple(".)_")) and bool(_TIED.match(self.text, pos, end))
        return LatexNode("sign", pos, pos + 1, text="&nbsp;") if is_tie else pos + 1

    def _read_percent(self, pos: int, end: int) -> LatexNode | int:
        text = self.text
        line_end = text.find("\n", pos, end)
        line_end = end if line_end < 0 else line_end
        before, after = text[max(0, pos - 2) : pos], text[pos + 1 : pos + 2]
        is_comment = before[-1:].isspace() and not before[:1].isdigit() and (not after or after.isspace())
        is_joint = before[-1:] in tuple("{}") and pos + 1 == line_end
        if self.is_certain or not (is_comment or is_joint):
            return pos + 1
        return LatexNode("comment", pos, line_end)

    def _read_dash(self, pos: int, end: int) -> LatexNode | int:
        text, run = self.text, run_length(self.text, pos, end)
        before, after = text[pos - 1 : pos], text[pos + run : pos + run + 1]
        # In text such as `--fix`, two hyphens start the option of a program.
        is_option = run == 2 and (not before or before.isspace() or before in "([`") and after.isalnum()
        if self.is_certain or run > 3 or is_option or (run == 2 and not before):
            return pos + run
        return LatexNode("sign", pos, pos + run, text="–—"[run - 2])

    def _read_backslash(self, pos: int, end: int) -> LatexNode | int:
        text = self.text
        if found := _BEGIN.match(text, pos, end):
            return self._read_environment(found, end)
        if found := _NATIVE.match(text, pos, end):
            labels = [label.strip() for label in found["keys"].split(",")]
            if found["name"] == "eqref" and len(labels) > 1:
                listed = ", ".join(f"\\eqref{{{label}}}" for label in labels if label)
                return LatexNode("sign", pos, found.end(), text=listed)
            return LatexNode("raw", pos, found.end())
        if (found := _VERB.match(text, pos, end)) and not self.is_certain:
            return LatexNode(
                "command", pos, found.end(), "texttt", argument=found.span("code"), is_starred=True
            )
        if text.startswith("\\\\", pos):
            found = None if self.is_certain else _BREAK.match(text, pos, end)
            return LatexNode("break", pos, found.end()) if found else pos + 2
        is_accent = not self.is_certain or bool(_CERTAIN_ACCENT.match(text, pos))
        if is_accent and (found := table.ACCENT.match(text, pos, end)):
            return LatexNode("sign", pos, found.end(), text=table.compose(found))
        name = _NAME.match(text, pos, end)
        if name is None:
            return self._read_escape(pos)
        return self._read_command(name, end)

    def _read_escape(self, pos: int) -> LatexNode | int:
        r"""Read the escapes `\,`, `\ `, and inside words `\-`, `\/`, `\@`; others remain Markdown."""
        before, after = self.text[pos - 1 : pos], self.text[pos + 2 : pos + 3]
        text = {",": "\u202f", " ": " "}.get(self.text[pos + 1 : pos + 2])
        if text is None and self.text[pos + 1 : pos + 2] in tuple("-/@") and before.isalpha():
            text = "" if after.isalpha() or after == "." else None
        return pos + 2 if self.is_certain or text is None else LatexNode("sign", pos, pos + 2, text=text)

    def _read_command(self, found: re.Match[str], end: int) -> LatexNode | int:
        name, pos, after = found[1], found.start(), found.end()
        if name in table.FORMULAS and (last := self._groups_end(found.end(1), end)) > found.end(1):
            return LatexNode("command", pos, last, "ensuremath", argument=(pos, last))
        symbol = table.symbol_text(name) if name not in table.COMMANDS else None
        if symbol is not None and (not self.is_certain or name in _CERTAIN_SYMBOLS):
            after = found.end(1)
            after += 2 * self.text.startswith("{}", after)
            return LatexNode("sign", pos, after, text=symbol)
        if name not in table.COMMANDS or (self.is_certain and name in (*table.SWITCHES, "par", "text")):
            self._report(pos, f"\\{name}", name)
            return LatexNode("raw", pos, self._groups_end(found.end(1), end))
        node = LatexNode("command", pos, after, name, is_starred=bool(found[2]))
        if name in table.LAYOUT or name in ("par", "newline", "linebreak"):
            node.end += 2 * self.text.startswith("{}", after)
            return node
        if name in table.LENGTHS:
            length = _LENGTH.match(self.text, found.end(1), end)
            node.end = length.end() if length else after
            return node
        if not self._read_arguments(node, end):
            self._report(pos, f"\\{name}", name)
            return after
        return node

    def _groups_end(self, pos: int, end: int) -> int:
        """Return the end of all options and arguments from `pos` on, for an unknown command."""
        limit = self._paragraph(pos, end)
        while pos < limit and self.text[pos] in "[{":
            option = _OPTION.match(self.text, pos, min(limit, pos + _MOST_CHARACTERS))
            closing = option.end() - 1 if option else self._closing_brace(pos, limit)
            if closing < 0:
                break
            pos = closing + 1
        return pos

    def _read_arguments(self, node: LatexNode, end: int) -> bool:
        """Read the option and arguments of a command into its node. Return whether all are present."""
        limit = self._paragraph(node.end, end)
        if option := _OPTION.match(self.text, node.end, min(limit, node.end + _MOST_CHARACTERS)):
            node.option, node.end = option.span(1), option.end()
        if node.name == "item":
            node.title = self.read_span(node.option) if node.option else ()
            return True
        for number in range(2 if node.name == "href" else 1):
            start = node.end
            while start < limit and self.text[start] in " \t":
                start += 1
            closing = self._closing_brace(start, limit)
            if closing < 0:
                return False
            if number:
                node.second = (start + 1, closing)
            else:
                node.argument = (start + 1, closing)
            node.end = closing + 1
        inside = node.second or node.argument
        if node.name not in ("url", "label", "includegraphics", "ensuremath") and inside:
            node.children = self.read_span(inside)
        return True

    def read_span(self, span: Span) -> tuple[LatexNode, ...]:
        """Return the nodes of an argument. span: start and end of its content."""
        if self._level >= _MAX_DEPTH:
            return (LatexNode("text", *span),)
        self._level += 1
        nodes = self._nodes(*span)
        self._level -= 1
        return nodes

    def _closing_brace(self, pos: int, end: int) -> int:
        """Return the offset of the brace that closes the brace at `pos`; -1 if there is none before `end`."""
        closing = self._closing_braces.get(pos, -1) if pos < end else -1
        return closing if closing < min(end, pos + _MOST_CHARACTERS) else -1

    @cached_property
    def _closing_braces(self) -> dict[int, int]:
        """Offset of each opening brace → offset of its closing brace."""
        opened, pairs = list[int](), dict[int, int]()
        for found in _BRACE.finditer(self.text):
            if found[0] == "{":
                opened.append(found.start())
            elif found[0] == "}" and opened:
                pairs[opened.pop()] = found.start()
        return pairs

    def _read_environment(self, found: re.Match[str], end: int) -> LatexNode | int:
        r"""Read the `\begin` or `\end` in `found`. Return the node of an `\end`, of a `\begin` before prose,
        or of a whole environment; for a formula, and if it never ends, the index after the `\begin`."""
        pos, name, star = found.start(), found[2], found[3]
        if found[1] == "end":
            return LatexNode("environment", pos, found.end(), name, is_starred=bool(star), text="end")
        node = LatexNode("environment", pos, found.end(), name, is_starred=bool(star))
        ending = f"\\end{{{name}{star}}}"
        is_closed = occurs_after(self.text, ending, pos) and self._level < _MAX_DEPTH
        if name in ENVIRONMENTS or not is_closed:
            self._report(pos, found[0], name, is_missing=True)
            return found.end()
        last = self.text.find(ending, pos, end)
        has_steps = name in table.ALGORITHMS and _STEPS.search(self.text, pos, max(pos, last))
        if not has_steps and (name in table.WITH_TEXT or table.callout_kind(name, self.kinds)):
            self._read_opening(node, end)
            return node
        if last < 0:
            return found.end()
        if has_steps or name in table.CODE_ENVIRONMENTS or (name in table.DRAWINGS and self.reports):
            self._read_opening(node, last)
            node.kind, node.second, node.end = "fence", (node.end, last), last + len(ending)
            return node
        if name != "comment":
            self._report(pos, found[0], name)
        return LatexNode("comment" if name == "comment" else "raw", pos, last + len(ending))

    def _read_opening(self, node: LatexNode, end: int) -> None:
        """Read the option and argument of an environment into its node."""
        if node.name in table.WITH_ARGUMENT and self.text.startswith("{", node.end):
            closing = self._closing_brace(node.end, end)
            if closing > 0:
                node.argument, node.end = (node.end + 1, closing), closing + 1
        if option := _OPTION.match(self.text, node.end, min(end, node.end + _MOST_CHARACTERS)):
            node.option, node.end = option.span(1), option.end()
            node.title = self.read_span(node.option) if table.callout_kind(node.name, self.kinds) else ()
        if node.name in table.WITH_ARGUMENT and node.argument is None:
            closing = self._closing_brace(node.end, end)
            if closing > 0:
                node.argument, node.end = (node.end + 1, closing), closing + 1
