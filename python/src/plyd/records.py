"""Recorded games: read from files of JSON lines, and as tables, a list of dicts that pandas takes as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Union

from .errors import PlydError
from .options import Settings
from .position import Outcome, Place
from .scores import Score, Side
from .wire import Message

Entry = Union[str, int, float, bool, None]
Row = dict[str, Entry]
"""A row of a table. All rows of one table have the same columns."""


@dataclass(frozen=True)
class Answer:
    """What the referee of a match wrote down of an answer: who gave it, its time in microseconds, its score."""

    player: Side
    time_us: int
    left_us: int | None
    """What was left on a clock for the game."""
    score: Score | None

    @classmethod
    def read(cls, part: Message) -> Answer:
        score = Score.read(part["score"], part["player"]) if "score" in part else None
        return cls(part["player"], part["time_us"], part.get("left_us"), score)


@dataclass(frozen=True)
class Forfeit:
    """Who forfeited a game, and why: `late`, `illegal`, `crash`, `silence` or `protocol`."""

    player: Side
    kind: str
    message: str

    @classmethod
    def read(cls, part: Message) -> Forfeit:
        return cls(part["player"], part["kind"], part["message"])


@dataclass(frozen=True)
class Record:
    """A game, the same wherever plyd writes one; games of matches have more. `message` is all of it."""

    game: str
    rules: Settings
    start: str
    moves: tuple[str, ...]
    """Chance outcomes, which begin with `~`, included."""
    result: Outcome | None
    number: int | None
    players: tuple[str, str] | None
    """The names of p1 and p2."""
    opening: int
    """How many of the moves nobody chose."""
    answers: tuple[Answer, ...]
    forfeit: Forfeit | None
    message: Message = field(repr=False, compare=False)

    @classmethod
    def read(cls, part: Message) -> Record:
        players = [player["name"] for player in part.get("players", ())]
        forfeit = part.get("forfeit")
        return cls(
            part["game"], part["rules"], part["start"], tuple(part["moves"]),
            Outcome.read_or_none(part.get("result")), part.get("number"),
            (players[0], players[1]) if players else None, part.get("opening", 0),
            tuple(map(Answer.read, part.get("answers", ()))), None if forfeit is None else Forfeit.read(forfeit), part,
        )

    @property
    def place(self) -> Place:
        """Where the game ended, to be searched or inspected."""
        return Place(self.game, self.rules, self.start, self.moves)


def read(path: str | PathLike[str]) -> list[Record]:
    """Reads a file with a record a line; raises `PlydError` with the line that is none. Blank lines are skipped."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found.append(Record.read(json.loads(line)))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
                raise PlydError(f"{path}, line {number}: no record of a game: {error!r}") from error
    return found


def games(records: Iterable[Record]) -> list[Row]:
    """A row for each game: who played by which rules, how it ended, how long it was, and the players' times."""
    records = list(records)
    names = sorted({name for record in records for name in record.rules})
    return [game(record, names) for record in records]


def game(record: Record, rules: Sequence[str]) -> Row:
    result, (p1, p2) = record.result, record.players or (None, None)
    winner = None if result is None else result.winner
    scores: tuple[int | None, int | None] = (None, None)
    if result is not None and result.scores is not None:
        scores = result.scores
    times = [sum(answer.time_us for answer in record.answers if answer.player == side) for side in ("p1", "p2")]
    return {
        "number": record.number,
        "game": record.game,
        "p1": p1,
        "p2": p2,
        "winner": winner,
        "winner_name": {"p1": p1, "p2": p2}.get(winner or ""),
        "by": None if result is None else result.by,
        "p1_score": scores[0],
        "p2_score": scores[1],
        "moves": sum(1 for move in record.moves if not move.startswith("~")),
        "opening": record.opening,
        "p1_ms": times[0] / 1000,
        "p2_ms": times[1] / 1000,
        "forfeit": None if record.forfeit is None else record.forfeit.kind,
        **{f"rules.{name}": record.rules.get(name) for name in rules},
    }


def moves(records: Iterable[Record]) -> list[Row]:
    """A row for each move that a player was asked for: time, and score from that player's view."""
    rows: list[Row] = []
    for record in records:
        asked = [(ply, move) for ply, move in enumerate(record.moves) if ply >= record.opening and move[0] != "~"]
        names = dict(zip(("p1", "p2"), record.players or (None, None)))
        for (ply, move), answer in zip(asked, record.answers):
            score = answer.score
            proof = None if score is None else score.proof
            rows.append({
                "number": record.number,
                "game": record.game,
                "ply": ply,
                "player": answer.player,
                "name": names[answer.player],
                "move": move,
                "ms": answer.time_us / 1000,
                "left_ms": None if answer.left_us is None else answer.left_us / 1000,
                "eval": None if score is None else score.eval,
                "expectation": None if score is None or score.wdl is None else score.wdl.expectation(),
                "proof": None if proof is None else proof.outcome,
                "proof_plies": None if proof is None else proof.plies,
            })  # fmt: skip
    return rows


def columns(rows: Sequence[Row]) -> dict[str, list[Entry]]:
    """The same table by columns."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
