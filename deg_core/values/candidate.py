"""A value that a grammar found in a text, and the order that every grammar gives its values in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Candidate:
    """start, end: half-open code points. value: as JSON would hold it.

    assumed_offset: a date-time whose offset came from the options.
    """

    start: int
    end: int
    value: Any
    assumed_offset: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"span [{self.start}, {self.end}) is empty or out of range")


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """In document order; longer spans first at one start."""
    return sorted(candidates, key=lambda candidate: (candidate.start, -candidate.end))
