"""The walk over a plan's arrays and leaves, shared by training, evaluation and fill.

`lengths` maps the concrete pointer of an array to its number of items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deg_core.contract.errors import FillError
from deg_core.contract.plan import ITEM, ArrayPlan, FieldPlan, FillPlan, Path
from deg_core.contract.pointer import MISSING, concrete, depth, folded, read_value

Lengths = Mapping[str, int]
Indices = tuple[int, ...]
DEFAULT_MOST_ITEMS = 32


def array_bounds(array: ArrayPlan, max_items: int | None, trained_most: int) -> tuple[int, int]:
    """The admissible lengths (least, most), inclusive, of an index-addressed array (contract section 12.3).

    max_items: the request's cap for arrays without maxItems. trained_most: the count head's last class.
    Raises FillError when minItems is above what the cap or the head allows.
    """
    most = array.max_items if array.max_items is not None else max_items
    most = min(DEFAULT_MOST_ITEMS if most is None else most, trained_most)
    if array.min_items > most:
        raise FillError(folded(array.path), f"minItems {array.min_items} is above the {most} items that can be counted")
    return array.min_items, most


def index_tuples(path: Path, lengths: Lengths) -> Iterator[Indices]:
    """The indices of every instance of a path, in document order; nothing below an array of unknown length."""
    ends = [position for position, step in enumerate(path) if step is ITEM]

    def below(level: int, indices: Indices) -> Iterator[Indices]:
        if level == len(ends):
            yield indices
            return
        for index in range(lengths.get(concrete(path[: ends[level]], indices), 0)):
            yield from below(level + 1, (*indices, index))

    return below(0, ())


def array_instances(plan: FillPlan, lengths: Lengths) -> list[tuple[ArrayPlan, Indices]]:
    """Every array whose enclosing arrays have known lengths, outer arrays first."""
    ordered = sorted(plan.arrays, key=lambda array: depth(array.path))
    return [(array, indices) for array in ordered for indices in index_tuples(array.path, lengths)]


def open_arrays(plan: FillPlan, lengths: Lengths) -> list[tuple[ArrayPlan, Indices]]:
    """The next level: arrays whose enclosing arrays' lengths are known but whose own is not; [] at the end."""
    return [
        (array, indices)
        for array, indices in array_instances(plan, lengths)
        if concrete(array.path, indices) not in lengths
    ]


def leaf_instances(plan: FillPlan, lengths: Lengths) -> list[tuple[FieldPlan, Indices]]:
    """Every leaf in leaf order: schema order, item after item within an array."""
    first_field: dict[Path, int] = {}
    for position, field in enumerate(plan.fields):
        for end in range(len(field.path) + 1):
            first_field.setdefault(field.path[:end], position)
    keyed = []
    for position, field in enumerate(plan.fields):
        starts = [first_field[field.path[: end + 1]] for end, step in enumerate(field.path) if step is ITEM]
        for indices in index_tuples(field.path, lengths):
            places = [number for pair in zip(starts, indices, strict=True) for number in pair]
            keyed.append(((*places, position), field, indices))
    keyed.sort(key=lambda entry: entry[0])
    return [(field, indices) for _, field, indices in keyed]


def enclosing_items(path: Path, indices: Indices) -> list[tuple[Path, str, int]]:
    """The items around a place, outermost first: the path and the pointer of each one's array, and its number."""
    ends = [position for position, step in enumerate(path) if step is ITEM]
    return [(path[:end], concrete(path[:end], indices[:level]), indices[level]) for level, end in enumerate(ends)]


def placed_arrays(plan: FillPlan) -> frozenset[Path]:
    """The arrays with a copied value in their items: only that can say where in the text an item stands."""
    copied = {field.path for field in plan.fields if field.kind == "extract"}
    return frozenset(array.path for array in plan.arrays if not copied.isdisjoint(array.item_paths))


def item_regions(anchors: Sequence[int], end: int) -> list[tuple[int, int]]:
    """Half-open token ranges of items that start at ascending anchors: each up to the next, the last up to end."""
    return list(zip(anchors, [*anchors[1:], end], strict=False))


def lengths_of(plan: FillPlan, value: Any) -> dict[str, int]:
    """The length of every array of a value (valid against the plan's schema); an absent array has 0 items."""
    lengths: dict[str, int] = {}
    for array in sorted(plan.arrays, key=lambda array: depth(array.path)):
        for indices in index_tuples(array.path, lengths):
            pointer = concrete(array.path, indices)
            items = read_value(value, pointer, [])
            if not isinstance(items, list):
                raise ValueError(f"{pointer} is no array; check the value against its schema first")
            lengths[pointer] = len(items)
    return lengths


def known_of(plan: FillPlan, value: Any) -> list[tuple[str, Any]]:
    """The decided and extracted values of a value, for `known_values`: null counts, an absent key does not."""
    known = []
    for field, indices in leaf_instances(plan, lengths_of(plan, value)):
        pointer = concrete(field.path, indices)
        found = MISSING if field.mode == "generate" else read_value(value, pointer, MISSING)
        if found is not MISSING:
            known.append((pointer, found))
    return known
