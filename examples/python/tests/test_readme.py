"""The code of the README runs as it stands there."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "tests")]

from support import TIMEOUT, engine  # noqa: E402


class Readme(unittest.TestCase):
    def test_each_block_of_python_runs(self):
        text = (HERE.parent / "README.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 2)
        environment = {**os.environ, "PLYD_BIN": engine(), "PYTHONPATH": str(HERE.parent / "src")}
        for block in blocks:
            with self.subTest(block=block.splitlines()[0]):
                command = [sys.executable, "-c", block]
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, timeout=TIMEOUT
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(len(done.stdout.splitlines()), 1)

    def test_the_analysis_streams_and_ends(self):
        environment = {**os.environ, "PLYD_BIN": engine(), "PYTHONPATH": str(HERE.parent / "src")}
        arguments = "isolation --rules preset=11x9 --moves d4,b3 --lines 2 --seconds 0.3".split()
        command = [sys.executable, str(HERE.parent / "analyse.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout.splitlines()[-1], r"^[a-k][1-9] \(limit\)$")
        self.assertGreater(len(done.stdout.splitlines()), 4)


if __name__ == "__main__":
    unittest.main()
