"""How long the engine of an installed wheel takes to start: from the start of its process to its first answers.

    python benches/startup.py [STARTS [GOAL_MS]]

Prints the median and the worst of so many starts; exit code 1 if the median is not below the goal.
"""

import statistics
import sys
import time

import plyd
from plyd.address import find_program


def main(starts: int = 50, goal_ms: float = 50) -> int:
    hello, first = [], []
    for _ in range(starts):
        began = time.perf_counter()
        with plyd.Engine() as engine:
            hello.append(time.perf_counter() - began)
            engine.go("isolation", plyd.Limit(nodes=1))
            first.append(time.perf_counter() - began)
    print(f"{find_program()}, {starts} starts: milliseconds from the start of its process")
    for what, times in (("to its first answer", hello), ("to its first move", first)):
        print(f"  {what}: {1000 * statistics.median(times):.1f} in the median, {1000 * max(times):.1f} at worst")
    return 0 if 1000 * statistics.median(first) < goal_ms else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
