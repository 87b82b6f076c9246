"""All addresses of a site: hosts beside each other, the addresses of one host one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from .host_gates import CheckStopped, HostGates
from .probe import Probe
from .verdicts import LinkVerdict

_MOST_FAILURES = 3
"""Addresses of a host that cannot be reached, one after the other, after which the rest is given up."""


class CheckPlan(Struct, frozen=True):
    """What is to be asked."""

    addresses: Mapping[str, Collection[str]]
    """Address → fragments that are wanted of its page."""
    hosts: int
    """That are asked at the same time."""
    now_s: int
    """What verdicts are dated with."""


def ask_all(
    plan: CheckPlan,
    gates: HostGates,
    probe: Probe,
    keep: Callable[[str, LinkVerdict], None],
    progress: Callable[[str, int, int], None],
) -> None:
    """Ask for every address. keep: told of each verdict, by one thread at a time."""
    by_host: dict[str, list[str]] = {}
    for address in sorted(plan.addresses):
        by_host.setdefault(urlsplit(address).netloc, []).append(address)
    # the longest queue sets how long all of it takes
    queues = sorted(by_host.values(), key=len, reverse=True)
    done, total = 0, len(plan.addresses)
    progress("links", done, total)
    with ThreadPoolExecutor(max_workers=plan.hosts, thread_name_prefix="links") as pool:
        waiting: list[tuple[str, LinkVerdict]] = []

        def take(address: str, verdict: LinkVerdict) -> None:
            # appending is one step for all threads
            waiting.append((address, replace(verdict, asked_s=plan.now_s)))

        futures = [pool.submit(_ask_host, queue, plan, probe, take) for queue in queues]
        try:
            while True:
                finished = all(future.done() for future in futures)
                while waiting:
                    address, verdict = waiting.pop(0)
                    keep(address, verdict)
                    done += 1
                    progress(urlsplit(address).netloc, done, total)
                if finished:
                    break
                gates.stop.wait(0.05)
            for future in as_completed(futures):
                future.result()
        except BaseException:
            # an interrupt ends all threads at their next question
            gates.stop.set()
            for future in futures:
                future.cancel()
            raise


def _ask_host(
    addresses: Sequence[str], plan: CheckPlan, probe: Probe, take: Callable[[str, LinkVerdict], None]
) -> None:
    """Ask one host for all its addresses; what it does not answer at all is not asked for again and again."""
    failures = 0
    verdict = LinkVerdict("unreachable")
    for address in addresses:
        if failures < _MOST_FAILURES:
            try:
                verdict = probe.ask(address, plan.addresses[address])
            except CheckStopped:
                return
            failures = failures + 1 if verdict.is_silent else 0
        take(address, verdict)
