"""Array items beside their likeliest partners, so that one missed item does not make all later ones wrong.

Contract section 12.6 asks for the order-insensitive figure beside the positional one.
"""

from __future__ import annotations

from typing import Any


class _Absent:
    """A key that is not in the value (a null is in it), or an item without a partner."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def align(gold: Any, predicted: Any) -> Any:
    """The predicted JSON value with the items of every array moved beside their partners in the gold value.

    Pairs are taken greedily: most equal values first, then the nearest. Where the prediction has fewer items, ABSENT
    stands beside the gold ones that are left; more items than gold ones come last, in order.
    """
    if isinstance(gold, dict) and isinstance(predicted, dict):
        return {key: align(gold.get(key), value) for key, value in predicted.items()}
    if isinstance(gold, list) and isinstance(predicted, list):
        partners = _partners(gold, predicted)
        rest = [number for number in range(len(predicted)) if number not in partners.values()]
        order = [partners.get(place, -1) for place in range(len(gold))] + rest
        beside = [*gold, *[None] * len(rest)]
        return [ABSENT if n < 0 else align(item, predicted[n]) for item, n in zip(beside, order, strict=True)]
    return predicted


def equal_values(gold: Any, predicted: Any) -> int:
    """How many values two JSON values have in common, arrays aligned; white space in texts is folded."""
    if isinstance(gold, dict) and isinstance(predicted, dict):
        return sum(equal_values(value, predicted[key]) for key, value in gold.items() if key in predicted)
    if isinstance(gold, list) and isinstance(predicted, list):
        return sum(equal_values(gold[a], predicted[b]) for a, b in _partners(gold, predicted).items())
    if isinstance(gold, str) and isinstance(predicted, str):
        return int(gold.split() == predicted.split())
    return int(type(gold) is type(predicted) and gold == predicted)


def _partners(gold: list[Any], predicted: list[Any]) -> dict[int, int]:
    """Gold items to predicted ones: as many pairs as there can be."""
    scored = (
        (-equal_values(item, other), abs(place - number), place, number)
        for place, item in enumerate(gold)
        for number, other in enumerate(predicted)
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, place, number in sorted(scored):
        if place not in pairs and number not in taken:
            pairs[place] = number
            taken.add(number)
    return pairs
