"""How long a search may take. Times are seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Union

from .given import expect_count, expect_seconds
from .wire import Message

Mode = Literal["move", "analyse", "ponder"]
"""What a search is for: a move to play, a look at a position, or thoughts in the opponent's time."""


@dataclass(frozen=True)
class Increment:
    """What is left of a player's time for the game, and what is added after each move."""

    left: float
    increment: float = 0
    opponent: float | None = None
    opponent_increment: float | None = None
    moves_to_go: int | None = None
    """How many moves there are to the next time control."""

    def fields(self) -> Message:
        times = {"opp_ms": self.opponent, "opp_inc_ms": self.opponent_increment}
        moves = {} if self.moves_to_go is None else {"moves_to_go": self.moves_to_go}
        own = {"me_ms": milliseconds(self.left), "inc_ms": milliseconds(self.increment)}
        return {"kind": "increment", **own, **given(times), **moves}


@dataclass(frozen=True)
class Delay:
    """What is left of a player's time for the game, which begins to run `delay` after the opponent's move."""

    left: float
    delay: float
    opponent: float | None = None

    def fields(self) -> Message:
        own = {"me_ms": milliseconds(self.left), "delay_ms": milliseconds(self.delay)}
        return {"kind": "delay", **own, **given({"opp_ms": self.opponent})}


@dataclass(frozen=True)
class Bank:
    """Free time for each turn, and a reserve for the game."""

    turn: float
    reserve: float

    def fields(self) -> Message:
        return {"kind": "bank", "turn_ms": milliseconds(self.turn), "bank_ms": milliseconds(self.reserve)}


@dataclass(frozen=True)
class Anytime:
    """Nobody knows the deadline: each better move comes at once, until the search is stopped."""

    hint: float | None = None

    def fields(self) -> Message:
        return {"kind": "anytime", **given({"hint_ms": self.hint})}


@dataclass(frozen=True)
class Endless:
    """Until the position is proven, or the search reaches a limit or is stopped."""

    def fields(self) -> Message:
        return {"kind": "none"}


Clock = Union[Increment, Delay, Bank, Anytime, Endless]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What ends a search: the first of these that is reached. They are given by their names: `Limit(time=0.5)`.

    `time` is how many seconds it has for this move, which it need not use up; an analysis lasts that long. A game with a
    clock of its own has it in `clock` instead.
    """

    time: float | None = None
    nodes: int | None = None
    depth: int | None = None
    clock: Clock | None = None
    hard: float | None = None
    """A watchdog answers then, whatever the search does."""
    elapsed: float = 0
    """Time already spent on this move."""
    overhead: float = 0
    """The answer is written this much early."""

    def __new__(cls, *values: object, **_named: object) -> Limit:
        if values:
            raise TypeError(f"give limits by their names: Limit(time=0.5) is half a second, not Limit({values[0]!r})")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        if self.time is not None and self.clock is not None:
            raise ValueError("either `time` or `clock`")
        for name, seconds in [
            ("time", self.time),
            ("hard", self.hard),
            ("elapsed", self.elapsed),
            ("overhead", self.overhead),
        ]:
            if seconds is not None:
                expect_seconds(name, seconds)
        for name, count, example in [("nodes", self.nodes, "10_000"), ("depth", self.depth, "8")]:
            if count is not None:
                expect_count(name, count, example)

    def ends(self, mode: Mode) -> None:
        """Raises `ValueError` if a search for a move would have no end."""
        if mode == "move" and (self.time, self.nodes, self.depth, self.clock) == (None,) * 4:
            raise ValueError(
                "a search for a move needs an end: Limit(time=0.5) in seconds, Limit(nodes=10_000), Limit(depth=8),"
                " or a clock such as Limit(clock=Increment(60, 1))"
            )

    def fields(self, mode: Mode) -> Message:
        """The fields of a `go` or an `update`; those that are absent are None."""
        clock = None if self.clock is None else self.clock.fields()
        limit = {"nodes": self.nodes, "depth": self.depth}
        if self.time is not None:
            ms = milliseconds(self.time)
            # An analysis heeds no clock.
            if mode == "analyse":
                limit["time_ms"] = ms
            else:
                clock = {"kind": "per_move", "ms": ms}
        return {
            "clock": clock,
            "limit": {name: value for name, value in limit.items() if value is not None} or None,
            "hard_ms": None if self.hard is None else milliseconds(self.hard),
            "elapsed_ms": milliseconds(self.elapsed) or None,
            "overhead_ms": milliseconds(self.overhead) or None,
        }


def milliseconds(seconds: float) -> int:
    """A time as the protocol counts it."""
    return round(seconds * 1000)


def given(times: dict[str, float | None]) -> Message:
    """Those times that are there."""
    return {name: milliseconds(seconds) for name, seconds in times.items() if seconds is not None}


def answer_timeout(fields: Message, timeout: float) -> float | None:
    """How long to wait for the answer of a `go`, in seconds: None if its end is open."""
    limit = fields.get("limit") or {}
    times = [ms / 1000 for ms in (fields.get("hard_ms"), limit.get("time_ms")) if ms is not None]
    # A ponder and an analysis heed no clock.
    if fields["mode"] == "move":
        times.append(allowed(fields))
    least = min(times, default=math.inf)
    return None if least == math.inf else max(0.0, least) + timeout


def allowed(fields: Message) -> float:
    """The time that the clock of a `go` leaves for the move, in seconds; without end if it has none."""
    clock = fields.get("clock") or {}
    parts = {
        "per_move": ("ms",),
        "increment": ("me_ms",),
        "delay": ("me_ms", "delay_ms"),
        "bank": ("turn_ms", "bank_ms"),
    }.get(clock.get("kind", ""))
    if parts is None:
        return math.inf
    left: int = sum(clock[part] for part in parts) - (fields.get("elapsed_ms") or 0)
    return left / 1000
