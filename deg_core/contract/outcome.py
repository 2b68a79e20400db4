"""What the model found for one place of the value, before assembly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from deg_core.contract.choices import identity
from deg_core.contract.plan import FieldPlan


@dataclass(frozen=True)
class Decided:
    """probabilities: one per `FieldPlan.outcomes`, in that order; they sum to 1."""

    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        total = math.fsum(self.probabilities)
        if not self.probabilities or min(self.probabilities) < 0 or not math.isclose(total, 1, abs_tol=1e-3):
            raise ValueError(f"probabilities are at least 0 and sum to 1, got {self.probabilities}")


@dataclass(frozen=True)
class Extracted:
    """A value copied from the context, or none.

    span: half-open code points of the rendered context; None exactly when there is no value.
    confidence: probability of the chosen outcome. null_reason: why there is no value: not_found,
    unparsable or a violated keyword. assumed_offset: a date-time's offset came from the options.
    """

    value: Any
    span: tuple[int, int] | None
    confidence: float
    null_reason: str | None = None
    assumed_offset: bool = False

    def __post_init__(self) -> None:
        missing = self.value is None
        if missing != (self.span is None) or missing != (self.null_reason is not None):
            raise ValueError(f"an extracted value has a span, a missing one has a null_reason: {self}")
        if self.span is not None and not 0 <= self.span[0] <= self.span[1]:
            raise ValueError(f"span {self.span} is not a half-open range")


@dataclass(frozen=True)
class Counted:
    """The length of an array."""

    items: int

    def __post_init__(self) -> None:
        if self.items < 0:
            raise ValueError(f"an array of {self.items} items")


@dataclass(frozen=True)
class Generated:
    """Written text. tokens: how many were generated for it, the end token included."""

    text: str
    tokens: int


Outcome = Decided | Extracted | Counted | Generated


def outcome_index(field: FieldPlan, value: Any) -> int | None:
    """The position of a value among a decide field's outcomes; None when it is none of them.

    JSON equality: 1 is 1.0, true is not 1.
    """
    if isinstance(value, dict | list):
        return None
    wanted = identity(value)
    return next((i for i, outcome in enumerate(field.outcomes) if identity(outcome) == wanted), None)
