"""Scores: an evaluation, chances or a proof, from the view of one side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .wire import Message

Side = Literal["p1", "p2"]
"""One of the two players; `p1` begins."""

Bound = Literal["exact", "lower", "upper"]
Result = Literal["win", "draw", "loss"]

MIRRORED: dict[Bound, Bound] = {"exact": "exact", "lower": "upper", "upper": "lower"}
REVERSED: dict[Result, Result] = {"win": "loss", "draw": "draw", "loss": "win"}


class Wdl(NamedTuple):
    """The chances of a win, a draw and a loss in parts per million, 1,000,000 together."""

    win: int
    draw: int
    loss: int

    def expectation(self) -> float:
        """The share of the points that is expected, from 0 to 1."""
        return (self.win + self.draw / 2) / 1_000_000


@dataclass(frozen=True)
class Proof:
    """A proven outcome, in so many plies where known; `margin` is the final difference in games that score."""

    outcome: Result
    plies: int | None = None
    plies_max: int | None = None
    margin: int | None = None

    @classmethod
    def read(cls, part: Message) -> Proof:
        return cls(part["outcome"], part.get("plies"), part.get("plies_max"), part.get("margin"))


@dataclass(frozen=True)
class Score:
    """A score: `eval` in thousandths of the game's unit, the chances `wdl`, a `proof`, or several of them.

    `side` is the one from whose view it is: at first the one who is to move, where this client knows who that is.
    """

    bound: Bound
    """Whether it is worth this, at least this (`lower`) or at most this (`upper`)."""
    eval: int | None = None
    wdl: Wdl | None = None
    proof: Proof | None = None
    side: Side | None = None

    @classmethod
    def read(cls, part: Message, side: Side | None = None) -> Score:
        wdl = Wdl(*part["wdl"]) if "wdl" in part else None
        proof = Proof.read(part["proof"]) if "proof" in part else None
        return cls(part["bound"], part.get("eval"), wdl, proof, side)

    def pov(self, side: Side) -> Score:
        """The same score from the view of `side`. Raises `ValueError` if nobody knows from whose view it is."""
        if self.side is None:
            raise ValueError("who is to move is not known here: search what `inspect` gives, or in a `Game`")
        return self if self.side == side else -self

    def __neg__(self) -> Score:
        """The same score from the other side's view."""
        proof = self.proof
        if proof is not None:
            margin = None if proof.margin is None else -proof.margin
            proof = replace(proof, outcome=REVERSED[proof.outcome], margin=margin)
        return Score(
            MIRRORED[self.bound],
            None if self.eval is None else -self.eval,
            None if self.wdl is None else Wdl(*reversed(self.wdl)),
            proof,
            None if self.side is None else "p2" if self.side == "p1" else "p1",
        )

    def is_win(self) -> bool:
        """Whether a win is proven. A score that is only an upper bound proves none."""
        return self.bound != "upper" and self._proves("win")

    def is_draw(self) -> bool:
        """Whether a draw is proven."""
        return self.bound == "exact" and self._proves("draw")

    def is_loss(self) -> bool:
        """Whether a loss is proven. A score that is only a lower bound proves none."""
        return self.bound != "lower" and self._proves("loss")

    def _proves(self, outcome: Result) -> bool:
        return self.proof is not None and self.proof.outcome == outcome

    def __str__(self) -> str:
        """A proof, else the evaluation in the game's unit, else the chance of a win, with its bound."""
        sign = {"exact": "", "lower": ">= ", "upper": "<= "}[self.bound]
        if self.proof is not None:
            plies = "" if self.proof.plies is None else f" in {self.proof.plies}"
            return f"{sign}{self.proof.outcome}{plies}"
        if self.eval is not None:
            return f"{sign}{self.eval / 1000:+.2f}"
        return "?" if self.wdl is None else f"{sign}{self.wdl.win / 10_000:.0f} %"
