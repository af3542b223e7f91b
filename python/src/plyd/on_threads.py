"""Waiting without an event loop: a thread reads, callers block."""

from __future__ import annotations

import io
import queue
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import IO

from . import wire
from .address import Address
from .connection import Connection, Event, Inbox, Item
from .errors import ConnectionLost, ProtocolError
from .secure import SecureSocket, advice
from .websocket import CLOSE, GOOD_BYE, READ_BYTES, WebSocket, frame


class OnThreads:
    """Blocks the thread that calls; nothing here gives way to an event loop."""

    def lock(self) -> AbstractAsyncContextManager[object]:
        return ThreadLock()

    def event(self) -> Event:
        return ThreadEvent()

    def inbox(self) -> Inbox:
        return ThreadInbox()

    async def connect(self, address: Address, timeout: float) -> Connection:
        return ThreadConnection(address, timeout)


class ThreadLock(AbstractAsyncContextManager[None]):
    """A lock between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class ThreadEvent:
    """An event between threads."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    async def wait(self, seconds: float) -> None:
        self._event.wait(seconds)


class ThreadInbox:
    """A queue between threads."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()

    def put(self, item: Item) -> None:
        self._queue.put(item)

    async def get(self, seconds: float | None) -> Item | None:
        try:
            return self._queue.get(timeout=seconds)
        except queue.Empty:
            return None


class ThreadConnection(Connection):
    """Pipes or a socket that block."""

    def __init__(self, address: Address, timeout: float) -> None:
        super().__init__()
        self.process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | SecureSocket | None = None
        self._web: WebSocket | None = None
        try:
            self._open(address, timeout)
        except OSError as error:
            raise ConnectionLost(f"cannot reach the server: {advice(error)}") from error
        self._thread = threading.Thread(target=self._read, name="plyd reader", daemon=True)
        self._thread.start()

    def _open(self, address: Address, timeout: float) -> None:
        if address.program:
            # In a session of its own, Ctrl-C in a terminal does not reach it.
            self.process = subprocess.Popen(
                address.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            assert self.process.stdin is not None and self.process.stdout is not None
            self._input: IO[bytes] | SecureSocket | WebSocket = self.process.stdin
            self._output: IO[bytes] | WebSocket = self.process.stdout
            return
        context = None if address.tls is None else address.tls.context()
        if address.path is not None:
            plain = socket.socket(socket.AF_UNIX)
            plain.settimeout(timeout)
            plain.connect(address.path)
        else:
            plain = socket.create_connection((address.host, address.port), timeout)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            secure = None if context is None else SecureSocket(plain, context, address.host, timeout)
            self._over(plain, secure, address, timeout)
        except BaseException:
            plain.close()
            raise
        plain.settimeout(None)

    def _over(
        self, plain: socket.socket, secure: SecureSocket | None, address: Address, timeout: float
    ) -> None:
        """Speaks over a socket, under TLS and as a WebSocket if the address says so."""
        self._socket = plain if secure is None else secure
        if address.web:
            receive: Callable[[], bytes] = partial(plain.recv, READ_BYTES)
            send: Callable[[bytes], object] = plain.sendall
            if secure is not None:
                receive, send = partial(secure.receive, READ_BYTES), secure.write
            at = (address.host, address.port)
            self._web = WebSocket(receive, send, *at, wire.LINE_LIMIT, timeout)
            self._input = self._output = self._web
        elif secure is None:
            self._input, self._output = plain.makefile("wb"), plain.makefile("rb")
        else:
            self._input, self._output = secure, io.BufferedReader(secure)

    def _read(self) -> None:
        error: Exception | None = None
        try:
            while line := self._output.readline(wire.LINE_LIMIT):
                self.take(line)
        except (ProtocolError, OSError, ValueError) as caught:
            error = caught
        self.lose(error)
        if self._socket is not None:
            self._socket.close()

    def write(self, line: bytes) -> None:
        self._input.write(line)
        self._input.flush()

    async def close(self, timeout: float) -> None:
        with self._guard:
            self.lost = self.lost or ConnectionLost("closed")
        if self._socket is not None:
            try:
                if self._web is not None:
                    self._socket.send(frame(CLOSE, GOOD_BYE), socket.MSG_DONTWAIT)
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already
        try:
            self._input.close()
        except OSError:
            pass  # what was unsent has no reader any more
        if self.process is not None:
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._thread.join(timeout)
        self._output.close()
