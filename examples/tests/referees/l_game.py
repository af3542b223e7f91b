"""A stand-in for the course program of the L Game that calls players.

`l_game.py PLIES`: `plyd_player.py` lies in the working directory. Plays one game against random moves,
of at most so many plies, as player 1 and then another as player 2; a line of JSON after the first
answer and one at the end of each. The states are turned so that the first L stands in the top left quadrant and points up or down, as in the program.
"""

import itertools
import json
import os
import random
import sys
import types

sys.path.insert(0, os.getcwd())

TURN = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
TRIES = 5


def squares(piece):
    """The cells of an L, found by trying both sides for the long bar."""
    x, y, short = piece
    dx, dy = TURN[short]
    for sx, sy in ((-dy, -dx), (dy, dx)):
        part = [(x, y), (x + dx, y + dy), (x + sx, y + sy), (x + 2 * sx, y + 2 * sy)]
        if all(1 <= a <= 4 and 1 <= b <= 4 for a, b in part):
            return frozenset(part)
    return frozenset()


PIECES = [p for p in itertools.product(range(1, 5), range(1, 5), "NESW") if squares(p)]
CELLS = list(itertools.product(range(1, 5), range(1, 5)))


class Action:
    def __init__(self, piece_id=0, piece=(1, 3, "S"), taken=(1, 1), put=(3, 1)):
        self.value = (piece_id, piece, taken, put)


class State:
    """A state in turned coordinates, with the turn: x mirrored, y mirrored, then both swapped."""

    def __init__(self, player, pieces, tokens, transform=(False, False, False)):
        self.player = player
        x, y, short = pieces[0]
        flags = [x > 2, y > 2, short in "EW"]
        self.pieces = [turned_piece(piece, flags) for piece in pieces]
        self.tokens = {turned(token, flags) for token in tokens}
        if transform[2] and flags[0] != flags[1]:
            flags[:2] = not flags[0], not flags[1]
        self.transform = [a != b for a, b in zip(transform, flags)]

    @property
    def L_pieces(self):
        return [types.SimpleNamespace(x=x, y=y, d=d) for x, y, d in self.pieces]

    @property
    def token_pieces(self):
        return [types.SimpleNamespace(x=x, y=y) for x, y in self.tokens]

    def getLegalMoves(self):
        moves = []
        other = squares(self.pieces[1 - self.player])
        for piece in PIECES:
            part = squares(piece)
            if piece == self.pieces[self.player] or part & other or part & self.tokens:
                continue
            moves.append(Action(self.player, piece, (0, 0), (0, 0)))
            free = [c for c in CELLS if c not in part and c not in other and c not in self.tokens]
            moves += [Action(self.player, piece, t, c) for t in self.tokens for c in free]
        return moves

    def play(self, action):
        if action is None or action.value not in {move.value for move in self.getLegalMoves()}:
            raise AssertionError("not legal")
        _, piece, taken, put = action.value
        pieces = list(self.pieces)
        pieces[self.player] = piece
        tokens = {put if token == taken else token for token in self.tokens}
        return State(1 - self.player, pieces, tokens, self.transform)


def turned(cell, flags, span=5):
    x, y = cell
    x, y = (span - x if flags[0] else x), (span - y if flags[1] else y)
    return (y, x) if flags[2] else (x, y)


def turned_piece(piece, flags):
    short = turned(TURN[piece[2]], flags, span=0)
    return (*turned(piece[:2], flags), next(d for d in TURN if TURN[d] == short))


def play(ours, player, plies):
    state, answers = State(0, [(1, 3, "N"), (4, 2, "S")], {(1, 1), (4, 4)}), 0
    for ply in range(plies):
        if not state.getLegalMoves():
            return {"won": state.player != ours, "plies": ply}
        if state.player != ours:
            state = state.play(random.choice(state.getLegalMoves()))
            continue
        for _ in range(TRIES):
            kind, action = player.instructionHandler(state, False)
            assert kind == "move"
            try:
                state = state.play(action)
                break
            except AssertionError:
                pass
        else:
            return {"fault": "five bad tries", "plies": ply}
        answers += 1
        if answers == 1:
            print(json.dumps({"answered": ply}), flush=True)
    return {"won": None, "plies": plies, "known": len(player.played)}


def main(plies):
    import plyd_player

    plyd_player.TURN = 0.2
    for ours in (0, 1):
        random.seed(ours)
        print(json.dumps(play(ours, plyd_player.PlydPlayer(ours), int(plies))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
