"""The engine for programs without an event loop: the conversation of `engine`, run by the thread that calls.

Nothing is written twice here: each method is one of the conversation's, with its arguments and its documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from .address import Address
from .analysis import AsyncAnalysis
from .closing import AsyncClosing
from .engine import AsyncEngine
from .game import AsyncGame
from .on_threads import OnThreads
from .options import Options, Settings
from .results import Info
from .wire import Message

A = TypeVar("A", bound=AsyncClosing)
B = TypeVar("B")
F = TypeVar("F", bound="Facade[Any]")
P = ParamSpec("P")
T = TypeVar("T")


class Facade(Generic[A]):
    """Something of the conversation, to be used without an event loop; it is closed at the end of a `with`."""

    def __init__(self, inner: A) -> None:
        self._inner = inner

    def __enter__(self: F) -> F:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        done(self._inner.close())


def done(steps: Coroutine[Any, Any, T]) -> T:
    """Runs what waits on threads to its end, in one step: it blocks where it would give way."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("this waits for an event loop")


def called(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]], inner: A, /, *args: P.args, **kwargs: P.kwargs
) -> Coroutine[Any, Any, T]:
    """The steps of a method, none of which has run: what it refuses are its arguments, under the caller's name."""
    try:
        return method(inner, *args, **kwargs)
    except TypeError as error:
        raise TypeError(str(error).replace("Async", "", 1)) from None


def blocking(method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Facade[A], P], T]:
    """A method of the conversation, as one that blocks."""

    @wraps(method)
    def call(self: Facade[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return done(called(method, self._inner, *args, **kwargs))

    return call


def opening(
    facade: Callable[[B], F], method: Callable[Concatenate[A, P], Coroutine[Any, Any, B]]
) -> Callable[Concatenate[Facade[A], P], F]:
    """The same of a method whose result is a part of the conversation itself."""

    @wraps(method)
    def call(self: Facade[A], /, *args: P.args, **kwargs: P.kwargs) -> F:
        return facade(done(called(method, self._inner, *args, **kwargs)))

    return call


class Analysis(Facade[AsyncAnalysis]):
    """A running search: an iterator over its news that ends with its answer.

    In a `with` it ends with the block, if it has not ended before. Any thread may stop it.
    """

    result = blocking(AsyncAnalysis.result)
    stop = blocking(AsyncAnalysis.stop)
    close = blocking(AsyncAnalysis.close)
    update = blocking(AsyncAnalysis.update)

    @property
    def id(self) -> str:
        """The id of its `go`."""
        return self._inner.id

    def __iter__(self) -> Iterator[Info]:
        while not self._inner.is_over:
            info = done(self._inner.next())
            if info is not None:
                yield info


class Game(Facade[AsyncGame]):
    """A game being played, with the moves so far. Use it in a `with`, or `close` it."""

    configure = blocking(AsyncGame.configure)
    inspect = blocking(AsyncGame.inspect)
    analysis = opening(Analysis, AsyncGame.analysis)
    go = blocking(AsyncGame.go)
    play = blocking(AsyncGame.play)
    svg = blocking(AsyncGame.svg)
    close = blocking(AsyncGame.close)

    @property
    def name(self) -> str:
        """The game's name."""
        return self._inner.name

    @property
    def moves(self) -> list[str]:
        """The moves so far; whoever changes the list takes moves back."""
        return self._inner.moves

    @property
    def rules(self) -> Settings:
        """All rules in force."""
        return self._inner.rules

    @property
    def options(self) -> Options:
        """All options in force."""
        return self._inner.options

    def _repr_svg_(self) -> str:
        return self.svg()


class Engine(Facade[AsyncEngine]):
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
        super().__init__(
            AsyncEngine(address, program=program, token=token, timeout=timeout, waiting=OnThreads())
        )
        done(self._inner.connected())

    close = blocking(AsyncEngine.close)
    request = blocking(AsyncEngine.request)
    ping = blocking(AsyncEngine.ping)
    games = blocking(AsyncEngine.games)
    describe = blocking(AsyncEngine.describe)
    inspect = blocking(AsyncEngine.inspect)
    analysis = opening(Analysis, AsyncEngine.analysis)
    go = blocking(AsyncEngine.go)
    game = opening(Game, AsyncEngine.game)

    @property
    def address(self) -> Address:
        """Where the server is."""
        return self._inner.address

    @property
    def server(self) -> Message:
        """The result of `hello`: version, features, games and limits."""
        return self._inner.server

    @property
    def generation(self) -> int:
        """How many connections there have been: sessions end with theirs."""
        return self._inner.generation
