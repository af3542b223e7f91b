"""What a player can be set to, and what a server says of its games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Union

from .wire import Message

Value = Union[bool, int, str]
Settings = Mapping[str, Value]
"""Rules by their names, as `Engine.describe` lists them."""


@dataclass(frozen=True)
class Options:
    """How a player plays: what is None keeps its default. `own` holds the options of one game alone."""

    player: str | None = None
    """Who chooses the move: `default`, or another one of `GameInfo.players`."""
    eval: str | None = None
    depth: int | None = None
    level: int | None = None
    """Strength from 1 to 10."""
    variety: int | None = None
    """Draws among moves whose scores differ by less than this many thousandths."""
    threads: int | None = None
    hash_mb: int | None = None
    seed: str | None = None
    deterministic: bool | None = None
    own: Settings = field(default_factory=dict)

    def settings(self) -> dict[str, Value]:
        """By their names, those that are set."""
        common = {name: getattr(self, name) for name in COMMON}
        return {**{name: value for name, value in common.items() if value is not None}, **self.own}

    @classmethod
    def read(cls, part: Message) -> Options:
        common = {name: part[name] for name in COMMON if name in part}
        return cls(**common, own={name: value for name, value in part.items() if name not in COMMON})


COMMON = tuple(each.name for each in fields(Options) if each.name != "own")


@dataclass(frozen=True)
class Named:
    """A name, and what it stands for."""

    name: str
    about: str

    @classmethod
    def read(cls, part: Message) -> Named:
        return cls(part["name"], part["about"])


@dataclass(frozen=True)
class Spec:
    """A rule or an option: its type is `bool`, `int`, `word` (one of `words`), `word_or_int`, `seed` or `text`."""

    name: str
    type: str
    about: str
    default: Value | None = None
    min: int | None = None
    max: int | None = None
    words: tuple[str, ...] = ()

    @classmethod
    def read(cls, part: Message) -> Spec:
        bounds = part.get("default"), part.get("min"), part.get("max")
        return cls(part["name"], part["type"], part["about"], *bounds, tuple(part.get("words", ())))


@dataclass(frozen=True)
class Rating:
    """How strong a level is, in Elo above random moves, with the error of a 95 % interval."""

    level: int
    elo: float
    error: float

    @classmethod
    def read(cls, part: Message) -> Rating:
        return cls(part["level"], part["elo"], part["error"])


@dataclass(frozen=True)
class GameInfo:
    """What a server says of a game; `message` is all of it."""

    name: str
    title: str
    rules: tuple[Spec, ...]
    options: tuple[Spec, ...]
    position: str
    """The grammar of positions, in words."""
    moves: str
    unit: str
    """What evaluations count, a thousandth each."""
    chance: bool
    players: tuple[Named, ...]
    evaluators: tuple[Named, ...]
    endings: tuple[Named, ...]
    ratings: tuple[Rating, ...]
    message: Message = field(repr=False, compare=False)

    @classmethod
    def read(cls, body: Message) -> GameInfo:
        def named(name: str) -> tuple[Named, ...]:
            return tuple(map(Named.read, body[name]))

        ratings = body.get("levels", {}).get("ratings", ())
        return cls(
            body["name"], body["title"], tuple(map(Spec.read, body["rules"])), tuple(map(Spec.read, body["options"])),
            body["position"], body["moves"], body["unit"], body["chance"], named("players"), named("evaluators"),
            named("by"), tuple(map(Rating.read, ratings)), body,
        )
