"""The bodies of pages, made by several processes, equal to those of one.

A page may ask what others hold while it is rendered. A process knows that of the pages it has parsed itself;
a page that asks for more waits until all are parsed, and its process keeps its tokens meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from ...base.diagnostics.model import Diagnostic, SiteError
from ...model.documents import Body, Document
from ...tex.on_demand import import_converter
from ..cache import PageCache
from ..rows.page_rows import NotStorable, decode_facts, encode_facts
from ..snapshot import ResolvedSite
from .body_worker import BodyRequest, BodyWorker, MadeBody, PageSource, decode_made
from .process_pool import LazyRequests, ProcessDied, StartPool, WorkerPool

if TYPE_CHECKING:
    from ..lint_cache import LintCache


class BodyJob:
    """What makes bodies in the processes of a pool."""

    name = "bodies"

    def __init__(self, memory: PageCache, resolved: ResolvedSite, lints: LintCache | None) -> None:
        self._resolved = resolved
        self._has_lints = lints is not None
        self._worker = BodyWorker(
            memory,
            lambda: resolved.tools,
            resolved.documents.__getitem__,
            lambda source: None,
            lints.encode if lints else None,
        )

    def answer(self, request: bytes) -> bytes:
        """As in `PoolJob`."""
        return self._worker.answer(request)

    def state(self, *, is_elsewhere: bool) -> bytes:
        """As in `PoolJob`."""
        from .body_state import encode_state

        return encode_state(self._resolved, is_elsewhere=is_elsewhere, has_lints=self._has_lints)


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
        self._facts: dict[str, bytes] = {}
        """Source path → what others may know of a page."""

    def make(self, start: StartPool) -> Iterator[tuple[str, Body | None]]:
        """Each page by its source path, in some order; None for one that is to be made in this process.

        SiteError if a process dies; NotStorable at the first page if processes cannot be told what they need.
        """
        import_converter()
        self._memory.prepare()
        self._memory.images.load()
        with start(BodyJob(self._memory, self._resolved, self._lints)) as pool:
            waiting: list[str] = []
            origin: dict[str, int] = {}
            for process, made in self._answers(pool, self._paths):
                self._facts[made.path], origin[made.path] = made.facts, process
                self._memory.parsing_s += made.parsing_s / len(pool)
                if made.state == "waits":
                    waiting.append(made.path)
                else:
                    yield self._adopt(made)
            if waiting:
                pool.share(msgspec.msgpack.encode(BodyRequest({}, self._all_facts(pool))))
            for _, made in self._answers(pool, waiting, [origin[path] for path in waiting]):
                yield self._adopt(made)

    def _all_facts(self, pool: WorkerPool) -> dict[str, bytes]:
        """What is known of pages, for processes that know of none but their own."""
        facts = {path: data for path, data in self._facts.items() if data}
        if not pool.knows_sources:
            for path, document in self._resolved.documents.items():
                if path not in facts and self._memory.has_facts(document):
                    known = self._memory.facts_of(document)
                    with suppress(NotStorable):
                        facts[path] = encode_facts(known.facts, known.entry)
        return facts

    def _answers(
        self, pool: WorkerPool, paths: Sequence[str], process_of: Sequence[int] | None = None
    ) -> Iterator[tuple[int, MadeBody]]:
        """process_of: given when all that pages may ask is known."""
        has_sources, is_last = pool.knows_sources, process_of is not None

        def encode(number: int) -> bytes:
            path = paths[number]
            source = None if has_sources else _source(self._resolved.documents[path])
            request = BodyRequest({path: source}, is_last=is_last, is_made=path in self._to_make)
            return msgspec.msgpack.encode(request)

        try:
            for answer in pool.map(LazyRequests(len(paths), encode), process_of):
                for made in decode_made(answer.data, [paths[answer.request]]):
                    yield answer.process, made
        except ProcessDied as error:
            message = f"the process that made this page {error.ending}"
            hint = "`--jobs 1` makes all pages in one process"
            raise SiteError(Diagnostic("page-process", message, paths[error.request], hint=hint)) from error

    def _adopt(self, made: MadeBody) -> tuple[str, Body | None]:
        """The page as if it had been made here."""
        memory, path = self._memory, made.path
        document = self._resolved.documents[path]
        if self._lints and made.lint:
            self._lints.put_encoded(document, made.lint)
        memory.images.add(made.sizes)
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


def _source(document: Document) -> PageSource:
    return PageSource(document.source.text, document.source.digest, document.included)
