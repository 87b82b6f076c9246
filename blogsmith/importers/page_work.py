"""Translates the pages of an import in several processes, with a time limit for each page.

Results have the order of the pages. If a process dies, the main process repeats its work, so no page is lost.
If a page exceeds the time limit, or is nested too deep, its text becomes a code block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import Field, dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar

from ..api.importing import (
    PageTimeout,
    ProcessDiedError,
    ProcessPool,
    StartMethod,
    alarm,
    can_fork,
    has_alarm,
)
from .model import Notice
from .text.containers import fence_marks

_MIN_PAGES: Mapping[StartMethod, int] = MappingProxyType({"fork": 20, "spawn": 150})
"""Start method → minimum number of pages for which an import starts processes. Starting takes some hundredths
of a second (fork) or one second (spawn)."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def default_method() -> StartMethod:
    """Return `fork` if forking is safe with the libraries of the operating system; otherwise `spawn`."""
    return "fork" if can_fork() else "spawn"


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that an import may use."""

    count: int = 1
    """Number of processes, at least 1. If it is 1, the main process does all work."""
    method: StartMethod = field(default_factory=default_method)
    """Start method of the processes."""

    def is_faster(self, pages: int) -> bool:
        """Return whether several processes are faster than one for this number of pages."""
        return self.count > 1 and pages >= _MIN_PAGES[self.method]


ONE_PROCESS = Workers()


def map_pages(
    work: Callable[[Item], Result], items: Iterable[Item], count: int, workers: Workers
) -> Iterator[Result]:
    """Yield the result of `work` for each item, in the order of the items.

    count: number of items. Items and results must be picklable, and `work` too if processes are spawned. If
    `work` raises an exception in another process, or that process dies, the main process calls `work` again.
    """
    if not workers.is_faster(count):
        yield from map(work, items)
        return
    source = iter(items)
    begun: dict[int, Item] = {}
    made: dict[int, Result] = {}

    def begin() -> Iterator[Item]:
        for number, item in enumerate(source):
            begun[number] = item
            yield item

    def finish(number: int) -> Result:
        item, result = begun.pop(number), made.pop(number, None)
        return work(item) if result is None else result

    number = 0
    with (
        suppress(ProcessDiedError),
        ProcessPool(workers.method, workers.count, partial(_identity, work)) as pool,
    ):
        for done, result in pool.map(begin()):
            made[done] = result
            while number in made:
                yield finish(number)
                number += 1
    # empty, unless a process has died
    yield from map(finish, sorted(begun))
    yield from map(work, source)


def _identity(work: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """Return `work`. A pool calls this factory once in each process, so that `work` is sent once for each
    process instead of once for each page."""
    return work


LIMIT_S = 3.0
"""Time limit of a page in seconds of processor time; the longest of 500 real posts took one second."""


class SourceDocument(Protocol):
    """A file of a source that becomes a page. A class that implements this protocol must be a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def path(self) -> PurePosixPath:
        """Return the path relative to the root of the source."""

    @property
    def body(self) -> str:
        """Return the text after the front matter."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return the notices about reading the file."""


Document = TypeVar("Document", bound=SourceDocument)
Made = TypeVar("Made")


@contextmanager
def page_limit(limit_s: float = 0.0) -> Iterator[None]:
    """Raise PageTimeout inside the `with` block after `limit_s` seconds of processor time. Works only in the
    main thread.

    limit_s: 0 for `LIMIT_S`.
    """
    if not has_alarm():
        yield
        return
    with alarm(limit_s or LIMIT_S, PageTimeout, is_cpu_time=True):
        yield


def translate_document(translate: Callable[[Document], Made], document: Document) -> Made:
    """Return `translate(document)`. If that exceeds the time limit or the document is nested too deep,
    translate a copy of the document whose text is one code block."""
    try:
        with page_limit():
            return translate(document)
    except PageTimeout:
        why = f"page takes longer than {LIMIT_S:g} s to translate"
    except RecursionError:
        why = "page is nested too deeply"
    notice = Notice("left", why, str(document.path), hint="split the page, which now shows its text as code")
    ticks = fence_marks(document.body)
    body = f"{ticks}\n{document.body}\n{ticks}\n"
    try:
        with page_limit():
            return translate(_replace_body(document, body, notice))
    except (PageTimeout, RecursionError):
        told = replace(notice, hint="rewrite the page, which is now empty", removed=document.body)
        return translate(_replace_body(document, "", told))


def _replace_body(document: Document, body: str, notice: Notice) -> Document:
    changed: Document = replace(document, body=body, notices=(*document.notices, notice))
    return changed
