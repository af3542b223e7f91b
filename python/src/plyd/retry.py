"""A search that an overloaded server refuses is asked for again, within the same clock."""

from __future__ import annotations

import math

from .limit import allowed
from .wire import Message


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
