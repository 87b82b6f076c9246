"""Parts of LaTeX blocks: labels of numbered lists, table cells, images, options of listings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ...model.units import number_to_letters
from .commands import FLOATS, LAYOUT, LENGTHS, LETTERED
from .nodes import LatexNode

_COUNTER = lazy_pattern(r"\\(alph|Alph|roman|Roman|arabic)\*")
_SHORT = lazy_pattern(r"(?<![A-Za-z\\])([aAiI1])(?![A-Za-z])")
_SHORT_NAMES = {"a": "alph", "A": "Alph", "i": "roman", "I": "Roman", "1": "arabic"}
_LABEL = lazy_pattern(
    r"(?:^|,)\s*(?P<key>label|ref|start)\s*=\s*(?P<value>(?:[^,{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)"
)
_FONT = lazy_pattern(
    r"\\(?:text(?:bf|it|rm|up|sc|sf|md|normal)|(?:bf|up|it|rm)(?:series|shape|family)?|normalfont|emph)"
    r"(?![A-Za-z*])\s*|[{}]"
)
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_COLUMN = lazy_pattern(
    r"[lcrLCRYZ]|[Ss](?:\[(?:[^][{}]|\{[^{}]*\})*\])?|[pmbX](?:\[[^][]*\])?(?:\{[^{}]*\})?|D(?:\{[^{}]*\}){3}|[@!<>]\{[^{}]*\}|\*\{(\d{1,2})\}\{([^{}]*)\}"
)
_QUANTITY = lazy_pattern(r"[-+]?\d*[.,]?\d+(?:\(\d+\))?(?:[eE][-+]?\d+)?")
"""Matches a number in the syntax of siunitx."""
_ALIGNMENTS = {"c": ":-:", "C": ":-:", **dict.fromkeys("rRSD", "--:")}
_SEPARATOR = lazy_pattern(r"\\.|&")
_WIDTH = lazy_pattern(r"(?:^|,)\s*(?:width\s*=\s*([^,]*)|scale\s*=\s*(\d*\.?\d+)\s*(?:,|$))")
_ALT = lazy_pattern(r"(?:^|,)\s*alt\s*=\s*\{([^{}]*)\}")
_LISTING = lazy_pattern(r"(?:^|,)\s*(language|caption|label)\s*=\s*(?:\{([^{}]*)\}|([^,]*))")
_SHARE = lazy_pattern(r"([0-9]*\.?[0-9]*)\s*\\(?:text|line|column|paper|h)(?:width|size)")
_ABSOLUTE = lazy_pattern(r"([0-9]+\.?[0-9]*)\s*(pt|cm|mm|in|px)")
_PIXELS = {"pt": 96 / 72.27, "cm": 96 / 2.54, "mm": 96 / 25.4, "in": 96.0, "px": 1.0}


class ItemLabel(Struct, frozen=True):
    """Format of the item labels in a numbered list."""

    before: str
    counter: str
    """Name of the counter's format: `alph`, `Alph`, `roman`, `Roman` or `arabic`."""
    after: str

    def text(self, number: int) -> str:
        """Return the label of the item with this number."""
        name = self.counter.lower()
        text = (
            str(number)
            if name == "arabic"
            else _roman(number)
            if name == "roman"
            else number_to_letters(number)
        )
        return f"{self.before}{text.upper() if self.counter[0].isupper() else text}{self.after}"


_LEVELS = (
    ItemLabel("", "arabic", "."),
    ItemLabel("(", "alph", ")"),
    ItemLabel("", "roman", "."),
    ItemLabel("", "Alph", "."),
)
"""Labels of numbered lists in LaTeX, by the number of enclosing numbered lists."""


def read_item_label(option: str, key: str = "label") -> ItemLabel | None:
    """Return the label format in the option of a list; None if the items have plain numbers or the format is
    unsupported. key: `ref` for the format of references."""
    named = next((found["value"] for found in _LABEL.finditer(option) if found["key"] == key), None)
    short = option if "=" not in option and key == "label" else ""
    written = _FONT.sub("", short if named is None else named).strip()
    found = _COUNTER.search(written) or _SHORT.search(written)
    if found is None:
        return None
    counter = _SHORT_NAMES.get(found[1], found[1])
    before, after = written[: found.start()], written[found.end() :]
    if "\\" in before + after or (counter == "arabic" and (before, after) in (("", "."), ("", ""))):
        return None
    return ItemLabel(before, counter, after)


