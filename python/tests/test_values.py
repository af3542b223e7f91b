"""The values of the package, without an engine: scores, limits, options, where the engine is found."""

import asyncio
import dataclasses
import json
import os
import pathlib
import pickle
import re
import sys
import tempfile
import types
import typing
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src")]

import plyd  # noqa: E402
from plyd import address, position  # noqa: E402
from plyd.limit import answer_timeout  # noqa: E402
from plyd.scores import Proof, Score, Wdl  # noqa: E402


class Scores(unittest.TestCase):
    def test_are_seen_from_either_side(self):
        proof = Proof("win", plies=7, margin=3)
        score = Score("lower", eval=1500, wdl=Wdl(600_000, 300_000, 100_000), proof=proof, side="p2")
        self.assertIs(score.pov("p2"), score)
        other = score.pov("p1")
        self.assertEqual((other.bound, other.eval, other.side), ("upper", -1500, "p1"))
        self.assertEqual(other.wdl, (100_000, 300_000, 600_000))
        self.assertEqual((other.proof.outcome, other.proof.plies, other.proof.margin), ("loss", 7, -3))
        self.assertEqual(other.pov("p2"), score)
        self.assertAlmostEqual(score.wdl.expectation(), 0.75)
        self.assertAlmostEqual(score.wdl.expectation() + other.wdl.expectation(), 1)

    def test_have_no_view_if_nobody_knows_who_moves(self):
        with self.assertRaises(ValueError):
            Score("exact", eval=1).pov("p1")

    def test_prove_what_their_bound_allows(self):
        for outcome, bound, proven in [
            ("win", "exact", "win"), ("win", "lower", "win"), ("win", "upper", None),
            ("draw", "exact", "draw"), ("draw", "lower", None), ("draw", "upper", None),
            ("loss", "exact", "loss"), ("loss", "upper", "loss"), ("loss", "lower", None),
        ]:  # fmt: skip
            with self.subTest(outcome=outcome, bound=bound):
                score = Score(bound, proof=Proof(outcome))
                told = {"win": score.is_win(), "draw": score.is_draw(), "loss": score.is_loss()}
                self.assertEqual([name for name, is_so in told.items() if is_so], [proven] if proven else [])
        self.assertFalse(Score("exact", eval=10**6).is_win())

    def test_are_written_for_people(self):
        for score, text in [
            (Score("exact", eval=-1500), "-1.50"),
            (Score("lower", eval=20), ">= +0.02"),
            (Score("exact", wdl=Wdl(310_000, 480_000, 210_000)), "31 %"),
            (Score("exact", eval=1, proof=Proof("win", 7)), "win in 7"),
            (Score("exact", proof=Proof("draw")), "draw"),
        ]:
            self.assertEqual(str(score), text)


