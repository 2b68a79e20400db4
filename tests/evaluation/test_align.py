"""Items beside their partners."""

from hypothesis import given
from hypothesis import strategies as st

from deg_core.evaluation.align import ABSENT, align, equal_values

A, B, C = (
    {"name": name, "n": n, "tags": tags} for name, n, tags in (("a", 1, ["x"]), ("b", 2, []), ("c", 3, ["y", "z"]))
)


def test_a_missed_item_leaves_a_gap_and_moves_nothing():
    assert align([A, B, C], [B, C]) == [ABSENT, B, C]


def test_another_order_is_undone_inside_items_too():
    turned = C | {"tags": ["z", "y"]}
    assert align({"rows": [A, B, C]}, {"rows": [turned, A, B]}) == {"rows": [A, B, C]}


def test_items_that_are_not_there_come_last():
    extra = {"name": "q", "n": 9, "tags": []}
    assert align([A, C], [extra, A, C]) == [A, C, extra]


def test_items_with_nothing_in_common_stay_where_they_are():
    others = [{"name": "q"}, {"name": "r"}]
    assert align([A, C], others) == others


def test_equal_values_are_counted_by_type():
    assert equal_values({"a": 1, "b": True, "c": "x  y"}, {"a": True, "b": True, "c": "x y"}) == 2
    assert equal_values([1, 2, 3], [3, 1]) == 2


ITEMS = st.lists(st.integers(0, 3), max_size=6)


@given(ITEMS, ITEMS)
def test_alignment_is_a_permutation_and_never_matches_less(gold, predicted):
    moved = align(gold, predicted)
    assert sorted(item for item in moved if item is not ABSENT) == sorted(predicted)
    assert len(moved) == max(len(gold), len(predicted))
    here = sum(a == b for a, b in zip(gold, moved, strict=False))
    assert here >= sum(a == b for a, b in zip(gold, predicted, strict=False))
