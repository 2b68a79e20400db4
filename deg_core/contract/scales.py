"""Numeric bounds: the integer scale they admit, and whether they admit a number at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from deg_core.contract.keywords import NUMBER_KEYWORDS

MAX_LEVELS = 11


def exact(number: int | float) -> Fraction:
    """The number as it is written in decimal: 0.1 is one tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def bounds_of(schema: Mapping[str, Any]) -> dict[str, int | float]:
    """The number keywords of a schema; draft 4's boolean exclusive bounds become numbers."""
    bounds = {key: schema[key] for key in NUMBER_KEYWORDS if key in schema}
    for exclusive, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(bounds.get(exclusive), bool) and bounds.pop(exclusive) and inclusive in bounds:
            bounds[exclusive] = bounds.pop(inclusive)
    return bounds


def integer_count(bounds: Mapping[str, int | float]) -> int | None:
    """How many integers the bounds admit (0 when they contradict each other); None = no end on a side."""
    edges = _integer_edges(bounds)
    if edges is None:
        return None
    first, last, step = edges
    return max(0, (last - first) // step + 1)


def levels_of(bounds: Mapping[str, int | float]) -> tuple[int, ...]:
    """The admissible integers in ascending order; only for bounds with a finite `integer_count`."""
    edges = _integer_edges(bounds)
    if edges is None:
        raise ValueError("the bounds admit infinitely many integers")
    first, last, step = edges
    return tuple(range(first, last + 1, step))


def admits_number(bounds: Mapping[str, int | float]) -> bool:
    """Whether any number meets the bounds."""
    low, low_open = _edge(bounds, "minimum", "exclusiveMinimum", max)
    high, high_open = _edge(bounds, "maximum", "exclusiveMaximum", min)
    if low is None or high is None:
        return True
    if low > high or (low == high and (low_open or high_open)):
        return False
    if "multipleOf" not in bounds:
        return True
    step = exact(bounds["multipleOf"])
    multiple = math.ceil(low / step) * step
    if low_open and multiple == low:
        multiple += step
    return multiple < high or (multiple == high and not high_open)


def _integer_edges(bounds: Mapping[str, int | float]) -> tuple[int, int, int] | None:
    low, low_open = _edge(bounds, "minimum", "exclusiveMinimum", max)
    high, high_open = _edge(bounds, "maximum", "exclusiveMaximum", min)
    if low is None or high is None:
        return None
    # The integers among the multiples of p/q (lowest terms) are the multiples of p.
    step = exact(bounds.get("multipleOf", 1)).numerator
    first = math.floor(low) + 1 if low_open else math.ceil(low)
    last = math.ceil(high) - 1 if high_open else math.floor(high)
    return -(-first // step) * step, last // step * step, step


def _edge(
    bounds: Mapping[str, int | float], inclusive: str, exclusive: str, tighter: Any
) -> tuple[Fraction | None, bool]:
    """The tighter of an inclusive and an exclusive bound, and whether it is exclusive."""
    closed = exact(bounds[inclusive]) if inclusive in bounds else None
    opened = exact(bounds[exclusive]) if exclusive in bounds else None
    if opened is None:
        return closed, False
    if closed is None or tighter(closed, opened) == opened:
        return opened, True
    return closed, False
