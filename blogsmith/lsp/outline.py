"""Symbols, folding ranges and links of a page, and the search for symbols of a site."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import (
    DocumentLink,
    DocumentSymbol,
    FoldingRange,
    FoldingRangeKind,
    Location,
    Position,
    Range,
    SymbolKind,
    WorkspaceSymbol,
)
from markdown_it.token import Token

from ..api.editing import Callout, Cell, Figure, Heading, Math, Parsed, TableRecord
from .cursor import front_matter_end
from .elements import all_elements
from .lookups import label_name, page_labels, parsed_paths
from .site_files import path_to_uri
from .site_session import SiteSession
from .text_buffer import TextBuffer

MAX_SYMBOLS = 300
"""Maximum number of symbols in an answer. When the author types more, the editor sends another request."""


def list_symbols(parsed: Parsed, buffer: TextBuffer) -> list[DocumentSymbol]:
    """Return headings, each with the numbered or named constructs below it."""
    top: list[DocumentSymbol] = []
    open_levels: list[tuple[int, DocumentSymbol]] = []
    first = parsed.document.first_line - 1
    for token in parsed.tokens:
        symbol = _symbol(token, parsed, buffer, first)
        if symbol is None:
            continue
        heading = token.meta.get("heading")
        if isinstance(heading, Heading):
            while open_levels and open_levels[-1][0] >= heading.level:
                _close(open_levels.pop()[1], symbol.range.start.line, buffer)
        into = open_levels[-1][1].children if open_levels else top
        assert isinstance(into, list)
        into.append(symbol)
        if isinstance(heading, Heading):
            open_levels.append((heading.level, symbol))
    for _, symbol in open_levels:
        _close(symbol, buffer.line_count, buffer)
    return top


def _close(symbol: DocumentSymbol, line: int, buffer: TextBuffer) -> None:
    """Set the end of a heading's section: the next heading of the same or a higher level."""
    end = buffer.line_range(
        max(symbol.range.start.line, line - 1), max(symbol.range.start.line, line - 1)
    ).end
    symbol.range = Range(symbol.range.start, end)


def _symbol(token: Token, parsed: Parsed, buffer: TextBuffer, first: int) -> DocumentSymbol | None:
    named = _name(token, parsed)
    if named is None:
        return None
    name, detail, kind = named
    record = token.meta.get("math")
    if token.map:
        start, end = token.map[0] + first, max(token.map[0], token.map[1] - 1) + first
    elif isinstance(record, Math):
        place = record.origin.place(0)
        start = place.line - 1
        end = start + record.origin.text.count("\n")
    else:
        return None
    whole = buffer.line_range(start, end)
    return DocumentSymbol(
        name or "…", kind, whole, buffer.line_range(start, start), detail=detail or None, children=[]
    )


def _name(token: Token, parsed: Parsed) -> tuple[str, str, SymbolKind] | None:
    """Return (name, detail, kind) of the symbol that a token stands for; None if it is not a symbol."""
    for record in token.meta.values():
        match record:
            case Heading() if token.type == "heading_open":
                return f"{record.number} {record.text}".strip(), record.id, SymbolKind.Namespace
            case Callout() if token.type == "callout_open" and (record.number or record.id):
                return f"{record.title} {record.number}".strip(), record.id, SymbolKind.Class
            case Math() if labels := [row.id for row in record.rows if row.id in parsed.labels]:
                return (
                    ", ".join(label_name(parsed.labels[one]) for one in labels),
                    labels[0],
                    SymbolKind.Constant,
                )
            case Cell():
                return record.name, record.language, SymbolKind.Function
            case Figure() | TableRecord() if record.id in parsed.labels and token.nesting >= 0:
                return label_name(parsed.labels[record.id]), record.id, SymbolKind.Object
    return None


def list_folds(parsed: Parsed | None, buffer: TextBuffer) -> list[FoldingRange]:
    """Return the ranges of front matter, callouts and fences. parsed: if None, only the front matter is
    found."""
    head = front_matter_end(buffer)
    found = [FoldingRange(0, head - 1, kind=FoldingRangeKind.Region)] if head > 1 else []
    for token in parsed.tokens if parsed else ():
        if token.map and token.type in ("callout_open", "fence") and token.map[1] - token.map[0] > 1:
            first = token.map[0] + (parsed.document.first_line - 1 if parsed else 0)
            last = min(first + token.map[1] - token.map[0] - 1, buffer.line_count - 1)
            found.append(FoldingRange(first, last))
    return found


def list_links(session: SiteSession, parsed: Parsed, buffer: TextBuffer) -> Iterator[DocumentLink]:
    """Yield links to pages and files of the site."""
    present = session.snapshot
    for one in all_elements(parsed) if present else ():
        target = getattr(one.record, "target", "")
        if type(one.record).__name__ != "LinkTargetPlace" or not present or target.startswith("#"):
            continue
        found, _ = present.resolved.index.find_linked(target, parsed.document)
        at = buffer.line(one.place.line - 1).find(target, one.place.column - 1)
        if found and at >= 0:
            start = buffer.offset(Position(one.place.line - 1, 0)) + at
            where = buffer.range(start, start + len(target))
            yield DocumentLink(where, target=path_to_uri(session.root / found))


def find_symbols(session: SiteSession, query: str) -> Iterator[WorkspaceSymbol]:
    """Yield titles and labels of the site that contain a text."""
    present = session.snapshot
    if present is None:
        return
    low = query.casefold()
    start = Range(Position(0, 0), Position(0, 0))
    for path, item in present.rendered.items():
        title = item.body.title_text or item.document.front.title
        if low in title.casefold() or low in path:
            where = Location(path_to_uri(session.root / path), start)
            yield WorkspaceSymbol(where, title or path, SymbolKind.File, container_name=path)
    for path in parsed_paths(present):
        for known in page_labels(session, path):
            if low and (low in known.spelling.casefold() or low in known.label.id):
                where = Location(
                    path_to_uri(session.root / path), session.buffer(path).place_range(known.label.place)
                )
                yield WorkspaceSymbol(where, known.spelling, SymbolKind.Constant, container_name=known.name)
