"""Parts of one piece of work, done by copies of this process: what comes of them lies on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ...write.division import DivideWork, do_here
from ..rows.row_store import RowStore
from .fork_pool import ForkPool
from .process_pool import ProcessDied

_NUMBER_BYTES = 4


def divide_work(processes: int, rows: RowStore) -> DivideWork:
    """A `DivideWork` for so many processes; for one, this is it. rows: may be read by the work."""
    if processes < 2:
        return do_here

    def divide(parts: int, work: Callable[[int], None]) -> Collection[int]:
        def answer(request: bytes) -> bytes:
            work(int.from_bytes(request))
            return b"done"

        rows.share()
        left = set(range(parts))
        with ForkPool(processes, answer, lambda number: rows.reopen()) as pool:
            try:
                for found in pool.map([part.to_bytes(_NUMBER_BYTES) for part in range(parts)]):
                    if found.data:
                        left.remove(found.request)
            except ProcessDied:
                # what is wrong is seen here, where it is understood
                return sorted(left)
        return sorted(left)

    return divide
