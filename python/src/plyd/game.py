"""A game being played, in a session of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .analysis import AsyncAnalysis
from .closing import AsyncClosing
from .connection import Connection
from .errors import ConnectionLost
from .given import expect
from .limit import Limit, Mode
from .options import Options, Settings
from .position import Place, Position, Want
from .results import Event, PlayResult
from .scores import Side
from .wire import Message

if TYPE_CHECKING:
    from .engine import AsyncEngine


class AsyncGame(AsyncClosing):
    """A game being played, with the moves so far. Use it in an `async with`, or `close` it."""

    def __init__(self, engine: AsyncEngine, place: Place, options: Options | None, seed: str | None) -> None:
        if options is not None:
            expect("options", options, Options, "plyd.Options(level=3)")
        self.engine, self.name, self.start = engine, place.game, place.start
        self.moves = list(place.moves)
        self.rules: Settings = {}
        """All rules in force, once the session is open."""
        self.options = Options()
        """All options in force, once the session is open."""
        self._opening: Message = {
            "session": f"g{engine.name()}",
            "game": place.game,
            "rules": None if place.rules is None else dict(place.rules),
            "options": None if options is None else options.settings(),
            "seed": seed,
        }
        # Where the session is open.
        self._connection: Connection | None = None
        # Who was to move after these moves, when the rules were last asked.
        self._mover: tuple[list[str], Side | None] | None = None

    async def opened(self) -> Place:
        """Where the position is: in its session, which is opened again where the connection is a new one."""
        connection = await self.engine.connected()
        if self._connection is not connection:
            result = await self.engine.exchange(connection, "newgame", self._opening)
            self._opening["seed"] = result["seed"]
            self.rules, self.options = result["rules"], Options.read(result["options"])
            self._connection = connection
            if self._mover is None and self.start is None and not self.moves:
                self._mover = ([], None if result["to_move"] == "chance" else result["to_move"])
        return Place(self.name, self.rules, self.start, tuple(self.moves), self._opening["session"])

    async def configure(self, options: Options) -> Options:
        """Sets options of the session, from the next search on; returns all in force."""
        expect("options", options, Options, "plyd.Options(level=3)")
        place = await self.opened()
        result = await self.engine.request("setoption", session=place.session, options=options.settings())
        self._opening["options"] = {**(self._opening["options"] or {}), **options.settings()}
        self.options = Options.read(result["options"])
        return self.options

    async def inspect(self, want: Sequence[Want] = ()) -> Position:
        """What the rules say of the position on the board."""
        position = await self.engine.inspect(await self.opened(), want)
        self._mover = (list(position.place.moves), position.side)
        return position

    async def analysis(
        self,
        limit: Limit = Limit(),
        *,
        mode: Mode = "analyse",
        expected: Sequence[str] = (),
        multipv: int | None = None,
        searchmoves: Sequence[str] = (),
        excludemoves: Sequence[str] = (),
        options: Options | None = None,
        events: Sequence[Event] = ("best",),
        min_interval: float = 0,
        queue: bool = False,
        timeout: float | None = None,
    ) -> AsyncAnalysis:
        """Starts a search of the position on the board; arguments as for `AsyncEngine.analysis`.

        To ponder, give the reply that is `expected`; `update` with mode `move` if it comes.
        """
        place = await self.opened()
        place = Place(place.game, place.rules, place.start, (*place.moves, *expected), place.session)
        analysis = await self.engine.analysis(
            place, limit, mode=mode, multipv=multipv, searchmoves=searchmoves, excludemoves=excludemoves,
            options=options, events=events, min_interval=min_interval, queue=queue, timeout=timeout,
        )
        if self._mover is not None and self._mover[0] == list(place.moves):
            analysis.side = self._mover[1]
        return analysis

    async def go(
        self,
        limit: Limit,
        *,
        searchmoves: Sequence[str] = (),
        excludemoves: Sequence[str] = (),
        options: Options | None = None,
        queue: bool = False,
        timeout: float | None = None,
    ) -> PlayResult:
        """Searches and waits for the best move; `play` puts it on the board."""
        analysis = await self.analysis(
            limit, mode="move", searchmoves=searchmoves, excludemoves=excludemoves, options=options, events=(),
            queue=queue, timeout=timeout,
        )
        return await analysis.answer()

    async def play(self, *moves: str) -> Position:
        """Plays the moves if they are legal, and returns what the rules say of the position then."""
        before = list(self.moves)
        self.moves += moves
        try:
            return await self.inspect()
        except BaseException:
            self.moves = before
            raise

    async def svg(self) -> str:
        """The board as a picture."""
        return (await self.inspect(["svg"])).svg or ""

    async def close(self) -> None:
        """Closes the session."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.lost is None:
            try:
                await self.engine.exchange(connection, "close", {"session": self._opening["session"]})
            except ConnectionLost:
                pass  # the session ended with its connection
