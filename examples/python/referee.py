"""A referee of knight Isolation that has plyd play against a random player. `python3 referee.py`

It needs no library: the protocol is lines of JSON.
"""

import json
import os
import random
import subprocess

CELLS = {f"{column}{row}" for column in "abcdefg" for row in range(1, 8)}
JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


class Plyd:
    """A player: one process for all moves of all games."""

    def __init__(self):
        program = os.environ.get("PLYD_BIN", "plyd")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.requests = 0

    def ask(self, **request):
        """Sends a request and waits for its final message."""
        self.requests += 1
        request["id"] = str(self.requests)
        print(json.dumps(request), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") != request["id"] or message["type"] in ("info", "notice"):
                continue
            if message["type"] == "error":
                raise ValueError(f"{message['code']} at {message.get('pointer')}: {message['message']}")
            return message
        raise EOFError("plyd has ended")

    def choose(self, moves, ms):
        """The move to play after these moves, within so many milliseconds."""
        clock = {"kind": "per_move", "ms": ms}
        return self.ask(cmd="go", game="isolation", position={"moves": moves}, clock=clock)["move"]


def legal(moves):
    """The cells that the player to move can go to."""
    free = CELLS - set(moves)
    if len(moves) < 2:
        return free
    column, row = ord(moves[-2][0]), int(moves[-2][1])
    return {cell for x, y in JUMPS if (cell := f"{chr(column + x)}{row + y}") in free}


def main():
    players = [("plyd", Plyd().choose), ("random", lambda moves, _ms: random.choice(sorted(legal(moves))))]
    moves = []
    while options := legal(moves):
        name, choose = players[len(moves) % 2]
        move = choose(moves, 100)
        print(f"{name:>6} {move}")
        if move not in options:
            print(f"{name} loses by an illegal move")
            return
        moves.append(move)
    print(f"{players[len(moves) % 2][0]} cannot move and loses")


if __name__ == "__main__":
    main()
