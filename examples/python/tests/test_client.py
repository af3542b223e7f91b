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
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent.parent / "tests")]

import plyd  # noqa: E402
from plyd.conversation import Retry  # noqa: E402
from support import TIMEOUT, engine  # noqa: E402


class Awaited:
    """An object of the asyncio side, used as if it were of the blocking one."""

    def __init__(self, loop, inner):
        self.loop, self.inner = loop, inner

    def __getattr__(self, name):
        part = getattr(self.inner, name)
        if not callable(part):
            return part
        return lambda *args, **kwargs: self.done(part(*args, **kwargs))

    def __enter__(self):
        self.loop.run_until_complete(self.inner.__aenter__())
        return self

    def __exit__(self, *error):
        self.loop.run_until_complete(self.inner.__aexit__(*error))

    def __iter__(self):
        news = self.inner.__aiter__()
        while True:
            try:
                yield self.loop.run_until_complete(news.__anext__())
            except StopAsyncIteration:
                return

    def done(self, result):
        if inspect.isawaitable(result):
            result = self.loop.run_until_complete(result)
        wrapped = isinstance(result, (plyd.AsyncEngine, plyd.AsyncGame, plyd.AsyncSearch))
        return Awaited(self.loop, result) if wrapped else result


class Blocking:
    """Makes engines that block."""

    def open(self, *arguments, **options):
        return plyd.Engine(*arguments, **{"program": engine(), **options})


class Asynchronous:
    """Makes engines of asyncio behind `Awaited`."""

    def open(self, *arguments, **options):
        self.loop = asyncio.new_event_loop()
        self.addCleanup(self.loop.close)
        opened = plyd.AsyncEngine(*arguments, **{"program": engine(), **options})
        return Awaited(self.loop, opened)


