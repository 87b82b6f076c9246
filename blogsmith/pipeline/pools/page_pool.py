"""Templates filled and cards drawn by several processes: the files are those that one process makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import msgspec

from ...base.diagnostics.model import Diagnostic, SiteError
from ...model.documents import Output
from ...model.generated_files import GeneratedFile
from ...model.template_views import PageView
from ...model.texts import TextTrace
from ..output_plan import OutputFile, OutputPlan
from ..rows.row_store import RowStore
from ..spool import Spool
from .fork_pool import ForkPool
from .process_pool import ProcessDied

FEWEST = 40
"""Pages to make for which processes are worth their start."""
_SLOW = 20
"""Pages that take as long as a copy of a picture, with those of its copies that are made at once."""

MadeOutput = tuple[Output, tuple[Diagnostic, ...]]
"""A file, and what there is to say about it."""


class _Made(msgspec.Struct, array_like=True):
    data: bytes
    """Empty where it lies in the spool of its process, or nobody asks for it."""
    start: int | None
    """Where it begins in that spool."""
    size: int
    digest: str
    problems: tuple[Diagnostic, ...]
    texts: frozenset[str] = frozenset()
    """As in `Output`, like the next one."""
    templates: frozenset[str] = frozenset()
    errors: tuple[Diagnostic, ...] = ()
    """Why it could not be made."""


def cost_of(planned: OutputFile) -> int:
    """How many pages take as long as making the file; 0 if that is nothing for another process."""
    content = planned.content
    if isinstance(content, GeneratedFile):
        return _SLOW if content.is_slow else int(bool(content.key) and not content.is_joint)
    return int(isinstance(content, PageView))


def is_feed(planned: OutputFile) -> bool:
    """Whether it is made of texts of pages: no reason to start processes, but work for those there are."""
    return isinstance(planned.content, GeneratedFile) and bool(planned.content.texts)


class PagePool:
    """Belongs to one build."""

    def __init__(self, plan: OutputPlan, rows: RowStore, trace: TextTrace, spool: Spool | None) -> None:
        """trace: notes which texts are read. spool: for what is made; None: only digests are asked for."""
        self._spool = spool
        self._plan = plan
        self._rows = rows
        self._trace = trace

    def make(
        self, pages: Sequence[OutputFile], processes: int
    ) -> Iterator[tuple[OutputFile, MadeOutput | SiteError]]:
        """The pages, or why they cannot be made, in some order; those that are to be made here are left out.

        Nothing is written to the rows meanwhile. SiteError if a process dies.
        """
        self._rows.share()
        spools = [self._spool.part() for _ in range(processes)] if self._spool else []
        worker = _PageWorker(self._plan, self._rows, self._trace, pages, spools)
        requests = [msgspec.msgpack.encode(page) for page in range(len(pages))]
        # thousands of pages are made with the same templates
        known: dict[frozenset[str], frozenset[str]] = {}
        with ForkPool(processes, worker.answer, worker.begin) as pool:
            try:
                for answer in pool.map(requests):
                    if answer.data:
                        made = msgspec.msgpack.decode(answer.data, type=_Made)
                        planned = pages[answer.request]
                        spool = spools[answer.process] if spools else None
                        templates = known.setdefault(made.templates, made.templates)
                        yield planned, _result(made, planned, spool, templates)
            except ProcessDied as error:
                message = (
                    f"the process that filled the templates of {pages[error.request].origin} {error.ending}"
                )
                hint = "`--jobs 1` makes all pages in one process"
                raise SiteError(Diagnostic("page-process", message, hint=hint)) from error


def _result(
    made: _Made, planned: OutputFile, spool: Spool | None, templates: frozenset[str]
) -> MadeOutput | SiteError:
    """templates: those of `made`, as one object for all files that have the same."""
    if made.errors:
        return SiteError(*made.errors)
    make = spool.reader(made.start, made.size) if spool and made.start is not None else None
    output = Output(
        planned.path,
        None if make else made.data,
        make=make,
        digest=made.digest,
        texts=made.texts,
        templates=templates,
    )
    return output, made.problems


class _PageWorker:
    """Lives in each of the processes, from the moment they are forked."""

    def __init__(
        self,
        plan: OutputPlan,
        rows: RowStore,
        trace: TextTrace,
        pages: Sequence[OutputFile],
        spools: Sequence[Spool],
    ) -> None:
        """spools: of each process; none: of what is made only digests are asked for."""
        self._spools = spools
        self._spool: Spool | None = None
        self._plan = plan
        self._rows = rows
        self._trace = trace
        self._pages = pages
        self._given_up: set[str] = set()

    def begin(self, number: int) -> None:
        """The process is there. number: its own."""
        self._rows.reopen()
        self._spool = self._spools[number] if self._spools else None

    def answer(self, request: bytes) -> bytes:
        """A `_Made`; nothing for a page whose layout takes too long, as another one has shown."""
        view = self._pages[msgspec.msgpack.decode(request, type=int)].content
        if isinstance(view, GeneratedFile):
            return msgspec.msgpack.encode(self._put(view(), ()))
        assert isinstance(view, PageView), "nothing else is made by several processes"
        return b"" if view.layout in self._given_up else msgspec.msgpack.encode(self._make(view))

    def _make(self, view: PageView) -> _Made:
        try:
            with self._trace.watch() as texts, self._plan.context.theme.watch_templates() as templates:
                made = self._plan.page(view)
        except SiteError as error:
            if any(found.code == "template-limit" for found in error.diagnostics):
                self._given_up.add(view.layout)
            return _Made(b"", None, 0, "", (), errors=error.diagnostics)
        others = frozenset(texts - {view.path})
        return self._put(made.html, made.problems, others, frozenset(templates))

    def _put(
        self,
        data: bytes,
        problems: tuple[Diagnostic, ...],
        texts: frozenset[str] = frozenset(),
        templates: frozenset[str] = frozenset(),
    ) -> _Made:
        start = self._spool.put_at(data) if self._spool else None
        is_sent = self._spool is not None and start is None
        digest = sha256(data).hexdigest()
        return _Made(data if is_sent else b"", start, len(data), digest, problems, texts, templates)
