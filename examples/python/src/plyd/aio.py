"""The engine for asyncio: a task reads, callers await."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

from . import conversation
from .conversation import Address, Settings
from .errors import ConnectionLost, PlydError, ProtocolError, RequestTimeout
from .messages import BestMove, Info, Inspected, Message
from .secure import CLOSES, advice
from .websocket import AsyncWebSocket


class AsyncConnection:
    """One connection, and the process behind it where this program started it."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self.inboxes: dict[str, asyncio.Queue[Message | PlydError]] = {}
        self.lost: PlydError | None = None
        self.task: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, address: Address, timeout: float) -> AsyncConnection:
        self = cls()
        try:
            await asyncio.wait_for(self.reach(address), timeout)
        except asyncio.TimeoutError:
            raise ConnectionLost("cannot reach the server in time") from None
        except OSError as error:
            raise ConnectionLost(f"cannot reach the server: {advice(error)}") from error
        self.task = asyncio.create_task(self.read())
        return self

    async def reach(self, address: Address) -> None:
        limit = conversation.LINE_LIMIT
        if address.program:
            pipe = asyncio.subprocess.PIPE
            self.process = await asyncio.create_subprocess_exec(
                *address.program, stdin=pipe, stdout=pipe, limit=limit
            )
            assert self.process.stdin is not None and self.process.stdout is not None
            self.input: asyncio.StreamWriter | AsyncWebSocket = self.process.stdin
            self.output: asyncio.StreamReader | AsyncWebSocket = self.process.stdout
        elif address.path is not None:
            self.output, self.input = await asyncio.open_unix_connection(address.path, limit=limit)
        else:
            context = None if address.tls is None else address.tls.context()
            try:
                output, input = await asyncio.open_connection(
                    address.host, address.port, limit=limit, ssl=context
                )
            except (ConnectionAbortedError, ConnectionResetError) as error:
                raise OSError(CLOSES if context else str(error)) from error
            self.output, self.input = output, input
            if address.web:
                try:
                    web = await AsyncWebSocket(output, input, limit).opened(address.host, address.port)
                except BaseException:
                    input.close()
                    raise
                self.output = self.input = web

    async def read(self) -> None:
        """Hands each message to the one that waits for it, until the connection ends."""
        lost: PlydError = ConnectionLost("the server closed the connection")
        try:
            while line := await self.output.readline():
                message = conversation.decode(line)
                inbox = self.inboxes.get(str(message.get("id")))
                # A notice may name the request that it is about; it is no answer to it.
                if inbox is not None and message["type"] != "notice":
                    inbox.put_nowait(message)
        except ProtocolError as error:
            lost = error
        except (OSError, ValueError) as error:
            lost = ConnectionLost(f"the connection broke: {advice(error)}")
        self.lost = self.lost or lost
        for inbox in self.inboxes.values():
            inbox.put_nowait(self.lost)
        self.input.close()

    def send(
        self, name: str, line: bytes, inbox: asyncio.Queue[Message | PlydError] | None = None
    ) -> asyncio.Queue[Message | PlydError]:
        """Sends a request; what comes for it is in the queue that is returned."""
        if self.lost is not None:
            raise self.lost
        inbox = asyncio.Queue() if inbox is None else inbox
        self.inboxes[name] = inbox
        self.input.write(line)
        return inbox

    def forget(self, name: str) -> None:
        self.inboxes.pop(name, None)

    async def close(self, timeout: float) -> None:
        """Ends the connection, and the process if this program started it."""
        self.lost = self.lost or ConnectionLost("closed")
        self.input.close()
        if self.process is not None:
            try:
                await asyncio.wait_for(self.process.wait(), timeout)
            except asyncio.TimeoutError:
                self.process.kill()
                await self.process.wait()
        assert self.task is not None
        try:
            await asyncio.wait_for(self.task, timeout)
        except asyncio.TimeoutError:
            pass  # the wait has cancelled it