class Play:
    """Ordinary use."""

    def test_plays_a_whole_game(self):
        with self.open() as server:
            self.assertIn("isolation", server.games())
            rules = {"width": 5, "height": 5}
            with server.play("isolation", rules=rules, seed="5eed") as game:
                seen = game.inspect()
                while seen.outcome is None:
                    answer = game.go(nodes=500)
                    self.assertIn(answer.move, seen.legal)
                    self.assertEqual(answer.move, answer.lines[0].pv[0])
                    seen = game.play(answer.move)
                self.assertEqual(seen.outcome.by, "stuck")

    def test_streams_news_that_end_with_the_answer(self):
        with self.open() as server:
            search = server.search("isolation", nodes=20_000, rules={"preset": "11x9"})
            news = list(search)
            self.assertEqual({info.event for info in news}, {"best"})
            self.assertEqual(news[-1].move, news[-1].lines[0].pv[0])
            self.assertEqual(search.result().move, search.result().lines[0].move)

    def test_stops_and_updates_a_search(self):
        with self.open() as server:
            endless = {"clock": {"kind": "none"}, "rules": {"preset": "11x9"}}
            self.assertEqual(server.search("isolation", **endless).stop().reason, "stopped")
            ponder = server.search("isolation", mode="ponder", rules={"preset": "11x9"})
            self.assertEqual(ponder.update(ms=20, mode="move"), "updated")
            self.assertEqual(ponder.result().reason, "clock")

    def test_takes_a_warning_about_a_search_for_no_answer(self):
        with self.open() as server:
            best = server.go("isolation", rules={"preset": "11x9"}, ms=0)
            self.assertEqual((best.reason, best.lines[0].depth), ("clock", 0))

    def test_raises_the_servers_errors_with_their_code(self):
        with self.open() as server:
            with self.assertRaises(plyd.ServerError) as caught:
                server.go("isolation", moves=["a1", "z9"], ms=10)
            self.assertEqual(caught.exception.code, "illegal_move")
            self.assertEqual(caught.exception.pointer, "/position/moves/1")
            with server.play("isolation") as game:
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
                        server.go("l-game", ms=50)
                        # Of every length that a frame can have.
                        self.assertEqual(len(server.inspect("sudoku", rules={"m": 4, "n": 4}).legal), 16**3)
                        for size in (100, 1000, 500_000):
                            with self.assertRaises(plyd.ServerError):
                                server.inspect("isolation", start="x" * size)
                with self.assertRaisesRegex(plyd.ConnectionLost, "is WebSocket served there?"):
                    self.open(f"ws=127.0.0.1:{port}", program=None).ping()
                process.terminate()

    def test_ends_the_process_that_it_started(self):
        with self.open() as server:
            process = server._connection.process
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
        getattr(server, "inner", server).timeout = seconds

    def test_connects_again_after_the_server_was_killed(self):
        with self.open() as server, server.play("isolation") as game:
            game.play(game.go(nodes=100).move)
            search = game.search(clock={"kind": "none"}, rules=None)
            os.kill(server._connection.process.pid, signal.SIGKILL)
            with self.assertRaises(plyd.ConnectionLost):
                search.result()
            self.assertEqual(game.play(game.go(nodes=100).move).to_move, "p1")
            self.assertEqual(server.generation, 2)

    def test_gives_up_a_server_that_does_not_answer(self):
        with self.assertRaises(plyd.RequestTimeout):
            with self.stub("mute", timeout=0.3):
                pass

    def test_closes_a_connection_that_talks_nonsense(self):
        for mode in ("garbage", "scalar"):
            with self.subTest(mode=mode), self.stub(mode) as server:
                with self.assertRaises(plyd.ProtocolError):
                    server.go("isolation", ms=10)
                server.ping()
                self.assertEqual(server.generation, 2)

    def test_reports_a_message_whose_fields_are_wrong(self):
        with self.stub("fields") as server, self.assertRaises(plyd.ProtocolError):
            server.go("isolation", ms=10)

    def test_reports_a_server_that_dies_in_the_middle_of_a_line(self):
        with self.stub("dies") as server, self.assertRaises(plyd.ConnectionLost):
            server.go("isolation", ms=10)

    def test_times_out_a_search_that_does_not_end(self):
        with self.stub("endless") as server:
            with self.assertRaises(plyd.RequestTimeout):
                server.search("isolation", clock={"kind": "none"}, timeout=0.2).result()
            server.ping()

    def test_asks_an_overloaded_server_again_within_the_clock(self):
        with self.stub("busy") as server:
            self.assertGreaterEqual(int(server.go("isolation", ms=5000).move), 40)
        for options in ({"ms": 100}, {"ms": 200, "elapsed_ms": 150}, {"clock": {"kind": "per_move", "ms": 0}}):
            with self.subTest(options=options), self.stub("full") as server:
                with self.assertRaises(plyd.ServerError) as caught:
                    server.go("isolation", **options)
                self.assertEqual(caught.exception.code, "overloaded")
                self.assertEqual(caught.exception.retry_ms, 20)

    def test_asks_no_more_if_a_pause_lasts_too_long(self):
        with unittest.mock.patch.object(Retry, "again", return_value=None), self.stub("busy") as server:
            with self.assertRaises(plyd.ServerError) as caught:
                server.go("isolation", ms=5000)
            self.assertEqual(caught.exception.code, "overloaded")

    def test_kills_a_server_that_does_not_end(self):
        with self.stub("deaf") as server:
            self.shorten(server, 0.2)
            process = server._connection.process
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
                moves.append(server.go("isolation", rules={"width": 5, "height": 5}, nodes=200).move)

            threads = [threading.Thread(target=play) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(moves), 8)


    def test_may_be_stopped_by_another_thread(self):
        with self.open() as server:
            search = server.search("isolation", clock={"kind": "none"}, rules={"preset": "11x9"})
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
                small = {"rules": {"width": 5, "height": 5}, "nodes": 200}
                searches = (server.go("isolation", **small) for _ in range(8))
                return await asyncio.gather(*searches)

        self.assertEqual(len(asyncio.run(play())), 8)


class BlockingHostile(Blocking, Hostile, unittest.TestCase):
    def test_does_not_ask_again_after_a_stop(self):
        with self.stub("later") as server:
            search, ended = server.search("isolation", ms=60_000), []

            def play():
                try:
                    ended.append(search.result())
                except plyd.ServerError as error:
                    ended.append(error.code)

            player = threading.Thread(target=play)
            player.start()
            server.ping()  # the refusal came before this answer
            wait_until(lambda: ended or search._inbox.empty())
            with self.assertRaises(plyd.ServerError):
                search.stop()
            player.join()
            self.assertEqual(ended, ["overloaded"])


class AsyncHostile(Asynchronous, Hostile, unittest.TestCase):
    def test_does_not_ask_again_after_a_stop(self):
        async def play():
            command = [sys.executable, str(HERE / "stub.py"), "later"]
            async with plyd.AsyncEngine(program=command, timeout=5.0) as server:
                search = await server.search("isolation", ms=60_000)
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