class Limits(unittest.TestCase):
    def fields(self, limit, mode="move"):
        return {name: value for name, value in limit.fields(mode).items() if value is not None}

    def test_say_what_the_protocol_says(self):
        per_move = {"clock": {"kind": "per_move", "ms": 150}}
        for limit, mode, expected in [
            (plyd.Limit(time=0.15), "move", per_move),
            (plyd.Limit(time=0.15), "ponder", per_move),
            (plyd.Limit(time=0.15, depth=3), "analyse", {"limit": {"depth": 3, "time_ms": 150}}),
            (plyd.Limit(time=0), "analyse", {"limit": {"time_ms": 0}}),
            (plyd.Limit(nodes=5, hard=1), "move", {"limit": {"nodes": 5}, "hard_ms": 1000}),
            (plyd.Limit(time=1, elapsed=0.2, overhead=0.01), "move",
             {"clock": {"kind": "per_move", "ms": 1000}, "elapsed_ms": 200, "overhead_ms": 10}),
            (plyd.Limit(clock=plyd.Increment(60, 0.5, opponent=58)), "move",
             {"clock": {"kind": "increment", "me_ms": 60_000, "inc_ms": 500, "opp_ms": 58_000}}),
            (plyd.Limit(clock=plyd.Delay(10, 1)), "move", {"clock": {"kind": "delay", "me_ms": 10_000, "delay_ms": 1000}}),
            (plyd.Limit(clock=plyd.Bank(1, 30)), "move", {"clock": {"kind": "bank", "turn_ms": 1000, "bank_ms": 30_000}}),
            (plyd.Limit(clock=plyd.Anytime()), "move", {"clock": {"kind": "anytime"}}),
            (plyd.Limit(clock=plyd.Endless()), "move", {"clock": {"kind": "none"}}),
            (plyd.Limit(), "analyse", {}),
        ]:  # fmt: skip
            with self.subTest(limit=limit, mode=mode):
                self.assertEqual(self.fields(limit, mode), expected)

    def test_are_given_by_their_names_in_seconds(self):
        with self.assertRaisesRegex(TypeError, re.escape("Limit(time=0.5) is half a second, not Limit(500)")):
            plyd.Limit(500)
        half = plyd.Limit(time=0.5)
        self.assertEqual(dataclasses.replace(half, nodes=5), plyd.Limit(time=0.5, nodes=5))
        self.assertEqual(pickle.loads(pickle.dumps(half)), half)

    def test_are_numbers_in_their_range(self):
        for name, value, kind, words in [
            ("time", -1, ValueError, "time must be 0 seconds or more, such as time=0.5 for half a second, not -1"),
            ("time", "1", TypeError, "time must be a number of seconds, such as time=0.5 for half a second, not '1'"),
            ("time", "500ms", TypeError, "not '500ms'"),
            ("time", float("nan"), ValueError, "not nan"),
            ("time", float("inf"), ValueError, "not inf"),
            ("time", True, TypeError, "not True"),
            ("hard", -0.1, ValueError, "hard must be 0 seconds or more"),
            ("elapsed", -1, ValueError, "elapsed must be 0 seconds or more"),
            ("overhead", "0", TypeError, "overhead must be a number of seconds"),
            ("nodes", 0, ValueError, "nodes must be 1 or more, such as nodes=10_000, not 0"),
            ("nodes", 1e6, TypeError, "nodes must be a whole number, such as nodes=10_000, not 1000000.0"),
            ("depth", "8", TypeError, "depth must be a whole number, such as depth=8, not '8'"),
        ]:
            with self.subTest(name=name, value=value):
                with self.assertRaisesRegex(kind, re.escape(words)):
                    plyd.Limit(**{name: value})

    def test_end_a_search_for_a_move(self):
        for limit in [plyd.Limit(), plyd.Limit(hard=1), plyd.Limit(overhead=0.1)]:
            with self.subTest(limit=limit), self.assertRaisesRegex(ValueError, r"needs an end: Limit\(time=0\.5\)"):
                limit.ends("move")
        plyd.Limit().ends("analyse")
        with self.assertRaisesRegex(ValueError, "needs an end"):
            asyncio.run(plyd.AsyncEngine("127.0.0.1:1").go("colosseum", plyd.Limit()))

    def test_have_one_clock(self):
        with self.assertRaises(ValueError):
            plyd.Limit(time=1, clock=plyd.Endless())


class OptionsOfPlayers(unittest.TestCase):
    def test_are_sent_if_they_are_set(self):
        options = plyd.Options(level=3, deterministic=False, own={"solver": True})
        self.assertEqual(options.settings(), {"level": 3, "deterministic": False, "solver": True})
        self.assertEqual(plyd.Options.read(options.settings()), options)


class Wants(unittest.TestCase):
    def test_are_those_of_the_protocol(self):
        schema = HERE.parents[1] / "protocol" / "schema" / "requests.json"
        known = json.loads(schema.read_text())["$defs"]["Want"]["enum"]
        self.assertEqual(sorted([*position.ALWAYS, *typing.get_args(position.Want)]), sorted(known))


