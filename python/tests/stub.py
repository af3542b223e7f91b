"""Servers that misbehave, on the standard streams: `stub.py MODE`.

They answer `hello` as they should, except where the mode is about that, and then, to a `go`:

mute       never answers anything, `hello` included
silent     answers no `go`, and no `stop`
garbage    answers a line that is no JSON
scalar     answers a line of JSON that is no object
deep       answers a line of JSON that nests too deep
fields     answers a `bestmove` without its fields
dies       answers half a line, and ends
endless    sends news for ever, until it gets a `stop`
deaf       goes on when its input ends
busy       is overloaded twice, and then answers the time that is spent as its move
full       is overloaded, always
later      is overloaded once, and says that it will be for a second
"""

import json
import sys
import time

STATS = {"nodes": 1, "nps": 1, "time_ms": 1, "depth": 1, "seldepth": 1, "hash_ppm": 0}
NEWS = {"type": "info", "event": "best", "move": "a1", "lines": [], "stats": STATS}
DEAF_SECONDS = 600
REFUSALS = {"busy": 2, "full": float("inf"), "later": 1}


def say(**message):
    print(json.dumps({"seq": 1, "t_us": 1, **message}), flush=True)


def main(mode):
    refused = 0
    for line in sys.stdin:
        request = json.loads(line)
        name = {"id": request["id"], "of": request["cmd"]}
        if mode == "mute" or (mode == "silent" and request["cmd"] == "stop"):
            continue
        if request["cmd"] != "go":
            say(type="result", **name, effect="unknown", seed="1")
        elif mode == "garbage":
            print("HTTP/1.1 400 Bad Request", flush=True)
        elif mode == "scalar":
            print("17", flush=True)
        elif mode == "deep":
            print("[" * 200_000, flush=True)
        elif mode == "fields":
            say(type="bestmove", id=request["id"], move="a1")
        elif mode == "dies":
            print('{"type":"bestm', end="", flush=True)
            return
        elif refused < REFUSALS.get(mode, 0):
            refused += 1
            retry_ms = 1000 if mode == "later" else 20
            error = {"code": "overloaded", "message": "busy", "line": 1, "retry_ms": retry_ms}
            say(type="error", id=request["id"], fatal=False, **error)
        elif mode in REFUSALS:
            move = str(request.get("elapsed_ms"))
            rest = {"reason": "clock", "hash": "1", "lines": [], "stats": STATS}
            timing = {"received_us": 1, "started_us": 1, "decided_us": 1}
            say(type="bestmove", id=request["id"], move=move, timing=timing, **rest)
        elif mode == "endless":
            say(**{**NEWS, "id": request["id"]})
    if mode == "deaf":
        time.sleep(DEAF_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
