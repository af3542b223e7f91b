"""The adapter of Competitive Sudoku in a stand-in of its referee."""

import unittest

from support import RefereeTest, needs, sampled

EASY = "2 2  1 2 . 4  . 4 . 2  2 1 . 3  . . . 1"
EMPTY = "2 2 " + " ".join(["."] * 16)
WIDE = "2 3  . 3 . 1 5 2  . 1 . 4 . 3  5 . . . 1 4  1 . . 6 . .  3 2 1 . 4 6  . . . . . 1"


@needs("sudoku")
class Sudoku(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("sudoku/sudokuai.py", "plyd_player/sudokuai.py")

    def play(self, *arguments, **options):
        reports, warning = self.run_referee("sudoku.py", *arguments, **options)
        report = reports[-1]
        self.assertNotIn("fault", report)
        self.assertGreater(len(report["asked"]), 0)
        return report, warning

    def test_never_loses_by_a_move_in_any_version(self):
        cases = [("v12", "classic", EASY), ("v12", "classic", EMPTY), ("v14", "classic", EASY)]
        cases += [("v14", preset, EMPTY) for preset in ("rows", "border", "random")]
        cases += [("v12", "classic", WIDE)]
        for version, preset, board in sampled(cases):
            with self.subTest(version=version, preset=preset, board=board):
                report, warning = self.play(version, preset, board, 0.4)
                self.assertEqual(warning, "")
                self.assertIn("scores", report)

    def test_plays_legal_moves_without_an_engine(self):
        _, warning = self.play("v12", "classic", EASY, 0.2, program="/nonexistent/plyd-of-nobody")
        self.assertIn("playing without an engine", warning)

    def test_leaves_nothing_behind_when_killed(self):
        self.kill_referee("sudoku.py", "v12", "classic", EMPTY, 0.5)


if __name__ == "__main__":
    unittest.main()
