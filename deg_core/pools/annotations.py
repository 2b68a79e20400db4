"""What a record says beside its value: spans, alternatives, teacher probabilities, verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from deg_core.contract.errors import Problem
from deg_core.contract.plan import FieldPlan
from deg_core.contract.pointer import read_value

Span = tuple[int, int]
Leaves = Mapping[str, tuple[FieldPlan, tuple[int, ...]]]

KEYS = ("spans", "span_alternatives", "span_probs", "decide_probs", "judge", "span_counts")
SUM_TOLERANCE = 0.02  # teachers round their probabilities


@dataclass(frozen=True)
class Annotations:
    """Checked annotations, each by concrete pointer.

    spans: half-open code point ranges of the rendered context, every one correct, the gold one first. A
    decided field may have them too, as evidence; only extract fields train on them.
    span_weights: a soft target over spans, summing to 1. probabilities: over the outcomes in plan order.
    judge: verdicts of generated fields, or None in a record that was not judged.
    repeated: pointers of which spans holds one of several occurrences.
    """

    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    span_weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    probabilities: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    judge: Mapping[str, Mapping[str, Any]] | None = None
    repeated: frozenset[str] = frozenset()

    def keeps(self, pointer: str) -> bool:
        """Whether a generated field may train: faithful = 2, responsive = 2 and kept is not false.

        The nearest enclosing verdict counts, so that an array's items take the array's. In a record that
        was judged, a field without a verdict does not train.
        """
        if self.judge is None:
            return True
        verdict = next((self.judge[p] for p in _upwards(pointer) if p in self.judge), None)
        if verdict is None:
            return False
        return verdict.get("faithful") == 2 and verdict.get("responsive") == 2 and verdict.get("kept") is not False


def read_annotations(
    body: Mapping[str, Any], value: Any, leaves: Leaves, context_length: int
) -> tuple[Annotations, list[Problem]]:
    """Check the annotations of a record's body; context_length is in code points."""
    problems = [
        Problem(f"/{key}", "must be an object, pointer to annotation")
        for key in KEYS
        if key in body and not isinstance(body[key], Mapping)
    ]
    if problems:
        return Annotations(), problems
    reader = _Reader(body, value, leaves, context_length, problems)
    spans, weights = reader.spans()
    annotations = Annotations(
        spans=spans,
        span_weights=weights,
        probabilities=reader.probabilities(),
        judge=reader.verdicts(),
        repeated=frozenset(body.get("span_counts", {})) & frozenset(spans),
    )
    return annotations, problems


@dataclass
class _Reader:
    body: Mapping[str, Any]
    value: Any
    leaves: Leaves
    context_length: int
    problems: list[Problem]

    def _complain(self, key: str, pointer: str, msg: str) -> None:
        self.problems.append(Problem(f"/{key}/{pointer.replace('~', '~0').replace('/', '~1')}", msg))

    def spans(self) -> tuple[dict[str, tuple[Span, ...]], dict[str, tuple[float, ...]]]:
        found: dict[str, tuple[Span, ...]] = {}
        weights: dict[str, tuple[float, ...]] = {}
        for pointer, span in self._placed("spans"):
            if self._is_span("spans", pointer, span):
                found[pointer] = (tuple(span),)
        for pointer, spans in self._placed("span_alternatives"):
            if self._are_spans(pointer, spans):
                alternatives = tuple(tuple(span) for span in spans)
                weights.update(self._weights(pointer, len(alternatives)))
                gold = () if pointer in weights else found.get(pointer, ())
                found[pointer] = tuple(dict.fromkeys(gold + alternatives)) if gold else alternatives
        return found, weights

    def _placed(self, key: str) -> Iterator[tuple[str, Any]]:
        for pointer, entry in self.body.get(key, {}).items():
            if pointer not in self.leaves:
                self._complain(key, pointer, "is no field of the value")
            elif read_value(self.value, pointer, None) is None:
                self._complain(key, pointer, "has a place in the context, but its value is null or absent")
            else:
                yield pointer, entry

    def _is_span(self, key: str, pointer: str, span: Any) -> bool:
        pair = isinstance(span, list) and len(span) == 2
        if not pair or not all(isinstance(end, int) and not isinstance(end, bool) for end in span):
            self._complain(key, pointer, "a span is [start, end) in code points, two integers")
        elif not 0 <= span[0] < span[1]:
            self._complain(key, pointer, f"[{span[0]}, {span[1]}) is empty or starts before the context")
        elif span[1] > self.context_length:
            place = f"[{span[0]}, {span[1]})"
            self._complain(key, pointer, f"{place} ends after the context ({self.context_length} code points)")
        else:
            return True
        return False

    def _are_spans(self, pointer: str, spans: Any) -> bool:
        if not isinstance(spans, list) or not spans:
            self._complain("span_alternatives", pointer, "must be a list of at least one span")
            return False
        return all([self._is_span("span_alternatives", pointer, span) for span in spans])

    def _weights(self, pointer: str, count: int) -> dict[str, tuple[float, ...]]:
        """The soft target over alternatives; none when its length differs from theirs (section 1)."""
        weights = self.body.get("span_probs", {}).get(pointer)
        if weights is None or (isinstance(weights, list) and len(weights) != count):
            return {}
        if not _are_weights(weights):
            self._complain("span_probs", pointer, "must be a list of numbers, none negative, not all zero")
            return {}
        total = math.fsum(weights)
        return {pointer: tuple(weight / total for weight in weights)}

    def probabilities(self) -> dict[str, tuple[float, ...]]:
        found = {}
        for pointer, given in self.body.get("decide_probs", {}).items():
            leaf = self.leaves.get(pointer)
            if leaf is None or not leaf[0].outcomes:
                self._complain("decide_probs", pointer, "is no decide field of the value")
                continue
            msg = probability_problem(given, len(leaf[0].outcomes))
            if msg:
                self._complain("decide_probs", pointer, msg)
            else:
                found[pointer] = normalised(given)
        return found

    def verdicts(self) -> Mapping[str, Mapping[str, Any]] | None:
        judge = self.body.get("judge")
        for pointer, verdict in (judge or {}).items():
            if not isinstance(verdict, Mapping):
                self._complain("judge", pointer, "a verdict is an object {faithful, responsive, kept}")
        return judge


def probability_problem(given: Any, outcomes: int) -> str | None:
    """What is wrong with a list of probabilities over outcomes; None when it is right."""
    if not isinstance(given, list) or len(given) != outcomes:
        return f"must be a list of {outcomes} probabilities, one an outcome"
    if not _are_weights(given):
        return "must hold numbers, none negative, not all zero"
    total = math.fsum(given)
    return None if abs(total - 1) <= SUM_TOLERANCE else f"sums to {total:g}, not to 1"


def normalised(given: list[float]) -> tuple[float, ...]:
    """Probabilities that sum to 1 exactly up to rounding."""
    total = math.fsum(given)
    return tuple(p / total for p in given)


def _are_weights(given: Any) -> bool:
    if not isinstance(given, list) or not given:
        return False
    numbers = all(isinstance(p, int | float) and not isinstance(p, bool) for p in given)
    return numbers and all(0 <= p < math.inf for p in given) and sum(given) > 0


def _upwards(pointer: str) -> Iterator[str]:
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
