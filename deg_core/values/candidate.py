"""A value that a grammar found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
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
