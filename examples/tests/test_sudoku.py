"""The adapter of Competitive Sudoku in a stand-in of its referee."""

import os
import subprocess
import sys
import unittest

from support import EXAMPLES, TIMEOUT, RefereeTest, engine, needs, sampled

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


# What the framework's own program answers: version 14 of the framework, on Linux.
EARLY = "2 2\n1 . . .\n. . . .\n. . 1 .\n. . . 2\n"
LATE = "2 2\n1 2 3 4\n3 4 . 2\n2 1 . 3\n. . . 1\n"
FULL = "2 2\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n"
TWICE = "2 2\n1 1 . .\n. . . .\n. . . .\n. . . .\n"
SOLVED = "2 2\n   1   2   3   4\n   3   4   1   2\n   2   1   4   3\n   4   3   2   1"
ORACLE = [
    (LATE, [], "The sudoku has a solution."),
    (FULL, [], "The sudoku has a solution."),
    (TWICE, [], "The sudoku has no solution."),
    (LATE, ["--print"], f"The sudoku has a solution.\n{SOLVED}"),
    (TWICE, ["--print"], "The sudoku has no solution."),
    (LATE, ["--move", "6 1"], "The score is 3 (valid move '6 1')."),
    (LATE, ["--move", "12 4"], "The score is 1 (valid move '12 4')."),
    (LATE, ["--move", "14 2"], "The score is 0 (valid move '14 2')."),
    (LATE, ["--move", "6 1", "--allowed=6 8"], "The score is 3 (valid move '6 1')."),
    (LATE, ["--move", "6 1", "--allowed=7 8"], "Illegal move '6 1'."),
    (LATE, ["--move", "6 2"], "Illegal move '6 2'."),
    (LATE, ["--move", "0 1"], "Illegal move '0 1'."),
    (LATE, ["--move", "16 1"], "Invalid move '16 1'."),
    (LATE, ["--move", "6 9"], "Invalid move '6 9'."),
    (EARLY, ["--move", "14 3"], "The score is 0 (valid move '14 3')."),
    (EARLY, ["--move", "7 3"], "The sudoku has no solution after move '7 3'."),
    (LATE, ["--greedy"], "Generated move (6,1)."),
    (LATE, ["--random", "--allowed=6"], "Generated move (6,1)."),
    (LATE, ["--greedy", "--allowed=0"], "Error: could not find a legal move."),
    (LATE, ["--greedy", "--allowed=6", "--taboo=1 2 1"], "Error: could not find a legal move."),
    (FULL, ["--random"], "Error: could not find a legal move."),
]


@needs("sudoku")
class SolveSudoku(RefereeTest):
    def run_oracle(self, board, options, program=None):
        file = self.home / "board.txt"
        file.write_text(board)
        command = [sys.executable, str(EXAMPLES / "referees" / "sudoku" / "solve_sudoku"), str(file), *options]
        environment = {**os.environ, "PLYD_BIN": program or engine()}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT)

    def test_answers_as_the_program_of_the_framework_does(self):
        for board, options, said in ORACLE:
            with self.subTest(board=board, options=options):
                done = self.run_oracle(board, options)
                self.assertEqual((done.stdout.strip(), done.stderr), (said, ""))

    def test_says_what_it_cannot_read_or_run(self):
        for board, options, program, said in [
            ("2 2\n1 . .\n", [], None, "make no board"),
            ("two", [], None, "solve_sudoku: "),
            (LATE, ["--move", "foo"], None, "Could not parse a move from 'foo'."),
            (LATE, [], "/nonexistent/plyd-of-nobody", "no plyd"),
        ]:
            with self.subTest(board=board, options=options, program=program):
                done = self.run_oracle(board, options, program)
                self.assertIn(said, done.stderr)
                self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
