"""What can go wrong. All but a wrong argument is a :class:`PlydError`."""

from __future__ import annotations

from typing import Any


class PlydError(Exception):
    """The base of this package's errors."""


class ServerError(PlydError):
    """The server refused a request; `code` is one of the specification's words."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.code = str(message.get("code"))
        self.pointer: str | None = message.get("pointer")
        self.retry_ms: int | None = message.get("retry_ms")
        self.message = message
        where = f" at {self.pointer}" if self.pointer else ""
        super().__init__(f"{self.code}{where}: {message.get('message')}")


class ConnectionLost(PlydError):
    """The server ended, closed the connection or could not be reached.

    Requests in flight fail by it; the next request connects again, unless the engine is closed.
    """


class ProtocolError(ConnectionLost):
    """The other end does not speak the protocol; the connection has been closed."""


class RequestTimeout(PlydError, TimeoutError):
    """No answer came in time; a search that was waited for has been sent a `stop`."""
