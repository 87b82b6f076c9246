r"""Tables of packages such as `longtable` and `tabularx`, converted to `tabular`."""

from __future__ import annotations

from ...api.importing import lazy_pattern
from .scanning import group_end, option_end, skip_space
from .source import SourceText

_EDGE = lazy_pattern(
    r"\\(?P<edge>begin|end)\{(?P<name>longtable|tabularx|tabulary|tabular|longtabu|tabu)(?P<star>\*?)\}"
)
_REPEATED = lazy_pattern(
    r"\\endfirsthead[\s\S]{0,5000}?\\endhead|\\endhead|\\endfoot|\\endlastfoot|\\(?:kill|tabularnewline)(?![A-Za-z])"
)
_CAPTION = lazy_pattern(r"\s*\\caption\*?\s*(?:\[[^\[\]]*\])?(?=\{)")
_SUBTABLE = lazy_pattern(
    r"(?P<part>\\begin\{subtable\}(?:(?!\\(?:begin|end)\{(?:sub)?table)[\s\S])*)|\\begin\{table\*?\}"
)
_LABEL = lazy_pattern(r"\s*\\label\s*\{[^{}]*\}")
_ROW = lazy_pattern(r"\s*\\(?:\\|tabularnewline)\*?")
_WITH_WIDTH = frozenset(("tabularx", "tabulary", "tabular*"))


def simplify_tables(source: SourceText) -> SourceText:
    """Return the text with all tables as `tabular`. Each `longtable` is enclosed in a `table` that contains
    its caption."""
    text, edits = source.text, list[tuple[int, int, str]]()
    for found in _EDGE.finditer(text):
        name = found["name"] + found["star"]
        if name == "tabular":
            continue
        is_long = name.startswith("long")
        if found["edge"] == "end":
            edits.append((*found.span(), "\\end{tabular}" + "\\end{table}" * is_long))
            continue
        position = found.end()
        if name in _WITH_WIDTH:
            position = max(position, group_end(text, skip_space(text, position)))
        position = max(position, option_end(text, position))
        start = skip_space(text, position)
        end = group_end(text, start)
        if end < 0:
            continue
        columns = text[start:end]
        head, end = _read_caption(text, end) if is_long else ("", end)
        opening = f"\\begin{{table}}{head}" if is_long else ""
        edits.append((found.start(), end, f"{opening}\\begin{{tabular}}{columns}"))
    simple = source.edit(edits) if edits else source
    return simple.edit(
        (*found.span(), "\\\\" if found[0] == "\\tabularnewline" else "")
        for found in _REPEATED.finditer(simple.text)
    )


def letter_captions(source: SourceText) -> SourceText:
    """Return the text with each caption of a `subtable` replaced by a paragraph `(a) caption`, because
    blogsmith shows only one caption for all of them."""
    edits, count = list[tuple[int, int, str]](), 0
    for found in _SUBTABLE.finditer(source.text):
        count = count + 1 if found["part"] else 0
        for caption in _CAPTION.finditer(found["part"] or ""):
            start = found.start() + caption.start()
            letter = chr(ord("a") + min(count, 26) - 1)
            edits.append((start, start + len(caption[0]), f"\n\\par ({letter}) "))
    return source.edit(edits)


def _read_caption(text: str, position: int) -> tuple[str, int]:
    """Return the caption and label at `position`, the start of a `longtable`'s content, and the position
    after them. The caption is empty if the table has none."""
    start = position
    while True:
        if found := _CAPTION.match(text, position):
            position = max(found.end(), group_end(text, found.end()))
        elif (found := _LABEL.match(text, position)) or (
            position > start and (found := _ROW.match(text, position))
        ):
            position = found.end()
            if "\\label" not in found[0]:
                return text[start : found.start()].strip(), position
        else:
            return text[start:position].strip(), position
