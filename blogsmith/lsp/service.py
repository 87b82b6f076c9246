"""Language server without its transport. It handles documents, sites, and requests about them. Only the
thread of `Worker` uses it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from lsprotocol import types
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
from msgspec import Struct

from ..api.editing import (
    Callout,
    Cell,
    ChangedFiles,
    Diagnostic,
    Figure,
    Heading,
    Math,
    Parsed,
    Place,
    TableRecord,
    documentation_url,
)
from .completion import complete, markdown
from .cursor import all_elements, front_matter_end
from .hover import describe_label, describe_work, find_hover
from .lookups import find_label, label_name, page_labels, parsed_paths
from .navigation import find_definitions, find_references, prepare_rename, rename_label
from .site_files import find_root, is_page, path_to_uri, uri_to_path
from .site_session import SiteSession
from .text_buffer import TextBuffer

MAX_SYMBOLS = 300
"""Maximum number of symbols in an answer. When the author types more, the editor sends another request."""


def list_symbols(parsed: Parsed, buffer: TextBuffer) -> list[DocumentSymbol]:
    """Return the headings as symbols. Each contains the numbered or named constructs after it."""
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
    """Set the end of the section of a heading. The section ends before the next heading of the same or a
    higher level."""
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
    """Return (name, detail, kind) of the symbol for a token; None if the token has no symbol."""
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
    """Return the ranges of front matter, callouts and fences. parsed: the parsed page; if None, return only
    the front matter."""
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
    """Yield the titles and labels of the site that contain `query`."""
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


MAX_DIAGNOSTICS = 500
"""Maximum number of diagnostics per file that are sent to the editor; errors come first."""


class SiteWatcher(Protocol):
    """Watcher of a site on disk."""

    def stop(self) -> None:
        """Stop watching."""


Publish = Callable[[types.PublishDiagnosticsParams], None]
Watch = Callable[[Path, Callable[[ChangedFiles], None]], SiteWatcher]


class _Document(Struct, frozen=True):
    """An open document of a site."""

    session: SiteSession
    path: str
    """Path relative to the site."""
    buffer: TextBuffer


class LanguageService:
    """State and requests of one server."""

    def __init__(
        self,
        *,
        now: Callable[[], dt.datetime],
        clock: Callable[[], float],
        publish: Publish,
        watch: Watch | None = None,
        opened: Callable[[SiteSession], None] = lambda session: None,
        closed: Callable[[SiteSession], None] = lambda session: None,
        is_urgent: Callable[[], bool] = lambda: False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Create a service without documents.

        publish: function that sends diagnostics to the editor. watch: function that starts to watch a site.
        The watcher reports changes in another thread; pass them to `handle_changes`. opened, closed:
        functions that are called when a site starts or stops needing steps of work. is_urgent: function that
        returns whether the editor waits for an answer. say: function that logs a line.
        """
        self.encoding: str = types.PositionEncodingKind.Utf16
        self.sessions: dict[Path, SiteSession] = {}
        self._now, self._clock = now, clock
        self._publish, self._watch = publish, watch
        self._opened, self._closed, self._is_urgent, self._say = opened, closed, is_urgent, say
        self._documents: dict[str, _Document] = {}
        self._watchers: dict[Path, SiteWatcher] = {}

    # -- documents --

    def open_document(self, uri: str, text: str, version: int) -> None:
        """Handle an opened document. Documents outside a site are ignored."""
        file = uri_to_path(uri)
        root = find_root(file) if file else None
        if file is None or root is None:
            return
        session = self._session(root)
        document = _Document(
            session, file.relative_to(root).as_posix(), TextBuffer(text, self.encoding, version)
        )
        self._documents[uri] = document
        session.edit(document.path, document.buffer)

    def change(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent], version: int) -> None:
        """Handle a changed document."""
        known = self._documents.get(uri)
        if known is not None:
            buffer = known.buffer.apply(changes, version)
            self._documents[uri] = _Document(known.session, known.path, buffer)
            known.session.edit(known.path, buffer)

    def close(self, uri: str) -> None:
        """Handle a closed document. If it was the last open document of a site, close the site too."""
        known = self._documents.pop(uri, None)
        if known is None:
            return
        known.session.edit(known.path, None)
        if not any(one.session is known.session for one in self._documents.values()):
            self._close_site(known.session)

    def handle_saved_files(self, uris: Iterable[str]) -> None:
        """Handle files that the editor reports as changed on disk."""
        files = [file for uri in uris if (file := uri_to_path(uri))]
        for root, session in self.sessions.items():
            inside = {root.resolve() / file.relative_to(root) for file in files if file.is_relative_to(root)}
            if inside:
                session.handle_changes(ChangedFiles(frozenset(inside)))

    def _session(self, root: Path) -> SiteSession:
        known = self.sessions.get(root)
        if known is not None:
            return known
        session = SiteSession(
            root,
            now=self._now,
            clock=self._clock,
            publish=lambda path, found, buffer: self._publish_diagnostics(root, path, found, buffer),
            encoding=self.encoding,
            is_urgent=self._is_urgent,
            say=self._say,
        )
        self.sessions[root] = session
        if self._watch:
            self._watchers[root] = self._watch(root.resolve(), session.handle_changes)
        self._opened(session)
        return session

    def _close_site(self, session: SiteSession) -> None:
        session.close()
        self.sessions.pop(session.root, None)
        if watching := self._watchers.pop(session.root, None):
            watching.stop()
        self._closed(session)

    def end(self) -> None:
        """Stop watching all sites, and close their caches."""
        for watching in self._watchers.values():
            watching.stop()
        self._watchers.clear()
        for session in self.sessions.values():
            session.end()

    def _publish_diagnostics(
        self, root: Path, path: str, found: Sequence[Diagnostic], buffer: TextBuffer
    ) -> None:
        heaviest = sorted(found, key=lambda one: one.severity != "error")[:MAX_DIAGNOSTICS]
        session = self.sessions.get(root)
        manual = session.manual_url if session else ""
        told = [to_lsp(one, buffer, manual) for one in heaviest]
        # The editor may spell the URI of an open document in another way.
        own = (uri for uri, one in self._documents.items() if one.session is session and one.path == path)
        uri = next(own, "") or path_to_uri(root / path)
        self._publish(types.PublishDiagnosticsParams(uri, told, version=buffer.version))

    # -- questions --

    def _locate(self, uri: str, position: types.Position) -> tuple[SiteSession, str, TextBuffer, int] | None:
        known = self._documents.get(uri)
        if known is None:
            return None
        return known.session, known.path, known.buffer, known.buffer.offset(position)

    def complete(self, uri: str, position: types.Position) -> types.CompletionList | None:
        """Return the completions at a position."""
        at = self._locate(uri, position)
        if at is None:
            return None
        found = complete(*at)
        for item in found.items:
            if isinstance(item.data, dict):
                item.data["root"] = str(at[0].root)
                item.data["from"] = at[1]
        return found

    def describe(self, item: types.CompletionItem) -> types.CompletionItem:
        """Add a description to a completion item."""
        data = item.data if isinstance(item.data, dict) else {}
        session = self.sessions.get(Path(str(data.get("root", ""))))
        if session is not None:
            text = ""
            if data.get("kind") == "citation":
                text = describe_work(session, str(data.get("path")), str(data.get("id")))
            elif data.get("kind") == "label":
                known = find_label(session, str(data.get("path")), "", str(data.get("id")))
                text = describe_label(session, known) if known else ""
            item.documentation = markdown(text) or item.documentation
        return item

    def hover(self, uri: str, position: types.Position, *, plain: bool) -> types.Hover | None:
        """Return the hover text at a position."""
        at = self._locate(uri, position)
        return find_hover(*at, plain=plain) if at else None

    def definitions(self, uri: str, position: types.Position) -> list[types.Location]:
        """Return the definitions of the construct at a position."""
        at = self._locate(uri, position)
        return find_definitions(*at) if at else []

    def references(
        self, uri: str, position: types.Position, *, with_declaration: bool
    ) -> list[types.Location]:
        """Return the references to the construct at a position."""
        at = self._locate(uri, position)
        return find_references(*at, with_declaration=with_declaration) if at else []

    def prepare_rename(self, uri: str, position: types.Position) -> types.PrepareRenamePlaceholder | None:
        """Return the name at a position if it can be changed; otherwise None."""
        at = self._locate(uri, position)
        return prepare_rename(*at) if at else None

    def rename(
        self, uri: str, position: types.Position, name: str, *, versions: bool
    ) -> types.WorkspaceEdit | None:
        """Return all edits for a new name. Raise RenameError if the label cannot be renamed."""
        at = self._locate(uri, position)
        return rename_label(*at, name, versions=versions) if at else None

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        """Return the symbols of a page."""
        known = self._documents.get(uri)
        parsed = known.session.parse(known.path) if known and is_page(known.path) else None
        return list_symbols(parsed, known.buffer) if known and parsed else []

    def folds(self, uri: str) -> list[types.FoldingRange]:
        """Return the ranges that can be folded."""
        known = self._documents.get(uri)
        if known is None or not is_page(known.path):
            return []
        return list_folds(known.session.parse(known.path), known.buffer)

    def links(self, uri: str) -> list[types.DocumentLink]:
        """Return the links of a page."""
        known = self._documents.get(uri)
        parsed = known.session.parse(known.path) if known and is_page(known.path) else None
        return list(list_links(known.session, parsed, known.buffer)) if known and parsed else []

    def find_symbols(self, query: str) -> list[types.WorkspaceSymbol]:
        """Return the titles and labels of all sites that contain `query`."""
        found = (one for session in self.sessions.values() for one in find_symbols(session, query))
        return list(islice(found, MAX_SYMBOLS))

    def actions(self, uri: str, where: types.Range) -> list[types.CodeAction]:
        """Return the quick fixes in a range."""
        known = self._documents.get(uri)
        return list(find_actions(known.session, known.path, known.buffer, where)) if known else []


