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
    limit = None if arguments.seconds is None else {"time_ms": int(arguments.seconds * 1000)}
    with plyd.Engine(arguments.server) as engine:
        search = engine.search(
            arguments.game, arguments.start, moves,
            rules=rules, mode="analyse", multipv=arguments.lines, limit=limit,
            info={"events": ["best", "progress"], "min_interval_ms": 100},
        )
        try:
            for news in search:
                show(news.lines, news.stats)
        except KeyboardInterrupt:
            search.stop()
        answer = search.result()
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
        score = "" if line.score is None else text(line.score)
        pv = " ".join(line.pv[:8])
        print(f"{stats.time_ms:>7} ms  depth {line.depth:>2}  {score:>12}  {pv}", flush=True)


def text(score: plyd.Score) -> str:
    """A score in words: a proof, else the evaluation in the game's unit, with its bound."""
    if score.proof is not None:
        plies = "" if score.proof.plies is None else f" in {score.proof.plies}"
        return f"{score.proof.outcome}{plies}"
    sign = {"exact": "", "lower": ">= ", "upper": "<= "}[score.bound]
    if score.eval is not None:
        return f"{sign}{score.eval / 1000:+.2f}"
    return f"{sign}{score.wdl[0] / 10_000:.0f} %" if score.wdl is not None else ""


if __name__ == "__main__":
    main()
