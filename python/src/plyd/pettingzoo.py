"""A PettingZoo environment (AEC) of any game that the engine knows; needs `pip install 'pettingzoo>=1.24.3'`.

    environment = plyd.pettingzoo.env("isolation", {"preset": "11x9"})

An observation is what the one who acts sees of the board: an array of `PLANES` planes. Moves are numbers, and the
`action_mask` shows the legal ones. Whoever plays another one loses.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from .blocking import Engine
from .board import Board
from .options import Settings
from .position import Place
from .scores import Side
from .spiel import SIDES, State, start

PLANES = (
    "own pieces", "the opponent's pieces", "nobody's pieces", "labels",
    "walls above", "walls to the right", "walls below", "walls to the left",
    "own marks", "the opponent's marks", "marks for both", "own score", "the opponent's score",
)  # fmt: skip
"""What each plane of an observation holds: 1 where it is so; a label as its number, of a letter that in the alphabet."""

WALLS = {"up": (4, -1, 0), "right": (5, 0, 1), "down": (6, 1, 0), "left": (7, 0, -1)}
"""The plane of walls on a side, and the cell beyond."""

BEYOND = {4: 6, 5: 7, 6: 4, 7: 5}
"""The plane of the same wall, seen from the cell beyond."""


def env(game: str, rules: Settings | None = None, *, program: str | None = None) -> AECEnv[str, Any, int]:
    """The environment with PettingZoo's checks: an illegal move ends the game, and is a loss."""
    environment: AECEnv[str, Any, int] = raw_env(game, rules, program=program)
    environment = wrappers.TerminateIllegalWrapper(environment, illegal_reward=-1)
    environment = wrappers.AssertOutOfBoundsWrapper(environment)
    return wrappers.OrderEnforcingWrapper(environment)


class raw_env(AECEnv[str, Any, int], EzPickle):  # noqa: N801 (PettingZoo's name for it)
    """The environment itself. It has an engine of its own, which `close` ends."""

    metadata = {"render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(
        self, game: str, rules: Settings | None = None, *, program: str | None = None, render_mode: str | None = None
    ) -> None:
        EzPickle.__init__(self, game, rules, program=program, render_mode=render_mode)
        super().__init__()
        self.metadata = {**self.metadata, "name": f"plyd_{game}"}
        self.render_mode = render_mode
        self._place, self._engine = Place(game, rules), Engine(program=program)
        self._rng = random.Random(0)
        self.possible_agents = list(SIDES)
        first = start(self._engine, self._place)
        board = first.position.board
        assert board is not None, "it was wanted"
        shape = (board.rows, board.cols, len(PLANES))
        seen = spaces.Dict({
            "observation": spaces.Box(-np.inf, np.inf, shape, np.float32),
            "action_mask": spaces.Box(0, 1, (first.num_distinct_actions(),), np.int8),
        })  # fmt: skip
        # The same objects at each call, as PettingZoo asks.
        self._seen, self._actions = seen, spaces.Discrete(first.num_distinct_actions())

    def observation_space(self, agent: str) -> spaces.Dict:
        return self._seen

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        return self._actions

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self._rng = random.Random(seed)
        self._state = start(self._engine, self._place, self._rng.getrandbits(64)).sampled(self._rng)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._state.position.side or self.agents[0]

    @property
    def state_of_game(self) -> State:
        """The state, such as a `spiel.Bot` takes it."""
        return self._state

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None, "only who is out of the game plays None"
        self._cumulative_rewards[agent] = 0.0
        self._state = self._state.child(int(action)).sampled(self._rng)
        self.rewards = dict(zip(SIDES, self._state.returns()))
        if self._state.is_terminal():
            self.terminations = dict.fromkeys(self.agents, True)
        # One may move again, where the other has no move.
        self.agent_selection = self._state.position.side or SIDES[1 - SIDES.index(side(agent))]
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        board = self._state.position.board
        assert board is not None, "it was wanted"
        mask = np.zeros(self._actions.n, np.int8)
        if agent == self.agent_selection and not self._state.is_terminal():
            mask[self._state.legal_actions()] = 1
        return {"observation": planes(board, side(agent)), "action_mask": mask}

    def render(self) -> str | None:
        return str(self._state) if self.render_mode == "ansi" else None

    def close(self) -> None:
        self._engine.close()


def side(agent: str) -> Side:
    """The side that an agent is."""
    return "p1" if agent == "p1" else "p2"


def planes(board: Board, viewer: Side) -> Any:
    """A board as an array, from the view of one side; what the planes are stands in `PLANES`."""
    seen = np.zeros((board.rows, board.cols, len(PLANES)), np.float32)

    def belonging(owner: Side | None, first: int) -> int:
        return first + (2 if owner is None else 0 if owner == viewer else 1)

    for piece in board.pieces:
        for cell in piece.cells:
            seen[cell.row, cell.col, belonging(piece.owner, 0)] = 1
            seen[cell.row, cell.col, 3] = number(piece.label)
    for wall in board.walls:
        plane, down, right = WALLS[wall.side]
        row, col = wall.cell.row + down, wall.cell.col + right
        seen[wall.cell.row, wall.cell.col, plane] = 1
        seen[row, col, BEYOND[plane]] = 1
    for mark in board.marks:
        seen[mark.cell.row, mark.cell.col, belonging(mark.owner, 8)] = 1
    if board.scores is not None:
        own = SIDES.index(viewer)
        seen[:, :, 11], seen[:, :, 12] = board.scores[own], board.scores[1 - own]
    return seen


def number(label: str | None) -> float:
    """A label as a number: itself, the place of a letter in the alphabet, or 0."""
    if label is None:
        return 0
    if label.lstrip("+-").isdigit():
        return int(label)
    return ord(label.upper()) - ord("A") + 1 if len(label) == 1 and label.isalpha() else 0
