"""The client library against the real server, and against servers that misbehave.

Each test runs twice: with the blocking engine, and with the asyncio one, whose calls are awaited.
"""

import asyncio
import inspect
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent.parent / "examples" / "tests")]

import plyd  # noqa: E402
from plyd.on_asyncio import TaskInbox  # noqa: E402
from plyd.on_threads import ThreadInbox  # noqa: E402
from plyd.retry import Retry  # noqa: E402
from support import TIMEOUT, engine  # noqa: E402


def in_threads(count, play):
    """Runs it in so many threads at once, to their ends."""
    threads = [threading.Thread(target=play) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Awaited:
    """An object of the asyncio side, used as if it were of the blocking one."""

    def __init__(self, loop, inner):
        self.loop, self._inner = loop, inner

    def __getattr__(self, name):
        part = getattr(self._inner, name)
        if not callable(part):
            return part
        return lambda *args, **kwargs: self.done(part(*args, **kwargs))

    def __enter__(self):
        self.loop.run_until_complete(self._inner.__aenter__())
        return self

    def __exit__(self, *error):
        self.loop.run_until_complete(self._inner.__aexit__(*error))

    def __iter__(self):
        news = self._inner.__aiter__()
        while True:
            try:
                yield self.loop.run_until_complete(news.__anext__())
            except StopAsyncIteration:
                return

    def done(self, result):
        if inspect.isawaitable(result):
            result = self.loop.run_until_complete(result)
        wrapped = isinstance(result, (plyd.AsyncEngine, plyd.AsyncGame, plyd.AsyncAnalysis))
        return Awaited(self.loop, result) if wrapped else result


class Blocking:
    """Makes engines that block."""

    inbox, interruption = ThreadInbox, KeyboardInterrupt

    def open(self, *arguments, **options):
        return plyd.Engine(*arguments, **{"program": engine(), **options})


class Asynchronous:
    """Makes engines of asyncio behind `Awaited`."""

    inbox, interruption = TaskInbox, asyncio.CancelledError

    def open(self, *arguments, **options):
        self.loop = asyncio.new_event_loop()
        self.addCleanup(self.loop.close)
        opened = plyd.AsyncEngine(*arguments, **{"program": engine(), **options})
        return Awaited(self.loop, opened)


SMALL = plyd.Place("isolation", {"width": 5, "height": 5})
LARGE = plyd.Place("isolation", {"preset": "11x9"})
HUGE = plyd.Place("sudoku", {"m": 4, "n": 4})
ENDLESS = plyd.Limit(clock=plyd.Endless())


class Play:
    """Ordinary use."""

    def interrupted(self, call, *arguments):
        """Calls it, and interrupts it, or cancels it, where it waits for its answer."""
        with unittest.mock.patch.object(self.inbox, "get", side_effect=self.interruption):
            with self.assertRaises(self.interruption):
                call(*arguments)

    def test_plays_a_whole_game(self):
        with self.open() as server:
            self.assertIn("isolation", server.games())
            with server.game(SMALL, seed="5eed") as game:
                seen = game.inspect()
                while seen.outcome is None:
                    answer = game.go(plyd.Limit(nodes=500))
                    self.assertIn(answer.move, seen.legal)
                    self.assertEqual(answer.move, answer.lines[0].pv[0])
                    self.assertEqual(answer.score.pov(seen.side), answer.score)
                    seen = game.play(answer.move)
                self.assertEqual(seen.outcome.by, "stuck")
                self.assertEqual((seen.legal, seen.outcome.winner), ((), "p2" if seen.side == "p1" else "p1"))

    def test_streams_news_that_end_with_the_answer(self):
        with self.open() as server:
            search = server.analysis(LARGE, plyd.Limit(nodes=20_000), mode="move")
            news = list(search)
            self.assertEqual({info.event for info in news}, {"best"})
            self.assertEqual(news[-1].move, news[-1].lines[0].pv[0])
            self.assertEqual(search.result().move, search.result().lines[0].move)

    def test_analyses_as_many_lines_as_wanted_until_stopped(self):
        with self.open() as server:
            place = plyd.Place("isolation", {"preset": "11x9"}, moves=["d4"])
            position = server.inspect(place)
            with server.analysis(position, multipv=3, events=["best", "progress"]) as analysis:
                for info in analysis:
                    if len(info.lines) == 3 and info.score is not None:
                        break
                answer = analysis.stop()
            self.assertEqual((answer.reason, len(answer.lines)), ("stopped", 3))
            self.assertEqual(position.side, "p2")
            self.assertEqual(answer.score.pov("p1"), -answer.score)
            limited = server.analysis(position, plyd.Limit(time=0.05)).result()
            self.assertEqual(limited.reason, "limit")

    def test_an_analysis_ends_with_its_block(self):
        with self.open() as server:
            with server.analysis(LARGE) as analysis:
                pass
            with self.assertRaises(plyd.ServerError) as caught:
                analysis.result()
            self.assertEqual(caught.exception.code, "cancelled")
            self.assertEqual(server.request("status")["searches"], 0)

    def test_stops_and_updates_a_search(self):
        with self.open() as server:
            self.assertEqual(server.analysis(LARGE, ENDLESS, mode="move").stop().reason, "stopped")
            with server.game(LARGE) as game:
                ponder = game.analysis(mode="ponder", expected=["d4", "b3"])
                self.assertEqual(ponder.update(plyd.Limit(time=0.02), mode="move"), "updated")
                self.assertEqual(ponder.result().reason, "clock")
                self.assertEqual(game.moves, [])

    def test_an_update_gives_a_search_its_time_from_then_on(self):
        with self.open() as server:
            patient = server._inner.timeout
            for mode, then, reason in [("ponder", "move", "clock"), ("analyse", None, "limit")]:
                with self.subTest(mode=mode):
                    server._inner.timeout = 0
                    search = server.analysis(LARGE, plyd.Limit(time=0.05), mode=mode)
                    server._inner.timeout = patient
                    search.update(plyd.Limit(time=0.1), mode=then)
                    self.assertEqual(search.result().reason, reason)

    def test_an_interrupted_search_ends(self):
        with self.open() as server, server.game(LARGE) as game:
            self.interrupted(game.go, ENDLESS)
            self.assertEqual(game.go(plyd.Limit(nodes=100)).reason, "limit", "the session is free")
            self.interrupted(server.go, LARGE, ENDLESS)
            wait_until(lambda: server.request("status")["searches"] == 0)

    def test_an_interrupted_move_is_not_on_the_board(self):
        with self.open() as server, server.game(SMALL) as game:
            self.interrupted(game.play, "nonsense")
            self.assertEqual(game.moves, [])

    def test_an_interrupt_in_the_terminal_reaches_the_caller_alone(self):
        with self.open() as server:
            self.assertNotEqual(os.getpgid(server._inner._connection.process.pid), os.getpgid(0))

    def test_plays_by_every_clock(self):
        clocks = [plyd.Increment(0.1, 0.01, 0.1, 0.01, 20), plyd.Delay(0.1, 0.02, 0.1), plyd.Bank(0.02, 0.1)]
        with self.open() as server:
            for clock in clocks:
                with self.subTest(clock=clock):
                    self.assertNotEqual(server.go(LARGE, plyd.Limit(clock=clock)).move, "")
            hard = plyd.Limit(clock=plyd.Endless(), hard=0.02)
            self.assertEqual(server.go(LARGE, hard).reason, "deadline")
            anytime = server.analysis(LARGE, plyd.Limit(clock=plyd.Anytime(0.05)), mode="move")
            self.assertEqual(next(iter(anytime)).event, "best")
            self.assertEqual(anytime.stop().reason, "stopped")

    def test_takes_a_warning_about_a_search_for_no_answer(self):
        with self.open() as server:
            best = server.go(LARGE, plyd.Limit(time=0))
            self.assertEqual((best.reason, best.lines[0].depth), ("clock", 0))

    def test_sets_options(self):
        with self.open() as server:
            options = plyd.Options(player="greedy", own={"solver": False})
            with server.game(SMALL, options=options) as game:
                self.assertEqual((game.options.player, game.options.own["solver"]), ("greedy", False))
                self.assertEqual(game.rules["width"], 5)
                self.assertEqual(game.configure(plyd.Options(level=3)).level, 3)
                self.assertEqual((game.options.level, game.options.player), (3, "greedy"))
            with self.assertRaises(plyd.ServerError) as caught:
                server.go(SMALL, plyd.Limit(nodes=1), options=plyd.Options(own={"no_such": 1}))
            self.assertEqual(caught.exception.pointer, "/options/no_such")

    def test_describes_every_game(self):
        with self.open() as server:
            for name in server.games():
                with self.subTest(game=name):
                    game = server.describe(name)
                    self.assertEqual(game.name, name)
                    self.assertIn("default", [player.name for player in game.players])
                    level = next(option for option in game.options if option.name == "level")
                    self.assertEqual((level.type, level.min, level.max), ("int", 1, 10))
                    self.assertEqual([rating.level for rating in game.ratings], list(range(1, 11)))

    def test_inspects_every_game(self):
        want = ["moves", "board", "text", "hash", "eval", "record"]
        with self.open() as server:
            for name in server.games():
                with self.subTest(game=name):
                    seen = server.inspect(name, want)
                    if seen.side is not None:
                        self.assertEqual([after.move for after in seen.successors], list(seen.legal))
                    else:
                        self.assertEqual(sum(outcome.ppm for outcome in seen.chance), 1_000_000)
                    board = seen.board
                    for piece in board.pieces:
                        for cell in piece.cells:
                            self.assertTrue(0 <= cell.row < board.rows and 0 <= cell.col < board.cols)
                    again = server.inspect(plyd.Place(name, seen.record["rules"], seen.text), ["hash"])
                    self.assertEqual((again.legal, again.hash), (seen.legal, seen.hash))

    def test_draws_every_game(self):
        with self.open() as server:
            if "svg" not in server.server["features"]:
                self.skipTest("the server draws no pictures")
            for name in server.games():
                with self.subTest(game=name), server.game(name) as game:
                    picture = game.svg()
                    self.assertRegex(picture, r"^<svg [\s\S]*</svg>\s*$")
                    self.assertEqual(game.inspect(["svg"])._repr_svg_(), picture)
                    self.assertIsNone(game.inspect()._repr_svg_())

    def test_says_which_advantage_decides_most_games(self):
        with self.open() as server:
            if "decisive" not in server.server["features"]:
                self.skipTest("the server does not say it")
            for name in server.games():
                with self.subTest(game=name):
                    seen = server.inspect(name, ["decisive"])
                    self.assertEqual(seen.decisive, seen.message.get("decisive"))
                    if name == "isolation":
                        self.assertGreater(seen.decisive, 0)
                    self.assertIsNone(server.inspect(name).decisive)

    def test_raises_the_servers_errors_with_their_code(self):
        with self.open() as server:
            with self.assertRaises(plyd.ServerError) as caught:
                server.go(plyd.Place("isolation", moves=["a1", "z9"]), plyd.Limit(time=0.01))
            self.assertEqual(caught.exception.code, "illegal_move")
            self.assertEqual(caught.exception.pointer, "/position/moves/1")
            with server.game("isolation") as game:
                with self.assertRaises(plyd.ServerError):
                    game.play("nonsense")
                self.assertEqual(game.moves, [], "an illegal move is not on the board")
            self.assertGreaterEqual(server.ping(), 0)

    def test_speaks_over_sockets(self):
        with tempfile.TemporaryDirectory() as home:
            path = os.path.join(home, "socket")
            port, web = (free_port() for _ in range(2))
            command = [engine(), "serve", "--tcp", f"127.0.0.1:{port}", "--ws", f"127.0.0.1:{web}", "--unix", path]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                self.addCleanup(process.kill)
                wait_until(lambda: os.path.exists(path))
                for address in (path, f"127.0.0.1:{port}", f"ws://127.0.0.1:{web}/ws", f"ws=localhost:{web}"):
                    with self.open(address, program=None) as server:
                        self.assertEqual(server.server["protocol"], 1)
                        server.go("l-game", plyd.Limit(time=0.05))
                        # Of every length that a frame can have.
                        self.assertEqual(len(server.inspect(HUGE).legal), 16**3)
                        for size in (100, 1000, 500_000):
                            with self.assertRaises(plyd.ServerError):
                                server.inspect(plyd.Place("isolation", start="x" * size))
                with self.assertRaisesRegex(plyd.ConnectionLost, "is WebSocket served there?"):
                    self.open(f"ws=127.0.0.1:{port}", program=None).ping()
                process.terminate()

    def test_ends_the_process_that_it_started(self):
        with self.open() as server:
            process = server._inner._connection.process
        self.assertEqual(process.returncode, 0)
        with self.assertRaises(plyd.ConnectionLost):
            server.ping()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Hostile:
    """Servers that die, are slow, or talk nonsense."""

    def stub(self, mode, **options):
        command = [sys.executable, str(HERE / "stub.py"), mode]
        return self.open(program=command, **{"timeout": 5.0, **options})

    def shorten(self, server, seconds):
        """From now on a shorter timeout; the start of a program on a busy machine would outlast it."""
        server._inner.timeout = seconds

    def test_connects_again_after_the_server_was_killed(self):
        with self.open() as server, server.game(LARGE) as game:
            game.play(game.go(plyd.Limit(nodes=100)).move)
            search = game.analysis(ENDLESS, mode="move")
            os.kill(server._inner._connection.process.pid, signal.SIGKILL)
            with self.assertRaises(plyd.ConnectionLost):
                search.result()
            self.assertEqual(game.play(game.go(plyd.Limit(nodes=100)).move).to_move, "p1")
            self.assertEqual(server.generation, 2)

    def test_leaves_a_game_whose_server_was_killed(self):
        with self.open() as server:
            with self.assertRaises(plyd.ConnectionLost), server.game(LARGE) as game:
                search = game.analysis(ENDLESS, mode="move")
                os.kill(server._inner._connection.process.pid, signal.SIGKILL)
                search.result()
            self.assertEqual(server.generation, 1)

    def test_gives_up_a_server_that_does_not_answer(self):
        with self.assertRaises(plyd.RequestTimeout):
            with self.stub("mute", timeout=0.3):
                pass

    def test_closes_a_connection_that_talks_nonsense(self):
        for mode in ("garbage", "scalar", "deep"):
            with self.subTest(mode=mode), self.stub(mode) as server:
                with self.assertRaises(plyd.ProtocolError):
                    server.go("isolation", plyd.Limit(time=0.01))
                server.ping()
                self.assertEqual(server.generation, 2)

    def test_reports_a_message_whose_fields_are_wrong(self):
        with self.stub("fields") as server, self.assertRaises(plyd.ProtocolError):
            server.go("isolation", plyd.Limit(time=0.01))

    def test_reports_a_server_that_dies_in_the_middle_of_a_line(self):
        with self.stub("dies") as server, self.assertRaises(plyd.ConnectionLost):
            server.go("isolation", plyd.Limit(time=0.01))

    def test_times_out_a_search_that_does_not_end(self):
        with self.stub("endless") as server:
            with self.assertRaises(plyd.RequestTimeout):
                server.analysis("isolation", ENDLESS, mode="move", timeout=0.2).result()
            server.ping()

    def test_bounds_the_time_of_a_ponder_that_becomes_a_move(self):
        with self.stub("silent") as server:
            ponder = server.analysis("isolation", mode="ponder")
            self.assertIsNone(ponder._inner._deadline)
            ponder.update(plyd.Limit(time=0.1), mode="move")
            self.assertIsNotNone(ponder._inner._deadline)

    def test_waits_no_more_for_a_search_that_timed_out(self):
        with self.stub("silent") as server:
            with self.assertRaises(plyd.RequestTimeout) as caught:
                with server.analysis("isolation", timeout=0.1) as search:
                    try:
                        search.result()
                    except plyd.RequestTimeout as error:
                        first = error
                        raise
            self.assertIs(caught.exception, first)
            for wait in (search.result, search.stop):
                with self.subTest(wait=wait), self.assertRaises(plyd.RequestTimeout) as caught:
                    wait()
                self.assertIs(caught.exception, first)

    def test_takes_an_answer_that_came_in_time_and_is_read_late(self):
        with self.stub("full") as server:
            search = server.analysis("isolation", timeout=0)
            server.ping()  # the answer came before this one
            with self.assertRaises(plyd.ServerError):
                search.result()

    def test_asks_an_overloaded_server_again_within_the_clock(self):
        with self.stub("busy") as server:
            self.assertGreaterEqual(int(server.go("isolation", plyd.Limit(time=5)).move), 40)
        for limit in (plyd.Limit(time=0.1), plyd.Limit(time=0.2, elapsed=0.15), plyd.Limit(time=0)):
            with self.subTest(limit=limit), self.stub("full") as server:
                with self.assertRaises(plyd.ServerError) as caught:
                    server.go("isolation", limit)
                self.assertEqual(caught.exception.code, "overloaded")
                self.assertEqual(caught.exception.retry_ms, 20)

    def test_asks_no_more_if_a_pause_lasts_too_long(self):
        with unittest.mock.patch.object(Retry, "again", return_value=None), self.stub("busy") as server:
            with self.assertRaises(plyd.ServerError) as caught:
                server.go("isolation", plyd.Limit(time=5))
            self.assertEqual(caught.exception.code, "overloaded")

    def test_kills_a_server_that_does_not_end(self):
        with self.stub("deaf") as server:
            self.shorten(server, 0.2)
            process = server._inner._connection.process
        self.assertIsNotNone(process.returncode)

    def test_reports_a_server_that_is_not_there(self):
        for options in ({"program": "/nonexistent/plyd"}, {"address": "127.0.0.1:1"}):
            with self.subTest(options=options), self.assertRaises(plyd.ConnectionLost):
                with self.open(**options):
                    pass


class Retries(unittest.TestCase):
    def test_the_clock_leaves_ten_milliseconds(self):
        bank = {"kind": "bank", "turn_ms": 10, "bank_ms": 100}
        delay = {"kind": "delay", "me_ms": 10, "delay_ms": 100}
        # The clock, the time spent before, when the error comes, its `retry_ms`, and the pause: all in ms.
        for clock, elapsed, at, retry, pause in [
            ({"kind": "per_move", "ms": 100}, 0, 10, 20, 20),
            ({"kind": "per_move", "ms": 100}, 0, 10, 0, 1),
            ({"kind": "per_move", "ms": 100}, 0, 10, None, None),
            ({"kind": "per_move", "ms": 100}, 0, 69, 20, 20),
            ({"kind": "per_move", "ms": 100}, 0, 71, 20, None),
            ({"kind": "per_move", "ms": 100}, 70, 10, 20, None),
            ({"kind": "per_move", "ms": -5}, 0, 0, 1, None),
            (bank, 0, 50, 20, 20),
            (delay, 0, 50, 20, 20),
            (None, 0, 1_000_000, 20, 20),
        ]:
            with self.subTest(clock=clock, elapsed=elapsed, at=at, retry=retry):
                fields = {"clock": clock, "elapsed_ms": elapsed}
                message = {"type": "error", "code": "overloaded"}
                message.update({} if retry is None else {"retry_ms": retry})
                found = Retry(fields, 0.0).pause(message, at / 1000)
                self.assertEqual(found, None if pause is None else pause / 1000)
        # Whoever sleeps longer may have no time left.
        retry = Retry({"clock": {"kind": "per_move", "ms": 100}, "elapsed_ms": 7}, 0.0)
        self.assertEqual(retry.again(0.082)["elapsed_ms"], 89)
        self.assertIsNone(retry.again(0.084))


class BlockingPlay(Blocking, Play, unittest.TestCase):
    def test_may_be_called_from_many_threads(self):
        with self.open() as server:
            moves = []

            def play():
                moves.append(server.go(SMALL, plyd.Limit(nodes=200)).move)

            in_threads(8, play)
            self.assertEqual(len(moves), 8)


    def test_may_be_stopped_by_another_thread(self):
        with self.open() as server:
            search = server.analysis(LARGE, ENDLESS, mode="move")
            first = next(iter(search))
            stopper = threading.Thread(target=search.stop)
            stopper.start()
            news = [first, *search]
            stopper.join()
            self.assertEqual(search.result().reason, "stopped")
            self.assertEqual({info.event for info in news}, {"best"})


class AsyncPlay(Asynchronous, Play, unittest.TestCase):
    def test_searches_at_the_same_time(self):
        async def play():
            async with plyd.AsyncEngine(program=engine()) as server:
                searches = (server.go(SMALL, plyd.Limit(nodes=200)) for _ in range(8))
                return await asyncio.gather(*searches)

        self.assertEqual(len(asyncio.run(play())), 8)


class BlockingHostile(Blocking, Hostile, unittest.TestCase):
    def test_does_not_ask_again_after_a_stop(self):
        with self.stub("later") as server:
            search, ended = server.analysis("isolation", plyd.Limit(time=60), mode="move"), []

            def play():
                try:
                    ended.append(search.result())
                except plyd.ServerError as error:
                    ended.append(error.code)

            player = threading.Thread(target=play)
            player.start()
            server.ping()  # the refusal came before this answer
            wait_until(lambda: ended or search._inner._inbox._queue.empty())
            with self.assertRaises(plyd.ServerError):
                search.stop()
            player.join()
            self.assertEqual(ended, ["overloaded"])


class AsyncHostile(Asynchronous, Hostile, unittest.TestCase):
    def test_does_not_ask_again_after_a_stop(self):
        async def play():
            command = [sys.executable, str(HERE / "stub.py"), "later"]
            async with plyd.AsyncEngine(program=command, timeout=5.0) as server:
                search = await server.analysis("isolation", plyd.Limit(time=60), mode="move")
                player = asyncio.create_task(search.result())
                await server.ping()  # the refusal came before this answer
                await asyncio.sleep(0)  # lets the player take it
                return await asyncio.gather(search.stop(), player, return_exceptions=True)

        for ended in asyncio.run(play()):
            self.assertIsInstance(ended, plyd.ServerError)
            self.assertEqual(ended.code, "overloaded")


def wait_until(condition):
    until = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)  # between two looks


if __name__ == "__main__":
    unittest.main()
