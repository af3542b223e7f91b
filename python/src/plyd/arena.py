"""Matches between players, by the engine's own `plyd arena`: its referee trusts neither.

    match = arena.play("isolation", [arena.Player(limit=Limit(nodes=2000)), arena.Player("greedy")], games=20)
    print(match.pairings[0].score, records.games(match.records))
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal

from . import records
from .address import find_program
from .errors import PlydError
from .limit import Bank, Delay, Increment, Limit
from .options import Options, Value
from .position import Place
from .records import Record
from .wire import Message

Format = Literal["round_robin", "gauntlet", "ladder"]
"""Who meets whom: each each, the first each other one, or each the next one."""


@dataclass(frozen=True)
class Player:
    """A player: its name among those of `Engine.describe`, or `program`, a command that speaks the protocol.

    `Limit.clock` holds for the whole game here: `left` is the time at its begin.
    """

    name: str | None = None
    limit: Limit = Limit()
    options: Options = Options()
    program: str | None = None
    legal: bool = False
    """Whether it is sent the legal moves, since it knows no rules."""

    def text(self) -> str:
        """As `plyd arena --player` reads it. Raises `ValueError` for what it cannot say."""
        if self.program is not None and self.name is not None:
            raise ValueError("either `name` or `program`; a program is told its player by `options`")
        parts = [f"cmd={self.program}"] if self.program is not None else [self.name or "default"]
        parts += [f"{name}={word(value)}" for name, value in self.options.settings().items()]
        parts += [*times(self.limit), *(["legal=true"] if self.legal else [])]
        if any("," in part for part in parts):
            raise ValueError(f"a comma in {parts}")
        return ",".join(parts)


def times(limit: Limit) -> list[str]:
    """The limit of a player, as `plyd arena` reads it."""
    if limit.hard is not None or limit.elapsed or limit.overhead:
        raise ValueError("a player of a match has no `hard`, `elapsed` or `overhead`")
    parts = {"time": limit.time and seconds(limit.time), "nodes": limit.nodes, "depth": limit.depth}
    clock = limit.clock
    if isinstance(clock, Increment):
        period = "" if clock.moves_to_go is None else f"{clock.moves_to_go}/"
        parts["tc"] = f"{period}{seconds(clock.left)}+{seconds(clock.increment)}"
    elif isinstance(clock, Delay):
        parts["delay"] = f"{seconds(clock.left)}+{seconds(clock.delay)}"
    elif isinstance(clock, Bank):
        parts["bank"] = f"{seconds(clock.turn)}+{seconds(clock.reserve)}"
    elif clock is not None:
        raise ValueError(f"no clock of a match: {clock}")
    return [f"{name}={value}" for name, value in parts.items() if value is not None]


def seconds(time: float) -> str:
    return f"{time:.6f}s"


def word(value: Value) -> str:
    """A setting as commands read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Estimate:
    """A value and its error, half of a 95 % interval; `None` if all pairs of games ended alike, which says nothing of it."""

    value: float
    error: float | None

    @classmethod
    def read(cls, part: Message | None) -> Estimate | None:
        return None if part is None else cls(part["value"], part["error"])


@dataclass(frozen=True)
class Pairing:
    """What two players made of their games, from the view of the first."""

    players: tuple[str, str]
    wins: int
    draws: int
    losses: int
    score: Estimate | None
    """The share of the points, from 0 to 1."""
    elo: Estimate | None
    superiority: float | None
    """The likelihood that the first is the stronger one."""


@dataclass(frozen=True)
class Rating:
    """The strength of a player among all of a match, in Elo."""

    player: str
    elo: Estimate | None


