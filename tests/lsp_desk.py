"""A language service without a wire protocol, and a simulated author, for tests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsprotocol import types

from blogsmith.lsp.service import LanguageService
from blogsmith.lsp.site_files import path_to_uri
from blogsmith.lsp.site_session import SiteSession
from blogsmith.lsp.text_buffer import TextBuffer

NOW = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)
CURSOR = "▮"
"""Placeholder of the cursor in a text."""


class Desk:
    """A service with a manual clock, and the messages it sent."""

    def __init__(self, root: Path, files: Mapping[str, str], encoding: str = "utf-16") -> None:
        self.root = root
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        self.now_s = 0.0
        self.told: dict[str, types.PublishDiagnosticsParams] = {}
        self.count = 0
        self.is_urgent = False
        """Whether the editor waits for an answer."""
        self.tasks: list[SiteSession] = []
        self.said: list[str] = []
        """Lines of its log."""
        self.service = LanguageService(
            now=lambda: NOW,
            clock=self._clock,
            publish=self._take,
            opened=self.tasks.append,
            closed=self.tasks.remove,
            is_urgent=lambda: self.is_urgent,
            say=self.said.append,
        )
        self.service.encoding = encoding
        self._versions: dict[str, int] = {}

    def _clock(self) -> float:
        # work takes no time, but ends
        self.now_s += 1e-6
        return self.now_s

    def _take(self, params: types.PublishDiagnosticsParams) -> None:
        self.told[params.uri] = params
        self.count += 1

    def uri(self, path: str) -> str:
        """Return the URI of a file of the site."""
        return path_to_uri(self.root / path)

    @property
    def session(self) -> SiteSession:
        """Return the session of the site."""
        return self.service.sessions[self.root]

    def open(self, path: str, text: str | None = None) -> None:
        """Open a file, and wait for all messages."""
        text = (self.root / path).read_text(encoding="utf-8") if text is None else text
        self._versions[path] = 1
        self.service.open_document(self.uri(path), text, 1)
        self.rest()

    def write(self, path: str, text: str, *, rests: bool = True) -> None:
        """Change the content of a file, and open it before if no test has."""
        if path not in self._versions:
            self.open(path)
        self._versions[path] += 1
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.service.change(self.uri(path), [change], self._versions[path])
        if rests:
            self.rest()

    def wait(self, seconds: float) -> None:
        """Run the tasks due within this time."""
        end_s = self.now_s + seconds
        while task := next((one for one in self.tasks if (one.due_s or end_s) < end_s), None):
            self.now_s = max(self.now_s, task.due_s or 0.0)
            task.step()
        self.now_s = end_s

    def rest(self) -> None:
        """Run all tasks."""
        while tasks := [one for one in self.tasks if one.due_s is not None]:
            self.now_s = max(self.now_s, tasks[0].due_s or 0.0)
            tasks[0].step()

    def found(self, path: str) -> list[tuple[str, int, int, int]]:
        """Return (code, line, column, end column) of the last diagnostics of a file, in units of the
        protocol.
        """
        told = self.told.get(self.uri(path))
        return [
            (str(one.code), one.range.start.line, one.range.start.character, one.range.end.character)
            for one in (told.diagnostics if told else ())
        ]

    def codes(self, path: str) -> list[str]:
        """Return the codes of the last diagnostics of a file."""
        return [code for code, *_ in self.found(path)]

    def point(self, path: str, text: str) -> tuple[str, types.Position]:
        """Write a text without its cursor. Return the position of the cursor."""
        offset, plain = text.index(CURSOR), text.replace(CURSOR, "")
        if path in self._versions:
            self.write(path, plain)
        else:
            self.open(path, plain)
        return self.uri(path), TextBuffer(plain, self.service.encoding).position(offset)

    def completions(self, path: str, text: str) -> list[str]:
        """Return the completions at the cursor."""
        found = self.service.complete(*self.point(path, text))
        return [item.label for item in found.items] if found else []

    def completed(self, path: str, text: str, label: str) -> str:
        """Return the line of the cursor with the completion of this label inserted."""
        uri, position = self.point(path, text)
        found = self.service.complete(uri, position)
        item = next(item for item in (found.items if found else ()) if item.label == label)
        edit = item.text_edit
        assert isinstance(edit, types.TextEdit)
        buffer = TextBuffer(text.replace(CURSOR, ""), self.service.encoding)
        start, end = buffer.offset(edit.range.start), buffer.offset(edit.range.end)
        changed = buffer.text[:start] + edit.new_text + buffer.text[end:]
        return changed.split("\n")[position.line]

    def hover(self, path: str, text: str, *, plain: bool = False) -> str:
        """Return the hover text at the cursor."""
        found = self.service.hover(*self.point(path, text), plain=plain)
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return found.contents.value if found and isinstance(found.contents, types.MarkupContent) else ""

    def definitions(self, path: str, text: str) -> list[str]:
        """Return `path:line:column` of its definitions, in units of the protocol."""
        return [self._place(one) for one in self.service.definitions(*self.point(path, text))]

    def references(self, path: str, text: str) -> list[str]:
        """Return `path:line:column` of all references to it."""
        found = self.service.references(*self.point(path, text), with_declaration=True)
        return [self._place(one) for one in found]

    def _place(self, one: types.Location) -> str:
        path = one.uri.removeprefix(path_to_uri(self.root) + "/")
        return f"{path}:{one.range.start.line}:{one.range.start.character}"

    def renamed(self, path: str, text: str, name: str) -> dict[str, str]:
        """Map paths to content after the label at the cursor was renamed; unchanged files are omitted."""
        edit = self.service.rename(*self.point(path, text), name, versions=True)
        assert edit is not None
        return dict(self._edited(edit))

    def _edited(self, edit: types.WorkspaceEdit) -> Iterator[tuple[str, str]]:
        for one in edit.document_changes or ():
            assert isinstance(one, types.TextDocumentEdit)
            path = one.text_document.uri.removeprefix(path_to_uri(self.root) + "/")
            buffer = self.session.buffer(path)
            assert one.text_document.version == buffer.version
            text = buffer.text
            for change in sorted(one.edits, key=lambda change: change.range.start, reverse=True):
                assert isinstance(change, types.TextEdit)
                start, end = buffer.offset(change.range.start), buffer.offset(change.range.end)
                text = text[:start] + change.new_text + text[end:]
            yield path, text
