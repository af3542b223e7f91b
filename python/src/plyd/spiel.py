"""Games and players in the manner of OpenSpiel, by numbers, for programs that learn. Needs nothing but the engine.

All a `State` knows of a game is what the engine's `inspect` says, so that it plays every game there is.
"""

from __future__ import annotations

import random
from functools import cached_property
from typing import Protocol

from .blocking import Engine
from .limit import Limit
from .options import Options
from .position import Actions, Place, Position
from .scores import Side

CHANCE, TERMINAL = -1, -4
"""Who is to move if no player is, as OpenSpiel numbers them."""

SIDES: tuple[Side, Side] = ("p1", "p2")
"""The players 0 and 1."""


class State:
    """A state of a game: the players are 0 and 1, and moves are numbers below `num_distinct_actions()`.

    At a chance node, actions are the places of the outcomes in `chance_outcomes()`.
    """

    def __init__(self, engine: Engine, place: Place) -> None:
        self.engine, self.place = engine, place

    @cached_property
    def position(self) -> Position:
        """What the rules say of it."""
        return self.engine.inspect(self.place, ["actions", "board", "text"])

    @property
    def _actions(self) -> Actions:
        assert self.position.actions is not None, "it was wanted"
        return self.position.actions

    def num_distinct_actions(self) -> int:
        """The number of actions of players, the same in all states under these rules."""
        return self._actions.count

    def current_player(self) -> int:
        """Who is to move: 0, 1, `CHANCE` or `TERMINAL`."""
        if self.is_terminal():
            return TERMINAL
        side = self.position.side
        return CHANCE if side is None else SIDES.index(side)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.position.outcome is not None

    def is_chance_node(self) -> bool:
        """Whether chance is to decide."""
        return not self.is_terminal() and self.position.side is None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The actions of chance, each with its probability."""
        return [(at, outcome.ppm / 1_000_000) for at, outcome in enumerate(self.position.chance)]

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order; none at the end."""
        if self.is_chance_node():
            return [action for action, _ in self.chance_outcomes()]
        return sorted(self._actions.legal)

    def action_to_string(self, action: int) -> str:
        """The text of a legal action; raises `ValueError` for any other."""
        if self.is_chance_node():
            outcomes = self.position.chance
            if not 0 <= action < len(outcomes):
                raise ValueError(f"{action} is no outcome of chance")
            return outcomes[action].move
        return self.position.legal[self._actions.legal.index(action)]

    def string_to_action(self, move: str) -> int:
        """The action of a legal move's text; raises `ValueError` for any other."""
        if self.is_chance_node():
            return [outcome.move for outcome in self.position.chance].index(move)
        return self._actions.legal[self.position.legal.index(move)]

    def child(self, action: int) -> State:
        """The state after a legal action."""
        place = self.place
        moves = (*place.moves, self.action_to_string(action))
        return State(self.engine, Place(place.game, place.rules, place.start, moves))

    def sampled(self, rng: random.Random) -> State:
        """This state, or where chance leads to from it, drawn by `rng`."""
        state = self
        while state.is_chance_node():
            state = state.child(state.string_to_action(state.position.drawn(rng)))
        return state

    def returns(self) -> list[float]:
        """What the game was worth to both players: 1 for a win, 0 for a draw or a game that goes on, -1 for a loss."""
        outcome = self.position.outcome
        if outcome is None or outcome.winner is None:
            return [0.0, 0.0]
        return [1.0 if side == outcome.winner else -1.0 for side in SIDES]

    def __str__(self) -> str:
        return self.position.text or ""


class Stateful(Protocol):
    """All that a bot needs of a state."""

    @property
    def position(self) -> Position: ...

    def string_to_action(self, move: str) -> int: ...


class Bot:
    """A player in the manner of OpenSpiel's bots: `step` chooses an action for whoever is to move."""

    def __init__(self, engine: Engine, limit: Limit, options: Options | None = None) -> None:
        self.engine, self.limit, self.options = engine, limit, options

    def step(self, state: Stateful) -> int:
        """The action to play in a state in which a player is to move."""
        best = self.engine.go(state.position, self.limit, options=self.options)
        return state.string_to_action(best.move)

    def restart(self) -> None:
        """A new game begins; nothing is kept of the last one."""

    def restart_at(self, state: Stateful) -> None:
        """The game goes on at another state; each state brings its whole game along."""

    def inform_action(self, state: Stateful, player: int, action: int) -> None:
        """Another player's action; the next state has it."""

    def provides_force_action(self) -> bool:
        return False

    def provides_policy(self) -> bool:
        return False


def start(engine: Engine, position: Place | str, seed: int = 0) -> State:
    """The first state of a game. What its rules draw by a seed is drawn by this one, if they are given none."""
    place = Place(position) if isinstance(position, str) else position
    rules = dict(place.rules or {})
    for spec in engine.describe(place.game).rules:
        if spec.type == "seed" and place.start is None:
            rules.setdefault(spec.name, f"{seed & (1 << 64) - 1:x}")
    return State(engine, Place(place.game, rules, place.start, place.moves))