class AsyncEngine:
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
    ) -> None:
        self.address = Address.read(address, program)
        self.timeout, self.token = timeout, token
        self.generation = 0
        """How many connections there have been: sessions end with theirs."""
        self.server: Message = {}
        """The result of `hello`: version, features, games and limits."""
        self._names = itertools.count(1)
        self._lock = asyncio.Lock()
        self._closed = False
        self._connection: AsyncConnection | None = None

    async def __aenter__(self) -> AsyncEngine:
        await self._connected()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection, its searches, and the server if this engine started it."""
        async with self._lock:
            self._closed = True
            if self._connection is not None:
                await self._connection.close(self.timeout)
                self._connection = None

    async def _connected(self) -> AsyncConnection:
        async with self._lock:
            if self._closed:
                raise ConnectionLost("the engine is closed")
            if self._connection is not None:
                if self._connection.lost is None:
                    return self._connection
                await self._connection.close(self.timeout)
                self._connection = None
            connection = await AsyncConnection.open(self.address, self.timeout)
            try:
                hello = conversation.hello(self.token)
                self.server = await self._exchange(connection, "hello", hello)
            except PlydError:
                await connection.close(self.timeout)
                raise
            self._connection = connection
            self.generation += 1
            return connection

    async def _exchange(self, connection: AsyncConnection, cmd: str, fields: Message) -> Message:
        name = str(next(self._names))
        inbox = connection.send(name, conversation.encode(name, cmd, fields))
        try:
            return conversation.final(await wait(inbox, self.timeout))
        finally:
            connection.forget(name)

    async def request(self, cmd: str, **fields: Any) -> Message:
        """Sends any request but `go` and waits for its result."""
        return await self._exchange(await self._connected(), cmd, fields)

    async def ping(self) -> float:
        """Asks for a sign of life; returns how long it took, in seconds."""
        began = time.monotonic()
        await self.request("ping")
        return time.monotonic() - began

    async def games(self) -> list[str]:
        """The names of the games that the server plays."""
        return [game["name"] for game in (await self.request("describe", what="games"))["body"]]

    async def describe(self, game: str) -> Message:
        """A game's rules, options, players and texts."""
        body: Message = (await self.request("describe", what="game", game=game))["body"]
        return body

    async def inspect(
        self,
        game: str,
        start: str | None = None,
        moves: Sequence[str] = (),
        *,
        rules: Settings | None = None,
        want: Sequence[str] = (),
    ) -> Inspected:
        """Asks the rules about a position; `want` names more than who moves, the outcome and the moves."""
        place = {"game": game, "rules": rules, "position": conversation.position(start, moves)}
        wants = [*conversation.WANTS, *want]
        return Inspected.read(await self.request("inspect", **place, want=wants))

    async def search(
        self,
        game: str | None = None,
        start: str | None = None,
        moves: Sequence[str] = (),
        *,
        rules: Settings | None = None,
        ms: int | None = None,
        nodes: int | None = None,
        depth: int | None = None,
        clock: Settings | None = None,
        timeout: float | None = None,
        **fields: Any,
    ) -> AsyncSearch:
        """Starts a search; other fields of `go`, such as `mode` or `multipv`, are passed on.

        `ms` is a clock for this move. Iterate over the search for its news, or await `result()`.
        """
        times = conversation.time_fields(ms, nodes, depth, clock)
        place = {"game": game, "rules": rules, "position": conversation.position(start, moves)}
        body = {**place, **times, **fields}
        return AsyncSearch(self, await self._connected(), body, timeout)

    async def go(
        self, game: str, start: str | None = None, moves: Sequence[str] = (), **fields: Any
    ) -> BestMove:
        """Searches and waits for the best move; arguments as for `search`."""
        fields = {"info": {"events": []}, **fields}
        return await (await self.search(game, start, moves, **fields)).result()

    async def play(
        self,
        game: str,
        *,
        start: str | None = None,
        rules: Settings | None = None,
        options: Settings | None = None,
        seed: str | None = None,
    ) -> AsyncGame:
        """Opens a game: a session that keeps its table and tree from move to move."""
        opening = {"game": game, "rules": rules, "options": options, "seed": seed}
        played = AsyncGame(self, {"session": f"g{next(self._names)}", **opening}, start)
        await played._opened()
        return played


async def wait(inbox: asyncio.Queue[Message | PlydError], seconds: float | None) -> Message:
    """The next message of an inbox; raises what took its place."""
    try:
        message = await asyncio.wait_for(inbox.get(), seconds)
    except asyncio.TimeoutError:
        raise RequestTimeout(f"no answer in {seconds:.1f} s") from None
    if isinstance(message, PlydError):
        inbox.put_nowait(message)  # for whoever else waits for the same search
        raise message
    return message


