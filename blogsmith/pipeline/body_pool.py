"""The bodies of pages, made by several processes, equal to those of one.

A page may ask what others hold while it is rendered. A process knows that of the pages it has parsed itself;
whoever asks for more waits until all are parsed, and its process keeps its tokens meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from ..diagnostics.model import Diagnostic, SiteError
from ..model.documents import Body, Document
from ..model.texts import pack_text
from ..syntax.parser import Parsed
from ..tex.on_demand import import_converter
from .cache import PageCache, UnknownPage
from .page_rows import NotStorable, decode_facts, encode_facts
from .process_pool import MAX_PROCESSES, ProcessDied, ProcessPool
from .snapshot import ResolvedSite

if TYPE_CHECKING:
    from .lint_cache import LintCache

FEWEST = 20
"""Pages to render for which processes are worth their start."""
_MOST_WAITING = 150
"""Pages whose tokens a process keeps; they take some 40 MB. Others are parsed again."""


class _Request(msgspec.Struct, array_like=True):
    pages: list[int]
    """Numbers of pages to make."""
    facts: dict[int, bytes] = {}
    """Page → what others may know of it."""


class _Made(msgspec.Struct, array_like=True):
    page: int
    state: Literal["made", "waits", "has cells", "linted", "stays"]
    """`linted`: it was not to be made; `stays`: what comes of it has no form outside a process."""
    parsing_s: float = 0.0
    facts: bytes = b""
    body: bytes = b""
    content: bytes = b""
    lint: bytes = b""
    """What lints find in it, in a check."""


class BodyPool:
    """Belongs to one build."""

    def __init__(
        self,
        memory: PageCache,
        resolved: ResolvedSite,
        paths: Sequence[str],
        to_make: Collection[str],
        lints: LintCache | None,
    ) -> None:
        """paths: source paths of pages. to_make: those of them that are not there only to be looked at by
        `lints`, without cells as far as that is known."""
        self._memory = memory
        self._resolved = resolved
        self._paths = paths
        self._to_make = to_make
        self._lints = lints
        self._facts: dict[int, bytes] = {}
        """Page → what others may know of it."""
        self._origin: dict[int, int] = {}
        """Page → the process that has parsed it."""

    def make(self, processes: int) -> Iterator[tuple[str, Body | None]]:
        """Each page by its source path, in some order; None for one that is to be made in this process.

        SiteError if a process dies.
        """
        requests = [_Request([page]) for page in range(len(self._paths))]
        import_converter()
        worker = _BodyWorker(self._memory, self._resolved, self._paths, self._to_make, self._lints)
        with ProcessPool(min(processes, MAX_PROCESSES), worker.answer) as pool:
            waiting: list[int] = []
            for process, made in self._answers(pool, requests):
                self._facts[made.page], self._origin[made.page] = made.facts, process
                self._memory.parsing_s += made.parsing_s / len(pool)
                if made.state == "waits":
                    waiting.append(made.page)
                else:
                    yield self._take(made)
            self._share_facts(pool)
            requests = [_Request([page]) for page in waiting]
            for _, made in self._answers(pool, requests, [self._origin[page] for page in waiting]):
                yield self._take(made)

    def _share_facts(self, pool: ProcessPool) -> None:
        """Tell each process what the others have found out."""
        of_others = [
            {page: data for page, data in self._facts.items() if data and self._origin[page] != process}
            for process in range(len(pool))
        ]
        requests = [_Request([], facts) for facts in of_others]
        for _ in self._answers(pool, requests, range(len(pool))):
            pass

    def _answers(
        self, pool: ProcessPool, requests: Sequence[_Request], process_of: Sequence[int] | None = None
    ) -> Iterator[tuple[int, _Made]]:
        try:
            for answer in pool.map([msgspec.msgpack.encode(one) for one in requests], process_of):
                found = msgspec.msgpack.decode(answer.data, type=list[_Made]) if answer.data else []
                # what is raised there is raised here, too, where it is understood
                known = {made.page for made in found}
                found += [
                    _Made(page, "stays") for page in requests[answer.request].pages if page not in known
                ]
                for made in found:
                    yield answer.process, made
        except ProcessDied as error:
            path = self._paths[next(iter(requests[error.request].pages), 0)]
            message = f"the process that made this page {error.ending}"
            hint = "`--jobs 1` makes all pages in one process"
            raise SiteError(Diagnostic("page-process", message, path, hint=hint)) from error

    def _take(self, made: _Made) -> tuple[str, Body | None]:
        """The page as if it had been made here."""
        memory, path = self._memory, self._paths[made.page]
        document = self._resolved.documents[path]
        if self._lints and made.lint:
            self._lints.put_encoded(document, made.lint)
        facts = decode_facts(made.facts, document) if made.facts else None
        if facts:
            memory.take_facts(*facts)
            memory.table.put_encoded_facts(document, made.facts)
        found = memory.table.decode_body(document, made.body) if made.body else None
        if found is None or facts is None:
            return path, None
        body, questions = found
        if any(one.name == "python" for one in questions):
            # what is wrong with it is told of the site, once a page has asked for it
            self._resolved.tools.python()
        memory.table.put_encoded_body(document, made.body)
        body = memory.table.put_content(document, body, made.content)
        return path, memory.take_body(document, body, self._resolved.facts, {}, questions)


class _BodyWorker:
    """Lives in each of the processes, from the moment they are forked."""

    def __init__(
        self,
        memory: PageCache,
        resolved: ResolvedSite,
        paths: Sequence[str],
        to_make: Collection[str],
        lints: LintCache | None,
    ) -> None:
        """As `BodyPool`."""
        self._memory = memory
        self._resolved = resolved
        self._paths = paths
        self._to_make = to_make
        self._lints = lints
        self._waiting: dict[int, Parsed] = {}
        self._facts: dict[int, bytes] = {}
        """Of pages that this process has parsed."""

    def answer(self, request: bytes) -> bytes:
        """What `_Request` asks for, as a list of `_Made`."""
        self._memory.table.close()
        wanted = msgspec.msgpack.decode(request, type=_Request)
        for page, data in wanted.facts.items():
            found = decode_facts(data, self._document(page))
            if found:
                self._memory.take_facts(*found)
        return msgspec.msgpack.encode([self._make(page) for page in wanted.pages])

    def _document(self, page: int) -> Document:
        return self._resolved.documents[self._paths[page]]

    def _make(self, page: int) -> _Made:
        memory, document = self._memory, self._document(page)
        before_s = memory.parsing_s
        if self._paths[page] not in self._to_make:
            parsed = memory.parse(document)
            return _Made(page, "linted", memory.parsing_s - before_s, lint=self._lint(parsed))
        is_second = page in self._facts
        memory.asks_others = False
        known = memory.facts_of(document)
        try:
            facts = self._facts[page] if is_second else encode_facts(known.facts, known.entry)
        except NotStorable:
            return _Made(page, "stays")
        self._facts[page] = facts
        if page in self._waiting:
            memory.keep_tokens(self._waiting.pop(page))
        parsed = memory.parse(document)
        parsing_s = memory.parsing_s - before_s
        if known.facts.cells.sessions():
            return _Made(page, "has cells", parsing_s, facts, lint=self._lint(parsed))
        memory.asks_others = not is_second
        try:
            body, lookups = memory.render(document, self._resolved.tools)
            data = memory.table.encode_body(body, lookups)
        except NotStorable:
            return _Made(page, "stays", parsing_s, facts)
        except UnknownPage:
            if len(self._waiting) < _MOST_WAITING:
                self._waiting[page] = parsed
            return _Made(page, "waits", parsing_s, facts)
        content = pack_text(body.content)
        return _Made(page, "made", parsing_s, facts, data, content, self._lint(parsed))

    def _lint(self, parsed: Parsed) -> bytes:
        return self._lints.encode(parsed) if self._lints else b""
