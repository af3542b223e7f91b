"""Mistakes in what a caller gives, named where they are made: an editor sees them, a notebook does not."""

from __future__ import annotations


def expect(name: str, value: object, kind: type, example: str) -> None:
    """Raises `TypeError` unless an argument is of its kind; the message shows how one is made."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a plyd.{kind.__name__}, such as {example}, not {value!r}")


def expect_moves(name: str, value: object) -> None:
    """Raises `TypeError` if one text stands for a list of moves, of which it would be one a letter."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of moves, such as [{value!r}], not one text")