class AsyncSearch:
    """A running search: an iterator over its news that ends with its answer."""

    def __init__(
        self,
        engine: AsyncEngine,
        connection: AsyncConnection,
        fields: Message,
        timeout: float | None,
    ) -> None:
        self.id = str(next(engine._names))
        self._engine, self._connection = engine, connection
        self._answer: BestMove | None = None
        known = conversation.answer_timeout(fields, engine.timeout)
        seconds = known if timeout is None else timeout
        self._retry, self._stopped = conversation.Retry(fields, time.monotonic()), asyncio.Event()
        self._deadline = None if seconds is None else self._retry.began + seconds
        self._inbox = connection.send(self.id, conversation.encode(self.id, "go", fields))

    async def __aiter__(self) -> AsyncIterator[Info]:
        while self._answer is None:
            info = await self._next()
            if info is not None:
                yield info

    async def result(self) -> BestMove:
        """Waits for the answer."""
        while self._answer is None:
            await self._next()
        return self._answer

    async def stop(self) -> BestMove:
        """Ends the search and returns the best move so far; raises where an overloaded server had begun none."""
        if self._answer is None:
            self._stopped.set()
            await self._engine._exchange(self._connection, "stop", {"target": self.id})
            self._deadline = time.monotonic() + self._engine.timeout
        return await self.result()

    async def update(
        self, *, ms: int | None = None, clock: Settings | None = None, **fields: Any
    ) -> str:
        """Gives a running search another clock; with `mode="move"` a ponder becomes a move."""
        times = conversation.time_fields(ms, None, None, clock)
        body = {"target": self.id, "clock": times["clock"], **fields}
        return str((await self._engine._exchange(self._connection, "update", body))["effect"])

    async def _next(self) -> Info | None:
        left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0)
        try:
            message = await wait(self._inbox, left)
        except RequestTimeout:
            self._connection.forget(self.id)
            name, stop = f"{self.id}.stop", {"target": self.id, "discard": True}
            self._connection.send(name, conversation.encode(name, "stop", stop))
            self._connection.forget(name)
            raise
        pause = self._retry.pause(message, time.monotonic())
        if pause is not None and await self._sent_again(pause):
            return None
        if message["type"] != "info":
            self._connection.forget(self.id)
            self._inbox.put_nowait(message)  # for whoever else waits for the same search
        news = conversation.news(message)
        if isinstance(news, Info):
            return news
        self._answer = news
        return None

    async def _sent_again(self, pause: float) -> bool:
        """Sends the `go` again after a pause, unless the search is stopped meanwhile or there is no time left."""
        try:
            await asyncio.wait_for(self._stopped.wait(), pause)
        except asyncio.TimeoutError:
            pass
        if self._stopped.is_set():
            return False
        again = self._retry.again(time.monotonic())
        if again is None:
            return False
        self._connection.send(self.id, conversation.encode(self.id, "go", again), self._inbox)
        return True


class AsyncGame:
    """A game being played, with the moves so far. Use it in an `async with`, or `close` it."""

    def __init__(self, engine: AsyncEngine, opening: Message, start: str | None) -> None:
        self.engine, self.start, self._opening = engine, start, opening
        self.moves: list[str] = []
        self._generation = 0

    async def __aenter__(self) -> AsyncGame:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _opened(self) -> str:
        """The session's name, opened again where the connection is a new one."""
        await self.engine._connected()
        if self._generation != self.engine.generation:
            result = await self.engine.request("newgame", **self._opening)
            self._opening["seed"] = result["seed"]
            self._generation = self.engine.generation
        return str(self._opening["session"])

    async def inspect(self, want: Sequence[str] = ()) -> Inspected:
        """What the rules say of the position on the board."""
        session, place = await self._opened(), conversation.position(self.start, self.moves)
        wants = [*conversation.WANTS, *want]
        request = self.engine.request("inspect", session=session, position=place, want=wants)
        return Inspected.read(await request)

    async def search(self, **fields: Any) -> AsyncSearch:
        """Starts a search of the position on the board; arguments as for `AsyncEngine.search`."""
        session = await self._opened()
        return await self.engine.search(None, self.start, self.moves, session=session, **fields)

    async def go(self, **fields: Any) -> BestMove:
        """Searches and waits for the best move; `play` puts it on the board."""
        return await (await self.search(**{"info": {"events": []}, **fields})).result()

    async def play(self, *moves: str) -> Inspected:
        """Plays the moves if they are legal, and returns what the rules say of the position then."""
        before = list(self.moves)
        self.moves += moves
        try:
            return await self.inspect()
        except PlydError:
            self.moves = before
            raise

    async def close(self) -> None:
        """Closes the session."""
        if self._generation == self.engine.generation:
            try:
                await self.engine.request("close", session=self._opening["session"])
            except ConnectionLost:
                pass  # the session ended with its connection
        self._generation = 0
