"""Diagnostics of ours as the protocol has them, and the fixes of those that know one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from ..base.diagnostics.model import Diagnostic, Place
from .site_files import uri_of
from .site_session import SiteSession
from .text_buffer import TextBuffer

SOURCE = "blogsmith"
_FIRST = Place(1)


def to_lsp(found: Diagnostic, buffer: TextBuffer) -> types.Diagnostic:
    """One diagnostic with its hint. buffer: the text of its file."""
    is_error = found.severity == "error"
    message = f"{found.message}\n{found.hint}" if found.hint else found.message
    return types.Diagnostic(
        range=buffer.place_range(found.place or _FIRST),
        message=message,
        severity=types.DiagnosticSeverity.Error if is_error else types.DiagnosticSeverity.Warning,
        code=found.code,
        source=SOURCE,
    )


def find_actions(
    session: SiteSession, path: str, buffer: TextBuffer, where: types.Range
) -> Iterator[types.CodeAction]:
    """Fixes of what is wrong in a range."""
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
            diagnostics=[to_lsp(found, buffer)],
            is_preferred=fix.is_safe or None,
            edit=types.WorkspaceEdit(
                document_changes=[
                    types.TextDocumentEdit(
                        types.OptionalVersionedTextDocumentIdentifier(
                            uri=uri_of(session.root / path), version=buffer.version
                        ),
                        list(edits),
                    )
                ]
            ),
        )
