"""The part that the adapters share: its copies, and what it does when the engine fails."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import EXAMPLES, TIMEOUT, RefereeTest, engine, needs

CERTIFICATES = EXAMPLES.parent / "tests" / "certificates"
FIRST, LAST = "# ---- link to plyd", "# ---- end of the link"
ENGINES = {
    "ends at once": "import sys; sys.exit(3)",
    "talks nonsense": "serve(lambda peer: peer.sendall(b'HTTP/1.1 400\\r\\n' * 9))",
    "says another thing": "serve(lambda peer: peer.sendall(b'[1]\\n{}\\n7\\n'))",
    "hangs up": "serve(lambda peer: peer.close())",
}
SERVE = """
import socket, sys
def serve(answer):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[-1])
    listener.listen()
    peers = []
    while True:
        peers.append(listener.accept()[0])
        answer(peers[-1])
"""


def part(text):
    """What stands between the two lines that mark the link."""
    return text.partition(FIRST)[2].partition(LAST)[0]


class Copies(unittest.TestCase):
    def test_all_adapters_have_the_same_link(self):
        own = part((EXAMPLES / "referees" / "link.py").read_text())
        adapters = sorted((EXAMPLES / "referees").glob("*/*.py"))
        self.assertGreaterEqual(len(adapters), 6)
        for adapter in adapters:
            with self.subTest(adapter=adapter.name):
                self.assertEqual(part(adapter.read_text()), own, "run `python3 link.py`")


class Failures(RefereeTest):
    """A referee of 7x7 with engines that are none: it sees legal moves and one warning."""

    def setUp(self):
        super().setUp()
        self.drop("isolation-7x7/plyd_player.py", "plyd_player.py")
        # The wait for an engine that never comes up is meant for slow machines.
        player = self.home / "plyd_player.py"
        player.write_text(player.read_text().replace("time.monotonic() + 10", "time.monotonic() + 1"))

    def test_engines_that_are_none_cost_no_game(self):
        for name, body in ENGINES.items():
            with self.subTest(engine=name):
                program = self.home / "engine"
                program.write_text(f"#!{sys.executable}\n{SERVE}\n{body}\n")
                program.chmod(0o755)
                reports, warning = self.run_referee(
                    "isolation_7x7.py", "v1", 2, 300, "random", program=str(program)
                )
                self.assertTrue(all(report["stuck"] for report in reports), reports)
                self.assertEqual(warning.count("playing without an engine"), 1, warning)


@needs("isolation")
class Life(unittest.TestCase):
    """The link in a process of its own, as its methods are for one program."""

    def run_program(self, body, opens=True):
        home = tempfile.mkdtemp(prefix="link-")
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        program = f"import sys; sys.path.insert(0, {str(EXAMPLES / 'referees')!r})\n{PRELUDE}\n{OPENING if opens else ''}\n{body}"
        environment = {**os.environ, "PLYD_BIN": engine(), "TMPDIR": home}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_starts_the_engine_again_when_it_was_killed(self):
        out = self.run_program(
            "print(bool(ask(link)))\n"
            "first = engines()\n"
            "os.kill(first[0], signal.SIGKILL)\n"
            "print(bool(ask(link)), len(engines()), engines() != first)\n"
        )
        self.assertEqual(out.split(), ["True", "True", "1", "True"])

    def test_one_engine_serves_all_links_and_forked_processes(self):
        out = self.run_program(
            "other = Link('l-game')\n"
            "print(bool(ask(link)), bool(ask(other)), len(engines()), flush=True)\n"
            "if (child := os.fork()) == 0:\n"
            "    print(bool(ask(link)), len(engines()), flush=True)\n"
            "    os._exit(0)\n"
            "os.waitpid(child, 0)\n"
            "print(bool(ask(link)), len(engines()))\n"
        )
        self.assertEqual(out.split(), ["True", "True", "1", "True", "1", "True", "1"])

    def test_survives_a_copy_and_a_journey_to_another_process(self):
        out = self.run_program(
            "import copy, pickle\n"
            "print(bool(ask(copy.deepcopy(link))), bool(ask(pickle.loads(pickle.dumps(link)))), len(engines()))\n"
        )
        self.assertEqual(out.split(), ["True", "True", "1"])

    def test_a_search_that_is_left_in_the_middle_is_no_hindrance(self):
        out = self.run_program(
            "for _ in range(3):\n"
            "    moves = link.moves({}, str, time.monotonic() + 60, 0, clock={'kind': 'none'})\n"
            "    print(bool(next(moves)))\n"
            "    moves.close()\n"
            "print(bool(ask(link)))\n"
        )
        self.assertEqual(out.split(), ["True"] * 4)

    def test_asks_an_overloaded_engine_again_with_the_time_that_is_left(self):
        program = tempfile.NamedTemporaryFile("w", suffix="-engine", delete=False)
        self.addCleanup(os.remove, program.name)
        with program:
            program.write(f"#!{sys.executable}\n{BUSY}")
        os.chmod(program.name, 0o755)
        out = self.run_program(
            f"os.environ['PLYD_BIN'] = {program.name!r}\n"
            "link = Link('l-game')\n"
            "moves = list(link.moves({}, str, time.monotonic() + 10, 0.01))\n"
            "print(len(moves), 9000 < int(moves[0]) <= 9960)\n",
            opens=False,
        )
        self.assertEqual(out.split(), ["1", "True"])

    def test_a_short_limit_leaves_time_for_a_search_and_is_warned_of_once(self):
        program = tempfile.NamedTemporaryFile("w", suffix="-engine", delete=False)
        self.addCleanup(os.remove, program.name)
        with program:
            program.write(f"#!{sys.executable}\n{BUSY.replace('left = 2', 'left = 0')}")
        os.chmod(program.name, 0o755)
        # The engine answers with the time that it is given; the clock stands still.
        for limit, given, warnings in [(0.150, "125", 0), (0.076, "51", 0), (0.030, "20", 1), (0.006, "4", 1)]:
            with self.subTest(limit=limit):
                out = self.run_program(
                    f"os.environ['PLYD_BIN'], sys.stderr = {program.name!r}, sys.stdout\n"
                    "import link as module, types\n"
                    "link = Link('l-game')\n"
                    "module.time = types.SimpleNamespace(monotonic=lambda: 100.0)\n"
                    f"print([list(link.moves({{}}, str, 100.0001 + {limit}, 0.025)) for _ in range(2)])\n",
                    opens=False,
                )
                self.assertIn(str([[given], [given]]), out)
                self.assertEqual(out.count("is short for a margin of 25 ms"), warnings, out)

    def test_processes_that_are_forked_warn_once_together(self):
        out = self.run_program(
            "sys.stderr = sys.stdout\n"
            "for _ in range(3):\n"
            "    if (child := os.fork()) == 0:\n"
            "        link.kept_off(0.02, 0.025)\n"
            "        sys.stdout.flush()\n"
            "        os._exit(0)\n"
            "    os.waitpid(child, 0)\n"
        )
        self.assertEqual(out.count("is short for a margin of 25 ms"), 1, out)

    def test_asks_again_only_if_the_clock_leaves_ten_milliseconds_then(self):
        program = tempfile.NamedTemporaryFile("w", suffix="-engine", delete=False)
        self.addCleanup(os.remove, program.name)
        with program:
            program.write(f"#!{sys.executable}\n{BUSY}")
        os.chmod(program.name, 0o755)
        # The time stands still but for the pauses, of 20 ms each, which last too long by `late` seconds.
        for left, late, moves in [(0.051, 0, 1), (0.049, 0, 0), (0.061, 0.005, 1), (0.059, 0.005, 0)]:
            with self.subTest(left=left, late=late):
                out = self.run_program(
                    f"os.environ['PLYD_BIN'] = {program.name!r}\n"
                    "import link as module, types\n"
                    "link, clock = Link('l-game'), [100.0]\n"
                    f"def sleep(seconds): clock[0] += seconds + {late}\n"
                    "module.time = types.SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep)\n"
                    "link.warn = lambda message: None\n"
                    f"print(len(list(link.moves({{}}, str, 100.01 + {left}, 0.01))))\n",
                    opens=False,
                )
                self.assertEqual(out.split(), [str(moves)])


    def test_plays_at_a_server_that_runs(self):
        home = tempfile.mkdtemp(prefix="server-")
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        token = os.path.join(home, "token")
        with open(token, "w") as file:
            file.write("open sesame\n")
        tls = [f"--tls-{name}={CERTIFICATES / file}" for name, file in [("cert", "server.pem"), ("key", "server.key")]]
        secure = ["tls", "wss"] if has_tls(tls) else []
        ports = self.serve("--unix", os.path.join(home, "socket"), "--token-file", token)
        ports += self.serve("--token-file", token, *tls) if secure else []
        options = {"tls": f"?ca={CERTIFICATES / 'authority.pem'}", "wss": f"/ws?ca={CERTIFICATES / 'authority.pem'}"}
        addresses = [f"{way}://localhost:{port}{options.get(way, '')}" for way, port in zip(["tcp", "ws", *secure], ports)]
        for address in [*addresses, f"unix={home}/socket", f"ws=127.0.0.1:{ports[1]}/ws"]:
            with self.subTest(address=address):
                out = self.run_program(
                    f"os.environ.update(PLYD_SERVER={address!r}, PLYD_TOKEN_FILE={token!r})\n"
                    "link = Link('isolation', {'preset': '11x9'})\n"
                    "print(bool(ask(link)), len(engines()), flush=True)\n"
                    "if (child := os.fork()) == 0:\n"
                    "    print(bool(ask(link)), flush=True)\n"
                    "    os._exit(0)\n"
                    "os.waitpid(child, 0)\n"
                    "print(bool(ask(link)))\n",
                    opens=False,
                )
                self.assertEqual(out.split(), ["True", "0", "True", "True"])

    def test_a_server_that_is_none_costs_no_game(self):
        port = self.serve()[0]
        wrong = ["", f"?ca={CERTIFICATES / 'authority.pem'}", "?verify=no"]
        addresses = ["tcp=127.0.0.1:1", "127.0.0.1:7117", f"ws=127.0.0.1:{port}", "udp=h:1", "unix=/no/such/socket"]
        for address in [*addresses, *(f"{way}=127.0.0.1:{port}{more}" for way in ("tls", "wss") for more in wrong)]:
            with self.subTest(address=address):
                out = self.run_program(
                    f"os.environ['PLYD_SERVER'] = {address!r}\n"
                    "sys.stderr = sys.stdout\n"
                    "print(ask(Link('l-game')))\n",
                    opens=False,
                )
                self.assertIn("playing without an engine", out)
                self.assertEqual(out.splitlines()[-1], "[]")

    def serve(self, *arguments):
        """Starts a server; the ports for TCP and WebSocket."""
        command = [engine(), "serve", "--tcp=127.0.0.1:0", "--ws=127.0.0.1:0", *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for cleanup in (process.stderr.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        ports, log = [], ""
        while len(ports) < 2:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", log)
            log += line
            ports += re.findall(r"listening on 127\.0\.0\.1:(\d+)", line)
        return ports


def has_tls(flags):
    check = [engine(), "serve", "--check", "--tcp", "127.0.0.1:0", *flags]
    said = subprocess.run(check, capture_output=True, text=True, timeout=TIMEOUT).stderr
    return os.environ.get("PLYD_HAS_TLS") == "1" or "has no TLS" not in said


# An engine that is overloaded twice, and then answers as its move the time that it is given.
BUSY = """
import json, os, socket, sys
left = 2
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[-1])
listener.listen()
peer = listener.accept()[0]
for line in peer.makefile():
    request = json.loads(line)
    answer = {"type": "result", "id": request["id"]}
    if request["cmd"] == "go" and left:
        left -= 1
        answer = {"type": "error", "id": request["id"], "code": "overloaded", "message": "busy", "retry_ms": 20}
    elif request["cmd"] == "go":
        answer = {"type": "bestmove", "id": request["id"], "move": str(request["clock"]["ms"])}
    peer.sendall(json.dumps(answer).encode() + b"\\n")
"""

OPENING = "link = Link('isolation', {'preset': '11x9'})"

PRELUDE = """
import os, signal, subprocess, tempfile, time
from link import Link

def ask(link):
    return list(link.moves({}, str, time.monotonic() + 10, 0.01, limit={"nodes": 500}))

def engines():
    listed = subprocess.run(["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True).stdout
    words = [line.split() for line in listed.splitlines() if tempfile.gettempdir() in line]
    return [int(line[0]) for line in words if line[2] == "serve"]
"""


if __name__ == "__main__":
    unittest.main()
