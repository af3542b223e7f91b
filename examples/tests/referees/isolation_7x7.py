"""A stand-in for the referee of Knight Isolation on 7x7, in both of its versions.

`isolation_7x7.py VERSION GAMES LIMIT_MS OPPONENT`: `plyd_player.py` lies in the working directory; the
opponent is `random` or `plyd`. Prints a line of JSON for each game.
"""

import json
import os
import random
import sys
import time

sys.path.insert(0, os.getcwd())

GRACE_MS = 2000
"""How far past its limit an answer may come here, as tests share their machine."""
LEAPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


class Board:
    """The board as the players see it: its cells row by row, and each player's last cell."""

    def __init__(self, first, second, shuffles, size=7):
        self.width = self.height = size
        self.move_count = 0
        self.shuffles = shuffles
        self.players = (first, second)
        self.places = {first: None, second: None}
        self.blank = {(row, column) for row in range(size) for column in range(size)}

    @property
    def active_player(self):
        return self.players[self.move_count % 2]

    @property
    def inactive_player(self):
        return self.players[1 - self.move_count % 2]

    def copy(self):
        board = Board(*self.players, self.shuffles, self.width)
        board.move_count, board.places, board.blank = self.move_count, dict(self.places), set(self.blank)
        return board

    def get_blank_spaces(self):
        return sorted(self.blank)

    def get_player_location(self, player):
        return self.places[player]

    def get_legal_moves(self, player=None):
        place = self.places[player or self.active_player]
        if place is None:
            return self.get_blank_spaces()
        moves = [(place[0] + down, place[1] + right) for down, right in LEAPS]
        moves = [move for move in moves if move in self.blank]
        if self.shuffles:
            random.shuffle(moves)
        return moves

    def apply_move(self, move):
        self.places[self.active_player] = move
        self.blank.discard(move)
        self.move_count += 1


class RandomPlayer:
    def get_move(self, game, *_):
        return random.choice(game.get_legal_moves() or [(-1, -1)])


def play(board, version, limit_ms):
    """Plays a game to its end; a player is asked even when stuck, and the clock is read once."""
    answers = []
    while True:
        legal = board.get_legal_moves()
        began = time.perf_counter()

        def time_left():
            return limit_ms - (time.perf_counter() - began) * 1000

        arguments = (legal, time_left) if version == "v1" else (time_left,)
        move = board.active_player.get_move(board.copy(), *arguments)
        left = time_left()
        answers.append(move)
        if left < -GRACE_MS:
            return "timeout", answers
        if move not in legal:
            return "illegal move" if version == "v1" or not legal else "forfeit", answers
        board.apply_move(move)


def main(version, games, limit_ms, opponent):
    from plyd_player import PlydPlayer

    ours = PlydPlayer()
    other = PlydPlayer() if opponent == "plyd" else RandomPlayer()
    for game in range(int(games)):
        players = (ours, other) if game % 2 == 0 else (other, ours)
        board = Board(*players, shuffles=version == "v2")
        for _ in range(2 if game else 0):  # the first game is played from the empty board
            board.apply_move(random.choice(board.get_legal_moves()))
        end, answers = play(board, version, float(limit_ms))
        lost = board.active_player
        report = {
            "lost": "plyd" if lost is ours else "other",
            "end": end,
            "stuck": not board.get_legal_moves(),
            "last": answers[-1],
            "tuples": all(type(answer) is tuple for answer in answers),
        }
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