class Arguments(unittest.TestCase):
    def test_of_the_wrong_kind_are_refused_by_name(self):
        engine, place, limit = plyd.AsyncEngine("127.0.0.1:1"), plyd.Place("colosseum"), plyd.Limit(time=0.1)
        for words, ask in [
            ("limit must be a plyd.Limit, such as plyd.Limit(time=0.1), not 0.1", lambda: engine.go(place, 0.1)),
            ("options must be a plyd.Options, such as plyd.Options(level=3), not {'level': 3}",
             lambda: engine.go(place, limit, options={"level": 3})),
            ("options must be a plyd.Options", lambda: engine.game(place, options={"level": 3})),
            ("searchmoves must be a list of moves, such as ['01d']", lambda: engine.go(place, limit, searchmoves="01d")),
            ("moves must be a list of moves, such as ['01d']", lambda: plyd.Place("colosseum", moves="01d")),
        ]:  # fmt: skip
            with self.subTest(words), self.assertRaisesRegex(TypeError, "^" + re.escape(words)):
                asyncio.run(ask())

    def test_that_are_missing_are_those_of_the_engine_that_was_called(self):
        engine = types.SimpleNamespace(_inner=None)
        with self.assertRaisesRegex(TypeError, r"^Engine\.go\(\) missing .* 'limit'"):
            plyd.Engine.go(engine, "colosseum")


class Timeouts(unittest.TestCase):
    def test_follow_the_least_time_that_is_bounded(self):
        for limit, allowed in [
            (plyd.Limit(time=0.05), 0.05),
            (plyd.Limit(time=0.05, elapsed=0.02), 0.03),
            (plyd.Limit(time=0.05, elapsed=0.1), 0),
            (plyd.Limit(time=0.05, hard=0.02), 0.02),
            (plyd.Limit(clock=plyd.Increment(0.3, 5, moves_to_go=2)), 0.3),
            (plyd.Limit(clock=plyd.Delay(0.3, 0.07)), 0.37),
            (plyd.Limit(clock=plyd.Bank(0.05, 0.2)), 0.25),
            (plyd.Limit(clock=plyd.Bank(0.05, 0.2), hard=0.1), 0.1),
            (plyd.Limit(clock=plyd.Anytime(0.1)), None),
            (plyd.Limit(clock=plyd.Endless()), None),
            (plyd.Limit(nodes=7), None),
        ]:
            with self.subTest(limit=limit):
                found = answer_timeout({"mode": "move", **limit.fields("move")}, 10)
                self.assertEqual(found, None if allowed is None else 10 + allowed)
                # The clock of a ponder waits.
                found = answer_timeout({"mode": "ponder", **limit.fields("ponder")}, 10)
                self.assertEqual(found, None if limit.hard is None else 10 + limit.hard)
        analysis = plyd.Limit(time=0.05)
        self.assertEqual(answer_timeout({"mode": "analyse", **analysis.fields("analyse")}, 10), 10.05)


class Program(unittest.TestCase):
    def test_is_the_one_that_came_with_the_package(self):
        package = pathlib.Path(address.__file__).resolve().parent.parent
        with tempfile.TemporaryDirectory() as home, unittest.mock.patch.dict(os.environ, {"PATH": home}):
            os.environ.pop("PLYD_BIN", None)
            paths = {"purelib": str(package), "platlib": str(package), "scripts": home}
            get_path = unittest.mock.Mock(side_effect=lambda part, scheme: paths[part])
            with unittest.mock.patch.object(address, "get_path", get_path):
                with self.assertRaises(plyd.PlydError):
                    address.find_program()
                installed = pathlib.Path(home) / "plyd"
                installed.touch(mode=0o755)
                os.environ["PATH"] = "/nowhere"
                self.assertEqual(address.find_program(), str(installed))
                paths["purelib"] = paths["platlib"] = "/elsewhere"
                with self.assertRaises(plyd.PlydError):
                    address.find_program()
            named = pathlib.Path(home) / "named"
            named.touch(mode=0o755)
            os.environ["PLYD_BIN"] = str(named)
            self.assertEqual(address.find_program(), str(named))
            os.environ["PLYD_BIN"] = "/nosuch"
            with self.assertRaisesRegex(plyd.PlydError, "^PLYD_BIN names no program: /nosuch$"):
                address.find_program()

    def test_is_of_the_same_version(self):
        manifest = (HERE.parents[1] / "Cargo.toml").read_text()
        self.assertEqual(re.search(r'^version = "(.*)"', manifest, re.MULTILINE)[1], plyd.__version__)


if __name__ == "__main__":
    unittest.main()
