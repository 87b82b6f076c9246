"""Request handler of the server. It passes requests to the event loop. Until the event loop has loaded the
whole site, it also serves the pages of the previous preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event
from typing import TYPE_CHECKING, Protocol

from .editors import Editor
from .page_store import StoredPages, media_type
from .pages.script_tag import ScriptTag
from .protocol import Response

if TYPE_CHECKING:
    from .loop.event_loop import EventLoop


class CellActions(Protocol):
    """Actions that a page may request for its running cells."""

    def stop(self, page: str = "") -> None:
        """Stop the cells of a page, or all cells if `page` is empty."""

    def run_again(self, page: str) -> None:
        """Run the cells of a page again."""


class SiteGateway:
    """Handler of pages and actions that the server has from its start; many threads call it."""

    def __init__(self, stored: StoredPages, tag: ScriptTag, editor: Editor) -> None:
        self._stored = stored
        self._tag = tag
        self._engine: EventLoop | None = None
        self._has_engine = Event()
        self._is_whole = False
        self._sent: list[tuple[str, str]] = []
        self.editor = editor
        self._cells: CellActions | None = None
        self._hello: Callable[[], Mapping[str, object]] = dict

    def attach(self, cells: CellActions, hello: Callable[[], Mapping[str, object]]) -> None:
        """Set the runner of cells and the function that returns the first event of a tab. Called as soon as
        both exist."""
        self._cells, self._hello = cells, hello

    def hello(self) -> Mapping[str, object]:
        """Return the first event for a tab that connects; empty until `attach` is called."""
        return self._hello()

    def use_loop(self, engine: EventLoop) -> list[tuple[str, str]]:
        """Use the event loop from now on. Return (path, version) of the pages that were sent before."""
        self._engine = engine
        self._has_engine.set()
        return self._sent

    def mark_complete(self) -> None:
        """Record that the event loop has the whole site, so that stored pages are no longer sent."""
        self._is_whole = True

    def close(self) -> None:
        """Release threads that wait for an event loop that will never exist."""
        self._has_engine.set()

    def answer(self, path: str) -> Response:
        return (None if self._is_whole else self._stored_response(path)) or self._wait().answer(path)

    def version(self, path: str) -> str:
        return self._wait().version(path)

    def act(self, name: str, data: Mapping[str, object]) -> Mapping[str, object]:
        if name == "edit":
            self.editor.edit(data)
        elif name == "stop" and self._cells:
            self._cells.stop(_page(data, optional=True))
        elif name == "run" and self._cells:
            self._cells.run_again(_page(data))
        else:
            raise LookupError(name)
        return {}

    def _wait(self) -> EventLoop:
        self._has_engine.wait()
        if self._engine is None:
            raise RuntimeError("the preview has ended")
        return self._engine

    def _stored_response(self, path: str) -> Response | None:
        page = self._stored.page(path)
        if page is None:
            found = self._stored.file(path)
            return Response(200, found[0], file=found[1]) if found else None
        data = page.data
        if not path.endswith(("/", ".html")):
            return Response(200, media_type(path), data)
        if not data:
            return None
        # in this order, because `use_loop` may run in between, and reporting a page twice has no effect
        self._sent.append((path, page.version))
        if self._engine:
            self._engine.page_sent(path, page.version)
        return Response(200, body=self._tag.insert(data, page.version, page.source))


def _page(data: Mapping[str, object], *, optional: bool = False) -> str:
    page = data.get("page", "") or ""
    if not isinstance(page, str) or not (page or optional):
        raise ValueError('invalid "page": expected the path of a page')
    return page
