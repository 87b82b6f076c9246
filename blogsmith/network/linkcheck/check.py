"""Check of all links of a site: several hosts in parallel, the URLs of one host one after the other.

The next host is always the one whose pause ends first, so no thread waits for a host while another one is
free.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from threading import Lock, Thread
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from .probe import CheckCancelledError, HostGates, Probe
from .verdicts import LinkVerdict

_MAX_FAILURES = 3
"""Number of consecutive requests without an answer after which the other URLs of a host are skipped."""


class CheckPlan(Struct, frozen=True):
    """URLs to check, with options."""

    urls: Mapping[str, Collection[str]]
    """Maps each URL to the fragments that are checked in its page."""
    hosts: int
    """Maximum number of hosts in parallel."""
    now_s: int
    """Timestamp for the results, in seconds since 1970."""


@dataclass(slots=True)
class _HostQueue:
    """URLs of one host that are still to be checked."""

    host: str
    addresses: list[str]
    """URLs to check, in reverse order: the next one is the last."""
    failures: int = 0
    verdict: LinkVerdict | None = None
    """Result of the last URL, which also applies to URLs that are skipped."""
    is_prepared: bool = False


class LinkCheck:
    """State of one check."""

    def __init__(self, plan: CheckPlan, gates: HostGates, probe: Probe) -> None:
        self._plan = plan
        self._gates = gates
        self._probe = probe
        self._lock = Lock()
        by_host: dict[str, list[str]] = {}
        for address in sorted(plan.urls, reverse=True):
            by_host.setdefault(urlsplit(address).netloc, []).append(address)
        queues = [_HostQueue(host, addresses) for host, addresses in sorted(by_host.items())]
        self._queues = [self._entry(queue, 0.0) for queue in queues]
        heapify(self._queues)
        self._found: list[tuple[str, LinkVerdict]] = []
        self._failure: Exception | None = None
        """Internal error in one of the threads, to be raised in the main thread."""

    def run(
        self, on_verdict: Callable[[str, LinkVerdict], None], progress: Callable[[str, int, int], None]
    ) -> None:
        """Check every URL. on_verdict: called in this thread with each URL and result. progress: called with
        the host, the number of finished URLs and the total."""
        done, total = 0, len(self._plan.urls)
        progress("links", done, total)
        # Daemon threads, so that an interrupted program does not wait for slow hosts.
        workers = [Thread(target=self._work, name="links", daemon=True) for _ in range(self._plan.hosts)]
        try:
            for worker in workers:
                worker.start()
            is_over = False
            while not is_over:
                is_over = not any(worker.is_alive() for worker in workers)
                for address, verdict in self._take_found():
                    on_verdict(address, verdict)
                    done += 1
                    progress(urlsplit(address).netloc, done, total)
                if not is_over:
                    self._gates.stop.wait(0.05)
        finally:
            self._gates.stop.set()
        if self._failure:
            raise self._failure

    def _take_found(self) -> list[tuple[str, LinkVerdict]]:
        with self._lock:
            found, self._found = self._found, []
        return found

    def _entry(self, queue: _HostQueue, free_at: float) -> tuple[float, int, str, _HostQueue]:
        # of two free hosts, the one with the longer queue comes first, because it determines the total time
        return free_at, -len(queue.addresses), queue.host, queue

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queues:
                    return
                queue = heappop(self._queues)[-1]
            try:
                self._check_next(queue)
            except CheckCancelledError:
                return
            except Exception as error:
                self._failure = error
                self._gates.stop.set()
                return
            if queue.addresses:
                with self._lock:
                    heappush(self._queues, self._entry(queue, self._gates.next_request_s(queue.host)))

    def _check_next(self, queue: _HostQueue) -> None:
        """Run one step for a host: read its rules, check one URL, or skip the rest if it does not answer."""
        if not queue.is_prepared:
            queue.is_prepared = True
            self._update_failures(queue, self._probe.prepare(queue.addresses[-1]))
        elif queue.failures < _MAX_FAILURES:
            address = queue.addresses.pop()
            verdict = self._probe.check(address, self._plan.urls[address])
            self._update_failures(queue, verdict)
            self._record(address, verdict)
        else:
            while queue.addresses and queue.verdict:
                self._record(queue.addresses.pop(), queue.verdict)

    def _update_failures(self, queue: _HostQueue, verdict: LinkVerdict | None) -> None:
        queue.failures = queue.failures + 1 if verdict and verdict.is_silent else 0
        queue.verdict = verdict

    def _record(self, address: str, verdict: LinkVerdict) -> None:
        with self._lock:
            self._found.append((address, replace(verdict, asked_s=self._plan.now_s)))
