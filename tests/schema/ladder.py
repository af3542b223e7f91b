"""A conversation of a ladder with two bots that dial it, recorded by a relay between them.

One bot is `plyd connect`, which is a whole server; the other knows no rules and says no more than it must.
"""

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from jsonschema import Draft202012Validator

LONG = 120
"""Seconds that nothing here takes, whatever else the machine does."""

WRONG = [
    {"token": "t"},
    {"protocol": {"min": 1, "max": 1}},
    {"protocol": {"min": 1, "max": 1, "mid": 1}, "token": "t"},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "more": 1},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "concurrency": -1},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "concurrency": 1.5},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "games": ["ijk"]},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "games": [{"presets": []}]},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "games": [{"game": "ijk", "presets": [7]}]},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "games": [{"game": "ijk", "more": 7}]},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "clocks": [{"kind": "sand"}]},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "legal": "yes"},
    {"protocol": {"min": 1, "max": 1}, "token": "t", "client": {"name": 1}},
]
"""Offers that no ladder takes, whosever token it is."""


class Relay:
    """Carries lines between bots and a ladder, and keeps them in the order of each connection."""

    def __init__(self, port):
        self.port = port
        self.lines = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                bot, _ = self.listener.accept()
            except OSError:
                return
            ladder = socket.create_connection(("127.0.0.1", self.port))
            for source, target, by in (bot, ladder, "bot"), (ladder, bot, "ladder"):
                threading.Thread(target=self.carry, args=(source, target, by), daemon=True).start()

    def carry(self, source, target, by):
        # An end that breaks off ends the other.
        try:
            for line in source.makefile("rb"):
                self.lines.append((by, json.loads(line)))
                target.sendall(line)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def least(address, token):
    """Plays as the least bot does, until the ladder goes."""
    with socket.create_connection(address) as ladder, ladder.makefile("rw", encoding="utf-8") as stream:
        offer = {"id": "offer-1", "cmd": "offer", "protocol": {"min": 1, "max": 1}, "token": token, "legal": True}
        say(stream, offer)
        for line in stream:
            asked = json.loads(line)
            if asked.get("cmd") == "go":
                say(stream, {"id": asked["id"], "type": "bestmove", "move": asked["x_legal"][0]})
            elif "cmd" in asked:
                say(stream, {"id": asked["id"], "type": "error", "code": "unknown_cmd"})


def say(stream, message):
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def refused(address, offer):
    """The code of the error by which an offer is refused."""
    with socket.create_connection(address) as ladder, ladder.makefile("rw", encoding="utf-8") as stream:
        say(stream, offer)
        message = json.loads(next(stream))
        assert message["type"] == "error", message
        return message["code"]


def has_said_all(lines):
    """Whether both bots had the ends of a pair of games, of which the first names the second."""
    overs = [message for by, message in lines if message.get("cmd") == "over"]
    answers = [message for by, message in lines if by == "bot" and message.get("of") == "over"]
    pings = [message for by, message in lines if by == "bot" and message.get("of") == "ping"]
    return len(overs) >= 4 and any("next" in over for over in overs) and answers and pings


@contextmanager
def killed(process):
    """A process that ends with the block, whatever happens in it."""
    with process:
        try:
            yield process
        finally:
            process.kill()


def record(plyd):
    """The lines of bots and ladder, each with who says it; and for each wrong offer the code of its refusal."""
    with tempfile.TemporaryDirectory() as folder:
        ladder = [plyd, "ladder"]
        db = ["--db", str(Path(folder, "ladder.db"))]
        run = lambda *arguments: subprocess.run(
            [*ladder, *arguments, *db], check=True, capture_output=True, text=True, timeout=LONG
        ).stdout
        run("init")
        board = ["--rules", "width=4", "--rules", "height=4", "--opening-plies", "2"]
        run("pool", "add", "quick", "--game", "isolation", *board, "--clock", "tc=10m+1s")
        tokens = {bot: run("bot", "new", bot, "--owner", "owner-of-" + bot) for bot in ("whole", "least")}
        token_file = Path(folder, "token")
        token_file.write_text(tokens["whole"])
        serve = [*ladder, "serve", "--tcp", "127.0.0.1:0", "--round-ms", "20", *db]
        with killed(subprocess.Popen(serve, stderr=subprocess.PIPE, text=True)) as server:
            port = int(next(line for line in server.stderr if "listening on" in line).rsplit(":", 1)[1])
            threading.Thread(target=server.stderr.read, daemon=True).start()
            relay = Relay(port)
            bot = [plyd, "connect", "tcp=" + relay.address, "--token-file", token_file, "--option", "level=1"]
            with killed(subprocess.Popen(bot, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)):
                address = relay.listener.getsockname()
                threading.Thread(target=least, args=(address, tokens["least"].strip()), daemon=True).start()
                end = time.monotonic() + LONG
                while not has_said_all(relay.lines):
                    assert time.monotonic() < end, relay.lines
                    time.sleep(0.02)
                codes = [
                    refused(address, {"id": "1", "cmd": "offer"} | wrong)
                    for wrong in [*WRONG, {"protocol": {"min": 1, "max": 1}, "token": "t"}]
                ]
                server.terminate()
                assert server.wait(LONG) == 0
            relay.listener.close()
            return relay.lines, codes


def validate(plyd, read, models):
    """Validates what is said by the schemas that `read` reads, and by generated classes."""
    names = "ladder_requests", "ladder_messages"
    schemas = {name: read(name + ".json") for name in names}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    lines, codes = record(plyd)
    validators = {name: Draft202012Validator(schema) for name, schema in schemas.items()}
    for wrong, code in zip(WRONG, codes):
        offer = {"id": "1", "cmd": "offer"} | wrong
        assert list(validators["ladder_requests"].iter_errors(offer)), offer
        assert code not in {"auth_failed", "unknown_cmd"}, (offer, code)
    assert codes[-1] == "auth_failed", codes
    seen = set()
    refusals = {json.dumps({"id": "1", "cmd": "offer"} | wrong, sort_keys=True) for wrong in WRONG}
    for by, message in lines:
        if json.dumps(message, sort_keys=True) in refusals:
            continue
        name = names["cmd" not in message]
        errors = list(validators[name].iter_errors(message))
        assert not errors, (by, message, errors)
        model = models[name].model_validate(message)
        again = model.model_dump(mode="json", exclude_unset=True)
        known = {field: value for field, value in message.items() if field in again}
        assert again == known, (by, message, again)
        seen.add((by, message.get("cmd") or message["type"] + message.get("of", "")))
    for said in [
        ("bot", "offer"), ("ladder", "resultoffer"), ("ladder", "go"), ("ladder", "ping"), ("bot", "bestmove"),
        ("bot", "resultping"), ("ladder", "over"), ("bot", "resultover"), ("bot", "error"), ("ladder", "error"),
        ("ladder", "notice"),
    ]:
        assert said in seen, (said, sorted(seen))
    print(f"{len(lines)} lines of a ladder and its bots are as the schemas say")


if __name__ == "__main__":
    # What is said, for people.
    for speaker, line in record(*sys.argv[1:])[0]:
        print(speaker, json.dumps(line))
