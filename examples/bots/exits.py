"""A bot for knight Isolation that goes where most cells can be reached next. `python3 exits.py`"""

import json
import random
import sys

JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


def value(mine, other, open_cells):
    """How good a move to the cell `mine` is. The opponent stands on `other`, or is not on the board (`None`)."""
    # Your ideas go here.
    return len(exits(mine, open_cells))


def exits(cell, open_cells):
    """The cells that can be reached from a cell; none from `None`, a token that is not on the board yet."""
    if cell is None:
        return set()
    # "c2" is column "c", row 2. Cells beside the board are not open.
    column, row = ord(cell[0]), int(cell[1:])
    return open_cells.intersection(f"{chr(column + x)}{row + y}" for x, y in JUMPS)


def read(position):
    """The open cells, and where the opponent stands, in a start such as "..x..../..1.... 2" with moves."""
    cells, side = position["start"].split()
    open_cells, tokens = set(), {}
    for row, line in enumerate(cells.split("/"), 1):
        for column, cell in enumerate(line):
            place = f"{chr(97 + column)}{row}"
            if cell == ".":
                open_cells.add(place)
            else:
                # "1" and "2" are the tokens; "x" is a cell that is no longer open.
                tokens[cell] = place
    # Before the first move there are none. Each move goes to an open cell, which is never open again.
    for move in position.get("moves", []):
        tokens[side] = move
        open_cells.remove(move)
        side = "1" if side == "2" else "2"
    return open_cells, tokens.get("1" if side == "2" else "2")


def choose(go):
    open_cells, other = read(go["position"])
    values = {move: value(move, other, open_cells - {move}) for move in go["x_legal"]}
    most = max(values.values())
    return random.choice([move for move in values if values[move] == most])


for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "type": "error", "code": "unknown_cmd"}
    if request["cmd"] == "go":
        answer["code"] = "game_unknown"
        if request["game"] == "isolation":
            answer = {"id": request["id"], "type": "bestmove", "move": choose(request)}
    print(json.dumps(answer), flush=True)
