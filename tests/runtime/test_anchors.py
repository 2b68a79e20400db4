"""From anchor logits to items: the three decode modes and their bounds."""

import numpy as np
import pytest

from deg_core.runtime.anchors import find_items, pick_anchors

OUT = -np.inf


def logits(tokens, peaks, base=-6.0):
    """Logits that are low but at the given tokens."""
    found = np.full(tokens, base, np.float32)
    for token, height in peaks.items():
        found[token] = height
    return found


def sure_of(length):
    """Length logits with their top at one length, falling on both sides."""
    return -np.abs(np.arange(65, dtype=np.float32) - length)


PEAKS = logits(60, {5: 3.0, 6: 4.0, 20: 2.0, 40: -1.0, 50: 1.0})


def test_threshold_takes_the_best_token_of_every_run():
    assert find_items(PEAKS, sure_of(1), 0, None, "threshold") == [6, 20, 50]


def test_count_peaks_takes_as_many_as_are_counted():
    assert find_items(PEAKS, sure_of(4), 0, None, "count_peaks") == [6, 20, 40, 50]
    assert find_items(PEAKS, sure_of(2), 0, None, "count_peaks") == [6, 20]
    assert find_items(PEAKS, sure_of(0), 0, None, "count_peaks") == []


def test_hybrid_counts_only_where_nothing_is_marked():
    low = PEAKS - 5
    assert find_items(PEAKS, sure_of(4), 0, None, "hybrid") == [6, 20, 50]
    assert find_items(low, sure_of(2), 0, None, "hybrid") == [6, 20]
    assert find_items(low, sure_of(0), 0, None, "hybrid") == []


@pytest.mark.parametrize("decode", ["threshold", "count_peaks", "hybrid"])
def test_bounds_hold(decode):
    assert find_items(PEAKS, sure_of(4), 0, 2, decode) == [6, 20]
    assert len(find_items(PEAKS, sure_of(2), 5, None, decode)) == 5
    assert find_items(PEAKS, sure_of(2), 0, 0, decode) == []


def test_threshold_fills_up_with_tokens_that_touch_no_marked_one():
    found = find_items(PEAKS, sure_of(0), 4, None, "threshold")
    assert found == [6, 20, 40, 50]
    near = logits(10, {2: 3.0, 3: 2.9, 4: -0.1, 8: -0.2})
    assert find_items(near, sure_of(0), 2, None, "threshold") == [2, 8]


@pytest.mark.parametrize("decode", ["threshold", "count_peaks", "hybrid"])
def test_no_item_starts_outside_the_region(decode):
    region = np.full(60, OUT, np.float32)
    region[18:45] = PEAKS[18:45]
    assert find_items(region, sure_of(1), 0, None, decode) == [20]
    assert len(find_items(region, sure_of(1), 40, None, decode)) <= 27
    assert all(18 <= token < 45 for token in find_items(region, sure_of(3), 3, None, decode))


def test_more_items_than_the_count_can_say_are_those_that_are_marked():
    many = logits(400, {token: 2.0 for token in range(0, 400, 5)})
    assert find_items(many, sure_of(64), 0, None, "count_peaks") == list(range(0, 400, 5))
    assert len(find_items(many, sure_of(63), 0, None, "count_peaks")) == 63
    assert len(find_items(many, sure_of(64), 0, 70, "count_peaks")) == 70
    assert len(find_items(many, sure_of(3), 70, None, "count_peaks")) == 80


def test_picked_peaks_are_apart_while_there_are_enough():
    assert pick_anchors(logits(20, {3: 5.0, 4: 4.9, 10: 1.0}), 2) == [3, 10]
    assert pick_anchors(logits(3, {}), 5) == [0, 1, 2]
