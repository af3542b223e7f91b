"""A bot for knight Isolation that goes where most cells can be reached next. `python3 exits.py`"""

import json
import random
import sys

JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


def jumps(cell):
    """The cells that a knight's move leads to, on the board or beside it: "c2" is ("c", 2)."""
    column, row = ord(cell[0]), int(cell[1:])
    return [f"{chr(column + x)}{row + y}" for x, y in JUMPS]


def rows(text):
    """The cells that are blocked in a position such as "..x..../..1.... 2"."""
    for row, cells in enumerate(text.split()[0].split("/"), 1):
        yield from (f"{chr(97 + column)}{row}" for column, cell in enumerate(cells) if cell != ".")


def choose(go):
    rules, position = go["rules"], go["position"]
    board = {f"{chr(97 + x)}{y + 1}" for x in range(rules["width"]) for y in range(rules["height"])}
    # Each cell that a token once stood on is blocked.
    open_cells = board - set(rows(position["start"])) - set(position.get("moves", []))
    exits = {move: len(open_cells.intersection(jumps(move))) for move in go["x_legal"]}
    most = max(exits.values())
    return random.choice([move for move in exits if exits[move] == most])


for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "type": "error", "code": "unknown_cmd"}
    if request["cmd"] == "go":
        answer["code"] = "game_unknown"
        if request["game"] == "isolation":
            answer = {"id": request["id"], "type": "bestmove", "move": choose(request)}
    print(json.dumps(answer), flush=True)
