"""Mistakes in what a caller gives, named where they are made: an editor sees them, a notebook does not."""

from __future__ import annotations

import math
from numbers import Integral, Real


def expect(name: str, value: object, kind: type, example: str) -> None:
    """Raises `TypeError` unless an argument is of its kind; the message shows how one is made."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a plyd.{kind.__name__}, such as {example}, not {value!r}")


def expect_seconds(name: str, value: object) -> None:
    """Raises `TypeError` or `ValueError` unless a time is a number of seconds from 0 on."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number of seconds, such as {name}=0.5 for half a second, not {value!r}")
    if not 0 <= float(value) < math.inf:
        raise ValueError(f"{name} must be 0 seconds or more, such as {name}=0.5 for half a second, not {value!r}")


def expect_count(name: str, value: object, example: str) -> None:
    """Raises `TypeError` or `ValueError` unless a limit is a whole number from 1 on."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, such as {name}={example}, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more, such as {name}={example}, not {value!r}")


def expect_moves(name: str, value: object) -> None:
    """Raises `TypeError` if one text stands for a list of moves, of which it would be one a letter."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of moves, such as [{value!r}], not one text")
