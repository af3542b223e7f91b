"""Games by numbers, as OpenSpiel has them, with the real engine."""

import pathlib
import random
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent.parent / "examples" / "tests")]

import plyd  # noqa: E402
from plyd import spiel  # noqa: E402
from support import engine  # noqa: E402


class States(unittest.TestCase):
    def setUp(self):
        self.engine = plyd.Engine(program=engine())
        self.addCleanup(self.engine.close)

    def test_play_every_game_by_numbers(self):
        for name in self.engine.games():
            with self.subTest(game=name):
                rng = random.Random(name)
                state = spiel.start(self.engine, name, seed=5)
                count, plies = state.num_distinct_actions(), 0
                while not state.is_terminal() and plies < 40:
                    actions = state.legal_actions()
                    self.assertEqual(actions, sorted(set(actions)))
                    if state.is_chance_node():
                        self.assertEqual(state.current_player(), spiel.CHANCE)
                        self.assertAlmostEqual(sum(chance for _, chance in state.chance_outcomes()), 1)
                    else:
                        self.assertIn(state.current_player(), (0, 1))
                        self.assertTrue(0 <= actions[0] and actions[-1] < count)
                    action = rng.choice(actions)
                    self.assertEqual(state.string_to_action(state.action_to_string(action)), action)
                    state, plies = state.child(action), plies + 1
                    self.assertEqual(state.num_distinct_actions(), count)
                self.assertEqual(sum(state.returns()), 0)

    def test_end_with_their_returns(self):
        state = spiel.start(self.engine, plyd.Place("isolation", {"width": 3, "height": 3}))
        while not state.is_terminal():
            state = state.child(state.legal_actions()[0])
        self.assertEqual((state.current_player(), state.legal_actions()), (spiel.TERMINAL, []))
        winner = state.position.outcome.winner
        self.assertEqual(state.returns(), [1.0, -1.0] if winner == "p1" else [-1.0, 1.0])

    def test_draw_the_same_chance_by_the_same_seed(self):
        def play(seed):
            rng = random.Random(seed)
            state = spiel.start(self.engine, plyd.Place("ijk", {"mode": "nondet"}), seed=seed).sampled(rng)
            for _ in range(12):
                state = state.child(state.legal_actions()[0]).sampled(rng)
            return str(state)

        self.assertEqual(play(1), play(1))
        self.assertGreater(len({play(seed) for seed in range(4)}), 1)

    def test_know_no_move_that_is_not_legal(self):
        state = spiel.start(self.engine, "isolation").child(0)
        with self.assertRaises(ValueError):
            state.child(0)
        chance = spiel.start(self.engine, plyd.Place("ijk", {"mode": "nondet"}))
        while not chance.is_chance_node():
            chance = chance.child(chance.legal_actions()[0])
        for action in (-1, len(chance.chance_outcomes())):
            with self.subTest(action=action), self.assertRaises(ValueError):
                chance.child(action)

    def test_are_what_a_bot_plays_on(self):
        bot = spiel.Bot(self.engine, plyd.Limit(nodes=500))
        state, rng = spiel.start(self.engine, plyd.Place("isolation", {"width": 5, "height": 5})), random.Random(3)
        bot.restart()
        while not state.is_terminal():
            player = state.current_player()
            action = bot.step(state) if player == 0 else rng.choice(state.legal_actions())
            bot.inform_action(state, player, action)
            state = state.child(action)
        self.assertEqual(state.returns(), [1.0, -1.0])


if __name__ == "__main__":
    unittest.main()
