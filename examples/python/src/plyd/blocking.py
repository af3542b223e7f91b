"""The engine for programs without an event loop: a thread reads, callers wait."""

from __future__ import annotations

import io
import itertools
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import IO, Any

from . import conversation
from .conversation import Address, Settings
from .errors import ConnectionLost, PlydError, ProtocolError, RequestTimeout
from .messages import BestMove, Info, Inspected, Message
from .secure import SecureSocket, advice
from .websocket import CLOSE, GOOD_BYE, READ_BYTES, WebSocket, frame


class Connection:
    """One connection, and the process behind it where this program started it."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.socket: socket.socket | SecureSocket | None = None
        self.web: WebSocket | None = None
        self.lock = threading.Lock()
        self.inboxes: dict[str, queue.SimpleQueue[Message | PlydError]] = {}
        self.lost: PlydError | None = None
        try:
            self.open(address, timeout)
        except OSError as error:
            raise ConnectionLost(f"cannot reach the server: {advice(error)}") from error
        self.thread = threading.Thread(target=self.read, name="plyd reader", daemon=True)
        self.thread.start()

    def open(self, address: Address, timeout: float) -> None:
        if address.program:
            self.process = subprocess.Popen(
                address.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert self.process.stdin is not None and self.process.stdout is not None
            self.input: IO[bytes] | SecureSocket | WebSocket = self.process.stdin
            self.output: IO[bytes] | WebSocket = self.process.stdout
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
            self.over(plain, secure, address, timeout)
        except BaseException:
            plain.close()
            raise
        plain.settimeout(None)

    def over(
        self, plain: socket.socket, secure: SecureSocket | None, address: Address, timeout: float
    ) -> None:
        """Speaks over a socket, under TLS and as a WebSocket if the address says so."""
        self.socket = plain if secure is None else secure
        if address.web:
            receive: Callable[[], bytes] = partial(plain.recv, READ_BYTES)
            send: Callable[[bytes], object] = plain.sendall
            if secure is not None:
                receive, send = partial(secure.receive, READ_BYTES), secure.write
            at, limit = (address.host, address.port), conversation.LINE_LIMIT
            self.web = WebSocket(receive, send, *at, limit, timeout)
            self.input = self.output = self.web
        elif secure is None:
            self.input, self.output = plain.makefile("wb"), plain.makefile("rb")
        else:
            self.input, self.output = secure, io.BufferedReader(secure)

    def read(self) -> None:
        """Hands each message to the one that waits for it, until the connection ends."""
        lost: PlydError = ConnectionLost("the server closed the connection")
        try:
            while line := self.output.readline(conversation.LINE_LIMIT):
                message = conversation.decode(line)
                with self.lock:
                    inbox = self.inboxes.get(str(message.get("id")))
                # A notice may name the request that it is about; it is no answer to it.
                if inbox is not None and message["type"] != "notice":
                    inbox.put(message)
        except ProtocolError as error:
            lost = error
        except (OSError, ValueError) as error:
            lost = ConnectionLost(f"the connection broke: {advice(error)}")
        with self.lock:
            self.lost = self.lost or lost
            for inbox in self.inboxes.values():
                inbox.put(self.lost)
        if self.socket is not None:
            self.socket.close()

    def send(
        self, name: str, line: bytes, inbox: queue.SimpleQueue[Message | PlydError] | None = None
    ) -> queue.SimpleQueue[Message | PlydError]:
        """Sends a request; what comes for it is in the queue that is returned."""
        inbox = queue.SimpleQueue() if inbox is None else inbox
        with self.lock:
            if self.lost is not None:
                raise self.lost
            self.inboxes[name] = inbox
            try:
                self.input.write(line)
                self.input.flush()
            except (OSError, ValueError) as error:
                raise ConnectionLost(f"the connection broke: {advice(error)}") from error
        return inbox

    def forget(self, name: str) -> None:
        with self.lock:
            self.inboxes.pop(name, None)

    def close(self, timeout: float) -> None:
        """Ends the connection, and the process if this program started it."""
        with self.lock:
            self.lost = self.lost or ConnectionLost("closed")
        if self.socket is not None:
            try:
                if self.web is not None:
                    self.socket.send(frame(CLOSE, GOOD_BYE), socket.MSG_DONTWAIT)
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already
        try:
            self.input.close()
        except OSError:
            pass  # what was unsent has no reader any more
        if self.process is not None:
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.thread.join(timeout)
        self.output.close()


class Engine:
    """A plyd server: started by this program, or connected to at `host:port`, an address of `Address.WRITTEN` or a socket's path.

    Use it in a `with`. Any thread may call it. `timeout` is how long an answer may take, in seconds;
    a search has its own time on top of that. When the server is gone, requests in flight raise
    `ConnectionLost`, and the next one connects (and starts it) again.
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
        self._lock = threading.RLock()
        self._closed = False
        self._connection: Connection | None = None
        self._connected()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, its searches, and the server if this engine started it."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close(self.timeout)
                self._connection = None

    def _connected(self) -> Connection:
        with self._lock:
            if self._closed:
                raise ConnectionLost("the engine is closed")
            if self._connection is not None:
                if self._connection.lost is None:
                    return self._connection
                self._connection.close(self.timeout)
                self._connection = None
            connection = Connection(self.address, self.timeout)
            try:
                self.server = self._exchange(connection, "hello", conversation.hello(self.token))
            except PlydError:
                connection.close(self.timeout)
                raise
            self._connection = connection
            self.generation += 1
            return connection

    def _exchange(self, connection: Connection, cmd: str, fields: Message) -> Message:
        name = str(next(self._names))
        inbox = connection.send(name, conversation.encode(name, cmd, fields))
        try:
            return conversation.final(wait(inbox, self.timeout))
        finally:
            connection.forget(name)

    def request(self, cmd: str, **fields: Any) -> Message:
        """Sends any request but `go` and waits for its result."""
        return self._exchange(self._connected(), cmd, fields)

    def ping(self) -> float:
        """Asks for a sign of life; returns how long it took, in seconds."""
        began = time.monotonic()
        self.request("ping")
        return time.monotonic() - began

    def games(self) -> list[str]:
        """The names of the games that the server plays."""
        return [game["name"] for game in self.request("describe", what="games")["body"]]

    def describe(self, game: str) -> Message:
        """A game's rules, options, players and texts."""
        body: Message = self.request("describe", what="game", game=game)["body"]
        return body

    def inspect(
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
        return Inspected.read(self.request("inspect", **place, want=[*conversation.WANTS, *want]))

    def search(
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
    ) -> Search:
        """Starts a search; other fields of `go`, such as `mode` or `multipv`, are passed on.

        `ms` is a clock for this move. Iterate over the search for its news, or ask for `result()`.
        """
        times = conversation.time_fields(ms, nodes, depth, clock)
        place = {"game": game, "rules": rules, "position": conversation.position(start, moves)}
        return Search(self, {**place, **times, **fields}, timeout)

    def go(self, game: str, start: str | None = None, moves: Sequence[str] = (), **fields: Any) -> BestMove:
        """Searches and waits for the best move; arguments as for `search`."""
        return self.search(game, start, moves, **{"info": {"events": []}, **fields}).result()

    def play(
        self,
        game: str,
        *,
        start: str | None = None,
        rules: Settings | None = None,
        options: Settings | None = None,
        seed: str | None = None,
    ) -> Game:
        """Opens a game: a session that keeps its table and tree from move to move."""
        opening = {"game": game, "rules": rules, "options": options, "seed": seed}
        return Game(self, {"session": f"g{next(self._names)}", **opening}, start)


def wait(inbox: queue.SimpleQueue[Message | PlydError], seconds: float | None) -> Message:
    """The next message of an inbox; raises what took its place."""
    try:
        message = inbox.get(timeout=seconds)
    except queue.Empty:
        raise RequestTimeout(f"no answer in {seconds:.1f} s") from None
    if isinstance(message, PlydError):
        inbox.put(message)  # for whoever else waits for the same search
        raise message
    return message


class Search:
    """A running search: an iterator over its news that ends with its answer."""

    def __init__(self, engine: Engine, fields: Message, timeout: float | None) -> None:
        self.id = str(next(engine._names))
        self._engine, self._connection = engine, engine._connected()
        self._answer: BestMove | None = None
        known = conversation.answer_timeout(fields, engine.timeout)
        seconds = known if timeout is None else timeout
        self._retry, self._stopped = conversation.Retry(fields, time.monotonic()), threading.Event()
        # Of a `stop` and a repeated `go` the first to take it decides; the other one sees that.
        self._sending = threading.Lock()
        self._deadline = None if seconds is None else self._retry.began + seconds
        self._inbox = self._connection.send(self.id, conversation.encode(self.id, "go", fields))

    def __iter__(self) -> Iterator[Info]:
        while self._answer is None:
            info = self._next()
            if info is not None:
                yield info

    def result(self) -> BestMove:
        """Waits for the answer."""
        while self._answer is None:
            self._next()
        return self._answer

    def stop(self) -> BestMove:
        """Ends the search and returns the best move so far; raises where an overloaded server had begun none."""
        if self._answer is None:
            with self._sending:
                self._stopped.set()
            self._engine._exchange(self._connection, "stop", {"target": self.id})
            self._deadline = time.monotonic() + self._engine.timeout
        return self.result()

    def update(self, *, ms: int | None = None, clock: Settings | None = None, **fields: Any) -> str:
        """Gives a running search another clock; with `mode="move"` a ponder becomes a move."""
        times = conversation.time_fields(ms, None, None, clock)
        body = {"target": self.id, "clock": times["clock"], **fields}
        return str(self._engine._exchange(self._connection, "update", body)["effect"])

    def _next(self) -> Info | None:
        left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0)
        try:
            message = wait(self._inbox, left)
        except RequestTimeout:
            self._connection.forget(self.id)
            name, stop = f"{self.id}.stop", {"target": self.id, "discard": True}
            self._connection.send(name, conversation.encode(name, "stop", stop))
            self._connection.forget(name)
            raise
        pause = self._retry.pause(message, time.monotonic())
        if pause is not None and self._sent_again(pause):
            return None
        if message["type"] != "info":
            self._connection.forget(self.id)
            self._inbox.put(message)  # for whoever else waits for the same search
        news = conversation.news(message)
        if isinstance(news, Info):
            return news
        self._answer = news
        return None

    def _sent_again(self, pause: float) -> bool:
        """Sends the `go` again after a pause, unless the search is stopped meanwhile or there is no time left."""
        self._stopped.wait(pause)
        with self._sending:
            if self._stopped.is_set():
                return False
            again = self._retry.again(time.monotonic())
            if again is None:
                return False
            self._connection.send(self.id, conversation.encode(self.id, "go", again), self._inbox)
        return True


