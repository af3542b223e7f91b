"""A stand-in for the referee of Knight Isolation on 11x9, which asks in a new process for each move.

`isolation_11x9.py GAMES LIMIT_MS`: `my_custom_player.py` lies in the working directory, where this
writes the `sample_players.py` that it needs. Prints a line of JSON for each game.
With `quirk` instead of a number of games it asks for one move where the cell 0 decides.
"""

import collections
import json
import multiprocessing
import os
import pathlib
import random
import sys
import time

WIDTH, HEIGHT, STRIDE = 11, 9, 13
STEPS = {"NNE": 25, "ENE": 11, "ESE": -15, "SSE": -27, "SSW": -25, "WSW": -11, "WNW": 15, "NNW": 27}
ALL = sum(1 << row * STRIDE + column for row in range(HEIGHT) for column in range(WIDTH))
TIMEOUT = 5
BASE = '''
class DataPlayer:
    def __init__(self, player_id):
        self.player_id = player_id
        self.timer = self.queue = self.context = self.data = None
'''


class State(collections.namedtuple("State", "board ply_count locs")):
    """Cells by index from the bottom right, a bit set where a cell is open."""

    def player(self):
        return self.ply_count % 2

    def liberties(self, loc):
        cells = range(HEIGHT * STRIDE) if loc is None else (loc + step for step in STEPS.values())
        return [cell for cell in cells if cell >= 0 and self.board >> cell & 1]

    def actions(self):
        loc = self.locs[self.player()]
        cells = self.liberties(loc)
        return cells if loc is None else [cell - loc for cell in cells]

    def result(self, action):
        loc = self.locs[self.player()]
        cell = action + (loc or 0)
        locs = (self.locs[0], cell) if self.player() else (cell, self.locs[1])
        return State(self.board & ~(1 << cell), self.ply_count + 1, locs)

    def has_liberties(self, player):
        return any(self.liberties(self.locs[player]))  # so the cell 0 alone counts for nothing

    def terminal_test(self):
        return not (self.has_liberties(0) and self.has_liberties(1))

    def utility(self, player):
        if not self.terminal_test():
            return 0
        wins = self.has_liberties(self.player()) == (player == self.player())
        return float("inf") if wins else float("-inf")


class StopSearch(Exception):
    pass


class TimedQueue:
    """Keeps the last action put in time, with the player's context; later ones end the search."""

    def __init__(self, receiver, sender, limit):
        self.receiver, self.sender, self.limit = receiver, sender, limit
        self.puts, self.agent, self.__stop_time = 0, None, None

    def put(self, action):
        if time.perf_counter() > self.__stop_time:
            raise StopSearch
        if self.receiver.poll():
            self.receiver.recv()
        self.puts += 1
        self.sender.send((getattr(self.agent, "context", None), action, self.puts))

    def start_timer(self):
        self.__stop_time = time.perf_counter() + self.limit


def request(agent, queue, state):
    agent.queue, queue.agent = queue, agent
    try:
        queue.start_timer()
        agent.get_action(state)
    except StopSearch:
        pass


def ask(state, player, limit):
    """The player's action, None if it put none (where the real referee would hang), and its puts."""
    receiver, sender = multiprocessing.Pipe()
    queue = TimedQueue(receiver, sender, limit)
    process = multiprocessing.Process(target=request, args=(player, queue, state))
    process.start()
    process.join(TIMEOUT + limit)
    if process.is_alive():
        process.terminate()
    if not receiver.poll():
        return None, 0
    player.context, action, puts = receiver.recv()
    return action, puts


class RandomPlayer:
    def __init__(self, player_id):
        self.player_id, self.context = player_id, None

    def get_action(self, state):
        self.queue.put(random.choice(state.actions()))


def play(classes, limit):
    state, puts = State(ALL, 0, (None, None)), []
    players = [made(player_id=number) for number, made in enumerate(classes)]
    while not state.terminal_test():
        mover = state.player()
        action, count = ask(state, players[mover], limit)
        if classes[mover] is not RandomPlayer:
            puts.append(count)
        if action not in state.actions():
            return {"fault": classes[mover].__name__, "action": action, "puts": puts}
        state = state.result(action)
    winner = next(player for player in (0, 1) if state.utility(player) > 0)
    return {"won": classes[winner].__name__, "puts": puts, "plies": state.ply_count}


def quirk(limit):
    """Asks player 0, who can go to 27, where the cell 0 is its only liberty, or to 81 and on to 96."""
    from my_custom_player import CustomPlayer

    board = sum(1 << cell for cell in (0, 27, 81, 96, 87))
    state = State(board, 30, (54, 60))
    losing = [a for a in state.actions() if state.result(a).utility(0) < 0]
    action, _ = ask(state, CustomPlayer(player_id=0), limit)
    return {"actions": state.actions(), "losing": losing, "action": action}


def main(games, limit_ms):
    pathlib.Path("sample_players.py").write_text(BASE)
    sys.path.insert(0, os.getcwd())
    multiprocessing.set_start_method(os.environ.get("START_METHOD", "fork"))
    limit = float(limit_ms) / 1000
    if games == "quirk":
        print(json.dumps(quirk(limit)))
        return
    from my_custom_player import CustomPlayer

    for game in range(int(games)):
        pair = (CustomPlayer, RandomPlayer) if game % 2 == 0 else (RandomPlayer, CustomPlayer)
        print(json.dumps(play(pair, limit)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
