"""Check of all links of a site. Several hosts are checked in parallel, the URLs of one host one after the
other.

The next host is always the one whose pause ends first, so no thread waits for a host while another one is
free.

A link is checked by HEAD, then GET if the server does not support HEAD. Redirects are followed. Sources: RFC
9110 (methods, status codes, Retry-After), RFC 9309 (robots.txt).
"""

from __future__ import annotations

import email.utils
import http.client
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from html import unescape
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Literal, TypeVar
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ...base.storage.site_cache import Row, open_site_cache
from ...model.remote_images import normalize_remote_url
from ..connection import REDIRECT_STATUSES, USER_AGENT, HostRejectedError, Limits, failure_reason, request

State = Literal["good", "dead", "moved", "unreachable", "unknown"]
_NAME = "addresses"
DAY_S = 86_400
_MAX_AGE_S = 60 * DAY_S
_VERSION = "1"


class LinkVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of checking a URL."""

    state: State
    """State of the link. `unknown`: the host rejects automated requests, or too many of them."""
    reason: str = ""
    """Reason as a message for the author."""
    is_silent: bool = False
    """Whether the host did not answer at all."""
    target: str = ""
    """URL of a permanent redirect; empty if there is none."""
    copy: str = ""
    """URL of a copy in the Internet Archive; empty if there is none, or if the archive was not queried."""
    asked_s: int = 0
    """Time of the check, in seconds since 1970."""
    sought: tuple[str, ...] = ()
    """Fragments that were searched for in the page."""
    lacking: tuple[str, ...] = ()
    """Fragments in `sought` that the page does not contain."""


def is_due(verdict: LinkVerdict | None, fragments: Collection[str], now_s: int, days: int) -> bool:
    """Return whether a URL must be checked again. verdict: result of the last check; None if there was none.

    days: number of days for which a good result remains valid.
    """
    if verdict is None or verdict.asked_s > now_s or not {*fragments} <= {*verdict.sought, ""}:
        return True
    is_good = verdict.state in ("good", "moved") and not verdict.lacking
    return now_s - verdict.asked_s >= (days if is_good else min(days, 1)) * DAY_S


def read_verdicts(root: Path) -> dict[str, LinkVerdict]:
    """Return URL → result of the last check; empty if the results cannot be read."""
    with open_site_cache(root) as rows:
        row = rows.get("links", _NAME)
    if row is None or row.key != _VERSION:
        return {}
    try:
        return msgspec.msgpack.decode(row.data, type=dict[str, LinkVerdict])
    except msgspec.MsgspecError:
        return {}


def write_verdicts(root: Path, verdicts: Mapping[str, LinkVerdict], now_s: int) -> None:
    """Store the results, if possible. Drop URLs that were not checked for 60 days."""
    kept = {
        address: verdict
        for address, verdict in sorted(verdicts.items())
        if now_s - verdict.asked_s < _MAX_AGE_S
    }
    with open_site_cache(root) as rows:
        rows.put("links", _NAME, Row(_VERSION, msgspec.msgpack.encode(kept)))


class GateClock(Struct, frozen=True):
    """Functions for the current time and for waiting, which tests replace."""

    monotonic: Callable[[], float] = time.monotonic
    wait: Callable[[Event, float], object] = lambda stop, seconds: stop.wait(seconds)


class CheckCancelledError(Exception):
    """Raised in every thread of a check that was cancelled."""


class HostGates:
    """Lets the threads of a link check send one request at a time to each host, with pauses."""

    def __init__(self, pause_s: float, clock: GateClock) -> None:
        self._pause_s = pause_s
        self._clock = clock
        self._lock = Lock()
        self._gates: dict[str, Lock] = {}
        self._free_at: dict[str, float] = {}
        self.stop = Event()
        """Set when the check must end."""

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until a request to the host is allowed. Raise CheckCancelledError if the check is cancelled
        before."""
        with self._lock:
            gate = self._gates.setdefault(host, Lock())
        with gate:
            self._wait(self._free_at.get(host, 0.0) - self._clock.monotonic())
            try:
                yield
            finally:
                free_at = self._clock.monotonic() + self._pause_s
                self._free_at[host] = max(free_at, self._free_at.get(host, 0.0))

    def next_request_s(self, host: str) -> float:
        """Return the time when the next request to the host is allowed, in seconds by the clock of the
        gates."""
        return self._free_at.get(host, 0.0)

    def delay(self, host: str, seconds: float) -> None:
        """Send no request to a host for some seconds, because the host has requested this pause."""
        self._free_at[host] = self._clock.monotonic() + seconds

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._clock.wait(self.stop, seconds)
        if self.stop.is_set():
            raise CheckCancelledError


