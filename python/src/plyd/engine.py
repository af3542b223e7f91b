"""The conversation with an engine, for asyncio. `blocking` runs the same without an event loop."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

from . import wire
from .address import Address
from .analysis import AsyncAnalysis
from .closing import AsyncClosing
from .connection import Connection, Waiting, received
from .errors import ConnectionLost
from .given import expect, expect_moves
from .game import AsyncGame
from .limit import Limit, Mode, milliseconds
from .on_asyncio import OnAsyncio
from .options import GameInfo, Options
from .position import Position, Want, Where, located, wanted
from .results import Event, PlayResult
from .wire import Message


class AsyncEngine(AsyncClosing):
    """A plyd server: started by this program, or connected to at `host:port`, an address of `Address.WRITTEN` or a socket's path.

    Use it in an `async with`. `timeout` is how long an answer may take, in seconds; a search has its
    own time on top of that. When the server is gone, requests in flight raise `ConnectionLost`, and
    the next one connects (and starts it) again.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        program: str | Sequence[str] | None = None,
        token: str | None = None,
        timeout: float = 10.0,
        waiting: Waiting | None = None,
    ) -> None:
        self.address = Address.read(address, program)
        self.timeout, self.token = timeout, token
        self.generation = 0
        """How many connections there have been: sessions end with theirs."""
        self.server: Message = {}
        """The result of `hello`: version, features, games and limits."""
        self.waiting = OnAsyncio() if waiting is None else waiting
        self._names = itertools.count(1)
        self._lock = self.waiting.lock()
        self._closed = False
        self._connection: Connection | None = None

    async def __aenter__(self) -> AsyncEngine:
        await self.connected()
        return self

    async def close(self) -> None:
        """Ends the connection, its searches, and the server if this engine started it."""
        async with self._lock:
            self._closed = True
            if self._connection is not None:
                await self._connection.close(self.timeout)
                self._connection = None

    async def connected(self) -> Connection:
        """The connection; a new one if there is none, or none any more."""
        async with self._lock:
            if self._closed:
                raise ConnectionLost("the engine is closed")
            if self._connection is not None:
                if self._connection.lost is None:
                    return self._connection
                await self._connection.close(self.timeout)
                self._connection = None
            connection = await self.waiting.connect(self.address, self.timeout)
            try:
                self.server = await self.exchange(connection, "hello", wire.hello(self.token))
            except BaseException:
                await connection.close(self.timeout)
                raise
            self._connection = connection
            self.generation += 1
            return connection

    def name(self) -> str:
        """A name for a request or a session, used for nothing else."""
        return str(next(self._names))

    async def exchange(self, connection: Connection, cmd: str, fields: Message) -> Message:
        """Sends a request over this connection and waits for its result."""
        name, inbox = self.name(), self.waiting.inbox()
        connection.send(name, wire.encode(name, cmd, fields), inbox)
        try:
            return wire.final(await received(inbox, self.timeout))
        finally:
            connection.forget(name)

    async def request(self, cmd: str, /, **fields: Any) -> Message:
        """Sends any request but `go` and waits for its result."""
        return await self.exchange(await self.connected(), cmd, fields)

    async def ping(self) -> float:
        """Asks for a sign of life; returns how long it took, in seconds."""
        began = time.monotonic()
        await self.request("ping")
        return time.monotonic() - began

    async def games(self) -> list[str]:
        """The names of the games that the server plays."""
        return [game["name"] for game in (await self.request("describe", what="games"))["body"]]

    async def describe(self, game: str) -> GameInfo:
        """A game's rules, options, players and texts."""
        return GameInfo.read((await self.request("describe", what="game", game=game))["body"])

    async def inspect(self, position: Where, want: Sequence[Want] = ()) -> Position:
        """Asks the rules about a position; `want` names more than who moves, the outcome and the moves."""
        place, _ = located(position)
        return Position.read(place, await self.request("inspect", **place.fields(), want=wanted(want)))

    async def analysis(
        self,
        position: Where,
        limit: Limit = Limit(),
        *,
        mode: Mode = "analyse",
        multipv: int | None = None,
        searchmoves: Sequence[str] = (),
        excludemoves: Sequence[str] = (),
        options: Options | None = None,
        events: Sequence[Event] = ("best",),
        min_interval: float = 0,
        queue: bool = False,
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Starts a search; iterate over it for its news, and `stop` it.

        `events` says which news are wanted, and `min_interval` how often at most, in seconds. With `queue` it waits for
        cores instead of failing. `timeout` is how long the answer may take in all, in seconds; without one that is
        the limit's time and the engine's `timeout`.
        """
        expect("limit", limit, Limit, "plyd.Limit(time=0.1)")
        limit.ends(mode)
        if options is not None:
            expect("options", options, Options, "plyd.Options(level=3)")
        expect_moves("searchmoves", searchmoves)
        expect_moves("excludemoves", excludemoves)
        fields: Message = {
            "mode": mode,
            **limit.fields(mode),
            "multipv": multipv,
            "searchmoves": list(searchmoves) or None,
            "excludemoves": list(excludemoves) or None,
            "options": None if options is None else options.settings(),
            "info": {"events": list(events), "min_interval_ms": milliseconds(min_interval)},
            "queue": queue or None,
        }
        place, side = located(position)
        return AsyncAnalysis(self, await self.connected(), {**place.fields(), **fields}, side, timeout)

    async def go(
        self,
        position: Where,
        limit: Limit,
        *,
        searchmoves: Sequence[str] = (),
        excludemoves: Sequence[str] = (),
        options: Options | None = None,
        queue: bool = False,
        timeout: float | None = None,
    ) -> PlayResult:
        """Searches and waits for the best move; arguments as for `analysis`."""
        analysis = await self.analysis(
            position, limit, mode="move", searchmoves=searchmoves, excludemoves=excludemoves, options=options,
            events=(), queue=queue, timeout=timeout,
        )
        return await analysis.answer()

    async def game(
        self, position: Where, *, options: Options | None = None, seed: str | None = None
    ) -> AsyncGame:
        """Opens a game: a session that keeps its table and tree from move to move."""
        played = AsyncGame(self, located(position)[0], options, seed)
        await played.opened()
        return played
