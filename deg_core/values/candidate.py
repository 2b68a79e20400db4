"""A value that a grammar found in a text, and the order that every grammar gives its values in."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self


class _Fields(NamedTuple):
    start: int
    end: int
    value: Any
    assumed_offset: bool = False


class Candidate(_Fields):
    """start, end: half-open code points. value: as JSON would hold it.

    assumed_offset: a date-time whose offset came from the options.
    A tuple, since a long text has hundreds of thousands of them. Raises ValueError for a span that is none.
    """

    __slots__ = ()

    def __new__(cls, start: int, end: int, value: Any, assumed_offset: bool = False) -> Self:
        if not 0 <= start < end:
            raise ValueError(f"span [{start}, {end}) is empty or out of range")
        return tuple.__new__(cls, (start, end, value, assumed_offset))


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """In document order; longer spans first at one start."""
    return sorted(candidates, key=lambda candidate: (candidate.start, -candidate.end))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without the cyclic garbage collector, which would walk every candidate again and again; none is in a cycle.

    With several threads it runs again as soon as one of them is done, and never stays off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
