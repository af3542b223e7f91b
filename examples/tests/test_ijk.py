"""The adapter of IJK in a stand-in of its referee."""

import unittest

from support import RefereeTest, needs, sampled

# Every other one has both versions and both modes.
VERSIONS = [("v1", "det"), ("v1", "nondet"), ("v2", "nondet"), ("v2", "det")]


@needs("ijk")
class Ijk(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("ijk/ai_IJK.py", "ai_IJK.py")

    def test_plays_both_versions_and_modes(self):
        for version, mode in sampled(VERSIONS):
            with self.subTest(version=version, mode=mode):
                self.given_time(lambda seconds: self.check_game(version, mode, seconds), 0.3, 0.8, 2)

    def check_game(self, version, mode, seconds):
        (first, report), warning = self.run_referee("ijk.py", version, mode, 24, seconds)
        self.assertEqual(warning, "")
        self.assertEqual(first["first"][0], "U", "a legal move before the engine is asked")
        self.assertGreaterEqual(report["asked"], 10)
        self.assertGreater(len(report["moves"]), 1, "more than the move that is always legal")
        if version == "v2":
            self.assertNotIn("S", report["moves"])

    def test_plays_legal_moves_without_an_engine(self):
        (_, report), warning = self.run_referee(
            "ijk.py", "v2", "det", 60, program="/nonexistent/plyd-of-nobody"
        )
        self.assertEqual(report["moves"], ["U"])
        self.assertEqual(warning.count("playing without an engine"), 1)

    def test_answers_to_the_end_of_a_game(self):
        (_, report), _ = self.run_referee("ijk.py", "v1", "det", 30000, 0.03)
        self.assertTrue(report["ended"], report)

    def test_leaves_nothing_behind_when_killed(self):
        self.kill_referee("ijk.py", "v2", "nondet", 30000)


if __name__ == "__main__":
    unittest.main()
