"""The client library over TLS, against the real server: whom it trusts, and what it says of the others.

Skipped with a server that has no TLS, unless PLYD_HAS_TLS says that it has.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent.parent / "examples" / "tests")]

import plyd  # noqa: E402
from plyd.address import Address  # noqa: E402
from plyd.secure import Files  # noqa: E402
from support import TIMEOUT, engine  # noqa: E402
from test_client import HUGE, LARGE, SMALL, Asynchronous, Blocking, in_threads  # noqa: E402

CERTIFICATES = HERE.parents[1] / "tests" / "certificates"


def certificate(name):
    """The flags that serve TLS with that certificate."""
    return ["--tls-cert", str(CERTIFICATES / f"{name}.pem"), "--tls-key", str(CERTIFICATES / f"{name}.key")]


def has_tls():
    check = [engine(), "serve", "--check", "--tcp", "127.0.0.1:0", *certificate("server")]
    said = subprocess.run(check, capture_output=True, text=True, timeout=TIMEOUT).stderr
    return os.environ.get("PLYD_HAS_TLS") == "1" or "has no TLS" not in said


class Addresses(unittest.TestCase):
    def test_read_as_other_clients_do(self):
        for text, expected in [
            ("h:1", Address(host="h", port=1)),
            ("tcp=h:1", Address(host="h", port=1)),
            ("tcp://[::1]:1/", Address(host="::1", port=1)),
            ("tls=h:1", Address(host="h", port=1, tls=Files())),
            ("tls://h:1/?ca=/a/b=c", Address(host="h", port=1, tls=Files(ca="/a/b=c"))),
            ("tls://h:1?key=k&ca=a&cert=c", Address(host="h", port=1, tls=Files("a", "c", "k"))),
            ("ws=h:1", Address(host="h", port=1, web=True)),
            ("ws://[::1]:1/ws", Address(host="::1", port=1, web=True)),
            ("wss://h:1/", Address(host="h", port=1, tls=Files(), web=True)),
            ("wss=h:1/ws?ca=/a/ws", Address(host="h", port=1, tls=Files(ca="/a/ws"), web=True)),
            ("unix=a", Address(path="a")),
            ("/run/plyd", Address(path="/run/plyd")),
        ]:
            with self.subTest(text=text):
                self.assertEqual(Address.read(text, None), expected)
        for text in [
            "h", ":1", "h:", "h:x", "h:65536", "h:-1", "tls=h", "tls://h:1?cert=c", "tls://h:1?key=k", "tls://h:1?ca",
            "tls://h:1?ca=", "tls://h:1?ca=a&ca=b", "tls://h:1?verify=no", "tls://h/x:1", "wss://h:1/x", "ws=h", "ws=h:1?ca=a", "unix=",
            "",
        ]:
            with self.subTest(text=text), self.assertRaises(ValueError):
                Address.read(text, None)


class Secure:
    """Servers over TLS; each test with the blocking engine and with that of asyncio."""

    @classmethod
    def setUpClass(cls):
        if not has_tls():
            raise unittest.SkipTest(f"{engine()} has no TLS")

    def serve(self, *arguments, way="tcp"):
        """Starts a server; the port that it listens on."""
        command = [engine(), "serve", f"--{way}", "127.0.0.1:0", *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        log = ""
        while (found := re.search(r"listening on 127\.0\.0\.1:(\d+)", log)) is None:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", log)
            log += line
        return int(found[1])

    def reached(self, address):
        with self.open(address, program=None, timeout=TIMEOUT) as server:
            self.assertGreaterEqual(server.ping(), 0)
            return server.go("l-game", plyd.Limit(nodes=100)).move

    def refused(self, address):
        with self.assertRaises(plyd.ConnectionLost) as caught:
            self.reached(address)
        return str(caught.exception)

    def address(self, port, host="127.0.0.1", way="tls", **files):
        files = {"ca": "authority.pem", **files}
        options = "&".join(f"{name}={CERTIFICATES / file}" for name, file in files.items() if file)
        return f"{way}://{host}:{port}?{options}"

    def test_plays_where_the_authority_is_trusted(self):
        for listens, way in [("tcp", "tls"), ("ws", "wss")]:
            with self.subTest(way=way):
                port = self.serve(*certificate("server"), way=listens)
                for host in ("127.0.0.1", "localhost"):
                    self.assertNotEqual(self.reached(self.address(port, host, way)), "")
                self.plays(self.address(port, way=way))

    def plays(self, address):
        with self.open(address, program=None, timeout=TIMEOUT) as server:
            with server.game(SMALL) as game:
                while game.inspect().outcome is None:
                    game.play(game.go(plyd.Limit(nodes=200)).move)
            news = list(server.analysis(LARGE, plyd.Limit(nodes=20_000), mode="move"))
            self.assertNotEqual(news, [])
            # Longer than any record of TLS, both ways.
            self.assertEqual(len(server.inspect(HUGE).legal), 16**3)
            with self.assertRaises(plyd.ServerError):
                server.inspect(plyd.Place("isolation", start="x" * 500_000))

    def test_refuses_a_certificate_that_is_not_good(self):
        for name, words in [
            ("expired", "expired"),
            ("elsewhere", "not valid for '127.0.0.1'"),
            ("foreign", "?ca=FILE"),
        ]:
            with self.subTest(certificate=name):
                said = self.refused(self.address(self.serve(*certificate(name))))
                self.assertRegex(said.replace("IP address mismatch, certificate is", ""), re.escape(words))
        web = self.serve(*certificate("elsewhere"), way="ws")
        self.assertIn("not valid for '127.0.0.1'", self.refused(self.address(web, way="wss")))
        # Without a file the authorities of the system count, none of which is that of the tests.
        port = self.serve(*certificate("server"))
        self.assertIn("?ca=FILE", self.refused(f"tls://127.0.0.1:{port}"))
        for file, words in [("nowhere.pem", "nowhere.pem"), ("server.key", "server.key")]:
            self.assertIn(words, self.refused(self.address(port, ca=file)))

    def test_shows_a_certificate_where_it_is_asked_for(self):
        port = self.serve(*certificate("server"), "--tls-client-ca", str(CERTIFICATES / "authority.pem"))
        self.assertNotEqual(self.reached(self.address(port, cert="client.pem", key="client.key")), "")
        self.assertIn("?cert=FILE&key=FILE", self.refused(self.address(port)))
        for name in ("foreign-client", "expired-client"):
            self.assertIn("alert", self.refused(self.address(port, cert=f"{name}.pem", key=f"{name}.key")))
        said = self.refused(self.address(port, cert="client.pem", key="foreign.key"))
        self.assertIn("foreign.key", said)

    def test_says_if_only_one_end_speaks_tls(self):
        self.assertIn("is TLS served there?", self.refused(self.address(self.serve())))
        self.assertIn("is TLS served there?", self.refused(self.address(self.serve(way="ws"), way="wss")))
        port = self.serve(*certificate("server"))
        self.refused(f"127.0.0.1:{port}")
        self.refused(f"ws=127.0.0.1:{self.serve(*certificate('server'), way='ws')}")
        self.assertIn("is WebSocket served there?", self.refused(self.address(port, way="wss")))

    def test_says_if_the_server_leaves_during_the_handshake(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def leave():
                connection, _ = listener.accept()
                connection.recv(1 << 16)
                connection.close()

            leaving = threading.Thread(target=leave)
            leaving.start()
            said = self.refused(self.address(listener.getsockname()[1]))
            leaving.join()
        self.assertIn("is TLS served there?", said)


class BlockingSecure(Blocking, Secure, unittest.TestCase):
    def test_reads_and_writes_at_the_same_time(self):
        for listens, way in [("tcp", "tls"), ("ws", "wss")]:
            with self.subTest(way=way):
                self.plays_from_many_threads(self.address(self.serve(*certificate("server"), way=listens), way=way))

    def plays_from_many_threads(self, address):
        with self.open(address, program=None, timeout=TIMEOUT) as server:
            moves = []

            def play():
                for _ in range(10):
                    server.inspect(HUGE)
                    with self.assertRaises(plyd.ServerError):
                        server.inspect(plyd.Place("isolation", start="x" * 50_000))
                moves.append(server.go(SMALL, plyd.Limit(nodes=200)).move)

            in_threads(8, play)
            self.assertEqual(len(moves), 8)


class AsyncSecure(Asynchronous, Secure, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main()
