"""What the rules say of a position."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Union

from .board import Board, pair
from .errors import ProtocolError
from .given import expect_moves
from .options import Settings
from .scores import Side
from .wire import Message

ToMove = Literal["p1", "p2", "chance"]
Want = Literal["moves", "board", "text", "hash", "eval", "record", "state", "svg", "actions", "decisive", "book", "edits"]
"""What `inspect` can say beyond who moves, the outcome, the legal moves and the outcomes of chance."""

ALWAYS = ("to_move", "outcome", "legal", "chance")


@dataclass(frozen=True)
class Outcome:
    """How a game ended: the winner, or None for a draw, by what, and the scores."""

    winner: Side | None
    by: str
    scores: tuple[int, int] | None = None

    @classmethod
    def read(cls, part: Message) -> Outcome:
        return cls(part["winner"], part["by"], pair(part.get("scores")))

    @classmethod
    def read_or_none(cls, part: Message | None) -> Outcome | None:
        """The outcome of a game, or None of one that goes on."""
        return None if part is None else cls.read(part)


@dataclass(frozen=True)
class Successor:
    """A legal move with the text of the position after it, its evaluation from the mover's view, and the end."""

    move: str
    text: str
    eval: int | None
    outcome: Outcome | None

    @classmethod
    def read(cls, part: Message) -> Successor:
        return cls(part["move"], part["text"], part.get("eval"), Outcome.read_or_none(part.get("outcome")))


@dataclass(frozen=True)
class Chance:
    """A chance outcome and its probability in parts per million."""

    move: str
    ppm: int

    @classmethod
    def read(cls, part: Message) -> Chance:
        return cls(part["move"], part["ppm"])


@dataclass(frozen=True)
class Actions:
    """The moves as numbers: each is below `count`; `legal` are those of `Position.legal`, in the same order."""

    count: int
    legal: tuple[int, ...]

    @classmethod
    def read(cls, part: Message) -> Actions:
        return cls(part["count"], tuple(part["legal"]))


@dataclass(frozen=True)
class Place:
    """Where a position is: a game with its rules or a session, where it began, and the moves since."""

    game: str
    rules: Settings | None = None
    start: str | None = None
    moves: Sequence[str] = ()
    session: str | None = None

    def __post_init__(self) -> None:
        expect_moves("moves", self.moves)

    def fields(self) -> Message:
        """The fields of a request that name it."""
        position: Message = {"moves": list(self.moves)}
        if self.start is not None:
            position["start"] = self.start
        if self.session is not None:
            return {"session": self.session, "position": position}
        return {"game": self.game, "rules": None if self.rules is None else dict(self.rules), "position": position}


@dataclass(frozen=True)
class Position:
    """What the rules say of a position. Beyond the first fields it has what was wanted; `message` is all of it."""

    place: Place
    to_move: ToMove
    outcome: Outcome | None
    legal: tuple[str, ...]
    """The legal moves; none where chance decides, and at the end."""
    chance: tuple[Chance, ...]
    """What chance may bring; nothing where a player is to move."""
    successors: tuple[Successor, ...] | None
    board: Board | None
    text: str | None
    hash: str | None
    eval: int | None
    record: Message | None
    state: str | None
    svg: str | None
    actions: Actions | None
    decisive: int | None
    """The advantage, in thousandths, with which most games are won; None also where there are no evaluations."""
    book: Message | None
    """What the game's book of solved positions says: fields as in the protocol's `Book`; None where it holds nothing."""
    edits: Message | None
    """What can be changed by hand: fields as in the protocol's `Edits`; None for games without an editor."""
    message: Message = field(repr=False, compare=False)

    @property
    def side(self) -> Side | None:
        """Who is to move, unless that is chance."""
        return None if self.to_move == "chance" else self.to_move

    def drawn(self, rng: random.Random) -> str:
        """One of the outcomes of chance, by their probabilities; raises `IndexError` where a player is to move."""
        return rng.choices([each.move for each in self.chance], [each.ppm for each in self.chance])[0]

    @classmethod
    def read(cls, place: Place, message: Message) -> Position:
        """Raises `ProtocolError` if a field is missing."""
        get = message.get
        successors = get("moves")
        try:
            return cls(
                place, message["to_move"], Outcome.read_or_none(message["outcome"]), tuple(message["legal"]),
                tuple(map(Chance.read, message["chance"])),
                None if successors is None else tuple(map(Successor.read, successors)),
                Board.read(message["board"]) if "board" in message else None,
                get("text"), get("hash"), get("eval"), get("record"), get("state"), get("svg"),
                Actions.read(message["actions"]) if "actions" in message else None,
                get("decisive"), get("book"), get("edits"),
                message,
            )
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"a field is missing or wrong: {error}") from error

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows, if it was wanted."""
        return self.svg


Where = Union[Position, Place, str]
"""How a position is named: by what `inspect` said of it, by its place, or by a game, whose start it is."""


def located(position: Where) -> tuple[Place, Side | None]:
    """Where a position is, and who is to move there if that is known."""
    if isinstance(position, Position):
        return position.place, position.side
    return (Place(position) if isinstance(position, str) else position), None


def wanted(want: Sequence[Want]) -> list[str]:
    """The words of `want` in a request."""
    return [*ALWAYS, *want]
