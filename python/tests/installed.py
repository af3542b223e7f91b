"""The installed package by itself: its own engine plays each game to its end, by both clients."""

import asyncio
import random
import subprocess
import sys
import unittest
from pathlib import Path

import plyd
from plyd.address import find_program

NODES = plyd.Limit(nodes=200)
PLIES = 60
"""Where the rules can draw a game that goes on, they do after so many moves."""


def place(game):
    """The start of a game that ends."""
    capped = any(rule.name == "max_plies" for rule in game.rules)
    return plyd.Place(game.name, {"max_plies": PLIES} if capped else None)


def sampled(position, rng):
    """The outcome of chance that is due, if one is."""
    return position.drawn(rng) if position.side is None else None


class Installed(unittest.TestCase):
    def test_comes_with_its_engine(self):
        program = Path(find_program())
        self.assertEqual(program.parent, Path(sys.executable).parent)
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.split()[1], plyd.__version__)

    def test_plays_each_game_to_its_end(self):
        rng = random.Random(1)
        with plyd.Engine() as engine:
            games = engine.games()
            self.assertGreaterEqual(len(games), 5)
            for name in games:
                with self.subTest(game=name), engine.game(place(engine.describe(name)), seed="1") as game:
                    position = game.inspect()
                    while position.outcome is None:
                        position = game.play(sampled(position, rng) or game.go(NODES).move)
                    self.assertEqual(position.legal, ())
                    self.assertGreater(len(game.moves), 4)

    def test_plays_each_game_to_its_end_in_an_event_loop(self):
        async def play(engine, name):
            rng = random.Random(2)
            async with await engine.game(place(await engine.describe(name)), seed="1") as game:
                position = await game.inspect()
                while position.outcome is None:
                    move = sampled(position, rng) or (await game.go(NODES)).move
                    position = await game.play(move)
                return position.outcome.by

        async def play_all():
            async with plyd.AsyncEngine() as engine:
                games = await engine.games()
                return await asyncio.gather(*(play(engine, name) for name in games))

        self.assertGreaterEqual(len(asyncio.run(play_all())), 5)


if __name__ == "__main__":
    unittest.main()