class Game:
    """A game being played, with the moves so far. Use it in a `with`, or `close` it."""

    def __init__(self, engine: Engine, opening: Message, start: str | None) -> None:
        self.engine, self.start, self._opening = engine, start, opening
        self.moves: list[str] = []
        self._generation = 0
        self._opened()

    def __enter__(self) -> Game:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _opened(self) -> str:
        """The session's name, opened again where the connection is a new one."""
        self.engine._connected()
        if self._generation != self.engine.generation:
            result = self.engine.request("newgame", **self._opening)
            self._opening["seed"] = result["seed"]
            self._generation = self.engine.generation
        return str(self._opening["session"])

    def inspect(self, want: Sequence[str] = ()) -> Inspected:
        """What the rules say of the position on the board."""
        session, place = self._opened(), conversation.position(self.start, self.moves)
        wants = [*conversation.WANTS, *want]
        return Inspected.read(
            self.engine.request("inspect", session=session, position=place, want=wants)
        )

    def search(self, **fields: Any) -> Search:
        """Starts a search of the position on the board; arguments as for `Engine.search`."""
        session = self._opened()
        return self.engine.search(None, self.start, self.moves, session=session, **fields)

    def go(self, **fields: Any) -> BestMove:
        """Searches and waits for the best move; `play` puts it on the board."""
        return self.search(**{"info": {"events": []}, **fields}).result()

    def play(self, *moves: str) -> Inspected:
        """Plays the moves if they are legal, and returns what the rules say of the position then."""
        before = list(self.moves)
        self.moves += moves
        try:
            return self.inspect()
        except PlydError:
            self.moves = before
            raise

    def close(self) -> None:
        """Closes the session."""
        if self._generation == self.engine.generation:
            try:
                self.engine.request("close", session=self._opening["session"])
            except ConnectionLost:
                pass  # the session ended with its connection
        self._generation = 0
