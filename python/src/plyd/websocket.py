"""WebSocket (RFC 6455): a line is a text message. `Upgrade` and `Frames` do no I/O, the two classes behind them do."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import struct
import threading
import time
from collections import deque
from collections.abc import Callable

from .errors import ProtocolError

READ_BYTES = 1 << 16
HEAD_LIMIT = 1 << 14
"""The longest answer to the request for a WebSocket, in bytes."""

NO_WEBSOCKET = "is WebSocket served there?"

CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10
GOOD_BYE = struct.pack("!H", 1000)


class Upgrade:
    """Asks a server for a WebSocket."""

    def __init__(self, host: str, port: int) -> None:
        self._key, self._read = base64.b64encode(os.urandom(16)), b""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.request = (
            f"GET /ws HTTP/1.1\r\nHost: {place}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {self._key.decode()}\r\n\r\n"
        ).encode()

    def answered(self, data: bytes) -> bytes | None:
        """Takes bytes of the answer; what stands behind it once it is there. Raises `OSError` for a refusal."""
        self._read += data
        head, end, rest = self._read.partition(b"\r\n\r\n")
        if not data or (not end and len(self._read) > HEAD_LIMIT):
            raise OSError(f"it does not answer what asks for a WebSocket; {NO_WEBSOCKET}")
        if not end:
            return None
        status, *fields = head.decode("latin-1").split("\r\n")
        if not status.startswith("HTTP/1.1 101"):
            raise OSError(f"it answers {status[:64]!r}; {NO_WEBSOCKET}")
        named = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        proof = hashlib.sha1(self._key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        if named.get("sec-websocket-accept") != base64.b64encode(proof).decode():
            raise OSError("it does not accept the key that it was sent")
        return rest


def frame(kind: int, payload: bytes) -> bytes:
    """A whole message, or a control frame, as a client sends it."""
    size, mask = len(payload), os.urandom(4)
    if size < 126:
        head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, size)
    masks = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "little") ^ int.from_bytes(masks, "little")
    return head + mask + masked.to_bytes(size, "little")


class Frames:
    """Finds the messages in what a server sends."""

    def __init__(self, limit: int) -> None:
        self.messages: deque[bytes] = deque()
        """Those that are there, as lines."""
        self.is_over = False
        """Whether the server has closed the WebSocket."""
        self._limit, self._read = limit, bytearray()
        self._parts: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> bytes:
        """Takes bytes, and returns what is to be sent in answer. Raises `ProtocolError` for what is no frame."""
        answers = b""
        self._read += data
        while not self.is_over and (found := self._next()) is not None:
            kind, is_final, payload = found
            if kind == PING:
                answers += frame(PONG, payload)
            elif kind == CLOSE:
                self.is_over = True
                answers += frame(CLOSE, payload[:2])
            elif kind in (TEXT, CONTINUATION):
                self._part(kind, is_final, payload)
        return answers

    def _part(self, kind: int, is_final: bool, payload: bytes) -> None:
        if (kind == CONTINUATION) != bool(self._parts):
            raise ProtocolError("parts of messages in the wrong order from the server")
        # The first part may be empty, and is one all the same.
        self._parts.append(payload)
        self._size += len(payload)
        if b"\n" in payload or self._size >= self._limit:
            raise ProtocolError("a message that is no line from the server")
        if is_final:
            self.messages.append(b"".join(self._parts) + b"\n")
            self._parts, self._size = [], 0

    def _next(self) -> tuple[int, bool, bytes] | None:
        """The next frame that is whole."""
        if len(self._read) < 2:
            return None
        first, size = self._read[:2]
        kind, begin = first & 0xF, 2
        is_control = kind >= CLOSE
        if first & 0x70 or size & 0x80 or kind not in (CONTINUATION, TEXT, CLOSE, PING, PONG):
            raise ProtocolError("no frame of text from the server")
        if is_control and (size > 125 or not first & 0x80):
            raise ProtocolError("a control frame that is long or in parts from the server")
        if size > 125:
            begin = 4 if size == 126 else 10
            if len(self._read) < begin:
                return None
            size = int.from_bytes(self._read[2:begin], "big")
            if size >= self._limit:
                raise ProtocolError("a message that is too long from the server")
        if len(self._read) < begin + size:
            return None
        payload = bytes(self._read[begin : begin + size])
        del self._read[: begin + size]
        return kind, bool(first & 0x80), payload


class WebSocket:
    """Lines over a connection that blocks: one thread reads while others write."""

    def __init__(
        self,
        receive: Callable[[], bytes],
        send: Callable[[bytes], object],
        host: str,
        port: int,
        limit: int,
        timeout: float,
    ) -> None:
        self._receive, self._send, self._sending = receive, send, threading.Lock()
        self._frames, upgrade = Frames(limit), Upgrade(host, port)
        deadline = time.monotonic() + timeout
        send(upgrade.request)
        while (rest := upgrade.answered(receive())) is None:
            if time.monotonic() > deadline:
                raise OSError(f"its answer to what asks for a WebSocket does not end; {NO_WEBSOCKET}")
        self._take(rest)

    def _take(self, data: bytes) -> None:
        answers = self._frames.take(data)
        if answers:
            with self._sending:
                self._send(answers)

    def readline(self, limit: int) -> bytes:
        """The next line; none at the end."""
        while not self._frames.messages:
            data = b"" if self._frames.is_over else self._receive()
            if not data:
                return b""
            self._take(data)
        return self._frames.messages.popleft()

    def write(self, line: bytes) -> None:
        with self._sending:
            self._send(frame(TEXT, line.rstrip(b"\n")))

    def flush(self) -> None:
        """Nothing waits to be sent."""

    def close(self) -> None:
        """Nothing is held beside the connection."""


class AsyncWebSocket:
    """Lines over the streams of asyncio: a reader and a writer of lines in one."""

    def __init__(self, output: asyncio.StreamReader, input: asyncio.StreamWriter, limit: int) -> None:
        self._output, self._input, self._frames = output, input, Frames(limit)

    async def opened(self, host: str, port: int) -> AsyncWebSocket:
        """Asks for the WebSocket."""
        upgrade = Upgrade(host, port)
        self._input.write(upgrade.request)
        while (rest := upgrade.answered(await self._output.read(READ_BYTES))) is None:
            pass
        self._input.write(self._frames.take(rest))
        return self

    async def readline(self) -> bytes:
        """The next line; none at the end."""
        while not self._frames.messages:
            data = b"" if self._frames.is_over else await self._output.read(READ_BYTES)
            if not data:
                return b""
            self._input.write(self._frames.take(data))
        return self._frames.messages.popleft()

    def write(self, line: bytes) -> None:
        self._input.write(frame(TEXT, line.rstrip(b"\n")))

    def close(self) -> None:
        """Takes leave and ends the connection."""
        if not self._input.is_closing():
            self._input.write(frame(CLOSE, GOOD_BYE))
        self._input.close()
