"""What the tests of the examples share: the engine, referees in directories of their own, leftovers."""

import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
REFEREES = EXAMPLES / "tests" / "referees"
TIMEOUT = 120
"""How long any one program may take, in seconds: a hang fails, slowness does not."""


def sampled(cases):
    """Every fourth case; all of them with PLYD_WHOLE=1 in the environment."""
    return cases if os.environ.get("PLYD_WHOLE") == "1" else cases[::4]


@functools.cache
def engine():
    """The program to test: PLYD_BIN, `plyd` on the PATH, or the newest build of this repository."""
    if named := os.environ.get("PLYD_BIN") or shutil.which("plyd"):
        return named
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or EXAMPLES.parent / "target")
    built = [p for p in target.glob("*/plyd") if os.access(p, os.X_OK) and p.is_file()]
    if not built:
        raise RuntimeError("no plyd: set PLYD_BIN, put it on the PATH, or run `cargo build`")
    return str(max(built, key=lambda path: path.stat().st_mtime))


@functools.cache
def games():
    """The games that the engine plays."""
    request = '{"id":"1","cmd":"describe","what":"games"}\n'
    done = subprocess.run([engine()], input=request, capture_output=True, text=True, timeout=TIMEOUT)
    return [game["name"] for game in json.loads(done.stdout)["body"]]


def needs(game):
    """Skips a test where the engine does not play the game (yet)."""
    return unittest.skipUnless(game in games(), f"{engine()} does not play {game}")


HELD = """
import builtins, os, runpy, signal, sys
say = builtins.print
def say_and_stop(*words, **more):
    say(*words, **more)
    if "file" not in more:
        os.kill(os.getpid(), signal.SIGSTOP)
builtins.print = say_and_stop
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script that stops behind its first line, so that it does not come to its end before somebody looks."""


class RefereeTest(unittest.TestCase):
    """A test that drops an adapter into a directory and runs a stand-in referee there."""

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="referee-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)

    def drop(self, adapter, to):
        """Copies an adapter to where its README says."""
        place = self.home / to
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / "referees" / adapter, place)

    def start(self, referee, *arguments, program=None, **streams):
        """Starts a referee; the engine's socket will be below `self.home`."""
        script = referee if isinstance(referee, list) else [str(REFEREES / referee)]
        (self.home / "t").mkdir(exist_ok=True)
        environment = {**os.environ, "PLYD_BIN": program or engine(), "TMPDIR": str(self.home / "t")}
        return subprocess.Popen(
            [sys.executable, *script, *map(str, arguments)],
            cwd=self.home, env=environment, text=True,
            stdin=streams.get("stdin"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run_referee(self, referee, *arguments, program=None):
        """Runs a referee to its end; returns its reports and what it wrote on stderr."""
        process = self.start(referee, *arguments, program=program)
        try:
            out, err = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 0, err)
        self.assert_nothing_left()
        return [json.loads(line) for line in out.splitlines()], err

    def given_time(self, check, *times):
        """Makes a check with the shortest time a move, and with the next longer one where it fails: how much
        a busy machine leaves the engine is unknown."""
        for time_a_move in times[:-1]:
            try:
                return check(time_a_move)
            except AssertionError:
                pass
        return check(times[-1])

    def kill_referee(self, referee, *arguments):
        """Runs a referee until its first line and kills it with `kill -9`."""
        held = referee if isinstance(referee, list) else ["-c", HELD, str(REFEREES / referee)]
        process = self.start(held, *arguments)
        with process:
            self.assertNotEqual(process.stdout.readline(), "")
            self.assertNotEqual(self.left(), [], "the engine was there before")
            process.send_signal(signal.SIGKILL)
        self.assert_nothing_left()

    def left(self):
        """The engines and reapers that serve below this test's directory."""
        command = ["ps", "-A", "-o", "pid=,args="]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [line for line in listed.splitlines() if f"{self.home}/t/plyd-" in line]

    def assert_nothing_left(self):
        """Waits until no engine and no socket is left."""
        until = time.monotonic() + TIMEOUT
        while self.left() or list((self.home / "t").glob("plyd-*")):
            self.assertLess(time.monotonic(), until, self.left())
            time.sleep(0.01)  # between two looks
