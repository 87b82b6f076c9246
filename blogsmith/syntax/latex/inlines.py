r"""Writer of LaTeX commands inside lines as Markdown: fonts, links, references, footnotes, headings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ...base.patterns import lazy_pattern
from ...model.letters import IN_NAMES
from ..references.references import PREFIXES, label_kind
from . import commands as table
from .blocks import write_image
from .lines import Container, LineWriter
from .nodes import LatexNode, Problem
from .reader import LatexReader

_NOTE = lazy_pattern(r"\[\^(\d{1,6})\]")
_ID = lazy_pattern(rf"[^{IN_NAMES}.:-]+")
_ESCAPE = lazy_pattern(r"\\([_&%#{}$~^])(?:\{\})?")
_REFERENCE = lazy_pattern(r"\\ref\*?\{(?P<keys>[^{}]*)\}")
_BACKTICKS = lazy_pattern("`+")


class InlineWriter(LineWriter):
    """Writes commands inside lines as Markdown. A subclass writes blocks."""

    def __init__(self, reader: LatexReader, kinds: Collection[str]) -> None:
        super().__init__(reader.text)
        self._reader, self._kinds = reader, kinds
        self._keeps_indent, self._indent = False, 0
        """First: whether lines of the current environment keep their relative indentation. Second: number of
        characters of indentation to remove."""
        self._done: set[int] = set()
        """`id()` of each label node that is already written as the id of its element."""
        self._notes: list[tuple[int, LatexNode]] = []
        largest = max((int(number) for number in _NOTE.findall(self._text)), default=0)
        self._next_note = largest + 1
        self._items: Mapping[str, str] = {}
        """Label of a list item → number that a reference shows."""
        self._parts: Mapping[str, tuple[str, str]] = {}
        """Label of a part of a figure or table → label of the whole, and letter of the part."""

    def _write_flat(self, nodes: Sequence[LatexNode]) -> None:
        """Write nodes on the current line, with spaces instead of the line breaks in them."""
        before, self._is_flat = self._is_flat, True
        first = len(self._pieces or ())
        self._trims = True
        self.write(nodes)
        self._trims, self._is_flat = False, before
        self._strip_end(first)

    # Nodes.

    def write(self, nodes: Sequence[LatexNode]) -> None:
        """Write nodes as Markdown."""
        for index, node in enumerate(nodes):
            if id(node) in self._done:
                self._drop()
            elif node.kind == "text":
                self._copy(node.start, node.end, self._indent if self._keeps_indent else None)
            elif node.kind == "raw":
                self._write_raw(node)
            elif node.kind == "sign":
                self._put(node.text, node.start)
            elif node.kind == "comment":
                self._drop()
                if node.end and self._text[node.end - 1] == "\n":
                    self._swallows_line = False
            elif node.kind == "break":
                self._write_break(node)
            elif node.kind == "fence":
                self._write_fence(node)
            elif node.kind == "environment":
                self._write_environment(node)
            else:
                self._write_command(node, nodes[index + 1 : index + 3])

    def _write_raw(self, node: LatexNode) -> None:
        has_own = self._items or self._parts
        found = _REFERENCE.fullmatch(self._text, node.start, node.end) if has_own else None
        keys = [key.strip() for key in found["keys"].split(",")] if found else []
        if found and any(key in self._items or key in self._parts for key in keys):
            written = [
                self._item_link(key) or self._part_reference(key, "ref") or f"\\ref{{{key}}}" for key in keys
            ]
            self._put(", ".join(written), node.start)
            return
        margin = self._indent if self._keeps_indent else None
        if node.start == 0 or self._text[node.start - 1] == "\n":
            # The indentation of the first line is removed from all lines of the code.
            line = self._text[node.start : node.end].split("\n", 1)[0]
            margin = len(line) - len(line.lstrip())
        self._copy(node.start, node.end, margin)

    def _write_break(self, node: LatexNode) -> None:
        following = self._text[node.end : node.end + 2].replace("\t", " ")
        if self._is_flat:
            self._put(" ", node.start)
        elif self._pieces is None or not following.strip(" ") or following == "\n\n":
            self._drop()
        else:
            self._put("\\", node.start)
            if not following.startswith("\n"):
                self._newline(node.start)

    def _keep(self, node: LatexNode) -> None:
        """Copy an untranslated command or environment to the output, and report it."""
        written = self._text[node.start : node.end].split("\n")[0]
        shown = f"\\begin{{{node.name}}}" if node.kind == "environment" else written[: 1 + len(node.name)]
        if self._reader.reports:
            self._reader.problems.append(Problem(node.start, shown, node.name))
        self._copy(node.start, node.end)

    def _write_command(self, node: LatexNode, following: Sequence[LatexNode]) -> None:
        name = node.name
        if name in table.HEADINGS:
            self._write_heading(node, following)
        elif name in table.WRAPPERS:
            self._write_wrapper(node)
        elif name in table.LAYOUT or name in table.LENGTHS:
            self._drop()
        elif name in table.REFERENCES and node.argument:
            labels = self._text[slice(*node.argument)].split(",")
            references = ", ".join(
                self._item_link(label.strip(), "Item" if name[0].isupper() else "item")
                or self._part_reference(label.strip(), name)
                or self._reference(label.strip())
                for label in labels
                if label.strip()
            )
            self._put(references, node.start)
        elif write := _WRITERS.get("paragraph" if name in table.RUN_IN_HEADINGS else name):
            write(self, node)
        else:
            self._keep(node)

    def _write_heading(self, node: LatexNode, following: Sequence[LatexNode]) -> None:
        line = self._text.rfind("\n", 0, node.start) + 1
        stop = self._text.find("\n", node.end)
        rest = self._text[node.end : stop if stop >= 0 else None]
        is_alone = not self._text[line : node.start].strip() and rest.strip()[:6] in ("", "\\label")
        if not self._reader.reports and not is_alone:
            self._copy(node.start, node.end)
            return
        self._end_line(node.start)
        self._held = None
        self._put(f"{table.HEADINGS[node.name]} ", node.start)
        self._write_flat(node.children)
        label = self._label_after(following)
        if label:
            self._put(f" {{#{self._label_id(label)}}}", label.start)
        self._newline(node.start)
        self._drop()

    def _label_after(self, following: Sequence[LatexNode]) -> LatexNode | None:
        """Return the label directly after a heading or on the next line, and mark it as written; None if
        there is none. following: nodes after the heading."""
        for node in following:
            if node.kind == "command" and node.name == "label":
                self._done.add(id(node))
                return node
            between = self._text[node.start : node.end]
            if node.kind != "text" or between.strip() or between.count("\n") > 1:
                return None
        return None

    def _write_run_in(self, node: LatexNode) -> None:
        self._end_line(node.start)
        self._needs_gap = True
        self._held = None
        self._put("**", node.start)
        self._write_flat(node.children)
        self._put("**" if self._text[node.end : node.end + 1].isspace() else "** ", node.start)

    def _write_wrapper(self, node: LatexNode) -> None:
        start, end = node.argument or (node.start, node.start)
        content = self._text[start:end].strip()
        if not content:
            self._drop()
            return
        opening, closing = table.WRAPPERS[node.name]
        before = self._pieces[-1][0][-1:] if self._pieces else ""
        after = self._text[node.end : node.end + 1]
        is_beside = (before.isalnum() and not content[0].isalnum()) or (
            after.isalnum() and not content[-1].isalnum()
        )
        if is_beside and opening in table.TAGS:
            opening, closing = table.TAGS[opening]
        self._put(opening, node.start)
        self._trims = True
        self.write(node.children)
        self._trims = False
        self._strip_end()
        self._put(closing, end)

    def _write_code(self, node: LatexNode) -> None:
        start, end = node.argument or (node.start, node.start)
        source = " ".join(self._text[start:end].split("\n"))
        if not node.is_starred:
            if any(child.kind not in ("text", "sign") for child in node.children):
                self._put("<code>", node.start)
                self.write(node.children)
                self._put("</code>", end)
                return
            source = "".join(self._code_text(child) for child in node.children).strip()
        fence = "`" * (1 + longest_run(source))
        space = " " if "`" in (source[:1], source[-1:]) else ""
        self._put(f"{fence}{space}", node.start)
        self._put(source, start)
        self._put(f"{space}{fence}", end)

    def _code_text(self, node: LatexNode) -> str:
        written = self._text[node.start : node.end]
        if node.kind == "sign" and written[0] == "\\":
            return node.text.removeprefix("\\")
        return _ESCAPE.sub(r"\1", written.replace("~", " ").replace("\n", " "))

    def _url(self, node: LatexNode) -> str:
        return _ESCAPE.sub(r"\1", self._text[slice(*node.argument)].strip()) if node.argument else ""

    def _write_url(self, node: LatexNode) -> None:
        url = self._url(node)
        if ":" in url and not any(char.isspace() or char in "<>" for char in url):
            self._put(f"<{url}>", node.start)
        elif url and not any(char.isspace() or char in "<>()[]" for char in url):
            self._put(f"[{url}](https://{url})", node.start)
        else:
            self._keep(node)

    def _write_link(self, node: LatexNode) -> None:
        url = self._url(node)
        if node.name == "hyperref":
            url = f"#{self._normal_label(self._text[slice(*node.option)])}" if node.option else ""
        if not url or any(char.isspace() or char in "<>" for char in url):
            self._keep(node)
            return
        self._put("[", node.start)
        self.write(node.children)
        self._put(f"](<{url}>)" if any(char in "()" for char in url) else f"]({url})", node.end - 1)

    def _write_footnote(self, node: LatexNode) -> None:
        if not (node.argument and self._text[slice(*node.argument)].strip()):
            self._keep(node)
            return
        self._put(f"[^{self._next_note}]", node.start)
        self._notes.append((self._next_note, node))
        self._next_note += 1

    def _end_paragraph(self, offset: int) -> None:
        before, self._keeps_indent = self._keeps_indent, False
        while self._notes:
            # A note may contain another note, which is added to `_notes`.
            number, node = self._notes.pop(0)
            self._end_line(offset)
            self._needs_gap = True
            self._containers.append(Container(f"[^{number}]: ", "    "))
            self._trims = True
            self.write(node.children)
            self._end_line(node.end)
            self._containers.pop()
        self._keeps_indent = before

    def _write_image(self, node: LatexNode) -> None:
        self._put(write_image(self._text, node), node.start)

    def _write_ensured_math(self, node: LatexNode) -> None:
        start, end = node.argument or (node.start, node.start)
        self._put("$", node.start)
        self._copy(start, end)
        self._put("$", end)

    def _write_paragraph_end(self, node: LatexNode) -> None:
        self._end_line(node.start)
        self._needs_gap, self._trims = True, True

    def _write_environment(self, node: LatexNode) -> None:
        raise NotImplementedError

    def _write_fence(self, node: LatexNode) -> None:
        raise NotImplementedError

    # Labels.

    def _label(self, node: LatexNode) -> str:
        return self._text[slice(*node.argument)].strip() if node.argument else ""

    def _label_id(self, node: LatexNode) -> str:
        return self._normal_label(self._text[slice(*node.argument)]) if node.argument else ""

    @staticmethod
    def _normal_label(label: str) -> str:
        return _ID.sub("-", label.strip()).replace(":", "-", 1)

    def _reference(self, label: str) -> str:
        is_braced = label_kind(label.rpartition("#")[2], PREFIXES) or label_kind(label, self._kinds)
        return f"{{@{_ID.sub('-', label)}}}" if is_braced else f"[](#{self._normal_label(label)})"

    def _item_link(self, label: str, kind: str = "") -> str:
        """Return a link to a labelled list item; empty for other labels. kind: word before the number."""
        number = self._items.get(label)
        return f"{kind} [{number}](#{self._normal_label(label)})".lstrip() if number else ""

    def _part_reference(self, label: str, command: str) -> str:
        """Return a reference to a part of a figure or table; empty for other labels. command: name of the
        command that refers to it."""
        main, letter = self._parts.get(label, ("", ""))
        if not main:
            return ""
        if command == "subref":
            return f"[({letter})](#{self._normal_label(main)})"
        return (f"\\ref{{{main}}}" if command == "ref" else self._reference(main)) + letter

    def _take_label(self, nodes: Iterable[LatexNode]) -> str:
        """Return the id of the first label among the nodes that names no part of a figure, and mark it as
        written; empty if there is none."""
        for node in nodes:
            if node.kind == "command" and node.name == "label" and self._label(node) not in self._parts:
                self._done.add(id(node))
                return self._label_id(node)
        return ""


def longest_run(code: str) -> int:
    """Return the length of the longest run of backticks; 0 if there is none."""
    return max((len(run) for run in _BACKTICKS.findall(code)), default=0)


_WRITERS: Mapping[str, Callable[[InlineWriter, LatexNode], None]] = {
    "paragraph": InlineWriter._write_run_in,
    "texttt": InlineWriter._write_code,
    "url": InlineWriter._write_url,
    "href": InlineWriter._write_link,
    "hyperref": InlineWriter._write_link,
    "footnote": InlineWriter._write_footnote,
    "includegraphics": InlineWriter._write_image,
    "ensuremath": InlineWriter._write_ensured_math,
    "par": InlineWriter._write_paragraph_end,
    "newline": InlineWriter._write_break,
    "linebreak": InlineWriter._write_break,
}
