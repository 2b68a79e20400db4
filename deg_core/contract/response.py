"""The response of a fill (contract section 8): value, meta and usage, validated before it leaves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deg_core.contract.drafts import draft_of
from deg_core.contract.errors import FillError
from deg_core.contract.outcome import Decided, Extracted, Generated, Outcome
from deg_core.contract.plan import ITEM, FieldPlan, FillPlan, Path, PathStep
from deg_core.contract.pointer import MISSING, join
from deg_core.contract.resolve import Resolved, resolve, value_of
from deg_core.contract.validation import validator_of
from deg_core.contract.walk import Indices, Lengths

_LONGEST_REASON = 200


def assemble(
    plan: FillPlan, outcomes: Mapping[str, Outcome], lengths: Lengths, *, model: str, prompt_tokens: int
) -> dict[str, Any]:
    """The response for what the model found.

    outcomes: of every leaf, keyed by the concrete pointer that its query had; generate leaves of dropped
    items and left-out objects need none. lengths: of every array, keyed likewise.
    Raises FillError where a value would have to be made up or does not meet the schema.
    """
    resolved = resolve(plan, outcomes, lengths)
    value = _value(plan, resolved, outcomes)
    _validate(plan, value)
    generated = [outcomes[leaf.raw_pointer] for leaf in resolved.to_generate]
    return {
        "model": model,
        "value": value,
        "meta": _meta(plan, resolved, outcomes),
        "usage": {
            "prompt_tokens": prompt_tokens,
            "generated_tokens": sum(found.tokens for found in generated if isinstance(found, Generated)),
        },
        "plan": plan.fingerprint,
    }


def leaf_meta(field: FieldPlan, outcome: Outcome) -> dict[str, Any]:
    """The meta entry of one leaf."""
    if isinstance(outcome, Decided):
        return {"mode": field.mode, **_decided_meta(field, outcome.probabilities)}
    if isinstance(outcome, Extracted):
        span = None if outcome.span is None else list(outcome.span)
        meta: dict[str, Any] = {"mode": field.mode, "confidence": outcome.confidence, "span": span}
        if outcome.null_reason is not None:
            meta["null_reason"] = outcome.null_reason
        if outcome.assumed_offset:
            meta["assumed_offset"] = True
        return meta
    if isinstance(outcome, Generated):
        return {"mode": field.mode, "generated_tokens": outcome.tokens}
    raise TypeError(f"{type(outcome).__name__} is no outcome of a leaf")


def _decided_meta(field: FieldPlan, probabilities: tuple[float, ...]) -> dict[str, Any]:
    if field.mode == "decide.noul":
        return {"probability": probabilities[0]}
    count, peak = len(probabilities), max(probabilities)
    meta = {
        "probability": peak,
        "confidence": (count * peak - 1) / (count - 1),
        "probabilities": list(probabilities),
    }
    if field.mode == "decide.score":
        meta["expected"] = _expected(field.levels, probabilities)
    return meta


def _expected(levels: tuple[int, ...], probabilities: tuple[float, ...]) -> float | None:
    """The mean level, given that it is not null; None when null is certain."""
    of_levels = probabilities[: len(levels)]
    mass = math.fsum(of_levels)
    return math.fsum(level * p for level, p in zip(levels, of_levels, strict=True)) / mass if mass > 0 else None


def _value(plan: FillPlan, resolved: Resolved, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """The value in schema order, objects without a value included."""
    leaves = {(leaf.field.path, leaf.indices): leaf for leaf in resolved.leaves}
    counts = {(array.array.path, array.indices): array.items for array in resolved.arrays}
    array_paths = {array.path for array in plan.arrays}
    field_paths = {field.path for field in plan.fields}

    def build(path: Path, below: Mapping[PathStep, Any], indices: Indices) -> Any:
        if (path, indices) in resolved.omitted:
            return MISSING
        if path in field_paths:
            return value_of(leaves[path, indices], outcomes)
        if path in array_paths:
            items = range(counts[path, indices])
            return [build((*path, ITEM), below[ITEM], (*indices, item)) for item in items]
        members = ((name, build((*path, name), shape, indices)) for name, shape in below.items())
        return {name: member for name, member in members if member is not MISSING}

    return build((), _tree(plan.order), ())


def _tree(order: tuple[Path, ...]) -> dict[PathStep, Any]:
    """Nested dictionaries of path steps, in schema order."""
    root: dict[PathStep, Any] = {}
    for path in order:
        node = root
        for step in path:
            node = node.setdefault(step, {})
    return root


def _meta(plan: FillPlan, resolved: Resolved, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """One entry per array and leaf, in the order of the value."""
    rank = {path: position for position, path in enumerate(plan.order)}
    entries: list[tuple[tuple[int, ...], str, dict[str, Any]]] = []
    for array in resolved.arrays:
        meta: dict[str, Any] = {"mode": "array", "items": array.items}
        if array.dropped:
            meta["dropped"] = array.dropped
        entries.append((_sort_key(array.array.path, array.indices, rank), array.pointer, meta))
    for leaf in resolved.leaves:
        meta = leaf_meta(leaf.field, outcomes[leaf.raw_pointer])
        entries.append((_sort_key(leaf.field.path, leaf.indices, rank), leaf.pointer, meta))
    return {pointer: meta for _, pointer, meta in sorted(entries, key=lambda entry: entry[0])}


def _sort_key(path: Path, indices: Indices, rank: Mapping[Path, int]) -> tuple[int, ...]:
    """Document order: the ranks of the items' arrays and the items' numbers, then the place's own rank."""
    ends = [position for position, step in enumerate(path) if step is ITEM]
    steps = [number for end, index in zip(ends, indices, strict=True) for number in (rank[path[: end + 1]], index)]
    return (*steps, rank[path])


def _validate(plan: FillPlan, value: Any) -> None:
    validator = validator_of(plan.schema, draft_of(plan.schema))
    for error in validator.iter_errors(value):
        reason = error.message if len(error.message) <= _LONGEST_REASON else f"{error.message[:_LONGEST_REASON]}..."
        raise FillError(join(error.absolute_path), f"{error.validator}: {reason}")
