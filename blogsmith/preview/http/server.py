"""The server of the preview: its addresses, which clients it admits, and a thread for each connection.

It has no folder: pages come from the site in memory, its own files from a fixed table.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from threading import Condition, Thread
from time import monotonic

from ..protocol import ActionHandler, SiteHandler
from .connection import Connection
from .guard import host_headers
from .hosts import WILDCARDS, is_loopback
from .hub import Hub
from .reply import head_of, plain
from .request import MAX_HEAD, ClientLimits
from .routes import Routes, client_files

_JOIN_S = 2.0
_OUT_OF_FILES_S = 0.1


class PreviewServer:
    """Serves one site until it is closed; used once."""

    def __init__(
        self,
        site: SiteHandler,
        actions: ActionHandler,
        *,
        token: str,
        hello: Callable[[], Mapping[str, object]],
        host: str = "127.0.0.1",
        port: int = 8000,
        is_port_fixed: bool = False,
        allowed_hosts: Collection[str] = (),
        report_bug: Callable[[Exception], None] = traceback.print_exception,
        limits: ClientLimits | None = None,
    ) -> None:
        """ValueError for a host that others can reach, without the names they may use.

        token: what pages send with an action. hello: the first event of every stream, without `kind` and
        `run`; see `Hub`. port: the first to try, 0 for any. is_port_fixed: try no other. allowed_hosts: names
        and addresses that `Host` may contain, in addition to those of this machine. report_bug: called with
        our own exceptions, in the thread they happen in.
        """
        if not is_loopback(host) and not allowed_hosts:
            raise ValueError(f"to serve on {host}, say under which names")
        self.run = os.urandom(8).hex()
        self.port = port
        self._is_port_fixed = is_port_fixed
        self._limits = limits or ClientLimits()
        self._site, self._actions, self._token = site, actions, token
        self._host = host
        self._names = (*allowed_hosts, *([host] if is_loopback(host) else []))
        self._given_report_bug = report_bug
        self.hub = Hub(lambda: {**hello(), "kind": "hello", "run": self.run}, self._report_bug, self._limits)
        self._admission = Admission(self._limits)
        self._listeners: list[socket.socket] = []
        self._closing = False
        self._accepting = Thread(target=self._accept, name="preview accept", daemon=True)

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the site's host, without a slash at the end."""
        return f"http://{host_in_url(self._host)}:{self.port}"

    def start(self) -> None:
        """Listen. OSError: no port can be used; EADDRINUSE if another program uses it."""
        self._listeners = listen(self._host, self.port, is_fixed=self._is_port_fixed)
        self.port = self._listeners[0].getsockname()[1]
        self._routes = Routes(
            self._site,
            self._actions,
            cache(client_files),
            host_headers(self._names, self.port),
            self._token,
            self.run,
            self._report_bug,
        )
        self._wake_out, self._wake_in = socket.socketpair()
        self.hub.start()
        self._accepting.start()

    def close(self) -> None:
        """Free the port, end every connection and its thread.

        A thread that waits for the site ends when the site answers; after two seconds it is left to that.
        """
        if self._closing or not self._listeners:
            return
        self._closing = True
        self._wake_in.send(b"!")
        # it may be waiting for room
        threads = self._admission.close()
        if self._accepting.is_alive():  # Ctrl-C may have come before it was started
            self._accepting.join()
        for end in (*self._listeners, self._wake_out, self._wake_in):
            end.close()
        self.hub.close()
        until = monotonic() + _JOIN_S
        for thread in threads:
            if thread.ident is not None:  # the system may have given none
                thread.join(max(0.0, until - monotonic()))

    def _report_bug(self, error: Exception) -> None:
        # a site that is being closed leaves questions without an answer; that is no bug
        if not self._closing:
            self._given_report_bug(error)

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_out, selectors.EVENT_READ)
            for listener in self._listeners:
                selector.register(listener, selectors.EVENT_READ)
            while not self._closing:
                for key, _ in selector.select():
                    if isinstance(key.fileobj, socket.socket) and key.fileobj is not self._wake_out:
                        self._accept_one(key.fileobj)

    def _accept_one(self, listener: socket.socket) -> None:
        try:
            connection, address = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (BlockingIOError, ConnectionError):
            return  # gone before we came
        except OSError:
            # no more open files: the listener stays readable, so do not turn in circles
            self._wait(_OUT_OF_FILES_S)
            return
        if not self._give_thread(connection, is_near=_is_near(address[0])):
            _turn_away(connection)

    def _wait(self, seconds: float) -> None:
        self._wake_out.settimeout(seconds)
        with suppress(TimeoutError):
            self._wake_out.recv(1)

    def _give_thread(self, end: socket.socket, *, is_near: bool) -> bool:
        reply = partial(self._routes.reply, is_near=is_near)
        connection = Connection(end, reply, self.hub, self._limits)
        thread = Thread(target=self._converse, args=(connection,), name="preview connection", daemon=True)
        if not self._admission.enter(connection, thread):
            return False
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads
            self._admission.leave(connection)
            return False
        return True

    def _converse(self, connection: Connection) -> None:
        handed_over = False
        try:
            handed_over = connection.serve()
        except Exception as error:
            self._report_bug(error)
        finally:
            self._admission.leave(connection)
            if not handed_over:
                connection.socket.close()


