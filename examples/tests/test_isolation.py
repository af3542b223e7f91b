"""The adapters of Knight Isolation in stand-ins of their referees."""

import unittest

from support import RefereeTest, needs, sampled


@needs("isolation")
class Isolation7x7(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("isolation-7x7/plyd_player.py", "plyd_player.py")

    def test_loses_only_when_stuck_and_says_so_in_both_versions(self):
        for version, opponent in sampled([("v1", "random"), ("v1", "plyd"), ("v2", "plyd"), ("v2", "random")]):
            with self.subTest(version=version, opponent=opponent):
                self.given_time(lambda ms: self.check_matches(version, opponent, ms), 100, 200, 400)

    def check_matches(self, version, opponent, milliseconds):
        reports, _ = self.run_referee("isolation_7x7.py", version, 4, milliseconds, opponent)
        self.assertEqual(len(reports), 4)
        for report in reports:
            self.assertTrue(report["stuck"], report)
            self.assertEqual(report["last"], [-1, -1])
            self.assertEqual(report["end"], "illegal move")
            self.assertTrue(report["tuples"])
        if opponent == "random":
            lost = [report["lost"] for report in reports]
            self.assertGreaterEqual(lost.count("other"), 2)

    def test_plays_legal_moves_without_an_engine(self):
        reports, warning = self.run_referee(
            "isolation_7x7.py", "v1", 2, 100, "random", program="/nonexistent/plyd-of-nobody"
        )
        self.assertTrue(all(report["stuck"] for report in reports), reports)
        self.assertEqual(warning.count("playing without an engine"), 1)

    def test_leaves_nothing_behind_when_killed(self):
        self.kill_referee("isolation_7x7.py", "v1", 1000, 50, "plyd")


@needs("isolation")
class Isolation11x9(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("isolation-11x9/my_custom_player.py", "my_custom_player.py")

    def test_puts_a_legal_action_in_each_process(self):
        self.given_time(self.check_game, 60, 300, 900)

    def check_game(self, milliseconds):
        (report,), _ = self.run_referee("isolation_11x9.py", 1, milliseconds)
        self.assertEqual(report.get("won"), "CustomPlayer", report)
        self.assertGreater(max(report["puts"]), 1, "better ones follow the first")

    def test_keeps_off_the_cell_that_counts_for_nothing(self):
        (report,), _ = self.run_referee("isolation_11x9.py", "quirk", 150)
        self.assertEqual(report["losing"], [-27])
        self.assertEqual(report["action"], 27)

    def test_leaves_nothing_behind_when_killed(self):
        self.kill_referee("isolation_11x9.py", 1000, 20)


if __name__ == "__main__":
    unittest.main()
