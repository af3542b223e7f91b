"""The adapter of the L Game: as a class in a stand-in of its referee, and as a text program."""

import subprocess
import unittest

from support import TIMEOUT, RefereeTest, needs

PROGRAM = ["plyd_player.py"]
TALKER = """
import subprocess, sys
player = subprocess.Popen(
    [sys.executable, "plyd_player.py", "--first"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
print(player.stdout.readline(), flush=True)
player.wait()
"""


@needs("l-game")
class LGame(RefereeTest):
    def setUp(self):
        super().setUp()
        self.drop("l-game/plyd_player.py", "plyd_player.py")

    def talk(self, said, *arguments):
        """What the text program answers when all of it is said at once, and its exit code."""
        process = self.start([*PROGRAM, *arguments], stdin=subprocess.PIPE)
        out, err = process.communicate(said, timeout=TIMEOUT)
        self.assert_nothing_left()
        return out.splitlines(), process.returncode, err

    def test_plays_turned_states_and_knows_the_game_so_far(self):
        reports, warning = self.run_referee("l_game.py", 40)
        self.assertEqual(warning, "")
        won = [report["won"] for report in reports if "won" in report]
        self.assertEqual(won, [True, True], reports)

    def test_plays_legal_moves_without_an_engine(self):
        reports, warning = self.run_referee("l_game.py", 12, program="/nonexistent/plyd-of-nobody")
        self.assertNotIn("fault", str(reports))
        self.assertEqual(warning.count("playing without an engine"), 1)

    def test_leaves_nothing_behind_when_killed(self):
        self.kill_referee("l_game.py", 1000)

    def test_the_text_program_leaves_nothing_behind_when_it_or_its_referee_is_killed(self):
        self.kill_referee(["-c", TALKER])
        process = self.start([*PROGRAM, "--first"], stdin=subprocess.PIPE)
        with process:
            self.assertNotEqual(process.stdout.readline(), "")
            self.assertNotEqual(self.left(), [], "the engine was there before")
            process.kill()
        self.assert_nothing_left()

    def test_answers_each_line_with_a_line(self):
        answers, code, _ = self.talk("4 1 w\n")
        self.assertEqual((len(answers), code), (1, 0))
        self.assertIn(len(answers[0].split()), (3, 7))

    def test_moves_first_from_a_start_of_its_own(self):
        answers, code, _ = self.talk("", "--first", "--start", "1 3 N 4 2 S 1 1 4 4")
        self.assertEqual((len(answers), code), (1, 0))

    def test_takes_a_start_before_the_first_move(self):
        answers, code, err = self.talk("1 3 N 4 2 S 1 1 4 4\n1 4 N\n")
        self.assertEqual((len(answers), code), (1, 0), err)

    def test_ends_after_five_bad_lines_in_a_row(self):
        bad = ["hello", "9 9 N", "3 1 W", "4 1 W 2 2 3 3", "4 1"]
        self.assertEqual(self.talk("\n".join(bad[:4]) + "\n4 1 W\n")[1], 0)
        answers, code, err = self.talk("\n".join(bad) + "\n4 1 W\n")
        self.assertEqual((answers, code), ([], 1))
        self.assertEqual(len(err.splitlines()), 5)


if __name__ == "__main__":
    unittest.main()
