"""The frames of WebSocket, as servers send them and as they should not."""

import base64
import hashlib
import pathlib
import random
import socket
import sys
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent.parent / "examples" / "tests")]

import plyd  # noqa: E402
from plyd.websocket import CLOSE, CONTINUATION, PING, PONG, TEXT, Frames, Upgrade, frame  # noqa: E402
from support import TIMEOUT  # noqa: E402
from test_client import Asynchronous, Blocking  # noqa: E402

LIMIT = 1 << 20


def sent(first, payload=b"", size=None):
    """A frame of a server, with the first byte and the size that it is to have."""
    size = len(payload) if size is None else size
    if size < 126:
        return bytes([first, size]) + payload
    if size < 1 << 16:
        return bytes([first, 126]) + size.to_bytes(2, "big") + payload
    return bytes([first, 127]) + size.to_bytes(8, "big") + payload


def whole(kind, payload=b""):
    return sent(0x80 | kind, payload)


def opened(data):
    """What stands in frames of a client: first byte and payload of each."""
    found = []
    while data:
        first, size, begin = data[0], data[1] & 0x7F, 2
        if size > 125:
            begin = 4 if size == 126 else 10
            size = int.from_bytes(data[2:begin], "big")
        mask, end = data[begin : begin + 4], begin + 4 + size
        assert data[1] & 0x80, "a client masks"
        found.append((first, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data[begin + 4 : end]))))
        data = data[end:]
    return found


class Lines(unittest.TestCase):
    def test_are_found_however_they_come(self):
        text = b"".join([
            whole(TEXT, b"one"),
            sent(TEXT, b"t"), whole(PING, b"there?"), sent(CONTINUATION, b"w"), whole(CONTINUATION, b"o"),
            sent(TEXT, b""), whole(CONTINUATION, b""),
            whole(PONG, b"unasked"),
            whole(TEXT, b"x" * 126), whole(TEXT, b"y" * 70_000),
            whole(CLOSE, b"\x03\xe8bye"), whole(TEXT, b"behind the end"),
        ])  # fmt: skip
        lines = [b"one\n", b"two\n", b"\n", b"x" * 126 + b"\n", b"y" * 70_000 + b"\n"]
        order = random.Random(7)
        for most in (1, 3, 1000, len(text)):
            with self.subTest(most=most):
                frames, answers, rest = Frames(LIMIT), b"", text
                while rest:
                    size = order.randint(1, most)
                    answers += frames.take(rest[:size])
                    rest = rest[size:]
                self.assertEqual((list(frames.messages), frames.is_over), (lines, True))
                self.assertEqual(opened(answers), [(0x8A, b"there?"), (0x88, b"\x03\xe8")])

    def test_are_written_as_servers_read_them(self):
        for size in (0, 1, 125, 126, 1000, 65_535, 65_536):
            payload = bytes(at % 251 for at in range(size))
            self.assertEqual(opened(frame(TEXT, payload)), [(0x81, payload)])

    def test_that_break_the_rules_are_refused(self):
        for name, data in {
            "masked": b"\x81\x82aaaa12",
            "binary": whole(2, b"a"),
            "unknown kind": whole(3, b"a"),
            "unknown control": whole(11),
            "compressed": sent(0xC1, b"a"),
            "long ping": sent(0x80 | PING, b"a" * 126),
            "ping in parts": sent(PING, b"a"),
            "end without begin": whole(CONTINUATION, b"a"),
            "two begins": sent(TEXT, b"a") + whole(TEXT, b"b"),
            "line end": whole(TEXT, b"a\nb"),
            "too long": sent(0x81, size=LIMIT),
            "longer than any memory": b"\x81\x7f" + b"\xff" * 8,
            "too long in parts": sent(TEXT, b"a" * (LIMIT // 2)) + whole(CONTINUATION, b"a" * (LIMIT // 2)),
        }.items():
            with self.subTest(name), self.assertRaises(plyd.ProtocolError):
                Frames(LIMIT).take(data)

    def test_begin_where_the_answer_to_the_request_ends(self):
        upgrade = Upgrade("::1", 7118)
        self.assertIn(b"\r\nHost: [::1]:7118\r\n", upgrade.request)
        answer = accepted(upgrade.request) + b"\x81"
        self.assertIsNone(upgrade.answered(answer[:50]))
        self.assertEqual(upgrade.answered(answer[50:]), b"\x81")
        for answer in [
            b"HTTP/1.1 403 Forbidden\r\n\r\n",
            b"",
            b'{"type":"error"}\r\n\r\n',
            accepted(upgrade.request),
            b"HTTP/1.1 101 x\r\n" + b"a: b\r\n" * 10_000,
        ]:
            with self.subTest(answer=answer[:40]), self.assertRaises(OSError):
                Upgrade("h", 1).answered(answer)


def accepted(request):
    """What a server answers to a request for a WebSocket."""
    key = request.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
    proof = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + base64.b64encode(proof) + b"\r\n\r\n"


class Servers:
    """Servers over WebSocket that go wrong; each test with both engines."""

    def serve(self, *answers):
        """Serves one client: answers `hello`, and then sends these frames."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.received = []

        def serve():
            with listener, listener.accept()[0] as peer:
                peer.settimeout(TIMEOUT)
                peer.sendall(accepted(peer.recv(1 << 16)))
                peer.recv(1 << 16)
                result = b'{"seq":1,"t_us":1,"type":"result","id":"1","of":"hello"}'
                peer.sendall(whole(TEXT, result) + b"".join(answers))
                while data := peer.recv(1 << 16):
                    self.received.append(data)

        serving = threading.Thread(target=serve)
        serving.start()
        self.addCleanup(serving.join)
        return f"ws=127.0.0.1:{listener.getsockname()[1]}"

    def test_answers_pings_and_takes_leave(self):
        with self.open(self.serve(whole(PING, b"there?")), program=None, timeout=TIMEOUT) as server:
            with self.assertRaises(plyd.RequestTimeout):
                server._inner.timeout = 0.5
                server.ping()
        self.doCleanups()
        frames = opened(b"".join(self.received))
        self.assertIn((0x8A, b"there?"), frames)
        self.assertEqual(frames[-1], (0x88, b"\x03\xe8"))

    def test_leaves_a_server_whose_frames_are_wrong(self):
        address = self.serve(whole(2, b"binary"))
        with self.assertRaises(plyd.ProtocolError), self.open(address, program=None, timeout=TIMEOUT) as server:
            server.ping()

    def test_says_that_the_server_has_closed(self):
        with self.open(self.serve(whole(CLOSE, b"\x03\xe9")), program=None, timeout=TIMEOUT) as server:
            with self.assertRaises(plyd.ConnectionLost):
                server.ping()


class BlockingServers(Blocking, Servers, unittest.TestCase):
    pass


class AsyncServers(Asynchronous, Servers, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main()
