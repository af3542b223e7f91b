"""Waiting in an event loop: a task reads, callers await."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

from . import wire
from .address import Address
from .connection import Connection, Event, Inbox, Item
from .errors import ConnectionLost, ProtocolError
from .secure import CLOSES, advice
from .websocket import AsyncWebSocket


class OnAsyncio:
    """Waits in the event loop that runs."""

    def lock(self) -> AbstractAsyncContextManager[object]:
        return asyncio.Lock()

    def event(self) -> Event:
        return TaskEvent()

    def inbox(self) -> Inbox:
        return TaskInbox()

    async def connect(self, address: Address, timeout: float) -> Connection:
        connection = TaskConnection()
        try:
            await asyncio.wait_for(connection.reach(address), timeout)
        except asyncio.TimeoutError:
            raise ConnectionLost("cannot reach the server in time") from None
        except OSError as error:
            raise ConnectionLost(f"cannot reach the server: {advice(error)}") from error
        connection.start()
        return connection


class TaskInbox:
    """A queue."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Item] = asyncio.Queue()

    def put(self, item: Item) -> None:
        self._queue.put_nowait(item)

    async def get(self, seconds: float | None) -> Item | None:
        # What is there is taken even if no time is left; `wait_for` would not before Python 3.12.
        if not self._queue.empty():
            return self._queue.get_nowait()
        try:
            return await asyncio.wait_for(self._queue.get(), seconds)
        except asyncio.TimeoutError:
            return None


class TaskEvent:
    """An event that is waited for no longer than so long."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    async def wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except asyncio.TimeoutError:
            pass


class TaskConnection(Connection):
    """Streams of asyncio."""

    def __init__(self) -> None:
        super().__init__()
        self.process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    async def reach(self, address: Address) -> None:
        """Connects, or starts the program."""
        limit = wire.LINE_LIMIT
        if address.program:
            pipe = asyncio.subprocess.PIPE
            # In a session of its own, Ctrl-C in a terminal does not reach it.
            self.process = await asyncio.create_subprocess_exec(
                *address.program, stdin=pipe, stdout=pipe, limit=limit, start_new_session=True
            )
            assert self.process.stdin is not None and self.process.stdout is not None
            self._input: asyncio.StreamWriter | AsyncWebSocket = self.process.stdin
            self._output: asyncio.StreamReader | AsyncWebSocket = self.process.stdout
        elif address.path is not None:
            self._output, self._input = await asyncio.open_unix_connection(address.path, limit=limit)
        else:
            context = None if address.tls is None else address.tls.context()
            try:
                output, input = await asyncio.open_connection(
                    address.host, address.port, limit=limit, ssl=context
                )
            except (ConnectionAbortedError, ConnectionResetError) as error:
                raise OSError(CLOSES if context else str(error)) from error
            self._output, self._input = output, input
            if address.web:
                try:
                    web = await AsyncWebSocket(output, input, limit).opened(address.host, address.port)
                except BaseException:
                    input.close()
                    raise
                self._output = self._input = web

    def start(self) -> None:
        """Reads from now on."""
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        error: Exception | None = None
        try:
            while line := await self._output.readline():
                self.take(line)
        except (ProtocolError, OSError, ValueError) as caught:
            error = caught
        self.lose(error)
        self._input.close()

    def write(self, line: bytes) -> None:
        self._input.write(line)

    async def close(self, timeout: float) -> None:
        self.lost = self.lost or ConnectionLost("closed")
        self._input.close()
        if self.process is not None:
            try:
                await asyncio.wait_for(self.process.wait(), timeout)
            except asyncio.TimeoutError:
                self.process.kill()
                await self.process.wait()
        assert self._task is not None
        try:
            await asyncio.wait_for(self._task, timeout)
        except asyncio.TimeoutError:
            pass  # the wait has cancelled it
