"""The adapter of Colosseum Survival in a stand-in of its referee."""

import unittest

from support import RefereeTest, needs


@needs("colosseum")
class Colosseum(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("colosseum/plyd_agent.py", "agents/plyd_agent.py")

    def test_never_walks_at_random_and_answers_plain_numbers(self):
        self.given_time(self.check_matches, 0.1, 0.5, 2)

    def check_matches(self, seconds):
        reports, _ = self.run_referee("colosseum.py", 4, seconds)
        self.assertEqual(len(reports), 4)
        self.assertEqual([report["walks"] for report in reports], [0] * 4)
        self.assertTrue(all(report["plain"] for report in reports))
        self.assertGreaterEqual(sum(own > other for own, other in (r["scores"] for r in reports)), 2)

    def test_plays_legal_moves_without_an_engine_and_never_walls_itself_in(self):
        reports, warning = self.run_referee("colosseum.py", 4, 0.2, program="/nonexistent/plyd-of-nobody")
        self.assertEqual([report["walks"] for report in reports], [0] * 4)
        self.assertTrue(all(report["plain"] for report in reports))
        self.assertEqual([report["walled"] for report in reports], [0] * 4, "it walled itself in")
        self.assertEqual(warning.count("playing without an engine"), 1)

    def test_leaves_nothing_behind_when_killed(self):
        self.kill_referee("colosseum.py", 1000, 0.2)


if __name__ == "__main__":
    unittest.main()
