"""A bot for Colosseum Survival that lists its moves by the rules and fights for ground. `python3 walls.py`"""

import json
import random
import sys

# A side of a cell: how rows and columns change across it. Row 0 is at the top, column 0 at the left.
SIDES = {"u": (-1, 0), "r": (0, 1), "d": (1, 0), "l": (0, -1)}
OPPOSITE = {"u": "d", "r": "l", "d": "u", "l": "r"}


def beyond(cell, side):
    return cell[0] + SIDES[side][0], cell[1] + SIDES[side][1]


def close(walls, cell, side):
    """A wall has two sides: the right of one cell is the left of the next."""
    return walls | {(cell, side), (beyond(cell, side), OPPOSITE[side])}


def read(position):
    """The size, where both players are (the mover first), and the walls, of `6 0,0 5,5 12R,42R,21D,24D 1` and moves."""
    size, one, two, listed, *turn = position["start"].split()
    players = [tuple(map(int, cell.split(","))) for cell in (one, two)]
    if turn == ["2"]:
        players.reverse()
    walls = frozenset()
    for wall in listed.split(",") if listed != "-" else []:
        walls = close(walls, (int(wall[0], 16), int(wall[1], 16)), wall[2].lower())
    for move in position.get("moves", []):
        cell = int(move[0], 16), int(move[1], 16)
        players, walls = [players[1], cell], close(walls, cell, move[2])
    return int(size), players, walls


def open_sides(size, walls, cell):
    inside = (side for side in SIDES if all(0 <= at < size for at in beyond(cell, side)))
    return [side for side in inside if (cell, side) not in walls]


def steps(size, walls, start, other, most):
    """How many steps each cell is away that a walk of at most so many steps reaches."""
    found, edge = {start: 0}, [start]
    for step in range(1, most + 1):
        around = {beyond(cell, side) for cell in edge for side in open_sides(size, walls, cell)}
        edge = [cell for cell in around if cell != other and cell not in found]
        found.update(dict.fromkeys(edge, step))
    return found


def moves(size, players, walls):
    """Every legal move, with the cell that it goes to and the walls after it."""
    for cell in steps(size, walls, *players, (size + 1) // 2):
        for side in open_sides(size, walls, cell):
            yield f"{cell[0]:x}{cell[1]:x}{side}", cell, close(walls, cell, side)


def ground(size, own, other, walls):
    """The cells that we reach first less those that the other player reaches first."""
    ours, theirs = (steps(size, walls, *pair, size * size) for pair in ((own, other), (other, own)))
    first = sum(step < theirs.get(cell, size * size) for cell, step in ours.items())
    return first - sum(step < ours.get(cell, size * size) for cell, step in theirs.items())


def choose(go):
    size, players, walls = read(go["position"])
    judged = [(ground(size, cell, players[1], after), move) for move, cell, after in moves(size, players, walls)]
    return random.choice([move for value, move in judged if value == max(judged)[0]])


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"], "type": "error", "code": "unknown_cmd"}
        if request["cmd"] == "go":
            answer["code"] = "game_unknown"
            if request["game"] == "colosseum":
                answer = {"id": request["id"], "type": "bestmove", "move": choose(request)}
        print(json.dumps(answer), flush=True)
