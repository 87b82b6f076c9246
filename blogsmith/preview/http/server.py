"""The server of the preview: listens, gives every connection a thread, and ends all of it on `close`.

It has no folder: pages come from the site in memory, its own files from a fixed table.
"""

from __future__ import annotations

import os
import selectors
import socket
import traceback
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache, partial
from threading import Thread
from time import monotonic

from ..protocol import ActionHandler, SiteHandler
from .admission import Admission
from .client_files import client_files
from .connection import Connection
from .guard import host_headers
from .hosts import is_loopback
from .hub import Hub
from .limits import MAX_HEAD, ClientLimits
from .listeners import host_in_url, listen
from .reply import head_of, plain
from .routes import Routes

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
