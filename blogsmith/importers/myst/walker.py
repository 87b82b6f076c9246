"""Translation of the lines of a page: directives, display math, targets, comments, and nested blocks.

`page` defines which function translates which directive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...api.importing import collapse_path, lazy_pattern
from ..model import Notice, NoticeKind
from ..text.containers import dedent, fence_lines, import_comment, indent, quote_lines, trim_blank_lines
from .directives import LINE as ATTRIBUTE_LINE
from .directives import Directive, read_attributes, read_directive
from .references import BookLabel, BookLabels, LabelKind, fit_id

_FENCE = lazy_pattern(r"([ \t]*)(`{3,}|~{3,}|:{3,})[ \t]*(.*)")
_TARGET = lazy_pattern(r"[ \t]*\(([^()\s][^()]*)\)=[ \t]*")
_BREAK = lazy_pattern(r"\+\+\+.*")
_COMMENT = lazy_pattern(r"%(?!%).*")
_HEADING = lazy_pattern(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_ITEM = lazy_pattern(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
_UNDERLINE = lazy_pattern(r" {0,3}(?:={3,}|-{3,})[ \t]*")
_TEXT_LINE = lazy_pattern(r" {0,3}(?![-*+>#|`:]|\d+[.)]\s)\S")
_INLINE_ID = lazy_pattern(r"[\])`]\{[^{}$]*#([\w:.-]+)[^{}$]*\}")
_ID = lazy_pattern(r"\s*\{#([\w:.-]+)[^}]*\}\s*$")
_DISPLAY = lazy_pattern(r"([ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)\$\$")
_DISPLAY_END = lazy_pattern(r"\$\$[ \t]*(?:\(([^()\s][^()]*)\))?[ \t]*(.*)")
_BEGIN = lazy_pattern(r"([ \t]*)\\begin\{(equation|multline|gather|align|alignat|flalign|eqnarray)(\*?)\}")
_TEX_LABEL = lazy_pattern(r"\\label\s*\{([^{}]+)\}")
_QUOTE = lazy_pattern(r" {0,3}> ?")
_FIELD = lazy_pattern(r":([A-Za-z][\w -]*):(?:[ \t]+(.*))?")


@dataclass(slots=True)
class BookState:
    """Shared state of a book's pages during translation."""

    is_sphinx: bool
    """Whether text after the name of an admonition starts the body, as in Sphinx. Otherwise the text is the
    title."""
    labels: BookLabels
    read: Callable[[str], str | None]
    """Function that returns the content of a file; None if it cannot be read. The path is relative to the
    root of the source."""
    folder: str = ""
    """Folder of the book in its repository. Paths that start with `/` are relative to it."""
    kinds: set[str] = field(default_factory=set)
    """Kinds of callouts that the settings of the new site must define."""


Translate = Callable[["BlockTranslator", Directive], list[str]]