# Conversion of diagnostics and their fixes to the protocol.


SOURCE = "blogsmith"
_FIRST = Place(1)


def to_lsp(found: Diagnostic, buffer: TextBuffer, manual: str = "") -> types.Diagnostic:
    """Convert a diagnostic, with its hint, to the protocol. buffer: content of its file. manual: URL of the
    manual; empty if there is none."""
    url = documentation_url(manual, found.code)
    is_error = found.severity == "error"
    message = f"{found.message}\n{found.hint}" if found.hint else found.message
    return types.Diagnostic(
        range=buffer.place_range(found.place or _FIRST),
        message=message,
        severity=types.DiagnosticSeverity.Error if is_error else types.DiagnosticSeverity.Warning,
        code=found.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
    )


def find_actions(
    session: SiteSession, path: str, buffer: TextBuffer, where: types.Range
) -> Iterator[types.CodeAction]:
    """Yield the fixes of diagnostics in a range."""
    lines: Sequence[str] = [buffer.line(number) for number in range(buffer.line_count)]
    first, last = where.start.line + 1, where.end.line + 1
    for found in session.diagnostics(path):
        fix = found.fix
        line = (found.place or _FIRST).line
        if fix is None or not first <= line <= last or not fix.fits(lines):
            continue
        edits = [
            types.TextEdit(
                types.Range(
                    buffer.place_range(Place(edit.line, edit.column), 0).start,
                    buffer.place_range(Place(edit.end_line, edit.end_column), 0).start,
                ),
                edit.new,
            )
            for edit in fix.edits
        ]
        yield types.CodeAction(
            fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[to_lsp(found, buffer, session.manual_url)],
            is_preferred=fix.is_safe or None,
            edit=types.WorkspaceEdit(
                document_changes=[
                    types.TextDocumentEdit(
                        types.OptionalVersionedTextDocumentIdentifier(
                            uri=path_to_uri(session.root / path), version=buffer.version
                        ),
                        list(edits),
                    )
                ]
            ),
        )
