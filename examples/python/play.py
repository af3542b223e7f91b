"""Plays a game against itself until it is over.

    python3 play.py isolation
"""

import random
import sys

import plyd


def main(name: str) -> None:
    with plyd.Engine() as engine, engine.game(name) as game:
        position = game.inspect()
        while position.outcome is None:
            if position.side is None:
                move = position.drawn(random.Random())
                print(f"{'chance':>6}  {move}")
            else:
                best = game.go(plyd.Limit(time=0.05))
                move = best.move
                print(f"{position.side:>6}  {move:12}  {best.score}")
            position = game.play(move)
        print(position.outcome)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "isolation")
