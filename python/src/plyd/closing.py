"""What is closed at the end of an `async with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

C = TypeVar("C", bound="AsyncClosing")


class AsyncClosing(ABC):
    """Something that is closed at the end of an `async with`."""

    @abstractmethod
    async def close(self) -> None:
        """Ends it."""

    async def __aenter__(self: C) -> C:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
