"""The PettingZoo environment of each game, with the installed package and PettingZoo's own tests."""

import random
import unittest
import warnings

import numpy as np
import plyd
import plyd.pettingzoo
from pettingzoo.test import api_test, seed_test
from plyd import spiel

RULES = {"isolation": {"width": 5, "height": 5}, "colosseum": {"size": 5}, "l-game": {"max_plies": 30}, "ijk": {"mode": "nondet"}}
"""Smaller boards where there are some, so that the tests take seconds; and chance."""


def games():
    with plyd.Engine() as engine:
        return engine.games()


class Environments(unittest.TestCase):
    def setUp(self):
        # What the tests of PettingZoo say of every environment whose observations are a dict.
        warnings.simplefilter("ignore")

    def env(self, game):
        environment = plyd.pettingzoo.env(game, RULES.get(game))
        self.addCleanup(environment.close)
        return environment

    def test_keep_what_pettingzoo_asks(self):
        for game in games():
            with self.subTest(game=game):
                api_test(self.env(game), num_cycles=60)
                seed_test(lambda game=game: self.env(game), num_cycles=20)

    def test_end_with_a_winner_and_a_loser(self):
        environment = self.env("isolation")
        environment.reset(seed=1)
        rng = random.Random(1)
        totals = dict.fromkeys(environment.possible_agents, 0.0)
        for agent in environment.agent_iter():
            seen, reward, terminated, truncated, _ = environment.last()
            totals[agent] += reward
            over = terminated or truncated
            environment.step(None if over else rng.choice(list(np.flatnonzero(seen["action_mask"]))))
        self.assertEqual(sorted(totals.values()), [-1, 1])

    def test_an_illegal_move_loses(self):
        environment = self.env("isolation")
        environment.reset(seed=1)
        environment.step(0)
        environment.step(0)
        self.assertEqual(environment.rewards["p2"], -1)
        self.assertTrue(environment.terminations["p2"])

    def test_each_sees_the_board_from_its_own_side(self):
        environment = self.env("isolation")
        environment.reset(seed=1)
        environment.step(0)
        own, other = (environment.observe(agent)["observation"] for agent in ("p1", "p2"))
        self.assertEqual((own[0, 0, 0], own[0, 0, 1]), (1, 0))
        self.assertEqual((other[0, 0, 0], other[0, 0, 1]), (0, 1))

    def test_a_bot_plays_in_it(self):
        environment = self.env("isolation")
        environment.reset(seed=2)
        with plyd.Engine() as engine:
            bot, rng = spiel.Bot(engine, plyd.Limit(nodes=500)), random.Random(2)
            for agent in environment.agent_iter():
                seen, _, terminated, _, _ = environment.last()
                if terminated:
                    break
                legal = list(np.flatnonzero(seen["action_mask"]))
                environment.step(bot.step(environment.unwrapped.state_of_game) if agent == "p1" else rng.choice(legal))
        self.assertEqual(environment.rewards["p1"], 1)


if __name__ == "__main__":
    unittest.main()