Answer = TypeVar("Answer")

MAX_REDIRECTS = 5
MAX_PAGE = 2_000_000
"""Number of bytes of a page that are searched for a fragment."""
MAX_WAIT_S = 60.0
"""Maximum value of Retry-After for which the check waits, in seconds."""
_MAX_ROBOTS = 200_000
_PERMANENT = (301, 308)
_RANGE_NOT_SATISFIABLE = 416
"""HTTP status of the answer if a file does not contain the requested byte."""
_DEAD = (404, 410)
_BUSY = (429, 503)
_NOT_FOR_PROGRAMS = (401, 402, 403, 406, 407, 418, 451, 999)
"""HTTP status codes of hosts that reject programs, so that the state of the link is unknown."""
_ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
_ID = lazy_pattern(r"\b(?:id|name)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+))", re.IGNORECASE)
_SCRIPT_FRAGMENT = lazy_pattern(r"[:!/]|L\d+(-L\d+)?$|issuecomment-|discussion_r|page=\d|:~:")
"""Matches fragments that are not ids of elements."""


class _Answer(Struct, frozen=True):
    status: int
    reason: str
    location: str = ""
    retry_after: str = ""
    media_type: str = ""
    body: bytes = b""
    is_whole: bool = True


class Probe:
    """Checker of links, used by many threads. Only one thread at a time checks links of a host."""

    def __init__(self, gates: HostGates, limits: Limits) -> None:
        """Create a probe. limits: `total_timeout_s` limits the time of one request, `read_timeout_s` the time
        without data from the server."""
        self._gates = gates
        self._limits = limits
        self._robots: dict[str, RobotFileParser] = {}

    def check(self, address: str, fragments: Collection[str] = ()) -> LinkVerdict:
        """Check a URL. Raise CheckCancelledError if the whole check is cancelled meanwhile."""
        sought = tuple(sorted(name for name in fragments if name))

        def check_link() -> LinkVerdict:
            if not self._is_allowed(address):
                return LinkVerdict("unknown", "its robots.txt disallows automated requests", sought=sought)
            return self._follow(address, sought)

        return self._catch(check_link, sought)

    def prepare(self, address: str) -> LinkVerdict | None:
        """Read the robots.txt of a URL's host. Return None if the host answers, otherwise the result for the
        URL."""

        def read() -> LinkVerdict | None:
            self._is_allowed(address)
            return None

        return self._catch(read, ())

    def _catch(self, ask: Callable[[], Answer], sought: tuple[str, ...]) -> Answer | LinkVerdict:
        started = time.monotonic()
        try:
            return ask()
        except HostRejectedError as refused:
            return LinkVerdict("unreachable", str(refused), is_silent=True, sought=sought)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = failure_reason(error, self._limits, started + self._limits.total_timeout_s)
            return LinkVerdict("unreachable", reason, is_silent=True, sought=sought)

    def _follow(self, address: str, sought: tuple[str, ...]) -> LinkVerdict:
        here, target, is_permanent = address, "", True
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._send_with_retry(here, needs_page=bool(_select_ids(sought)))
            if answer.status not in REDIRECT_STATUSES:
                return _make_verdict(answer, target, sought)
            here = normalize_remote_url(urljoin(here, answer.location))
            if not here:
                reason = f'redirect to "{answer.location[:200]}", which is not a valid URL'
                return LinkVerdict("unreachable", reason, sought=sought)
            is_permanent = is_permanent and answer.status in _PERMANENT
            target = here if is_permanent and here != address else target
        return LinkVerdict("unreachable", f"more than {MAX_REDIRECTS} redirects", sought=sought)

    def _send_with_retry(self, address: str, *, needs_page: bool) -> _Answer:
        """Send a request, and repeat it once if the host is busy or does not support HEAD."""
        most = MAX_PAGE if needs_page else 0
        answer = self._send_request("GET" if needs_page else "HEAD", address, most)
        if not needs_page and answer.status >= 400 and answer.status not in _BUSY:
            # many servers handle HEAD incorrectly
            answer = self._send_request("GET", address)
        if answer.status in _BUSY:
            wait_s = _retry_after(answer.retry_after)
            if wait_s is None or wait_s > MAX_WAIT_S:
                return answer
            self._gates.delay(_url_host(address), wait_s)
            answer = self._send_request("GET", address, most)
        return answer

    def _send_request(self, method: str, address: str, most: int = 0) -> _Answer:
        """Send one request.

        most: number of bytes to read from the body; 0: none.
        """
        with self._gates.turn(_url_host(address)):
            ends = time.monotonic() + self._limits.total_timeout_s
            headers = {"Range": "bytes=0-0"} if method == "GET" and not most else {}
            with request(method, address, _ACCEPT, self._limits, ends, **headers) as answer:
                media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                is_text = media_type in ("text/html", "text/plain")
                body = _read(answer, most + 1, ends) if most and is_text and answer.status < 300 else b""
                return _Answer(
                    answer.status,
                    answer.reason[:80],
                    answer.headers.get("Location", ""),
                    answer.headers.get("Retry-After", ""),
                    media_type,
                    body[:most],
                    len(body) <= most,
                )

    def _is_allowed(self, address: str) -> bool:
        parts = urlsplit(address)
        place = f"{parts.scheme}://{parts.netloc}"
        if place not in self._robots:
            self._robots[place] = self._read_robots(place)
        return self._robots[place].can_fetch(USER_AGENT, address)

    def _read_robots(self, place: str) -> RobotFileParser:
        answer = self._send_request("GET", f"{place}/robots.txt", _MAX_ROBOTS)
        rules = RobotFileParser()
        is_there = answer.status < 300 and answer.media_type == "text/plain"
        rules.parse(answer.body.decode("utf-8", "replace").splitlines() if is_there else [])
        return rules


