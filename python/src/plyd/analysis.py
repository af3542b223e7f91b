"""A running search."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Literal

from . import wire
from .closing import AsyncClosing
from .connection import Connection, received
from .errors import PlydError, RequestTimeout
from .limit import Limit, answer_timeout
from .results import Info, PlayResult, news
from .retry import Retry
from .scores import Side
from .wire import Message

if TYPE_CHECKING:
    from .engine import AsyncEngine


class AsyncAnalysis(AsyncClosing):
    """A running search: an iterator over its news that ends with its answer.

    In an `async with` it ends with the block, if it has not ended before.
    """

    def __init__(
        self, engine: AsyncEngine, connection: Connection, fields: Message, side: Side | None, timeout: float | None
    ) -> None:
        self.id = engine.name()
        self._engine, self._connection, self.side = engine, connection, side
        self._fields, self._timeout = fields, timeout
        self._answer: PlayResult | None = None
        self._is_given_up = False
        self._retry, self._stopped = Retry(fields, time.monotonic()), engine.waiting.event()
        # Of a `stop` and a repeated `go` the first to take it decides; the other one sees that.
        self._sending = engine.waiting.lock()
        self._deadline = self._due() if timeout is None else self._retry.began + timeout
        self._inbox = engine.waiting.inbox()
        connection.send(self.id, wire.encode(self.id, "go", fields), self._inbox)

    async def __aiter__(self) -> AsyncIterator[Info]:
        while self._answer is None:
            info = await self.next()
            if info is not None:
                yield info

    @property
    def is_over(self) -> bool:
        """Whether the answer is there."""
        return self._answer is not None

    async def result(self) -> PlayResult:
        """Waits for the answer."""
        while self._answer is None:
            await self.next()
        return self._answer

    async def answer(self) -> PlayResult:
        """Waits for the answer of a search that nobody else waits for: it ends if this wait is cancelled or interrupted."""
        try:
            return await self.result()
        except PlydError:
            raise  # it has ended
        except BaseException:
            self.give_up()
            raise

    async def stop(self) -> PlayResult:
        """Ends the search and returns the best move so far; raises where an overloaded server had begun none."""
        if self._answer is None and not self._is_given_up:
            async with self._sending:
                self._stopped.set()
            await self._engine.exchange(self._connection, "stop", {"target": self.id})
            self._deadline = time.monotonic() + self._engine.timeout
        return await self.result()

    async def close(self) -> None:
        """Ends the search if it still runs; whoever waits for its answer gets the error `cancelled`."""
        if self._answer is None and not self._is_given_up and self._connection.lost is None:
            async with self._sending:
                self._stopped.set()
            try:
                await self._engine.exchange(self._connection, "stop", {"target": self.id, "discard": True})
                self._deadline = time.monotonic() + self._engine.timeout
                await self.result()
            except PlydError:
                pass  # it has ended, or nothing answers

    async def update(self, limit: Limit, *, mode: Literal["move"] | None = None) -> str:
        """Gives a running search another limit; with `mode="move"` a ponder becomes a move."""
        fields = limit.fields(mode or self._fields["mode"])
        body = {"mode": mode, **{name: fields[name] for name in ("clock", "limit", "hard_ms")}}
        result = await self._engine.exchange(self._connection, "update", {"target": self.id, **body})
        # What is absent keeps its value, and times run anew.
        changed = {name: value for name, value in body.items() if value is not None}
        self._fields = {**self._fields, "elapsed_ms": None, **changed}
        if self._timeout is None:
            self._deadline = self._due()
        return str(result["effect"])

    def give_up(self) -> None:
        """Has the search stopped, and does not wait for its end."""
        self._is_given_up = True
        self._connection.forget(self.id)
        name, discarded = f"{self.id}.stop", {"target": self.id, "discard": True}
        try:
            self._connection.send(name, wire.encode(name, "stop", discarded), self._engine.waiting.inbox())
        except PlydError:
            pass  # it ended with its connection
        self._connection.forget(name)

    async def next(self) -> Info | None:
        """The next news; None if something else came, such as the answer."""
        deadline = self._deadline
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        try:
            message = await received(self._inbox, left)
        except RequestTimeout as error:
            if self._is_given_up:
                raise
            if self._deadline != deadline:
                return None  # an `update` or a `stop` has changed it
            self.give_up()
            self._inbox.put(error)  # for whoever else waits for the same search
            raise
        pause = self._retry.pause(message, time.monotonic())
        if pause is not None and await self._sent_again(pause):
            return None
        if message["type"] != "info":
            self._connection.forget(self.id)
            self._inbox.put(message)  # for whoever else waits for the same search
        found = news(message, self.side)
        if isinstance(found, Info):
            return found
        self._answer = found
        return None

    def _due(self) -> float | None:
        """When the answer is overdue if the search's time begins now: None if its end is open."""
        seconds = answer_timeout(self._fields, self._engine.timeout)
        return None if seconds is None else time.monotonic() + seconds

    async def _sent_again(self, pause: float) -> bool:
        """Sends the `go` again after a pause, unless the search is stopped meanwhile or there is no time left."""
        await self._stopped.wait(pause)
        async with self._sending:
            if self._stopped.is_set():
                return False
            again = self._retry.again(time.monotonic())
            if again is None:
                return False
            self._connection.send(self.id, wire.encode(self.id, "go", again), self._inbox)
        return True
