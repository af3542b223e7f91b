"""A stand-in for the referee of IJK, in both of its versions.

`ijk.py VERSION MODE PLIES [TURN]`: `ai_IJK.py` lies in the working directory. Plays one game against random
moves, of at most so many plies, with so many seconds for a move of the adapter (0.1); prints a line of JSON after the first answer and one at the end.
"""

import copy
import json
import os
import random
import sys
import time

sys.path.insert(0, os.getcwd())


LIMIT = 60
"""The seconds that the referee allows; it looks at its clock when something is yielded, and only then."""


class BadMove(Exception):
    pass


class Game_IJK:  # the name that the skeleton gives it, which its private fields carry
    def __init__(self, size, det, skips):
        self.__board = [[" "] * size for _ in range(size)]
        self.__board[0][0] = "A"
        self.__upper, self.__det, self.__skips = True, det, skips
        self.__new_piece_loc = (0, 0)

    def getGame(self):
        return copy.deepcopy(self.__board)

    def getCurrentPlayer(self):
        return "+" if self.__upper else "-"

    def getDeterministic(self):
        return self.__det

    def makeMove(self, move):
        """Plays the move on this object, and returns a copy of it."""
        if move not in ("U", "D", "L", "R", *("S" if self.__skips else "")):
            raise BadMove(move)
        board, size = self.__board, len(self.__board)
        if move == "S":
            row, column = self.__new_piece_loc
            board[row][column] = board[row][column].swapcase()
        for line in range(size if move != "S" else 0):
            cells = [(line, i) if move in "LR" else (i, line) for i in range(size)]
            cells = cells[::-1] if move in "RD" else cells
            tiles = self.slide([board[row][column] for row, column in cells])
            for (row, column), tile in zip(cells, tiles):
                board[row][column] = tile
        self.__upper = not self.__upper
        empty = [(r, c) for r in range(size) for c in range(size) if board[r][c] == " "]
        if move != "S" and empty:
            row, column = empty[0] if self.__det else random.choice(empty)
            board[row][column] = "A" if self.__upper else "a"
            if self.__det or not self.__skips:
                self.__new_piece_loc = row, column
        return copy.deepcopy(self)

    def slide(self, line):
        tiles, merged = [tile for tile in line if tile != " "], []
        while tiles:
            tile = tiles.pop(0)
            if tiles and tiles[0].upper() == tile.upper():
                other = tiles.pop(0)
                grown = chr(ord(tile) + 1)
                if other != tile:
                    grown = grown.upper() if self.__upper else grown.lower()
                tile = grown
            merged.append(tile)
        return merged + [" "] * (len(line) - len(merged))

    def state(self):
        tiles = [tile for row in self.__board for tile in row]
        upper = max((t for t in tiles if t.isupper()), default="A")
        lower = max((t for t in tiles if t.islower()), default="a")
        if upper != "K" and lower != "k" and " " in tiles:
            return 0
        if upper.lower() == lower:
            return "Tie"
        return upper if upper.lower() > lower else lower


def ask(player, game):
    """What is yielded in time, the last of which is played; nothing at all forfeits."""
    began, moves = time.time(), []
    for move in player(copy.deepcopy(game)):
        if time.time() - began > LIMIT:
            break
        moves.append(move)
    return moves


def main(version, mode, plies, turn=0.1):
    import ai_IJK

    ai_IJK.TURN = float(turn)
    game = Game_IJK(6 if version == "v2" else 4, mode == "det", version == "v1")
    asked, moves, ended = 0, set(), False
    for ply in range(int(plies)):
        if ply % 2 == 0 and game.state() != 0:  # tested before upper case's move only
            ended = True
            break
        move = random.choice("UDLR")
        if ply % 2 == 1 or ply % 4 == 2:  # plyd plays lower case, and every other move of upper case
            yields = ask(ai_IJK.next_move, game)
            asked += 1
            if asked == 1:
                print(json.dumps({"first": yields}), flush=True)
            if not yields:
                print(json.dumps({"forfeit": asked}))
                return
            move = yields[-1]
            moves.update(yields)
        game = game.makeMove(move)
    print(json.dumps({"asked": asked, "moves": sorted(moves), "ended": ended, "state": game.state()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