def list_label(text: str, node: LatexNode, level: int) -> ItemLabel | None:
    """Return the label format of a numbered list; None if its items have plain numbers. level: number of
    enclosing numbered lists."""
    own = read_item_label(text[slice(*node.option)]) if node.option else None
    has_labels = any(child.name == "label" for child in node.children)
    return own or (_LEVELS[min(level, 3)] if level and has_labels else None)


def first_number(text: str, node: LatexNode) -> int:
    """Return the number of the first item of a numbered list."""
    option = text[slice(*node.option)] if node.option else ""
    start = next((found["value"] for found in _LABEL.finditer(option) if found["key"] == "start"), "")
    return int(start) if start.strip().isdecimal() and len(start) < 7 else 1


def number_items(
    text: str, nodes: Sequence[LatexNode], outer: str = "", level: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the label of each labelled item of the numbered lists, and the number that a reference shows, as
    LaTeX prints it: `1`, `1a` for an item of an inner list, or `(i)` with `label=(\\roman*)`.

    outer: number of the enclosing item in such references. level: number of enclosing numbered lists.
    """
    for node in nodes:
        if node.kind != "environment":
            continue
        if node.name != "enumerate":
            yield from number_items(text, node.children, outer, level)
            continue
        option = text[slice(*node.option)] if node.option else ""
        own = read_item_label(option, "ref") or read_item_label(option)
        number, reference, inner = first_number(text, node) - 1, "", ""
        for child in node.children:
            if child.name == "item" and child.title and child.option:
                reference = text[slice(*child.option)]
            elif child.name == "item":
                number += 1
                plain = replace(_LEVELS[min(level, 3)], before="", after="").text(number)
                reference = own.text(number) if own else f"{outer}{plain}"
                inner = f"{outer}({plain})" if level == 1 and not own else reference
            elif child.name == "label" and child.argument and reference:
                yield text[slice(*child.argument)].strip(), reference
            else:
                yield from number_items(text, (child,), inner, level + 1)


def number_parts(text: str, nodes: Sequence[LatexNode]) -> Iterator[tuple[str, str, str]]:
    """Yield the label of each `subfigure` and `subtable`, the label of the float around it, and its
    letter."""
    for node in nodes:
        if node.kind == "environment" and node.name in FLOATS:
            main = next(_labels(text, node.children, has_parts=False), "")
            parts = [part for part in _descendants(node.children) if part.name in LETTERED]
            for number, part in enumerate(parts if main else (), 1):
                for label in _labels(text, part.children):
                    yield label, main, number_to_letters(number)
        elif node.kind == "environment":
            yield from number_parts(text, node.children)


def _descendants(nodes: Sequence[LatexNode]) -> Iterator[LatexNode]:
    for node in nodes:
        yield node
        yield from _descendants(node.children)


def _labels(text: str, nodes: Sequence[LatexNode], *, has_parts: bool = True) -> Iterator[str]:
    for node in nodes:
        if node.name == "label" and node.argument:
            yield text[slice(*node.argument)].strip()
        elif has_parts or node.name not in LETTERED:
            yield from _labels(text, node.children, has_parts=has_parts)


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        written += letters * (number // value)
        number %= value
    return written


class TableLayout(Struct, frozen=True):
    """A table that Markdown can express."""

    rows: tuple[tuple[tuple[LatexNode, ...], ...], ...]
    """Rows of the table, each with its cells; the first row is the header. A cell is a sequence of nodes."""
    alignment_row: str


def read_table(text: str, node: LatexNode) -> TableLayout | None:
    """Return a `tabular` as rows and cells; None if a Markdown table cannot express it. text: the whole
    text."""
    columns = _read_columns(text[slice(*node.argument)]) if node.argument else []
    rows: list[list[list[LatexNode]]] = [[[]]]
    for child in node.children:
        if child.kind == "break" or (child.kind == "command" and child.name == "tabularnewline"):
            rows.append([[]])
        elif child.kind == "command" and child.name in (*LAYOUT, *LENGTHS):
            continue
        elif child.kind == "text":
            _split_cells(text, child, rows)
        else:
            rows[-1][-1].append(child)
    filled = [row for row in rows if any(map(bool, row))]
    for row in filled:
        for column, cell in zip(columns, row, strict=False):
            if column == "S" and len(cell) == 1:
                cell[0] = _typeset_number(text, cell[0])
    if not columns or not filled or any(len(row) > len(columns) for row in filled):
        return None
    is_spanning = (
        "\\multicolumn" in text[node.start : node.end] or "\\multirow" in text[node.start : node.end]
    )
    if is_spanning or any(child.kind in ("environment", "fence") for child in node.children):
        return None
    cells = tuple(tuple(tuple(cell) for cell in (*row, *[[]] * (len(columns) - len(row)))) for row in filled)
    return TableLayout(cells, f"| {' | '.join(_ALIGNMENTS.get(column, '---') for column in columns)} |")


def _split_cells(text: str, node: LatexNode, rows: list[list[list[LatexNode]]]) -> None:
    """Add the text of a node to the last cell of `rows`, and start a new cell after each `&`."""
    copied = node.start
    for found in _SEPARATOR.finditer(text, node.start, node.end):
        if found[0] == "&":
            _append(text, replace(node, start=copied, end=found.start()), rows)
            rows[-1].append([])
            copied = found.end()
    _append(text, replace(node, start=copied), rows)


def _typeset_number(text: str, node: LatexNode) -> LatexNode:
    """Return a formula for a number with a minus sign, an uncertainty or an exponent. Return any other node
    unchanged."""
    written = text[node.start : node.end].strip()
    if node.kind != "text" or written.isdecimal() or not _QUANTITY.fullmatch(written):
        return node
    is_plain = written.replace(".", "", 1).isdecimal()
    return node if is_plain else LatexNode("sign", node.start, node.end, text=f"$\\num{{{written}}}$")


def _append(text: str, node: LatexNode, rows: list[list[list[LatexNode]]]) -> None:
    written = text[node.start : node.end]
    if written.strip():
        # A row gets the line of its first cell.
        start = node.start + (len(written) - len(written.lstrip()))
        rows[-1][-1].append(replace(node, start=start))


def _read_columns(written: str) -> list[str]:
    columns: list[str] = []
    for found in _COLUMN.finditer(written):
        if found[1]:
            columns += _read_columns(found[2]) * int(found[1])
        elif found[0][0] not in "@!<>":
            columns.append(found[0][0])
    return columns


def write_image(text: str, node: LatexNode, caption: str = "", label: str = "") -> str:
    r"""Return an `\includegraphics` as a Markdown image. caption: Markdown; empty if there is none. label:
    id; empty if there is none."""
    options = text[slice(*node.option)] if node.option else ""
    file = text[slice(*node.argument)].strip() if node.argument else ""
    found = _WIDTH.search(options)
    width = _read_width(found[1]) if found and found[1] else ""
    if found and found[2] and float(found[2]) < 1:
        width = f"{round(100 * float(found[2]))}%"
    alt = found[1] if (found := _ALT.search(options)) else caption
    attributes = " ".join(filter(None, (label and f"#{label}", width and f"width={width}")))
    title = ' "{}"'.format(caption.replace('"', '\\"')) if caption else ""
    path = f"<{file}>" if any(char in " ()" for char in file) else file
    return f"![{alt}]({path}{title})" + (f"{{{attributes}}}" if attributes else "")


def write_images(
    text: str, nodes: Sequence[LatexNode], captions: Sequence[str], caption: str, label: str
) -> str:
    """Return a shortcode that shows several images as one figure. captions: captions of the images; may be
    empty. caption: caption of the figure."""
    files = [text[slice(*node.argument)].strip() if node.argument else "" for node in nodes]
    alts = captions if len(captions) == len(nodes) else [caption or "Image"] * len(nodes)
    values = {"src": _join(files), "cap": _join(captions[: len(nodes)]), "alt": _join(alts)}
    values |= {"caption": caption.replace('"', "'"), "id": label, "cols": str(min(3, len(nodes)))}
    written = " ".join(f'{name}="{value}"' for name, value in values.items() if value)
    return f"{{% include img.html {written} %}}"


def _join(values: Sequence[str]) -> str:
    """Join values to the comma-separated argument of a shortcode."""
    return ", ".join(value.replace('"', "'").replace(",", "\\,") for value in values)


def read_listing(text: str, node: LatexNode) -> tuple[str, dict[str, str]]:
    """Return the language of a code environment, and its options `language`, `caption` and `label` by
    name."""
    written = text[slice(*node.option)] if node.option else ""
    options = {found[1]: found[2] or found[3] or "" for found in _LISTING.finditer(written)}
    language = text[slice(*node.argument)] if node.argument else options.get("language", "")
    return language.strip("[] ").lower(), options


def _read_width(length: str) -> str:
    r"""Convert a length to a width in Markdown: `.5\textwidth` to `50%`, and `3cm` to pixels. Return an empty
    string for other lengths."""
    if found := _SHARE.fullmatch(length.strip()):
        return f"{round(100 * float(found[1] or 1))}%" if found[1] != "." else ""
    found = _ABSOLUTE.fullmatch(length.strip())
    return str(round(float(found[1]) * _PIXELS[found[2]])) if found else ""
