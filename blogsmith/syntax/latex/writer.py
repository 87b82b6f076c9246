"""Writer of LaTeX in text as Markdown. Each line has the position of its parts in the source.

A page with the setting `markup.latex` is parsed from the result of `translate`. `check --fix` writes lines of
this result into the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from ...base.patterns import lazy_pattern
from . import commands as table
from .algorithms import read_algorithm_parts
from .blocks import (
    ItemLabel,
    TableLayout,
    first_number,
    list_label,
    number_items,
    number_parts,
    read_listing,
    read_table,
    write_image,
    write_images,
)
from .inlines import InlineWriter, longest_run
from .lines import TranslatedLine
from .nodes import LatexNode, Problem
from .reader import LatexReader


class LatexTranslation(Struct, frozen=True):
    """The Markdown of a text with LaTeX."""

    lines: tuple[TranslatedLine, ...]
    problems: tuple[Problem, ...]
    together: frozenset[int]
    """0-based lines of the source that contain an environment or command of several lines. Such lines can
    only be replaced all together."""

    @property
    def text(self) -> str:
        """The whole text as Markdown."""
        return "\n".join(line.text for line in self.lines)


_IDS = lazy_pattern(r"\{#([\w:.-]+)")
_PLAIN = lazy_pattern(r"[$*`\\{}]|&nbsp;")
_MARKDOWN_LIST = lazy_pattern(r"\n[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def translate(
    text: str, kinds: Collection[str], numbered: Collection[str] = (), *, is_certain: bool = False
) -> LatexTranslation:
    """Translate LaTeX in a text to Markdown.

    kinds: names of callout kinds. numbered: names of numbered kinds, which get an id even without a label.
    is_certain: whether to translate only LaTeX that cannot be Markdown.
    """
    reader = LatexReader(text, kinds, is_certain=is_certain)
    nodes = reader.read()
    writer = _Writer(reader, kinds, numbered)
    writer.number_items(nodes)
    writer.write(nodes)
    together = set[int]()
    for node in nodes:
        if node.kind not in ("text", "raw") and "\n" in text[node.start : node.end]:
            together.update(range(writer.line_of(node.start), writer.line_of(node.end) + 1))
    problems = tuple(sorted(reader.problems, key=lambda found: found.start))
    return LatexTranslation(writer.finish(), problems, frozenset(together))


class _Writer(InlineWriter):
    def __init__(self, reader: LatexReader, kinds: Collection[str], numbered: Collection[str]) -> None:
        super().__init__(reader, kinds)
        self._numbered = numbered
        self._list_end, self._uses_other_marks = -1, False
        self._list_level = 0
        """Number of numbered lists around the current position."""
        self._ids = set(_IDS.findall(self._text))
        self._counts: dict[str, int] = {}

    def number_items(self, nodes: Sequence[LatexNode]) -> None:
        """Read the numbers of list items, and the letters of parts of figures, that references can name."""
        if "enumerate" in self._text:
            self._items = dict(number_items(self._text, nodes))
        if self._reader.reports and "{sub" in self._text:
            found = number_parts(self._text, nodes)
            self._parts = {label: (main, letter) for label, main, letter in found}

    def _write_body(self, node: LatexNode, mark: str, head: Callable[[], None] | None = None) -> None:
        """Write the content of an environment, with `mark` before each line. head: called to write the first
        line."""
        self._begin_block(node.start)
        self._needs_gap = self._needs_gap or not mark
        self._push(mark, mark, node.start)
        before = self._keeps_indent, self._indent
        inner = self._text[slice(*node.second)] if node.second else ""
        self._keeps_indent = bool(_MARKDOWN_LIST.search(inner))
        self._indent = min((len(line) - len(line.lstrip()) for line in inner.split("\n")[1:] if line.strip()),
                           default=0)  # fmt: skip
        if head:
            head()
        first = len(self._lines)
        self._swallows_line = True
        self.write(node.children)
        self._end_line(node.end)
        self._drop_blank_lines(first)
        self._keeps_indent, self._indent = before
        self._containers.pop()
        self._end_block(node.end)

    def _write_environment(self, node: LatexNode) -> None:
        name = node.name
        kind = table.callout_kind(name, self._kinds)
        if self._is_flat:
            self._keep(node)
        elif name in table.LISTS:
            self._write_list(node)
        elif name in table.QUOTATIONS:
            self._write_body(node, "> ")
        elif name in table.TRANSPARENT:
            self._write_body(node, "")
        elif kind:
            self._write_callout(node, kind)
        elif name in table.TABLES:
            self._write_table(node, read_table(self._text, node), "", None)
        else:
            self._write_float(node)

    def _write_callout(self, node: LatexNode, kind: str) -> None:
        label = self._take_label(node.children)
        if not label and kind in self._numbered and not node.is_starred:
            label = self._free_id(kind)

        def write_marker() -> None:
            self._put(f"[!{kind.upper()}]", node.start)
            if node.title:
                self._put(" ", node.title[0].start)
                self._write_flat(node.title)
            self._put(f" {{#{label}}}" if label else "", node.start)
            self._newline(node.start)

        self._write_body(node, "> ", write_marker)

    def _free_id(self, kind: str) -> str:
        """Return an unused id for a numbered element without a label. kind: start of the id."""
        while True:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            name = f"{kind}-{self._counts[kind]}"
            if name not in self._ids:
                return name

    def _write_list(self, node: LatexNode) -> None:
        items: list[tuple[LatexNode | None, list[LatexNode]]] = [(None, [])]
        for child in node.children:
            if child.kind == "command" and child.name == "item":
                items.append((child, []))
            else:
                items[-1][1].append(child)
        is_numbered = node.name == "enumerate"
        label = list_label(self._text, node, self._list_level) if is_numbered else None
        number = first_number(self._text, node) - 1 if is_numbered else 0
        self._list_level += is_numbered
        # A different marker starts a new list.
        end = self._list_end
        between = self._lines[end : end + 3]
        follows_list = end >= 0 and len(between) < 3 and not any(line.text.strip(" \t>") for line in between)
        self._uses_other_marks = follows_list and not self._uses_other_marks
        self._begin_block(node.start)
        before, self._keeps_indent = self._keeps_indent, False
        self._swallows_line = True
        self.write(items[0][1])
        self._end_line(node.start)
        for index, (item, content) in enumerate(items[1:]):
            assert item is not None
            number += not item.title
            self._write_item(node, item, content, label, number, is_first=index == 0)
        self._list_level -= is_numbered
        self._keeps_indent = before
        self._end_block(node.end)
        self._list_end = len(self._lines)

    def _write_item(
        self,
        node: LatexNode,
        item: LatexNode,
        content: Sequence[LatexNode],
        label: ItemLabel | None,
        number: int,
        *,
        is_first: bool,
    ) -> None:
        mark = table.LISTS[node.name]
        if mark == "1. " and is_first:
            mark = f"{number}. "
        named = [child for child in content if child.name == "label" and self._label(child) in self._items]
        anchor = f"{{#{self._take_label(named)}}}" if named else ""
        if node.name == "description":
            self._needs_gap = self._needs_gap or not is_first
            self._write_flat(item.title)
            self._end_line(item.start)
            self._needs_gap = False
            mark = ": "
        elif item.title or label:
            mark = "- "
        first, uses_other_marks = len(self._lines), self._uses_other_marks
        if uses_other_marks:
            mark = mark.replace("- ", "* ").replace(". ", ") ")
        self._push(mark, " " * len(mark), item.start)
        has_text = node.name != "description" and bool(item.title or label)
        self._put("[" if anchor else "", item.start)
        if has_text and item.title:
            self._write_flat(item.title)
        elif has_text and label:
            self._put(label.text(number), item.start)
        self._put(f"]{anchor}" if anchor else "", item.start)
        self._put(" " if has_text else "", item.start)
        self._trims = True
        self.write(content)
        self._trims = False
        self._uses_other_marks = uses_other_marks
        if self._containers[-1].is_fresh:
            self._begin(item.start)
        self._end_line(item.end)
        self._drop_blank_lines(first)
        self._containers.pop()
        self._swallows_line = False

    def _write_fence(self, node: LatexNode) -> None:
        if node.name in table.DRAWINGS:
            self._write_drawing(node)
            return
        if node.name in (*table.ALGORITHMS, *table.STEPS):
            self._write_algorithm(node)
            return
        start, end = node.second or (node.end, node.end)
        code = self._text[start:end]
        start += len(code) - len(code.lstrip(" \t"))
        start += self._text.startswith("\n", start)
        end -= len(code) - len(code.rstrip(" \t"))
        language, options = read_listing(self._text, node)
        caption = 'cap="{}"'.format(options["caption"].replace('"', "'")) if options.get("caption") else ""
        label = f"#{self._normal_label(options['label'])}" if options.get("label") else ""
        attributes = " ".join(filter(None, (label, caption)))
        fence = "`" * max(3, longest_run(code) + 1)
        self._begin_block(node.start)
        self._put(f"{fence}{language}" + (f" {{{attributes}}}" if attributes else ""), node.start)
        self._newline(node.start)
        if start < end:
            self._copy(start, end, margin=0)
            self._end_line(end)
        self._put(fence, end)
        self._end_block(node.end)
        self._needs_gap = False

    # Figures and tables.

    def _write_float(self, node: LatexNode) -> None:
        parts = [child for child in _flat_nodes(node.children) if child.kind != "comment"]
        images = [part for part in parts if part.name == "includegraphics"]
        captions = [part for part in parts if part.kind == "command" and part.name == "caption"]
        tables = [part for part in parts if part.kind == "environment" and part.name in table.TABLES]
        rest = [
            part for part in parts if part not in (*images, *captions, *tables) and not self._is_layout(part)
        ]
        layout = read_table(self._text, tables[0]) if len(tables) == 1 and not images else None
        if rest or len(captions) > 1 or not (layout or (len(images) == 1 and not tables)):
            if self._reader.reports:
                self._write_parts(node, parts)
            else:
                self._keep(node)
            return
        label = self._take_label(parts) or self._take_label(captions[0].children if captions else ())
        label = label or self._float_id(node, captions)
        if layout:
            self._write_table(node, layout, label, captions[0] if captions else None)
            return
        self._begin_block(node.start)
        # An image in a paragraph of text would have neither a caption nor a number.
        self._needs_gap = bool(captions or label)
        caption = self._caption(captions[0]) if captions else ""
        self._put(write_image(self._text, images[0], caption, label), images[0].start)
        self._end_block(node.end)

    def _write_algorithm(self, node: LatexNode) -> None:
        """Write an algorithm as a callout, with its caption as title and its lines in a fence. Write
        `algorithmic` only as a fence."""
        start, end = node.second or (node.end, node.end)
        parts = read_algorithm_parts(self._text[start:end])
        if node.name in table.STEPS:
            self._write_steps(start, end)
            return
        label = self._normal_label(parts.label) if parts.label else self._free_id("algorithm")
        self._begin_block(node.start)
        self._needs_gap = True
        self._push("> ", "> ", node.start)
        self._put("[!ALGORITHM]", node.start)
        if parts.caption:
            self._put(" ", node.start)
            nodes = self._reader.read_span((start + parts.caption[0], start + parts.caption[1]))
            self._write_flat([child for child in nodes if child.name != "label"])
        self._put(f" {{#{label}}}", node.start)
        self._newline(node.start)
        self._write_steps(start + parts.start, start + parts.end)
        self._end_line(node.end)
        self._containers.pop()
        self._end_block(node.end)

    def _write_steps(self, start: int, end: int) -> None:
        """Write the lines of an algorithm as a fence. start and end: range of the lines in the text."""
        code = self._text[start:end]
        start += len(code) - len(code.lstrip())
        end -= len(code) - len(code.rstrip())
        indent = start - self._text.rfind("\n", 0, start) - 1
        self._begin_block(start)
        fence = "`" * max(3, longest_run(code) + 1)
        self._put(f"{fence}algorithmic", start)
        self._newline(start)
        self._copy(start, end, margin=indent)
        self._end_line(end)
        self._put(fence, end)
        self._end_block(end)
        self._needs_gap = False

    def _float_id(self, node: LatexNode, captions: Sequence[LatexNode]) -> str:
        """Return a new id for a float without a label, if it has a caption and is therefore numbered;
        otherwise an empty string."""
        return (
            self._free_id("tbl" if node.name == "table" else "fig")
            if captions and self._reader.reports
            else ""
        )

    def _write_parts(self, node: LatexNode, parts: Sequence[LatexNode]) -> None:
        """Write a float with several images, drawings or tables, or with other text. Its label and its last
        own caption apply to the images, or without images to the first drawing or table. parts: nodes in the
        float."""
        images = [part for part in parts if part.name == "includegraphics"]
        own = [child for child in node.children if child.kind == "command" and child.name == "caption"]
        captions = [part for part in parts if part.kind == "command" and part.name == "caption"]
        main = (own or [one for one in _flat_nodes(node.children, is_whole=False) if one in captions])[-1:]
        label = self._take_label(parts)
        for caption in captions:
            label = label or self._take_label(caption.children)
        label = label or self._float_id(node, captions)
        self._begin_block(node.start)
        text = self._caption(main[0]) if main else ""
        if images:
            others = [self._caption(caption) for caption in captions if caption not in main]
            self._put(write_images(self._text, images, others, text, label), images[0].start)
            self._end_line(node.end)
            text = label = ""
        for part in parts:
            if part in images or part in captions or self._is_layout(part) or part.kind == "break":
                continue
            if images and part.kind == "text" and not self._text[part.start : part.end].strip("& \t\n"):
                continue
            if part.kind == "fence" and part.name in table.DRAWINGS:
                self._write_drawing(part, text, label)
                text = label = ""
            elif (
                part.kind == "environment"
                and part.name in table.TABLES
                and (layout := read_table(self._text, part))
            ):
                self._write_table(part, layout, label, main[0] if text else None)
                text = label = ""
            else:
                self.write([part])
        self._end_line(node.end)
        if text:
            self._needs_gap = True
            self._put(f"*{text}*", node.end)
        self._end_block(node.end)

    def _write_drawing(self, node: LatexNode, caption: str = "", label: str = "") -> None:
        """Write a drawing as a fence, with its caption also as alternative text."""
        code = self._text[node.start : node.end]
        alt = _PLAIN.sub("", caption).strip() or "Drawing"
        attributes = [f"#{label}"] if label else []
        attributes += [f'caption="{_quoted(caption)}"'] if caption else []
        self._begin_block(node.start)
        self._needs_gap = True
        fence = "`" * max(3, longest_run(code) + 1)
        attributes.append(f'alt="{_quoted(alt)}"')
        self._put(f"{fence}{table.DRAWINGS[node.name]} {{{' '.join(attributes)}}}", node.start)
        self._newline(node.start)
        self._copy(node.start, node.end, margin=0)
        self._end_line(node.end)
        self._put(fence, node.end)
        self._end_block(node.end)

    def _is_layout(self, node: LatexNode) -> bool:
        if node.kind == "text":
            return not self._text[node.start : node.end].strip()
        return node.kind == "command" and node.name in (*table.LAYOUT, *table.LENGTHS, "label")

    def _caption(self, node: LatexNode) -> str:
        """Return a caption as one line of Markdown."""
        before, self._pieces = self._pieces, []
        self._write_flat([child for child in node.children if id(child) not in self._done])
        written, self._pieces = "".join(text for text, _ in self._pieces), before
        return written

    def _write_table(
        self, node: LatexNode, layout: TableLayout | None, label: str, caption: LatexNode | None
    ) -> None:
        if layout is None:
            self._keep(node)
            return
        self._begin_block(node.start)
        self._needs_gap = True
        for number, row in enumerate(layout.rows):
            for cell in row:
                self._put("| ", cell[0].start if cell else node.start)
                self._write_flat(cell)
                self._put(" ", node.start)
            self._put("|", node.start)
            self._newline(node.start)
            if number == 0:
                self._put(layout.alignment_row, node.start)
                self._newline(node.start)
        if label or caption:
            self._needs_gap = True
            self._put(": ", node.start)
            if caption:
                self._write_flat(caption.children)
            self._put(f" {{#{label}}}" if label else "", node.start)
            self._end_line(node.start)
        self._end_block(node.end)

    def finish(self) -> tuple[TranslatedLine, ...]:
        """End the last line, and return all lines."""
        end = len(self._text)
        self._end_line(end)
        self._end_paragraph(end)
        if not self._text or self._text.endswith("\n"):
            self._finish_line([("", end)])
        return tuple(self._lines)


def _quoted(text: str) -> str:
    return text.replace('"', "'").replace("\\", "\\\\")


def _flat_nodes(nodes: Iterable[LatexNode], *, is_whole: bool = True) -> Iterable[LatexNode]:
    """Yield the nodes. Instead of `center` and similar environments, and of tables that contain images, yield
    their content. is_whole: whether the content of minipages and subfigures is also yielded."""
    for node in nodes:
        is_part = node.name in table.PARTS and not is_whole
        has_images = node.name in table.TABLES and any(
            child.name == "includegraphics" for child in node.children
        )
        if node.kind == "environment" and (has_images or node.name in table.TRANSPARENT) and not is_part:
            yield from _flat_nodes(node.children, is_whole=is_whole)
        else:
            yield node
