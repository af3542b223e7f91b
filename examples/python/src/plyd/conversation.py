"""The protocol without I/O: requests to bytes, bytes to messages, fields of requests.

Both engines, the blocking and the asyncio one, are this with a way to wait.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .errors import PlydError, ProtocolError, ServerError
from .messages import BestMove, Info, Message
from .secure import Files

Settings = Mapping[str, Any]

HELLO: Message = {
    "protocol": {"min": 1, "max": 1},
    "client": {"name": "plyd-python", "version": "0.1.0"},
    "on_eof": "cancel",
}
WANTS = ("to_move", "outcome", "legal")
LINE_LIMIT = 1 << 26
"""The longest line that is taken from a server, in bytes; descriptions with schemas are long."""


def encode(name: str, cmd: str, fields: Message) -> bytes:
    """A request as a line; fields that are None are left out."""
    given = {key: value for key, value in fields.items() if value is not None}
    return json.dumps({"id": name, "cmd": cmd, **given}).encode() + b"\n"


def decode(line: bytes) -> Message:
    """A line as a message; raises `ProtocolError` for anything else."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise ProtocolError(f"no JSON from the server: {line[:64]!r}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f"no message from the server: {line[:64]!r}")
    return message


def final(message: Message) -> Message:
    """A final message that is no error; raises `ServerError` for one that is."""
    if message["type"] == "error":
        raise ServerError(message)
    return message


def news(message: Message) -> Info | BestMove:
    """What a search sent; raises `ServerError` if that is an error."""
    try:
        if message["type"] == "info":
            return Info.read(message)
        return BestMove.read(final(message))
    except (KeyError, TypeError) as error:
        raise ProtocolError(f"a field is missing or wrong: {error}") from error


def hello(token: str | None) -> Message:
    """The fields of the first request."""
    return HELLO if token is None else {**HELLO, "token": token}


def position(start: str | None, moves: Sequence[str]) -> Message:
    """A position: the start's text, or that of the rules, and the moves since."""
    return {"moves": list(moves)} if start is None else {"start": start, "moves": list(moves)}


def time_fields(
    ms: int | None, nodes: int | None, depth: int | None, clock: Settings | None
) -> Message:
    """The clock and the limit of a search from the usual arguments."""
    if ms is not None and clock is not None:
        raise ValueError("either `ms` or `clock`")
    limit = {k: v for k, v in (("nodes", nodes), ("depth", depth)) if v is not None}
    clock = {"kind": "per_move", "ms": ms} if ms is not None else clock
    return {"clock": None if clock is None else dict(clock), "limit": limit or None}


def answer_timeout(fields: Message, timeout: float) -> float | None:
    """How long to wait for the answer of a `go`, in seconds: None if its end is open."""
    clock, limit = fields.get("clock"), fields.get("limit") or {}
    known = [fields.get("hard_ms"), limit.get("time_ms")]
    if clock is not None and clock.get("kind") == "per_move":
        known.append(clock["ms"])
    times = [ms for ms in known if ms is not None]
    return max(0, min(times)) / 1000 + timeout if times else None


def allowed(fields: Message) -> float:
    """The time that the clock of a `go` leaves for the move, in seconds; without end if it has none."""
    clock = fields.get("clock") or {}
    parts = {
        "per_move": ("ms",),
        "increment": ("me_ms",),
        "delay": ("me_ms", "delay_ms"),
        "bank": ("turn_ms", "bank_ms"),
    }.get(clock.get("kind", ""))
    if parts is None:
        return math.inf
    return (sum(clock[part] for part in parts) - (fields.get("elapsed_ms") or 0)) / 1000


class Retry:
    """A `go` that is sent again, within the same clock, where the server is overloaded."""

    USUAL_MS = 100
    """When to ask again, where the server does not say."""
    LEAST = 0.01
    """What the clock must leave then, in seconds: less is no time for the request, a search and its answer."""

    def __init__(self, fields: Message, began: float) -> None:
        self.fields, self.began = fields, began

    def pause(self, message: Message, now: float) -> float | None:
        """How long to wait before asking again, in seconds: None where the answer is one."""
        overloaded = message["type"] == "error" and message.get("code") == "overloaded"
        if not overloaded or self.fields.get("mode") not in (None, "move"):
            return None
        retry_ms = message.get("retry_ms", self.USUAL_MS)
        seconds = max(retry_ms, 1) / 1000 if isinstance(retry_ms, int) else 1.0
        return seconds if self._has_time(now + seconds) else None

    def again(self, now: float) -> Message | None:
        """The same `go`, with the time that is spent in it: None where a pause that lasted longer leaves too little."""
        if not self._has_time(now):
            return None
        spent_ms = math.ceil((now - self.began) * 1000)
        return {**self.fields, "elapsed_ms": (self.fields.get("elapsed_ms") or 0) + spent_ms}

    def _has_time(self, now: float) -> bool:
        return now - self.began + self.LEAST <= allowed(self.fields)


@dataclass(frozen=True)
class Address:
    """Where a server is: `host:port`, with WebSocket, TLS, both or neither, the path of a Unix socket, or a program."""

    host: str = ""
    port: int = 0
    tls: Files | None = None
    web: bool = False
    path: str | None = None
    program: tuple[str, ...] = ()

    WRITTEN: ClassVar[str] = "tcp://HOST:PORT, ws://HOST:PORT, tls://HOST:PORT, wss://HOST:PORT or unix=PATH"
    """How addresses are written; each also with `=` for the `://`."""

    @classmethod
    def read(cls, address: str | None, program: str | Sequence[str] | None) -> Address:
        """Reads an address as `WRITTEN`, `host:port` or a path (with a `/`); without one, the program to start.

        Behind one of TLS may stand what `Files.read` takes: `tls://host:port?ca=FILE&cert=FILE&key=FILE`.
        """
        if address is None:
            if isinstance(program, str):
                return cls(program=(program,))
            return cls(program=tuple(program) if program else (find_program(),))
        found = re.match(r"(tcp|tls|ws|wss)(?:=|://)|unix=", address)
        if found is None and "/" in address:
            return cls(path=address)
        way, place = (found[1], address[found.end() :]) if found else ("tcp", address)
        if way is None:
            if not place:
                raise ValueError("give the path of a socket")
            return cls(path=place)
        options, web = "", way in ("ws", "wss")
        if way in ("tls", "wss"):
            place, _, options = place.partition("?")
        place = place.rstrip("/")
        if web and place.endswith("/ws"):
            place = place[:-3]
        host, _, port = place.rpartition(":")
        if not host or re.search(r"[\s/]", host) or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
            raise ValueError(f"neither host:port nor a path: {address!r}; give {cls.WRITTEN}")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        tls = Files.read(options) if way in ("tls", "wss") else None
        return cls(host=host, port=int(port), tls=tls, web=web)


def find_program() -> str:
    """The engine's program: PLYD_BIN, or `plyd` on the PATH."""
    program = os.environ.get("PLYD_BIN") or shutil.which("plyd")
    if program is None:
        raise PlydError("no `plyd` on the PATH, and PLYD_BIN is not set")
    return program
