"""Shows better and better moves of a position while plyd looks for them; Ctrl-C ends it.

    python3 analyse.py isolation --moves d4,b3 --rules preset=11x9 --lines 3 --seconds 10
"""

from __future__ import annotations

import argparse

import plyd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--start", help="the position's text; the rules' start when absent")
    parser.add_argument("--moves", default="", help="moves played since, joined by commas")
    parser.add_argument("--rules", default="", help="such as preset=11x9,max_plies=100")
    parser.add_argument("--lines", type=int, default=1, help="how many moves to follow")
    parser.add_argument("--seconds", type=float, help="stop then; when absent, when proven or at Ctrl-C")
    parser.add_argument("--server", help="host:port, tls://host:port or the path of a socket; when absent, one is started")
    arguments = parser.parse_args()
    rules = dict(setting(word) for word in arguments.rules.split(",") if word)
    moves = [move for move in arguments.moves.split(",") if move]
    place = plyd.Place(arguments.game, rules, arguments.start, moves)
    with plyd.Engine(arguments.server) as engine:
        analysis = engine.analysis(
            place, plyd.Limit(time=arguments.seconds), multipv=arguments.lines,
            events=["best", "progress"], min_interval=0.1,
        )
        try:
            for info in analysis:
                show(info.lines, info.stats)
        except KeyboardInterrupt:
            analysis.stop()
        answer = analysis.result()
        show(answer.lines, answer.stats)
        print(f"{answer.move} ({answer.reason})")


def setting(word: str) -> tuple[str, int | bool | str]:
    """A rule such as `width=9` or `preset=11x9`."""
    name, _, value = word.partition("=")
    if value in ("true", "false"):
        return name, value == "true"
    return name, int(value) if value.lstrip("-").isdigit() else value


def show(lines: tuple[plyd.Line, ...], stats: plyd.Stats) -> None:
    for line in lines:
        score = "" if line.score is None else str(line.score)
        pv = " ".join(line.pv[:8])
        print(f"{stats.time_ms:>7} ms  depth {line.depth:>2}  {score:>12}  {pv}", flush=True)


if __name__ == "__main__":
    main()
