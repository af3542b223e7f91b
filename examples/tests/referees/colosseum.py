"""A stand-in for the referee of Colosseum Survival.

`colosseum.py GAMES SECONDS`, with so much time a move: this writes `store.py` and `agents/agent.py` beside the adapter, which lies in
`agents/`. Prints a line of JSON for each game.
"""

import copy
import json
import os
import pathlib
import random
import sys

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
STORE = """
REGISTRY = {}

def register_agent(name):
    def keep(made):
        assert name not in REGISTRY
        REGISTRY[name] = made
        return made
    return keep
"""
AGENT = """
class Agent:
    def __init__(self):
        self.name, self.autoplay = "agent", False
"""


class Number(int):
    """What an array gives where one expects an int: an answer must not hold it."""


class World:
    """The walls of each cell (up, right, down, left), both places, and who is to move."""

    def __init__(self, size):
        self.size, self.turn, self.reach = size, 0, (size + 1) // 2
        self.walls = [[[False] * 4 for _ in range(size)] for _ in range(size)]
        for i in range(size):
            self.walls[0][i][0] = self.walls[i][-1][1] = True
            self.walls[-1][i][2] = self.walls[i][0][3] = True
        for _ in range(size // 2 - 1):
            row, column, side = random.randrange(size), random.randrange(size), random.randrange(4)
            if not self.walls[row][column][side]:
                self.wall((row, column), side)
                mirrored = size - 1 - row, size - 1 - column
                if not self.walls[mirrored[0]][mirrored[1]][(side + 2) % 4]:
                    self.wall(mirrored, (side + 2) % 4)
        while True:
            row, column = random.randrange(size), random.randrange(size)
            self.places = [(row, column), (size - 1 - row, size - 1 - column)]
            if self.places[0] != self.places[1] and self.places[1] in self.zone(0):
                return

    def wall(self, place, side):
        row, column = place
        down, right = STEPS[side]
        self.walls[row][column][side] = True
        self.walls[row + down][column + right][(side + 2) % 4] = True

    def spread(self, place, blocked=None, steps=None):
        """The cells within so many steps of a place, past none that is blocked."""
        found, edge = {place}, {place}
        while edge and steps != 0:
            edge = {
                (row + STEPS[side][0], column + STEPS[side][1])
                for row, column in edge
                for side in range(4)
                if not self.walls[row][column][side]
            } - found - {blocked}
            found |= edge
            steps = None if steps is None else steps - 1
        return found

    def zone(self, player):
        return self.spread(self.places[player])

    def moves(self):
        own, other = self.places[self.turn], self.places[1 - self.turn]
        return [
            ((row, column), side)
            for row, column in self.spread(own, other, self.reach)
            for side in range(4)
            if not self.walls[row][column][side]
        ]

    def play(self, move):
        self.places[self.turn] = move[0]
        self.wall(*move)
        self.turn = 1 - self.turn

    def loses(self, move):
        """Whether the move ends the game, and the mover has fewer cells then."""
        after = copy.deepcopy(self)
        after.play(move)
        return after.over() and len(after.zone(self.turn)) < len(after.zone(1 - self.turn))

    def over(self):
        return self.places[1] not in self.zone(0)


def main(games, seconds):
    pathlib.Path("store.py").write_text(STORE)
    pathlib.Path("agents/agent.py").write_text(AGENT)
    pathlib.Path("agents/__init__.py").write_text("from .plyd_agent import PlydAgent\n")
    sys.path.insert(0, os.getcwd())
    import agents  # noqa: F401, as the referee finds its agents
    from store import REGISTRY

    for game in range(int(games)):
        random.seed(game)
        world, walks, plain, walled = World((5, 6, 8, 12)[game % 4]), 0, True, 0
        ours = game % 2
        agent = REGISTRY["plyd_agent"]()
        assert agent.autoplay
        agent.TURN = float(seconds)
        while not world.over():
            move = random.choice(world.moves())
            if world.turn == ours:
                own, other = (tuple(map(Number, world.places[side])) for side in (ours, 1 - ours))
                answer = agent.step(copy.deepcopy(world.walls), own, other, world.reach)
                plain = plain and all(type(n) is int for n in (*answer[0], answer[1]))
                walks += answer not in world.moves()  # the referee walks at random then
                move = answer if answer in world.moves() else move
                walled += world.loses(move) and not all(map(world.loses, world.moves()))
            world.play(move)
        scores = [len(world.zone(player)) for player in (ours, 1 - ours)]
        print(json.dumps({"scores": scores, "walks": walks, "plain": plain, "walled": walled}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
