"""What a connection has in common, whoever waits: who gets which message. No waiting, and no I/O.

`Waiting` is all that the conversation needs of threads or of asyncio. Its methods are coroutines for both; those of
threads block instead of giving way, so that a caller without an event loop can run them to their end in one step.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Protocol, Union

from . import wire
from .address import Address
from .errors import ConnectionLost, PlydError, ProtocolError, RequestTimeout
from .secure import advice
from .wire import Message

Item = Union[Message, PlydError]
"""What comes for a request: a message, or why there will be none."""


class Inbox(Protocol):
    """What comes for one request."""

    def put(self, item: Item) -> None: ...

    async def get(self, seconds: float | None) -> Item | None:
        """The next item: None if there is none in time."""


class Event(Protocol):
    """Something that happens once."""

    def set(self) -> None: ...

    def is_set(self) -> bool: ...

    async def wait(self, seconds: float) -> None:
        """Waits for it, for so long at most."""


class Connection(ABC):
    """One connection, and the process behind it where this program started it."""

    def __init__(self) -> None:
        self.lost: PlydError | None = None
        """Why it can be used no more."""
        self._inboxes: dict[str, Inbox] = {}
        self._guard = threading.Lock()

    @abstractmethod
    def write(self, line: bytes) -> None:
        """Sends a line; raises `OSError` or `ValueError` where it cannot."""

    @abstractmethod
    async def close(self, timeout: float) -> None:
        """Ends the connection, and the process if this program started it."""

    def send(self, name: str, line: bytes, inbox: Inbox) -> None:
        """Sends a request; what comes for it is put into the inbox."""
        with self._guard:
            if self.lost is not None:
                raise self.lost
            self._inboxes[name] = inbox
            try:
                self.write(line)
            except (OSError, ValueError) as error:
                raise ConnectionLost(f"the connection broke: {advice(error)}") from error

    def forget(self, name: str) -> None:
        """Whatever comes for this request from now on, nobody waits for it."""
        with self._guard:
            self._inboxes.pop(name, None)

    def take(self, line: bytes) -> None:
        """Hands a message to whoever waits for it."""
        message = wire.decode(line)
        with self._guard:
            inbox = self._inboxes.get(str(message.get("id")))
        # A notice may name the request that it is about; it is no answer to it.
        if inbox is not None and message["type"] != "notice":
            inbox.put(message)

    def lose(self, error: Exception | None) -> None:
        """Says to all who wait that nothing comes any more: at the end, or because of an error."""
        lost: PlydError = ConnectionLost("the server closed the connection")
        if isinstance(error, ProtocolError):
            lost = error
        elif error is not None:
            lost = ConnectionLost(f"the connection broke: {advice(error)}")
        with self._guard:
            self.lost = self.lost or lost
            for inbox in self._inboxes.values():
                inbox.put(self.lost)


async def received(inbox: Inbox, seconds: float | None) -> Message:
    """The next message of an inbox; raises what took its place."""
    item = await inbox.get(seconds)
    if item is None:
        raise RequestTimeout(f"no answer in {seconds:.1f} s")
    if isinstance(item, PlydError):
        inbox.put(item)  # for whoever else waits for the same search
        raise item
    return item


class Waiting(Protocol):
    """How a program waits."""

    def lock(self) -> AbstractAsyncContextManager[object]: ...

    def event(self) -> Event: ...

    def inbox(self) -> Inbox: ...

    async def connect(self, address: Address, timeout: float) -> Connection:
        """Connects, or starts the program; raises `ConnectionLost` where it cannot."""
