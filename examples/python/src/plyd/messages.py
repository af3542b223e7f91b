"""The parts of messages as values. Fields that this version does not know are skipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True)
class Proof:
    """A proven outcome for the one to move: `win`, `draw` or `loss`, in so many plies where known."""

    outcome: str
    plies: int | None = None
    plies_max: int | None = None
    margin: int | None = None

    @classmethod
    def read(cls, part: Message) -> Proof:
        return cls(part["outcome"], part.get("plies"), part.get("plies_max"), part.get("margin"))


@dataclass(frozen=True)
class Score:
    """A score from the view of the one to move; `eval` in thousandths, `wdl` in parts per million."""

    bound: str
    eval: int | None = None
    wdl: tuple[int, int, int] | None = None
    proof: Proof | None = None

    @classmethod
    def read(cls, part: Message) -> Score:
        wdl = tuple(part["wdl"]) if "wdl" in part else None
        proof = Proof.read(part["proof"]) if "proof" in part else None
        return cls(part["bound"], part.get("eval"), wdl, proof)


@dataclass(frozen=True)
class Line:
    """One of the moves looked at, with the continuation expected, both as move texts."""

    rank: int
    move: str
    pv: tuple[str, ...]
    depth: int
    score: Score | None = None

    @classmethod
    def read(cls, part: Message) -> Line:
        score = Score.read(part["score"]) if "score" in part else None
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
    """News of a running search: event `started`, `best` or `progress`."""

    event: str
    move: str | None
    lines: tuple[Line, ...]
    stats: Stats
    message: Message

    @classmethod
    def read(cls, message: Message) -> Info:
        lines = tuple(Line.read(line) for line in message["lines"])
        stats = Stats.read(message["stats"])
        return cls(message["event"], message.get("move"), lines, stats, message)


@dataclass(frozen=True)
class BestMove:
    """A search's answer; `reason` says why it ended, `message` is all that was sent."""

    move: str
    reason: str
    ponder: str | None
    lines: tuple[Line, ...]
    stats: Stats
    message: Message

    @property
    def score(self) -> Score | None:
        """The score of the move, where there is one."""
        return self.lines[0].score if self.lines else None

    @classmethod
    def read(cls, message: Message) -> BestMove:
        lines = tuple(Line.read(line) for line in message["lines"])
        stats = Stats.read(message["stats"])
        move, reason, ponder = message["move"], message["reason"], message.get("ponder")
        return cls(move, reason, ponder, lines, stats, message)


@dataclass(frozen=True)
class Outcome:
    """How a game ended: the winner `p1`, `p2` or None for a draw, by what, and the scores."""

    winner: str | None
    by: str
    scores: tuple[int, int] | None = None

    @classmethod
    def read(cls, part: Message) -> Outcome:
        scores = (part["scores"][0], part["scores"][1]) if "scores" in part else None
        return cls(part["winner"], part["by"], scores)


@dataclass(frozen=True)
class Inspected:
    """What the rules say of a position; `message` has whatever else was asked for."""

    to_move: str
    outcome: Outcome | None
    legal: tuple[str, ...]
    message: Message

    @classmethod
    def read(cls, message: Message) -> Inspected:
        outcome = message["outcome"]
        over = None if outcome is None else Outcome.read(outcome)
        return cls(message["to_move"], over, tuple(message["legal"]), message)