def _is_near(address: str) -> bool:
    """Whether the other end is on this machine."""
    # an IPv4 address as a socket for both families has it
    return is_loopback(address.removeprefix("::ffff:"))


def _turn_away(connection: socket.socket) -> None:
    """Tell a client that there is no room, without waiting for it."""
    reply = plain(503, "The preview has too many connections.", Retry_After="1")
    connection.setblocking(False)
    with connection, suppress(OSError):
        connection.send(head_of(reply, keep_alive=False) + reply.body)
        # closed with unread bytes, the connection would take the answer back
        connection.recv(MAX_HEAD)


# Connections with a thread each, at most so many; who has to go when another one comes.
#
# A program on this machine may open as many as it likes and say little on each: to count by address would not
# tell it from a browser. What counts is whether a request is there as a whole. Who has not said it goes
# first, the one that came first before the others; so a browser, which says it at once, finds room however
# many wait.


class Admission:
    """Filled by the thread that accepts, emptied by those of the connections."""

    def __init__(self, limits: ClientLimits) -> None:
        self._limits = limits
        self._changed = Condition()
        self._threads: dict[Connection, Thread] = {}
        self._is_closed = False

    def __iter__(self) -> Iterator[Connection]:
        with self._changed:
            return iter(list(self._threads))

    def __len__(self) -> int:
        return len(self._threads)

    def enter(self, connection: Connection, thread: Thread) -> bool:
        """Whether there is room, after somebody else had to go if need be."""
        until_s = monotonic() + self._limits.admission_s
        with self._changed:
            while len(self._threads) >= self._limits.connections and not self._is_closed:
                now_s = monotonic()
                if now_s >= until_s:
                    return False
                if (oldest := self._most_dispensable(now_s)) is not None:
                    oldest.evict()
                self._changed.wait(min(self._limits.eviction_s, until_s - now_s))
            if not self._is_closed:
                self._threads[connection] = thread
            return not self._is_closed

    def leave(self, connection: Connection) -> None:
        """Its thread is about to end."""
        with self._changed:
            del self._threads[connection]
            self._changed.notify_all()

    def close(self) -> tuple[Thread, ...]:
        """Hang up everywhere, and let nobody in any more; gives the threads that will end now."""
        with self._changed:
            self._is_closed = True
            for connection in self._threads:
                connection.hang_up()
            self._changed.notify_all()
            return tuple(self._threads.values())

    def _most_dispensable(self, now_s: float) -> Connection | None:
        by_rank = {
            rank: connection
            for connection in self._threads
            if (rank := _rank(connection, now_s, self._limits.stall_s)) is not None
        }
        return by_rank[min(by_rank)] if by_rank else None


def _rank(connection: Connection, now_s: float, stall_s: float) -> tuple[int, float] | None:
    """The lower, the sooner it goes; None: it stays."""
    if connection.is_evicted:
        return None
    if connection.is_asking:
        # a browser keeps connections for what it asks next, and opens others without a word
        return int(connection.is_idle), connection.since_s
    is_stalled = connection.is_sending and now_s - connection.since_s > stall_s
    return (2, connection.since_s) if is_stalled else None


# Sockets to listen on: this machine only unless asked otherwise, all on one port.


PORTS_TRIED = 101
_BACKLOG = 512
_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)

Address = tuple[socket.AddressFamily, str]


def host_in_url(host: str) -> str:
    """What stands in an address that a browser on this machine opens."""
    if host in ("::", "::1"):
        return "[::1]"
    if host in (*WILDCARDS, "localhost"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int, *, is_fixed: bool = False) -> list[socket.socket]:
    """Return listening sockets for `host`, on `port` or one of the hundred after it; 0: any port.

    is_fixed: no other port than `port` will do. OSError: no port is free, or this machine does not have the
    address.
    """
    addresses = _addresses(host)
    last = OSError(errno.EADDRINUSE, "no port is free")
    tried: Iterable[int] = (
        [0] * 20 if port == 0 else range(port, min(port + (1 if is_fixed else PORTS_TRIED), 65536))
    )
    for candidate in tried:
        try:
            return _bind_all(addresses, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            last = error
    raise last


def _addresses(host: str) -> list[Address]:
    if host in ("localhost", "127.0.0.1"):
        # `localhost` is either of them, depending on the browser: both must be us, and nobody else
        return [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
    found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bind_all(addresses: list[Address], port: int) -> list[socket.socket]:
    """One socket for each address; those after the first may be missing on this machine."""
    listeners: list[socket.socket] = []
    try:
        for address in addresses:
            try:
                listeners.append(_bind(address, port))
            except OSError as error:
                if not listeners or error.errno not in _ABSENT:
                    raise
            port = listeners[0].getsockname()[1]
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _bind(address: Address, port: int) -> socket.socket:
    family, host = address
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # connections that ended a moment ago hold the port otherwise; one that is listened on stays taken
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(host != "::"))
        listener.bind((host, port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
