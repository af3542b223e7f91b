"""Client of the plyd game engine: :class:`Engine` blocks, :class:`AsyncEngine` awaits."""

from .aio import AsyncEngine, AsyncGame, AsyncSearch
from .blocking import Engine, Game, Search
from .errors import ConnectionLost, PlydError, ProtocolError, RequestTimeout, ServerError
from .messages import BestMove, Info, Inspected, Line, Outcome, Proof, Score, Stats

__all__ = [
    "AsyncEngine",
    "AsyncGame",
    "AsyncSearch",
    "BestMove",
    "ConnectionLost",
    "Engine",
    "Game",
    "Info",
    "Inspected",
    "Line",
    "Outcome",
    "PlydError",
    "Proof",
    "ProtocolError",
    "RequestTimeout",
    "Score",
    "Search",
    "ServerError",
    "Stats",
]
