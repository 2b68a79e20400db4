"""Where the items of a gold array start in the context (contract section 12.6, training gold)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from deg_core.contract.plan import Path
from deg_core.contract.pointer import concrete
from deg_core.contract.walk import Indices, array_instances, enclosing_items, item_regions
from deg_core.model.tokens import ContextTokens
from deg_core.pools.records import Record

Span = tuple[int, int]
Region = tuple[int, int]


def gold_regions(record: Record, context: ContextTokens, offset: int = 0) -> dict[str, list[Region]]:
    """For every array instance whose items all have a place, in ascending order: each item's region in tokens.

    offset: code points that stand before the record's own context.
    An item's anchor is the first token of its earliest span that no sibling shares, else of its earliest
    span. An array with an item that has no span, or with items out of order or outside their enclosing item, is
    left out.
    """
    found: dict[str, list[Region]] = {}
    first = {pointer: places[0] for pointer, places in record.annotations.spans.items() if places}
    spans = {pointer: (start + offset, end + offset) for pointer, (start, end) in first.items()}
    for array, indices in array_instances(record.plan, record.lengths):
        pointer = concrete(array.path, indices)
        low, high = _enclosing_region(array.path, indices, found) or (0, len(context))
        anchors = _anchors(pointer, record.lengths[pointer], spans, context)
        if anchors is not None and all(low <= anchor < high for anchor in anchors):
            found[pointer] = item_regions(anchors, high)
    return found


def _enclosing_region(path: Path, indices: Indices, found: Mapping[str, list[Region]]) -> Region | None:
    items = enclosing_items(path, indices)
    regions = found.get(items[-1][1]) if items else None
    return regions[items[-1][2]] if regions else None


def _anchors(pointer: str, items: int, spans: Mapping[str, Span], context: ContextTokens) -> list[int] | None:
    by_item = [_spans_below(f"{pointer}/{item}", spans) for item in range(items)]
    uses = Counter(span for own in by_item for span in set(own))
    anchors: list[int] = []
    for own in by_item:
        places = [span for span in own if uses[span] == 1] or own
        covered = context.cover(*min(places)) if places else None
        if covered is None or (anchors and covered[0] <= anchors[-1]):
            return None
        anchors.append(covered[0])
    return anchors


def _spans_below(item: str, spans: Mapping[str, Span]) -> Sequence[Span]:
    return [span for pointer, span in spans.items() if pointer == item or pointer.startswith(f"{item}/")]
