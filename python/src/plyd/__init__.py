"""The plyd game engine: :class:`Engine` blocks, :class:`AsyncEngine` awaits."""

from .analysis import AsyncAnalysis
from .blocking import Analysis, Engine, Game
from .board import Board, Cell, Mark, Piece, Wall
from .engine import AsyncEngine
from .errors import ConnectionLost, PlydError, ProtocolError, RequestTimeout, ServerError
from .game import AsyncGame
from .limit import Anytime, Bank, Delay, Endless, Increment, Limit
from .options import GameInfo, Named, Options, Rating, Spec
from .position import Actions, Chance, Outcome, Place, Position, Successor
from .results import Info, Line, PlayResult, Stats
from .scores import Proof, Score, Side, Wdl
from .version import VERSION as __version__

__all__ = [
    "Actions",
    "Analysis",
    "Anytime",
    "AsyncAnalysis",
    "AsyncEngine",
    "AsyncGame",
    "Bank",
    "Board",
    "Cell",
    "Chance",
    "ConnectionLost",
    "Delay",
    "Endless",
    "Engine",
    "Game",
    "GameInfo",
    "Increment",
    "Info",
    "Limit",
    "Line",
    "Mark",
    "Named",
    "Options",
    "Outcome",
    "Piece",
    "Place",
    "PlayResult",
    "PlydError",
    "Position",
    "Proof",
    "ProtocolError",
    "Rating",
    "RequestTimeout",
    "Score",
    "ServerError",
    "Side",
    "Spec",
    "Stats",
    "Successor",
    "Wall",
    "Wdl",
    "__version__",
]
