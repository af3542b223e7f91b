"""Conversations with a server about all of its games, recorded by its transcript and validated against the schemas.

A request is valid exactly if the server takes its line, each message is valid, and the generated classes read each
message and write it as it was.
"""

import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from jsonschema import Draft202012Validator

import ladder
import plyd_ladder_messages
import plyd_ladder_requests
import plyd_messages
import plyd_requests

SHORT = {
    "isolation": [{}, {"preset": "11x9"}, {"width": 5, "height": 4}],
    "l-game": [{"max_plies": 12}, {"neutrals": "both", "max_plies": 6}],
    "sudoku": [{"m": 2, "n": 2}, {"preset": "rows", "m": 2, "n": 2}, {"preset": "random", "m": 2, "n": 3, "seed": "5"}],
    "colosseum": [{"size": 5, "seed": "7"}, {"size": 6, "start_walls": "2022", "seed": "8"}],
    "ijk": [
        {"preset": "v2-4x4", "max_plies": 30},
        {"preset": "v1", "max_plies": 12},
        {"preset": "text", "mode": "nondet", "max_plies": 12},
    ],
}
"""Rules under which games end soon; a game that is not here is played by its usual ones."""

WANTS = ["to_move", "outcome", "legal", "moves", "chance", "board", "text", "hash", "eval", "record", "state", "svg",
    "actions", "decisive", "book", "edits"]

CLOCKS = [
    {"kind": "per_move", "ms": 20},
    {"kind": "increment", "me_ms": 1000, "opp_ms": 900, "inc_ms": 10, "opp_inc_ms": 10, "moves_to_go": 40},
    {"kind": "delay", "me_ms": 500, "opp_ms": 500, "delay_ms": 10},
    {"kind": "bank", "turn_ms": 10, "bank_ms": 100},
]

WRONG = [
    {"cmd": "fly"},
    {"cmd": "ping", "ecko": "a"},
    {"cmd": "ping", "echo": None},
    {"cmd": "ping", "echo": "a" * 1025},
    {"cmd": "describe", "what": "weather"},
    {"cmd": "describe", "what": "game"},
    {"cmd": "newgame", "session": "a b", "game": "l-game"},
    {"cmd": "newgame", "session": "s", "game": "l-game", "seed": "XYZ"},
    {"cmd": "inspect", "position": {}},
    {"cmd": "inspect", "session": "s", "game": "l-game", "position": {}},
    {"cmd": "go", "game": "l-game", "position": {}},
    {"cmd": "go", "game": "l-game", "position": {}, "limit": {}},
    {"cmd": "go", "game": "l-game", "position": {}, "limit": {"nodes": 0}},
    {"cmd": "go", "game": "l-game", "position": {}, "clock": {"kind": "per_move", "ms": 1, "inc_ms": 1}},
    {"cmd": "go", "game": "l-game", "position": {}, "clock": {"kind": "sundial"}},
    {"cmd": "go", "game": "l-game", "position": {}, "clock": {"kind": "per_move", "ms": 0.5}},
    {"cmd": "go", "game": "l-game", "position": {}, "clock": {"kind": "none"}, "multipv": 1001},
    {"cmd": "update", "target": "a", "mode": "ponder"},
    {"cmd": "stop"},
    {"cmd": "stop", "target": "a", "all": True},
    {"cmd": "disconnect"},
    {"cmd": "disconnect", "connection": 1, "client": "a"},
    {"cmd": "quit", "mode": "cancel"},
]
"""What no server takes; an `id` is added."""

LINE_FAULTS = {
    "bad_id",
    "missing_field",
    "unknown_field",
    "wrong_type",
    "not_integer",
    "out_of_range",
    "bad_enum",
    "unknown_cmd",
}
"""The codes of errors that say that a line, although JSON, is no request."""

NOT_JSON = "bad_json"