def _url_host(address: str) -> str:
    return urlsplit(address).netloc


def _make_verdict(answer: _Answer, target: str, sought: tuple[str, ...]) -> LinkVerdict:
    said = f"the server answers {answer.status} {answer.reason}".rstrip()
    if answer.status in _DEAD:
        return LinkVerdict("dead", said, sought=sought)
    if answer.status in _NOT_FOR_PROGRAMS or answer.status == http.client.TOO_MANY_REQUESTS:
        return LinkVerdict("unknown", said, sought=sought)
    if answer.status >= 400 and answer.status != _RANGE_NOT_SATISFIABLE:
        return LinkVerdict("unreachable", said, sought=sought)
    lacking = _missing_fragments(answer, _select_ids(sought))
    return LinkVerdict("moved" if target else "good", said, target=target, sought=sought, lacking=lacking)


def _select_ids(fragments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fragments that may be ids of elements. All other fragments are meant for scripts."""
    return tuple(name for name in fragments if not _SCRIPT_FRAGMENT.match(name))


def _missing_fragments(answer: _Answer, sought: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fragments that a page does not contain. Return none if only part of the page was read, or if
    scripts create its ids."""
    if answer.media_type != "text/html" or not answer.is_whole:
        return ()
    text = answer.body.decode("utf-8", "replace")
    ids = {unescape(found[1] or found[2] or found[3] or "") for found in _ID.finditer(text)}
    return tuple(name for name in sought if ids and not {name, f"user-content-{name}"} & ids)


def _read(answer: http.client.HTTPResponse, most: int, ends: float) -> bytes:
    data = bytearray()
    while len(data) < most and (piece := answer.read1(min(1 << 16, most - len(data)))):
        data += piece
        if time.monotonic() >= ends:
            raise TimeoutError
    return bytes(data)


def _retry_after(written: str) -> float | None:
    if not written.strip():
        return 5.0
    if written.strip().isdecimal():
        return float(written.strip()[:9])
    try:
        moment = email.utils.parsedate_to_datetime(written)
        return max(0.0, moment.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


_MAX_FAILURES = 3
"""Number of consecutive requests without an answer after which the other URLs of a host are skipped."""


class CheckPlan(Struct, frozen=True):
    """URLs to check, with options."""

    urls: Mapping[str, Collection[str]]
    """URL → fragments that are checked in its page."""
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
        """Check every URL. on_verdict: function that is called in this thread with each URL and result.
        progress: function that is called with the host, the number of finished URLs and the total."""
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
        """Run one step for a host: read its rules, check one URL, or skip the other URLs if the host does not
        answer."""
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
