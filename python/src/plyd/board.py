"""A board to be drawn: a grid with pieces, walls and marks, the same for every game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from .scores import Side
from .wire import Message


class Cell(NamedTuple):
    """A cell, counted from 0 at the top left."""

    row: int
    col: int


@dataclass(frozen=True)
class Piece:
    """Something that stands on one cell or several; `kind` is a word of the game."""

    cells: tuple[Cell, ...]
    kind: str
    owner: Side | None
    label: str | None

    @classmethod
    def read(cls, part: Message) -> Piece:
        cells = tuple(Cell(*cell) for cell in [part["cell"], *part.get("also", ())])
        return cls(cells, part["piece"], part.get("owner"), part.get("label"))


@dataclass(frozen=True)
class Wall:
    """An inner wall on a side of a cell; each is there once."""

    cell: Cell
    side: Literal["up", "right", "down", "left"]

    @classmethod
    def read(cls, part: Message) -> Wall:
        return cls(Cell(*part["cell"]), part["side"])


@dataclass(frozen=True)
class Mark:
    """A note on a cell; `kind` is a word of the game."""

    cell: Cell
    kind: str
    owner: Side | None
    label: str | None

    @classmethod
    def read(cls, part: Message) -> Mark:
        return cls(Cell(*part["cell"]), part["mark"], part.get("owner"), part.get("label"))


@dataclass(frozen=True)
class Board:
    """What to draw; `pieces` in their order."""

    rows: int
    cols: int
    block: tuple[int, int] | None
    """The height and width of the blocks that heavier lines part."""
    row_labels: tuple[str, ...]
    col_labels: tuple[str, ...]
    pieces: tuple[Piece, ...]
    walls: tuple[Wall, ...]
    marks: tuple[Mark, ...]
    scores: tuple[int, int] | None

    @classmethod
    def read(cls, part: Message) -> Board:
        grid = part["grid"]
        return cls(
            grid["rows"], grid["cols"], pair(grid.get("block")),
            tuple(grid.get("row_labels", ())), tuple(grid.get("col_labels", ())),
            tuple(map(Piece.read, part.get("pieces", ()))),
            tuple(map(Wall.read, part.get("walls", ()))),
            tuple(map(Mark.read, part.get("marks", ()))),
            pair(part.get("scores")),
        )


def pair(part: list[int] | None) -> tuple[int, int] | None:
    """Two numbers, or none."""
    return None if part is None else (part[0], part[1])
