"""What searches answer. Fields that this version does not know are skipped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .errors import ProtocolError
from .scores import Score, Side
from .wire import Message, final

Event = Literal["started", "best", "progress"]
"""What news of a search are about: its begin, a better move or line, or a depth that was completed."""


@dataclass(frozen=True)
class Line:
    """One of the moves looked at, with the continuation expected, both as move texts."""

    rank: int
    move: str
    pv: tuple[str, ...]
    depth: int
    score: Score | None = None

    @classmethod
    def read(cls, part: Message, side: Side | None) -> Line:
        score = Score.read(part["score"], side) if "score" in part else None
        return cls(part["rank"], part["move"], tuple(part["pv"]), part["depth"], score)


@dataclass(frozen=True)
class Stats:
    """What a search has done so far."""

    nodes: int
    nps: int
    time_ms: int
    depth: int
    seldepth: int
    hash_ppm: int

    @classmethod
    def read(cls, part: Message) -> Stats:
        names = ("nodes", "nps", "time_ms", "depth", "seldepth", "hash_ppm")
        return cls(*(part[name] for name in names))


@dataclass(frozen=True)
class Info:
    """News of a running search; `message` is all that was sent."""

    event: Event
    move: str | None
    lines: tuple[Line, ...]
    stats: Stats
    message: Message = field(repr=False, compare=False)

    @property
    def score(self) -> Score | None:
        """The score of the best move, where there is one."""
        return self.lines[0].score if self.lines else None

    @classmethod
    def read(cls, message: Message, side: Side | None) -> Info:
        lines = tuple(Line.read(line, side) for line in message["lines"])
        return cls(message["event"], message.get("move"), lines, Stats.read(message["stats"]), message)


@dataclass(frozen=True)
class PlayResult:
    """A search's answer; `message` is all that was sent."""

    move: str
    reason: str
    """Why the search ended, such as `clock`, `limit`, `proven` or `stopped`."""
    ponder: str | None
    """The reply that is expected."""
    lines: tuple[Line, ...]
    stats: Stats
    message: Message = field(repr=False, compare=False)

    @property
    def score(self) -> Score | None:
        """The score of the move, where there is one."""
        return self.lines[0].score if self.lines else None

    @classmethod
    def read(cls, message: Message, side: Side | None) -> PlayResult:
        lines = tuple(Line.read(line, side) for line in message["lines"])
        move, reason, ponder = message["move"], message["reason"], message.get("ponder")
        return cls(move, reason, ponder, lines, Stats.read(message["stats"]), message)


def news(message: Message, side: Side | None) -> Info | PlayResult:
    """What a search sent; raises `ServerError` if that is an error."""
    try:
        if message["type"] == "info":
            return Info.read(message, side)
        return PlayResult.read(final(message), side)
    except (KeyError, TypeError) as error:
        raise ProtocolError(f"a field is missing or wrong: {error}") from error
