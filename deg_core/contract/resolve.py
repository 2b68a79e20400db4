"""Which items and leaves of the outcomes exist in the value, and under which index (contract sections 4, 12.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deg_core.contract.errors import FillError
from deg_core.contract.outcome import Decided, Extracted, Generated, Outcome
from deg_core.contract.plan import ITEM, ArrayPlan, FieldPlan, FillPlan, Path
from deg_core.contract.pointer import MISSING, concrete, depth
from deg_core.contract.walk import Indices, Lengths, array_instances, leaf_instances

Place = tuple[Path, Indices]


@dataclass(frozen=True)
class Instance:
    """A leaf that exists in the value.

    raw_indices: as the outcomes are keyed. indices: in the value, after items were dropped.
    """

    field: FieldPlan
    raw_indices: Indices
    indices: Indices

    @property
    def raw_pointer(self) -> str:
        """The key of its outcome."""
        return concrete(self.field.path, self.raw_indices)

    @property
    def pointer(self) -> str:
        """Its place in the value."""
        return concrete(self.field.path, self.indices)


@dataclass(frozen=True)
class ArrayInstance:
    """An array that exists in the value. items: how many are left; dropped: how many are not."""

    array: ArrayPlan
    indices: Indices
    items: int
    dropped: int

    @property
    def pointer(self) -> str:
        """Its place in the value."""
        return concrete(self.array.path, self.indices)


@dataclass(frozen=True)
class Resolved:
    """The shape of the value and everything that is known before text is generated.

    leaves: in leaf order, those whose value is left out included. omitted: what the value leaves out, as
    (path, final indices): leaves, or whole optional objects. known: (pointer, value) of every decided and
    extracted value, null included, in leaf order.
    """

    leaves: tuple[Instance, ...]
    arrays: tuple[ArrayInstance, ...]
    omitted: frozenset[Place]
    known: tuple[tuple[str, Any], ...]

    @property
    def to_generate(self) -> tuple[Instance, ...]:
        """The leaves whose text is still to be written."""
        return tuple(leaf for leaf in self.leaves if leaf.field.mode == "generate")


def resolve(plan: FillPlan, outcomes: Mapping[str, Outcome], lengths: Lengths) -> Resolved:
    """Apply the rules for values that were not found; pure and independent of any generated text.

    outcomes, lengths: keyed by concrete pointers with the indices that the queries had; an outcome is
    needed for every decide and extract leaf. Raises FillError for a required, non-nullable value outside
    every item, or an array that drops leave below minItems with no item around it.
    """
    instances = leaf_instances(plan, lengths)
    missing = [place for place in instances if place[0].kind == "extract" and _found(place, outcomes).value is None]
    raw_omitted = {_omission(field, indices) for field, indices in missing if field.on_null == "omit"}
    gone = _Gone(raw_omitted)
    for field, indices in missing:
        if field.on_null == "forbid" and not gone.omits(field.path, indices):
            reason = _found((field, indices), outcomes).null_reason
            gone.drop_item(field.path, indices, f"no valid value in the context ({reason})")
    _drop_short_arrays(plan, lengths, gone)
    arrays = [(array, indices) for array, indices in array_instances(plan, lengths) if gone.keeps(array.path, indices)]
    leaves = tuple(
        Instance(field, indices, gone.renumbered(field.path, indices))
        for field, indices in instances
        if gone.keeps(field.path, indices)
        or (_is_cause(field, indices, outcomes) and gone.in_items(field.path, indices))
    )
    omitted = frozenset(
        (path, gone.renumbered(path, indices)) for path, indices in raw_omitted if gone.in_items(path, indices)
    )
    known = [(leaf.pointer, value_of(leaf, outcomes)) for leaf in leaves if leaf.field.mode != "generate"]
    return Resolved(
        leaves=leaves,
        arrays=tuple(_array_instance(array, indices, lengths, gone) for array, indices in arrays),
        omitted=omitted,
        known=tuple((pointer, value) for pointer, value in known if value is not MISSING),
    )


def value_of(leaf: Instance, outcomes: Mapping[str, Outcome]) -> Any:
    """The value of a leaf from its outcome; MISSING where its key is left out."""
    field, outcome = leaf.field, outcomes[leaf.raw_pointer]
    if isinstance(outcome, Decided):
        return decided_value(field, outcome)
    if isinstance(outcome, Extracted):
        return MISSING if outcome.value is None and field.on_null == "omit" else outcome.value
    if isinstance(outcome, Generated):
        return outcome.text
    raise TypeError(f"{leaf.raw_pointer}: {type(outcome).__name__} is no outcome of a leaf")


def decided_value(field: FieldPlan, outcome: Decided) -> Any:
    """The most probable outcome, the first of equals; a noul is true from one half on."""
    probabilities = outcome.probabilities
    if len(probabilities) != len(field.outcomes):
        raise ValueError(f"{len(probabilities)} probabilities for the {len(field.outcomes)} outcomes of {field.path}")
    if field.mode == "decide.noul":
        return probabilities[0] >= 0.5
    return field.outcomes[probabilities.index(max(probabilities))]


class _Gone:
    """The items that are dropped and the places that are left out, in raw indices."""

    def __init__(self, omitted: set[Place]):
        self._omitted = omitted
        self._dropped: dict[Place, set[int]] = {}

    def drop_item(self, path: Path, indices: Indices, reason: str) -> None:
        """Drop the innermost item around a place; FillError when there is none."""
        if not indices:
            raise FillError(concrete(path, indices), reason)
        array = path[: max(position for position, step in enumerate(path) if step is ITEM)]
        self._dropped.setdefault((array, indices[:-1]), set()).add(indices[-1])

    def dropped(self, array: Path, indices: Indices) -> set[int]:
        """The dropped item numbers of one array."""
        return self._dropped.get((array, indices), set())

    def in_items(self, path: Path, indices: Indices) -> bool:
        """Whether every item around a place is kept, and no object further out than its item is left out."""
        last = 0
        for level, end in enumerate(_item_ends(path)):
            last = end + 1
            if indices[level] in self.dropped(path[:end], indices[:level]):
                return False
        return not self.omits(path[:last], indices)

    def omits(self, path: Path, indices: Indices) -> bool:
        """Whether a place or anything around it is left out."""
        if not self._omitted:
            return False
        return any((path[:end], indices[: depth(path[:end])]) in self._omitted for end in range(1, len(path) + 1))

    def keeps(self, path: Path, indices: Indices) -> bool:
        """Whether a place exists in the value."""
        return self.in_items(path, indices) and not self.omits(path, indices)

    def renumbered(self, path: Path, indices: Indices) -> Indices:
        """The indices of a kept place once the dropped items are gone."""
        return tuple(
            indices[level] - sum(number < indices[level] for number in self.dropped(path[:end], indices[:level]))
            for level, end in enumerate(_item_ends(path))
        )


def _drop_short_arrays(plan: FillPlan, lengths: Lengths, gone: _Gone) -> None:
    """An array with fewer items than minItems takes the item around it with it, inner arrays first.

    That is so when items were dropped, or when the context has too few places where one could start.
    """
    for array, indices in reversed(array_instances(plan, lengths)):
        dropped = gone.dropped(array.path, indices)
        left = lengths[concrete(array.path, indices)] - len(dropped)
        if left < array.min_items and not gone.omits(array.path, indices):
            reason = f"minItems {array.min_items}: only {left} items have their required values"
            gone.drop_item(array.path, indices, reason)


def _array_instance(array: ArrayPlan, indices: Indices, lengths: Lengths, gone: _Gone) -> ArrayInstance:
    dropped = len(gone.dropped(array.path, indices))
    items = lengths[concrete(array.path, indices)] - dropped
    return ArrayInstance(array, gone.renumbered(array.path, indices), items, dropped)


def _found(place: tuple[FieldPlan, Indices], outcomes: Mapping[str, Outcome]) -> Extracted:
    pointer = concrete(place[0].path, place[1])
    outcome = outcomes.get(pointer)
    if not isinstance(outcome, Extracted):
        raise TypeError(f"{pointer} needs an Extracted outcome, got {outcome!r}")
    return outcome


def _is_cause(field: FieldPlan, indices: Indices, outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a leaf is the reason why something is left out; its meta stays."""
    return field.kind == "extract" and field.on_null == "omit" and _found((field, indices), outcomes).value is None


def _omission(field: FieldPlan, indices: Indices) -> Place:
    path = field.omit_path or field.path
    return path, indices[: depth(path)]


def _item_ends(path: Path) -> list[int]:
    return [position for position, step in enumerate(path) if step is ITEM]
