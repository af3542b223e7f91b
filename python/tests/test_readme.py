"""The code of the README, of the tutorial and the examples run as they stand there."""

import os
import pathlib
import re
import runpy
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "examples" / "tests")]

from support import TIMEOUT, engine  # noqa: E402


class Readme(unittest.TestCase):
    def test_each_block_of_python_runs(self):
        tutorial = HERE.parent.parent / "docs" / "tutorials" / "analyse-from-python.md"
        text = (HERE.parent / "README.md").read_text() + tutorial.read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 3 + 5)
        environment = {**os.environ, "PLYD_BIN": engine(), "PYTHONPATH": str(HERE.parent / "src")}
        for block in blocks:
            with self.subTest(block=block.splitlines()[0]):
                command = [sys.executable, "-c", block]
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, timeout=TIMEOUT
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(len(done.stdout.splitlines()), 1)

    def example(self, *words):
        """What an example prints."""
        environment = {**os.environ, "PLYD_BIN": engine(), "PYTHONPATH": str(HERE.parent / "src")}
        command = [sys.executable, *words]
        folder = HERE.parent.parent / "examples" / "python"
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_the_referee_plays_to_the_end(self):
        lines = self.example("referee.py")
        self.assertRegex(lines[-1], r"^(plyd|random) cannot move and loses$")
        # Against random moves it may be over soon: the game is gone through instead of counted.
        legal = runpy.run_path(str(HERE.parent.parent / "examples" / "python" / "referee.py"))["legal"]
        moves = []
        for line in lines[:-1]:
            name, move = line.split()
            self.assertEqual(name, ("plyd", "random")[len(moves) % 2])
            self.assertIn(move, legal(moves))
            moves.append(move)
        self.assertEqual(legal(moves), set())
        self.assertTrue(lines[-1].startswith(("plyd", "random")[len(moves) % 2]))

    def test_the_analysis_streams_and_ends(self):
        arguments = "isolation --rules preset=11x9 --moves d4,b3 --lines 2 --seconds 0.3".split()
        lines = self.example("analyse.py", *arguments)
        self.assertRegex(lines[-1], r"^[a-k][1-9] \(limit\)$")
        self.assertGreater(len(lines), 4)

    def test_the_game_is_played_to_its_end(self):
        self.assertRegex(self.example("play.py", "isolation")[-1], r"^Outcome\(winner='p[12]', by='stuck'")


if __name__ == "__main__":
    unittest.main()
