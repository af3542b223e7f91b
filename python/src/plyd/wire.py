"""The protocol as bytes: requests to lines, lines to messages. No I/O."""

from __future__ import annotations

import json
from typing import Any

from .errors import ProtocolError, ServerError
from .version import VERSION

Message = dict[str, Any]

HELLO: Message = {
    "protocol": {"min": 1, "max": 1},
    "client": {"name": "plyd-python", "version": VERSION},
    "on_eof": "cancel",
}
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
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"no JSON from the server: {line[:64]!r}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f"no message from the server: {line[:64]!r}")
    return message


def final(message: Message) -> Message:
    """A final message that is no error; raises `ServerError` for one that is."""
    if message["type"] == "error":
        raise ServerError(message)
    return message


def hello(token: str | None) -> Message:
    """The fields of the first request."""
    return HELLO if token is None else {**HELLO, "token": token}