class Peer:
    """A connection of a client, with the final messages that it has read by their ids."""

    def __init__(self, lines_in, lines_out):
        self.lines_in, self.lines_out = lines_in, lines_out
        self.asked = 0
        self.finals = {}

    def send(self, **fields):
        self.asked += 1
        request = {"id": str(self.asked)} | fields
        self.lines_out.write(json.dumps(request) + "\n")
        self.lines_out.flush()
        return request["id"]

    def read(self):
        message = json.loads(next(self.lines_in))
        if message["type"] in {"result", "bestmove", "error"}:
            self.finals[message["id"]] = message
        return message

    def final(self, request):
        while request not in self.finals:
            self.read()
        return self.finals.pop(request)

    def ask(self, **fields):
        return self.final(self.send(**fields))


def play(peer, game, rules):
    """A game to its end, with a question and a search of each kind on the way."""
    draw = random.Random(game)
    assert peer.ask(cmd="describe", what="game", game=game)["type"] == "result"
    options = {"threads": 1, "hash_mb": 4}
    opened = peer.ask(cmd="newgame", session="s", game=game, rules=rules, options=options, seed="5eed")
    assert opened["type"] == "result", opened
    moves = []
    events = {"events": ["started", "best", "progress"], "min_interval_ms": 1}
    while True:
        found = peer.ask(cmd="inspect", session="s", position={"moves": moves}, want=WANTS)
        if found["outcome"]:
            break
        if found["to_move"] == "chance":
            moves.append(draw.choice(found["chance"])["move"])
            continue
        go = {"cmd": "go", "session": "s", "position": {"moves": moves}, "info": events}
        if len(moves) % 2:
            best = peer.ask(**go, limit={"nodes": 300}, multipv=3)
        else:
            best = peer.ask(**go, clock=CLOCKS[len(moves) // 2 % len(CLOCKS)], hard_ms=2000, overhead_ms=1)
        assert best["type"] == "bestmove", best
        if len(moves) == 3:
            analyse(peer, moves)
            ponder(peer, moves + [best["move"]], best.get("ponder"))
        moves.append(best["move"])
    over = peer.ask(cmd="go", session="s", position={"moves": moves}, limit={"depth": 1})
    assert over["code"] == "game_over", over
    for moves, start in (["nonsense"], None), ([], "nonsense"):
        position = {"moves": moves} | ({"start": start} if start else {})
        assert peer.ask(cmd="inspect", game=game, rules=rules, position=position)["type"] == "error"
    assert peer.ask(cmd="setoption", session="s", options={"level": 3})["type"] == "result"
    assert peer.ask(cmd="close", session="s")["type"] == "result"


def analyse(peer, moves):
    go = {"cmd": "go", "session": "s", "position": {"moves": moves}, "mode": "analyse"}
    for discard in False, True:
        search = peer.send(**go)
        peer.ask(cmd="stop", target=search, discard=discard)
        peer.final(search)


def ponder(peer, moves, reply):
    if reply is None:
        return
    search = peer.send(cmd="go", session="s", position={"moves": moves + [reply]}, mode="ponder")
    while peer.read().get("id") != search:
        pass
    peer.ask(cmd="update", target=search, mode="move", clock=CLOCKS[0])
    peer.final(search)


def look_round(peer):
    for what in "games", "options", "schema", "limits":
        peer.ask(cmd="describe", what=what)
    peer.ask(cmd="ping", echo="é", x_more=[1.5, None])
    peer.ask(cmd="status")
    busy = peer.send(cmd="go", game="ijk", position={}, clock={"kind": "anytime", "hint_ms": 5}, queue=True)
    peer.send(id=busy, cmd="ping")
    peer.ask(cmd="connections")
    peer.ask(cmd="stop", all=True)
    peer.final(busy)
    for fields in WRONG:
        answer = peer.ask(**fields)
        assert answer["type"] == "error", (fields, answer)
    peer.ask(cmd="close", session="s", connection=999)
    peer.ask(cmd="disconnect", client="nobody")
    peer.ask(cmd="update", target="nobody", hard_ms=5)


def talk(server):
    port = next(line for line in server.stderr if "listening on" in line).rsplit(":", 1)[1]
    peer = Peer(server.stdout, server.stdin)
    greeting = peer.ask(cmd="hello", protocol={"min": 1, "max": 1}, client={"name": "schema", "version": "1"})
    for game in greeting["games"]:
        for rules in SHORT.get(game, [{}]):
            play(peer, game, rules)
    look_round(peer)
    with socket.create_connection(("127.0.0.1", int(port))) as other, other.makefile("rw", encoding="utf-8") as stream:
        guest = Peer(stream, stream)
        hello = {"cmd": "hello", "protocol": {"min": 1, "max": 1}, "on_eof": "cancel", "require": ["resume"]}
        promised = guest.ask(**hello, resume={"keep_ms": 500})
        assert promised["resume"]["token"]
        guest.ask(cmd="newgame", session="theirs", game="l-game")
        number = peer.ask(cmd="connections", after=0)["connections"][-1]["connection"]
        peer.ask(cmd="close", session="theirs", connection=number)
        while guest.read()["type"] != "notice":
            pass
        peer.ask(cmd="disconnect", connection=number)
        assert guest.final(None)["code"] == "disconnected"
    peer.ask(cmd="quit", mode="stop")
    server.send_signal(signal.SIGTERM)


def converse(plyd, folder):
    """Talks to a server on standard streams and over TCP, and returns its transcript."""
    transcript = folder / "transcript.jsonl"
    command = [plyd, "serve", "--threads", "2", "--transcript", transcript, "--stdio", "--tcp", "127.0.0.1:0"]
    command += ["--resume-ms", "1000"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, encoding="utf-8", **pipes) as server:
        try:
            talk(server)
        except BaseException:
            server.kill()
            raise
        assert server.wait(60) == 0
    return transcript


def records(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def without_extensions(value):
    """A request without the fields that servers skip, which have no place in generated classes."""
    if isinstance(value, dict):
        return {name: without_extensions(field) for name, field in value.items() if not name.startswith("x_")}
    return [without_extensions(item) for item in value] if isinstance(value, list) else value


def validate(name, conversation, validators, seen):
    faults = {}
    for record in conversation:
        message = record["msg"]
        if record["dir"] == "out" and message["type"] == "error" and message["code"] in {*LINE_FAULTS, NOT_JSON}:
            faults[record["conn"], message["line"]] = message["code"]
    for record in conversation:
        line, message = (record["conn"], record["line"]), record["msg"]
        is_request = record["dir"] == "in"
        if not isinstance(message, dict) or is_request and faults.get(line) == NOT_JSON:
            continue
        errors = list(validators[record["dir"]].iter_errors(message))
        if is_request:
            assert bool(errors) == (line in faults), (name, message, faults.get(line), errors)
        else:
            assert not errors, (name, message, errors)
        if not errors:
            plain = without_extensions(message) if is_request else message
            model = (plyd_requests.Request if is_request else plyd_messages.Message).model_validate(plain)
            again = model.model_dump(mode="json", exclude_unset=True, by_alias=True)
            assert again == plain, (name, message, again)
            seen[message["cmd"] if is_request else message["type"] + message.get("of", "")] += 1


def main(plyd, schema, golden):
    # A server that falls silent ends this.
    signal.alarm(600)
    read = lambda name: json.loads(Path(schema, name).read_text("utf-8"))
    schemas = {"in": read("requests.json"), "out": read("messages.json")}
    for one in schemas.values():
        Draft202012Validator.check_schema(one)
    validators = {direction: Draft202012Validator(one) for direction, one in schemas.items()}
    seen = Counter()
    with tempfile.TemporaryDirectory() as folder:
        conversations = [converse(plyd, Path(folder)), *sorted(Path(golden).glob("*.jsonl"))]
        for path in conversations:
            validate(path.name, records(path), validators, seen)
    kinds = sum(len(one["oneOf"]) for one in schemas.values())
    assert len(seen) == kinds, f"{len(seen)} of {kinds} kinds of lines were said: {sorted(seen)}"
    print(f"{sum(seen.values())} lines of {len(conversations)} conversations are as the schemas say")
    ladder.validate(
        plyd,
        read,
        {
            "ladder_requests": plyd_ladder_requests.LadderRequest,
            "ladder_messages": plyd_ladder_messages.LadderMessage,
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