@dataclass(frozen=True)
class Match:
    """A match that has ended: `played`, `decided` by a test, `interrupted`, or `overloaded` with games left out."""

    ended: str
    games: int
    pairings: tuple[Pairing, ...]
    ratings: tuple[Rating, ...]
    """Strongest first, if there are more than two players."""
    records: tuple[Record, ...] = field(repr=False)
    report: Message = field(repr=False, compare=False)
    """All that `plyd arena --json` says; `sprt` and what was counted of each player among it."""

    @classmethod
    def read(cls, report: Message, played: Sequence[Record]) -> Match:
        names, summary = report["players"], report["summary"]

        def pairing(result: Message, strength: Message) -> Pairing:
            first, second = (names[index] for index in result["players"])
            estimates = Estimate.read(strength["score"]), Estimate.read(strength["elo"])
            counts = result["wins"], result["draws"], result["losses"]
            return Pairing((first, second), *counts, *estimates, strength["superiority"])

        pairings = tuple(map(pairing, summary["meetings"], report["scores"]))
        ratings = (Rating(names[one["player"]], Estimate.read(one["elo"])) for one in report.get("ratings", ()))
        return cls(report["ended"], summary["games"], pairings, tuple(ratings), tuple(played), report)


def play(
    position: Place | str,
    players: Sequence[Player],
    *,
    games: int | None = None,
    format: Format = "round_robin",
    random_plies: int | None = None,
    openings: str | PathLike[str] | None = None,
    seed: str | None = None,
    sprt: str | None = None,
    concurrency: int | None = None,
    margin: float | None = None,
    forgive_stalls: bool = False,
    max_moves: int | None = None,
    adjudicate_proofs: bool = False,
    record: str | PathLike[str] | None = None,
    program: str | None = None,
) -> Match:
    """Plays a match to its end; `games` of each two players who meet, 100 if nothing else is said.

    The arguments are those of `plyd arena`: with a `record`, the same call goes on where the last one was ended. An
    interrupt (Ctrl-C) plays the games in progress to their end, a second one ends the match at once.
    """
    place = Place(position) if isinstance(position, str) else position
    with tempfile.TemporaryDirectory(prefix="plyd-") as folder:
        path = os.path.join(folder, "games.jsonl") if record is None else os.fspath(record)
        command = [program or find_program(), "arena", place.game, "--json", "--record", path]
        if place.start is not None:
            command += ["--position", place.start]
        if place.rules:
            command += ["--rules", ",".join(f"{name}={word(value)}" for name, value in place.rules.items())]
        for player in players:
            command += ["--player", player.text()]
        options = {
            "--games": games, "--random-plies": random_plies, "--openings": openings, "--seed": seed, "--sprt": sprt,
            "--concurrency": concurrency, "--margin": None if margin is None else seconds(margin),
            "--max-moves": max_moves, "--adjudicate": "proof" if adjudicate_proofs else None,
        }  # fmt: skip
        for name, value in options.items():
            command += [] if value is None else [name, os.fspath(value) if isinstance(value, PathLike) else str(value)]
        command += [] if format == "round_robin" else [f"--{format}"]
        command += ["--forgive-stalls"] if forgive_stalls else []
        # Behind it, as it takes as many as there are.
        command += ["--moves", *place.moves] if place.moves else []
        report = run(command)
        played = records.read(path) if os.path.exists(path) else []
    return Match.read(report, played)


def run(command: Sequence[str]) -> Message:
    """The report that `plyd arena` prints; raises `PlydError` with what it says instead, or warns of what it says besides."""
    # In a session of its own an interrupt reaches it once: from here.
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    with process:
        try:
            try:
                output, log = process.communicate()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
                output, log = process.communicate()
        except BaseException:
            process.kill()
            raise
    said = log.decode(errors="replace").strip()
    if process.returncode != 0 and not output:
        raise PlydError(said or f"plyd arena ended with {process.returncode}")
    report: Message = json.loads(output)
    if process.returncode != 0:
        # A player lost all its games by its faults: there is a report, but it is no measurement.
        errors = [line.removeprefix("error: ") for line in said.splitlines() if line.startswith("error: ")]
        warnings.warn("; ".join(errors) or said, stacklevel=3)
    return report
