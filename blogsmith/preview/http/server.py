"""HTTP server of the preview: its sockets, the admission of clients, and one thread per connection.

It serves no folder. Pages come from the site in memory, and the preview's own files from a fixed table.
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
from .connection import Connection, EventHub
from .guard import WILDCARDS, host_headers, is_loopback
from .reply import encode_header, plain_reply
from .request import MAX_HEAD, ClientLimits
from .routes import Routes, client_files

_JOIN_S = 2.0
_OUT_OF_FILES_S = 0.1


class PreviewServer:
    """HTTP server of one site. It can be started only once."""

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
        """Create a server that does not listen yet.

        token: secret that pages send with an action. hello: function that returns the first event of every
        stream, without `kind` and `run`; see `EventHub`. host: address to listen on. port: first port to try;
        0 means any port. is_port_fixed: whether to try no other port. allowed_hosts: names and addresses that
        `Host` may contain, in addition to those of this machine. report_bug: function that is called with
        internal errors, in the thread where they occur. Raises ValueError if other machines can reach `host`
        but `allowed_hosts` is empty.
        """
        if not is_loopback(host) and not allowed_hosts:
            raise ValueError(f"missing host names: name those that clients may use for {host}")
        self.run = os.urandom(8).hex()
        self.port = port
        self._is_port_fixed = is_port_fixed
        self._limits = limits or ClientLimits()
        self._site, self._actions, self._token = site, actions, token
        self._host = host
        self._names = (*allowed_hosts, *([host] if is_loopback(host) else []))
        self._given_report_bug = report_bug
        self.hub = EventHub(
            lambda: {**hello(), "kind": "hello", "run": self.run}, self._report_bug, self._limits
        )
        self._admission = Admission(self._limits)
        self._listeners: list[socket.socket] = []
        self._closing = False
        self._accepting = Thread(target=self._accept, name="preview accept", daemon=True)

    @property
    def url(self) -> str:
        """URL of the server for browsers on this machine, without a trailing slash."""
        return f"http://{host_in_url(self._host)}:{self.port}"

    def start(self) -> None:
        """Start to listen. Raises OSError if no port can be used; its `errno` is EADDRINUSE if another
        program uses the port."""
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
        """Free the port, and end every connection and its thread. Wait at most two seconds for the threads. A
        thread that is still waiting for an answer from the site ends later, when it gets the answer."""
        if self._closing or not self._listeners:
            return
        self._closing = True
        self._wake_in.send(b"!")
        # the thread may be waiting for a free connection
        threads = self._admission.close()
        if self._accepting.is_alive():  # Ctrl-C may come before the thread starts
            self._accepting.join()
        for end in (*self._listeners, self._wake_out, self._wake_in):
            end.close()
        self.hub.close()
        until = monotonic() + _JOIN_S
        for thread in threads:
            if thread.ident is not None:  # the system may not have started the thread
                thread.join(max(0.0, until - monotonic()))

    def _report_bug(self, error: Exception) -> None:
        # requests in progress when the site closes get no answer; that is not an internal error
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
            return  # the client has already disconnected
        except OSError:
            # no file descriptor is free; the listening socket stays readable, so wait to avoid a busy loop
            self._wait(_OUT_OF_FILES_S)
            return
        if not self._give_thread(connection, is_near=is_loopback(address[0].removeprefix("::ffff:"))):
            _reject_connection(connection)

    def _wait(self, seconds: float) -> None:
        self._wake_out.settimeout(seconds)
        with suppress(TimeoutError):
            self._wake_out.recv(1)

    def _give_thread(self, end: socket.socket, *, is_near: bool) -> bool:
        reply = partial(self._routes.reply, is_local=is_near)
        connection = Connection(end, reply, self.hub, self._limits)
        thread = Thread(
            target=self._serve_connection, args=(connection,), name="preview connection", daemon=True
        )
        if not self._admission.enter(connection, thread):
            return False
        try:
            thread.start()
        except RuntimeError:  # the system cannot start more threads
            self._admission.leave(connection)
            return False
        return True

    def _serve_connection(self, connection: Connection) -> None:
        handed_over = False
        try:
            handed_over = connection.serve()
        except Exception as error:
            self._report_bug(error)
        finally:
            self._admission.leave(connection)
            if not handed_over:
                connection.socket.close()


def _reject_connection(connection: socket.socket) -> None:
    """Send the response "too many connections" without waiting for the client."""
    reply = plain_reply(503, "Too many connections.", Retry_After="1")
    connection.setblocking(False)
    with connection, suppress(OSError):
        connection.send(encode_header(reply, keep_alive=False) + reply.body)
        # closing a socket with unread bytes would discard the response
        connection.recv(MAX_HEAD)


# A limited number of connections, each with a thread, and the choice of the one that a new connection
# replaces. A program on this machine may open many connections and send little on each. Its address does not
# distinguish it from a browser, so the criterion is whether a complete request has arrived. Connections
# without one are closed first, the oldest before the others. A browser, which sends its request immediately,
# is admitted however many other connections wait.


class Admission:
    """Set of the open connections. The thread that accepts connections adds them; their own threads remove
    them."""

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
        """Add a connection if there is room, or if an older one can be ended. Return whether it was added."""
        until_s = monotonic() + self._limits.admission_s
        with self._changed:
            while len(self._threads) >= self._limits.connections and not self._is_closed:
                now_s = monotonic()
                if now_s >= until_s:
                    return False
                if (oldest := self._find_evictable(now_s)) is not None:
                    oldest.evict()
                self._changed.wait(min(self._limits.eviction_s, until_s - now_s))
            if not self._is_closed:
                self._threads[connection] = thread
            return not self._is_closed

    def leave(self, connection: Connection) -> None:
        """Remove a connection whose thread is about to end."""
        with self._changed:
            del self._threads[connection]
            self._changed.notify_all()

    def close(self) -> tuple[Thread, ...]:
        """End all connections and admit no more. Return their threads, which will end soon."""
        with self._changed:
            self._is_closed = True
            for connection in self._threads:
                connection.abort()
            self._changed.notify_all()
            return tuple(self._threads.values())

    def _find_evictable(self, now_s: float) -> Connection | None:
        by_rank = {
            rank: connection
            for connection in self._threads
            if (rank := _eviction_rank(connection, now_s, self._limits.stall_s)) is not None
        }
        return by_rank[min(by_rank)] if by_rank else None


def _eviction_rank(connection: Connection, now_s: float, stall_s: float) -> tuple[int, float] | None:
    """Return the rank of a connection, or None if it must not be ended. The connection with the lowest rank
    is ended first."""
    if connection.is_evicted:
        return None
    if connection.is_awaiting_request:
        # a browser keeps connections for later requests, and opens others without sending anything
        return int(connection.is_idle), connection.since_s
    is_stalled = connection.is_sending and now_s - connection.since_s > stall_s
    return (2, connection.since_s) if is_stalled else None


# Sockets that listen, on this machine only unless requested otherwise, all on the same port.


PORTS_TRIED = 101
_BACKLOG = 512
_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)

Address = tuple[socket.AddressFamily, str]


def host_in_url(host: str) -> str:
    """Return the host for a URL that a browser on this machine opens."""
    if host in ("::", "::1"):
        return "[::1]"
    if host in (*WILDCARDS, "localhost"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int, *, is_fixed: bool = False) -> list[socket.socket]:
    """Return sockets that listen on `host`, at `port` or at one of the hundred ports after it.

    port: 0 means any port. is_fixed: whether to try only `port`. Raises OSError if no port is free, or if
    this machine does not have the address.
    """
    addresses = _addresses(host)
    last = OSError(errno.EADDRINUSE, "no free port")
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
        # `localhost` means either address, depending on the browser, so both must be ours and not another
        # program's
        return [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
    found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bind_all(addresses: list[Address], port: int) -> list[socket.socket]:
    """Return one listening socket for each address. Skip an address that this machine does not have, unless
    it is the first."""
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
            # otherwise connections that have just ended would block the port; a port in use is still rejected
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
