"""What the server asks: the event loop, and until that knows the whole site the pages of the last preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event
from typing import TYPE_CHECKING, Protocol

from .editors import Editor
from .page_store import StoredPages
from .pages.media_types import media_type
from .pages.script_tag import ScriptTag
from .protocol import Response

if TYPE_CHECKING:
    from .loop.event_loop import EventLoop


class Cells(Protocol):
    """What pages may ask of running cells."""

    def stop(self, page: str = "") -> None:
        """End them."""

    def run_again(self, page: str) -> None:
        """Run them anew."""


class SiteGateway:
    """`SiteHandler` and `ActionHandler` of the server, from its first moment on; called from many threads."""

    def __init__(self, stored: StoredPages, tag: ScriptTag, editor: Editor) -> None:
        self._stored = stored
        self._tag = tag
        self._engine: EventLoop | None = None
        self._has_engine = Event()
        self._is_whole = False
        self._sent: list[tuple[str, str]] = []
        self.editor = editor
        self._cells: Cells | None = None
        self._hello: Callable[[], Mapping[str, object]] = dict

    def attach(self, cells: Cells, hello: Callable[[], Mapping[str, object]]) -> None:
        """Pages are made from now on: who runs cells, and what a tab hears first."""
        self._cells, self._hello = cells, hello

    def hello(self) -> Mapping[str, object]:
        """What a tab hears when it connects; nothing before there is anything to say."""
        return self._hello()

    def use_loop(self, engine: EventLoop) -> list[tuple[str, str]]:
        """Ask the event loop from now on; gives the pages that were sent without it, with their versions."""
        self._engine = engine
        self._has_engine.set()
        return self._sent

    def mark_complete(self) -> None:
        """The engine knows the whole site."""
        self._is_whole = True

    def close(self) -> None:
        """Nobody is to wait for an engine that will not come."""
        self._has_engine.set()

    def answer(self, path: str) -> Response:
        """As `SiteHandler.answer`."""
        return (None if self._is_whole else self._stored_response(path)) or self._wait().answer(path)

    def version(self, path: str) -> str:
        """As `SiteHandler.version`."""
        return self._wait().version(path)

    def act(self, name: str, data: Mapping[str, object]) -> Mapping[str, object]:
        """As `ActionHandler.act`."""
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
        # in this order: `take` may come in between, and to be told twice does no harm
        self._sent.append((path, page.version))
        if self._engine:
            self._engine.page_sent(path, page.version)
        return Response(200, body=self._tag.put_in(data, page.version, page.source))


def _page(data: Mapping[str, object], *, optional: bool = False) -> str:
    page = data.get("page", "") or ""
    if not isinstance(page, str) or not (page or optional):
        raise ValueError("page must be the path of a page")
    return page
