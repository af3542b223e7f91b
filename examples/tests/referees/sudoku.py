"""A stand-in for the referee of Competitive Sudoku, before its version 14 and from then on.

`sudoku.py VERSION PRESET BOARD TIME`: the adapter lies in `plyd_player/sudokuai.py`; this writes the
package `competitive_sudoku` that it needs. VERSION is `v12` or `v14`, BOARD `m n` and the words of a
board in one argument. Each move is asked for in a new process that is killed after TIME seconds.
Prints a line of JSON for each answer and one when the game is over.
"""

import copy
import json
import multiprocessing
import os
import pathlib
import random
import sys
import time

BASE = '''
class SudokuAI:
    def __init__(self):
        self.best_move, self.lock, self.player_number = [0, 0, 0], None, -1

    def propose_move(self, move):
        square = move.square if hasattr(move, "square") else (move.i, move.j)
        with self.lock:
            self.best_move[0], self.best_move[1] = square
            self.best_move[2] = move.value
'''
PAIRS = '''
class Move:
    def __init__(self, square, value):
        self.square, self.value = square, value
'''
TRIPLES = '''
class Move:
    def __init__(self, i, j, value):
        self.i, self.j, self.value = i, j, value
'''


class Board:
    def __init__(self, text):
        words = text.split()
        self.m, self.n = int(words[0]), int(words[1])
        self.N = self.m * self.n
        self.squares = [0 if word == "." else int(word) for word in words[2:]]

    def cells(self):
        return [(row, column) for row in range(self.N) for column in range(self.N)]

    def at(self, cell):
        return self.squares[cell[0] * self.N + cell[1]]

    def put(self, cell, value):
        self.squares[cell[0] * self.N + cell[1]] = value

    def regions(self, cell):
        """The row, the column and the block of a cell."""
        row, column = cell
        across = [(row, c) for c in range(self.N)]
        down = [(r, column) for r in range(self.N)]
        top, left = row - row % self.m, column - column % self.n
        block = [(top + i, left + j) for i in range(self.m) for j in range(self.n)]
        return across, down, block

    def fits(self, cell, value):
        return not self.at(cell) and all(
            self.at(other) != value for region in self.regions(cell) for other in region
        )

    def solvable(self):
        """Whether there is a solution: the emptiest choice first, depth first."""
        best = None
        for cell in self.cells():
            if not self.at(cell):
                values = [v for v in range(1, self.N + 1) if self.fits(cell, v)]
                if best is None or len(values) < len(best[1]):
                    best = cell, values
        if best is None:
            return True
        for value in best[1]:
            self.put(best[0], value)
            solved = self.solvable()
            self.put(best[0], 0)
            if solved:
                return True
        return False


def allowed(board, preset):
    """The fixed squares of both players, None in `classic`."""
    last, squares = board.N - 1, board.cells()
    if preset == "rows":
        return [s for s in squares if s[0] == 0], [s for s in squares if s[0] == last]
    if preset == "border":
        border = [s for s in squares if 0 in s or last in s]
        return border, list(border)
    if preset == "random":
        drawn = random.sample(squares, 2 * board.N)
        return drawn[: board.N], drawn[board.N :]
    return None, None


class State:
    """A game state as the players of one version see it."""

    def __init__(self, board, pairs, preset):
        self.board, self.pairs, self.preset = board, pairs, preset
        self.initial_board = copy.deepcopy(board)
        self.moves, self.taboo_moves, self.scores = [], [], [0, 0]
        if not pairs:
            return
        self.current_player = 1
        self.allowed_squares1, self.allowed_squares2 = allowed(board, preset)
        self.occupied_squares1, self.occupied_squares2 = (
            (None, None) if preset == "classic" else ([], [])
        )

    def mover(self):
        return self.current_player if self.pairs else len(self.moves) % 2 + 1


class OldState(State):
    """Before version 14 the mover is a method, and there are no squares of a player."""

    def current_player(self):
        return self.mover()


class NewState(State):
    """From version 14 on."""

    def player_squares(self):
        allowed = getattr(self, f"allowed_squares{self.mover()}")
        if allowed is None:
            return None
        near = [
            (row + down, column + right)
            for row, column in getattr(self, f"occupied_squares{self.mover()}")
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
        ]
        board = set(self.board.cells())
        return sorted(c for c in {*allowed, *near} if c in board and not self.board.at(c))


def ask(player, state, seconds):
    """The last move proposed in a process of its own, which lives as long as the time is long."""
    player.best_move[:] = (0, 0, 0)
    process = multiprocessing.Process(target=player.compute_best_move, args=(state,))
    process.start()
    process.join(seconds)
    with player.lock:
        process.terminate()
    process.join()
    return tuple(player.best_move)


def faults(state, squares, move):
    """Why the move loses at once, or None."""
    cell, value = move[:2], move[2]
    if move == (0, 0, 0):
        return "no move"
    if move in state.declared:
        return "taboo"
    if not state.board.fits(cell, value) or (squares is not None and cell not in squares):
        return "illegal"
    return None


def play(state, ours, player, seconds, make):
    asked = []
    while 0 in state.board.squares:
        squares = state.player_squares() if state.pairs else None
        mover = state.mover()
        if squares == []:
            state.skips += 1
            if state.skips == 2:
                break
            state.current_player = 3 - mover
            continue
        state.skips = 0
        options = squares if squares is not None else state.board.cells()
        moves = [(*c, v) for c in options for v in range(1, state.board.N + 1)]
        moves = [move for move in moves if faults(state, squares, move) is None]
        if mover == ours:
            move = ask(player, state, seconds)
            asked.append(move)
            print(json.dumps({"asked": move}), flush=True)
            fault = faults(state, squares, move)
            if fault:
                return {"fault": fault, "move": move, "asked": asked}
        else:
            move = random.choice(moves)
        cell, value = move[:2], move[2]
        state.board.put(cell, value)
        state.moves.append(make(move))
        if not state.board.solvable():
            state.board.put(cell, 0)
            state.declared.add(move)
            state.taboo_moves.append(make(move))
        else:
            full = sum(all(map(state.board.at, region)) for region in state.board.regions(cell))
            state.scores[mover - 1] += (0, 1, 3, 7)[full]
            if state.pairs and squares is not None:
                getattr(state, f"occupied_squares{mover}").append(cell)
        if state.pairs:
            state.current_player = 3 - mover
    return {"scores": state.scores, "asked": asked, "taboos": len(state.taboo_moves)}


def main(version, preset, board, seconds):
    package = pathlib.Path("competitive_sudoku")
    package.mkdir(exist_ok=True)
    package.joinpath("__init__.py").touch()
    package.joinpath("sudokuai.py").write_text(BASE)
    package.joinpath("sudoku.py").write_text(PAIRS if version == "v14" else TRIPLES)
    sys.path.insert(0, os.getcwd())
    multiprocessing.set_start_method("fork")
    from competitive_sudoku.sudoku import Move
    from plyd_player.sudokuai import SudokuAI

    pairs = version == "v14"
    state = (NewState if pairs else OldState)(Board(board), pairs, preset)
    state.declared, state.skips = set(), 0
    make = (lambda m: Move(m[:2], m[2])) if pairs else (lambda m: Move(*m))
    player = SudokuAI()
    player.player_number, player.lock = 1, multiprocessing.Lock()
    player.best_move = multiprocessing.Array("i", 3)
    began = time.monotonic()
    report = play(state, player.player_number, player, float(seconds), make)
    print(json.dumps({**report, "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    main(*sys.argv[1:])