@dataclass(slots=True)
class BlockTranslator:
    """State of the translation of one page."""

    source: str
    """File of the page, relative to the root of the source."""
    book: BookState
    registry: Mapping[str, Translate]
    notices: list[Notice] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    """Labels before the current line that apply to the next element."""
    included: tuple[str, ...] = ()
    """Files that are being included, outermost first."""
    has_bibliography: bool = False
    lists_pages: bool = False
    """Whether the page contains the table of contents of the book."""
    depth: int = 0
    """Number of directives that contain the current line."""
    keeps_title: bool = False
    """Whether the first heading is not the page's title and therefore stays in the text."""
    title: str = ""
    """Text of the first heading, which is removed from the text."""
    lists_below: bool = False
    """Whether the page contains a `{toctree}` that is not hidden."""
    inclusions: list[str] = field(default_factory=list)
    """Files that the page included."""
    lazy_end: int = 0
    """Index of the line after display math that was indented to stay in its list item; 0 if none."""
    lazy_margin: str = ""
    unlabelled_count: int = 0
    """Number of theorems without a label so far."""

    def notice(
        self, kind: NoticeKind, message: str, line: int, *, hint: str = "", removed: Sequence[str] = ()
    ) -> None:
        """Add a notice about this page. removed: lines that the translation removes."""
        self.notices.append(Notice(kind, message, self.source, line, hint, "\n".join(removed)))

    def add_label(self, kind: LabelKind, name: str, title: str = "") -> str:
        """Register the name and all pending labels for one element. Return the element's id; empty if it has
        no label."""
        names = [each for each in (name, *self.pending) if each]
        self.pending = []
        if not names:
            return ""
        identifier = fit_id(kind, names[0])
        for each in names:
            self.book.labels.add(each, BookLabel(kind, identifier, self.source, title))
        return identifier

    def anchor(self) -> list[str]:
        """Return an anchor with the pending labels, for an element that cannot have an id; empty if there are
        none."""
        identifier = self.add_label("anchor", "")
        return [f'<span id="{identifier}"></span>', ""] if identifier else []

    def resolve(self, path: str) -> str:
        """Resolve a path in the page. Return the path relative to the root of the source."""
        folder = self.book.folder if path.startswith("/") else self.source.rpartition("/")[0]
        return collapse_path(f"{folder}/{path}").as_posix()

    def leave(self, directive: Directive, message: str, hint: str = "") -> list[str]:
        """Return the source of a directive as a code block, after a comment with the message. Add a
        notice."""
        self.notice("left", message, directive.line, hint=hint, removed=directive.raw)
        return [import_comment(message), "", *fence_lines("text", directive.raw)]

    def walk_nested(self, lines: Sequence[str], line: int) -> list[str]:
        """Translate lines inside a directive. line: number of the first line in the file."""
        self.depth += 1
        out = self.walk(lines, line) if self.depth < 40 else list(lines)
        self.depth -= 1
        return trim_blank_lines(out)

    def walk(self, lines: Sequence[str], first: int) -> list[str]:
        """Translate lines. first: number of the first line in the file."""
        out: list[str] = []
        index = 0
        while index < len(lines):
            used, made = self._step(lines, index, first)
            is_double = bool(made) and not made[0].strip() and (not out or not out[-1].strip())
            out.extend(made[1:] if is_double else made)
            index += used
        return out

    def _step(self, lines: Sequence[str], index: int, first: int) -> tuple[int, list[str]]:
        """Translate the block at `index`. Return the number of lines read, and the new lines."""
        line = lines[index]
        if found := _FENCE.fullmatch(line):
            return self._fence(lines, index, first, found)
        if _DISPLAY.match(line):
            return self._display(lines, index)
        if found := _BEGIN.match(line):
            return self._environment(lines, index, found)
        if line.lstrip().startswith("<!--"):
            end = _find_line(lines, index, "-->")
            return end - index + 1, list(lines[index : end + 1])
        if found := _TARGET.fullmatch(line):
            self.pending.append(found[1].strip())
            return 1, []
        if found := ATTRIBUTE_LINE.fullmatch(line):
            return 1, self._attributes(found[1], first + index)
        if _BREAK.fullmatch(line):
            return 1, [""]
        if _COMMENT.fullmatch(line):
            return _comment(lines, index)
        if _QUOTE.match(line):
            return self._quote(lines, index, first)
        if found := _HEADING.fullmatch(line):
            return 1, self._heading(found)
        if found := _match_underlined_heading(lines, index):
            return 2, self._heading(found)
        return self._text(lines, index)

    def _attributes(self, text: str, line: int) -> list[str]:
        """Add the id in an attribute list to the pending labels. Other attributes are not supported."""
        found = read_attributes(text)
        if found.identifier:
            self.pending.append(found.identifier)
        if found.classes or found.pairs:
            message = f'attributes of a block have no effect in blogsmith: "{{{text.strip()}}}"'
            self.notice("dropped", message, line, removed=[f"{{{text}}}"])
        return []

    def _text(self, lines: Sequence[str], index: int) -> tuple[int, list[str]]:
        line = lines[index]
        if not line.strip():
            return 1, [line]
        is_start = index == 0 or not lines[index - 1].strip()
        if is_start and _FIELD.fullmatch(line) and not self.depth:
            return _fields(lines, index)
        for name in _INLINE_ID.findall(line):
            self.book.labels.add(name, BookLabel("anchor", name, self.source, name))
        return 1, [*(self.anchor() if self.pending else ()), line]

    def _heading(self, found: re.Match[str]) -> list[str]:
        own = _ID.search(found[2])
        text = found[2][: own.start()] if own else found[2]
        if len(found[1]) == 1 and not self.title and not self.keeps_title and not self.depth:
            self.title = text
            self.add_label("page", own[1] if own else "", text)
            return []
        label = self.add_label("sec", own[1] if own else "", text)
        return [f"{found[1]} {text}{f' {{#{label}}}' if label else ''}"]

    def _quote(self, lines: Sequence[str], index: int, first: int) -> tuple[int, list[str]]:
        end = index
        while end < len(lines) and _QUOTE.match(lines[end]):
            end += 1
        inner = [_QUOTE.sub("", line, count=1) for line in lines[index:end]]
        return end - index, [*self.anchor(), *quote_lines(self.walk_nested(inner, first + index))]

    def _fence(
        self, lines: Sequence[str], index: int, first: int, found: re.Match[str]
    ) -> tuple[int, list[str]]:
        margin, marks, info = len(found[1].expandtabs(4)), found[2], found[3]
        if marks[0] == "`" and "`" in info:
            return 1, [lines[index]]
        end = _fence_end(lines, index, marks)
        raw = dedent(lines[index : end + 1], margin)
        inner = dedent(lines[index + 1 : end], margin)
        directive = read_directive(info, inner, raw, first + index)
        if directive and directive.name.endswith("-start"):
            directive, end = _read_gated_directive(directive, lines, end, margin)
        if directive:
            made = self.translate(directive)
            return end - index + 1, _as_block(indent(made, " " * margin)) if made else [""]
        if marks[0] == ":" and not info.startswith("{.") and info:
            self.notice("changed", f'container ":::{info}" is replaced by its content', first + index)
        if marks[0] == ":":
            return end - index + 1, _as_block(
                indent(self.walk_nested(inner, first + index + 1), " " * margin)
            )
        if end == len(lines):
            self.notice("mistake", f'unclosed fence "{marks}{info}"', first + index)
        # in blogsmith, a closing fence that is indented too far closes nothing
        made = [*lines[index:end], " " * margin + marks]
        return end - index + 1, [*indent(self.anchor(), " " * margin), *made]

    def translate(self, directive: Directive) -> list[str]:
        """Translate a directive."""
        if translate := self.registry.get(directive.name):
            return translate(self, directive)
        message = f'unknown directive "{{{directive.name}}}"'
        return [*self.anchor(), *self.leave(directive, message)]

    def _display(self, lines: Sequence[str], index: int) -> tuple[int, list[str]]:
        """Translate display math from `$$` to `$$`, and the label after it. Return the number of lines read,
        and the new lines."""
        opener = _DISPLAY.match(lines[index])
        assert opener
        column, end = opener.end(), index
        while (position := lines[end].find("$$", column)) < 0:
            end, column = end + 1, 0
            if end == len(lines):
                return 1, [lines[index]]
        tail = _DISPLAY_END.match(lines[end], position)
        if not tail or (tail[2] and not tail[1]):
            return end - index + 1, list(lines[index : end + 1])
        body = [*lines[index:end], lines[end][: position + 2]]
        label = self.add_label("eq", tail[1] or "")
        self.add_tex_labels("\n".join(body))
        margin = self._lazy_margin(lines, index)
        self.lazy_end, self.lazy_margin = (end + 1, margin) if margin else (0, "")
        body[-1] += f" {{#{label}}}" if label and not _TEX_LABEL.search("\n".join(body)) else ""
        return end - index + 1, indent([*body, *([tail[2]] if tail[2] else [])], margin)

    def _lazy_margin(self, lines: Sequence[str], index: int) -> str:
        """Return the indentation that keeps display math in the list item before it; empty outside a list
        item."""
        if index == self.lazy_end and self.lazy_margin:
            return self.lazy_margin
        item = _ITEM.match(lines[index - 1]) if index else None
        return " " * len(item[0]) if item and lines[index].startswith("$$") else ""

    def _environment(self, lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
        end = _find_line(lines, index, f"\\end{{{found[2]}{found[3]}}}")
        self.add_tex_labels("\n".join(lines[index : end + 1]))
        return end - index + 1, [*self.anchor(), *lines[index : end + 1]]

    def add_tex_labels(self, tex: str) -> None:
        r"""Register the name in every `\label` of a formula as a pending label."""
        for name in _TEX_LABEL.findall(tex):
            self.book.labels.add(name, BookLabel("eq", name.strip(), self.source))


def _match_underlined_heading(lines: Sequence[str], index: int) -> re.Match[str] | None:
    """Return a match of an underlined heading at `index`, rewritten with `#`; None if no underlined heading
    starts there."""
    below = lines[index + 1] if index + 1 < len(lines) else ""
    is_alone = index == 0 or not lines[index - 1].strip()
    if not is_alone or not _TEXT_LINE.match(lines[index]) or not _UNDERLINE.fullmatch(below):
        return None
    return _HEADING.fullmatch(f"{'#' if below.strip().startswith('=') else '##'} {lines[index].strip()}")


def _as_block(lines: list[str]) -> list[str]:
    return ["", *lines, ""]


def _fence_end(lines: Sequence[str], index: int, marks: str) -> int:
    """Return the index of the line that closes the fence at `index`; the number of lines if no line closes
    it."""
    for end in range(index + 1, len(lines)):
        text = lines[end].strip()
        if text.startswith(marks) and not text.strip(marks[0]):
            return end
    return len(lines)


def _read_gated_directive(
    directive: Directive, lines: Sequence[str], end: int, margin: int
) -> tuple[Directive, int]:
    """Extend a directive `{name-start}` by the lines before its `{name-end}`. Return the directive, and the
    index of its last line. If there is no `{name-end}`, return the directive and `end`. end: index of the
    last line of the start fence."""
    name = directive.name.removesuffix("-start")
    closing = re.compile(rf"[ \t]*(?:`{{3,}}|~{{3,}}|:{{3,}})[ \t]*\{{{re.escape(name)}-end\}}.*")
    for last in range(end + 1, len(lines)):
        if found := _FENCE.match(lines[last]) if closing.fullmatch(lines[last]) else None:
            body = dedent(lines[end + 1 : last], margin)
            whole = Directive(
                name=name,
                argument=directive.argument,
                options=directive.options,
                body=[*directive.body, *body],
                line=directive.line,
                body_line=directive.line + len(directive.raw),
                raw=[*directive.raw, *body],
            )
            return whole, _fence_end(lines, last, found[2])
    return Directive(name, directive.argument, directive.options, directive.body, directive.line), end


def _find_line(lines: Sequence[str], index: int, text: str) -> int:
    """Return the index of the first line at or after `index` that contains `text`. If no line contains it,
    return the index of the last line."""
    return next((n for n in range(index, len(lines)) if text in lines[n]), len(lines) - 1)


def _comment(lines: Sequence[str], index: int) -> tuple[int, list[str]]:
    end = index
    while end < len(lines) and _COMMENT.fullmatch(lines[end]):
        end += 1
    text = "\n".join(line[1:].strip() for line in lines[index:end]).replace("--", "‐‐").strip()
    return end - index, ["", *f"<!-- {text} -->".split("\n"), ""] if text else [""]


def _fields(lines: Sequence[str], index: int) -> tuple[int, list[str]]:
    out: list[str] = []
    end = index
    while end < len(lines) and (found := _FIELD.fullmatch(lines[end])):
        end += 1
        body = [found[2] or ""]
        while end < len(lines) and lines[end].startswith((" ", "\t")) and lines[end].strip():
            body.append(lines[end].strip())
            end += 1
        out += [found[1], f": {' '.join(filter(None, body))}", ""]
    return end - index, out
