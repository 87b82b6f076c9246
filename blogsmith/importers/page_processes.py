"""Work on the pages of an import by several processes, with the results in the order of the pages.

What the processes cannot do is done in this one: a process that dies costs time, and no page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from ..pools.pool import ProcessDied, ProcessPool, StartMethod, can_fork

_FEWEST_PAGES: Mapping[StartMethod, int] = MappingProxyType({"fork": 20, "spawn": 150})
"""Pages for which it is worth to start processes: that takes some hundredths of a second, or a second."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def default_method() -> StartMethod:
    """Return `fork` where that is safe with the libraries of the system, otherwise `spawn`."""
    return "fork" if can_fork() else "spawn"


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that an import may use."""

    count: int = 1
    """At least 1; 1: this process does all work."""
    method: StartMethod = field(default_factory=default_method)
    """How they are started."""

    def are_worth(self, pages: int) -> bool:
        """Return whether several processes do so many pages sooner than one."""
        return self.count > 1 and pages >= _FEWEST_PAGES[self.method]


ONE_PROCESS = Workers()


def map_pages(
    work: Callable[[Item], Result], items: Iterable[Item], count: int, workers: Workers
) -> Iterator[Result]:
    """Yield the result of `work` for each item, in the order of the items.

    count: number of items. Items and results must be picklable, for `spawn` also `work`. If `work` raises an
    Exception in another process, or that process dies, this process calls it again.
    """
    if not workers.are_worth(count):
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
    with suppress(ProcessDied), ProcessPool(workers.method, workers.count, partial(_keep, work)) as pool:
        for done, result in pool.map(begin()):
            made[done] = result
            while number in made:
                yield finish(number)
                number += 1
    # nothing is left unless a process has died
    yield from map(finish, sorted(begun))
    yield from map(work, source)


def _keep(work: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """Return the function that a process calls for each page."""
    return work
