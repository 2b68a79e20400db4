from __future__ import annotations

import zlib
from collections import Counter

import numpy as np
import pytest

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.pools.caps import cap_decide_forks, cap_forks, cap_parts, shuffle_options
from deg_core.pools.draw import Drawer
from deg_core.pools.example import Example, Fork
from deg_core.pools.window import window
from deg_core.training.losses import term_items

from .test_store import save

FREE = TrainSettings(budget_tokens=600, record_fork_tokens=0, max_records=8)


def fork(kind="extract", field="/x", length=10, spans=(), **keys):
    spans = np.array(spans, np.int32).reshape(-1, 2)
    return Fork(kind=kind, field=field, ids=np.arange(length, dtype=np.int32), spans=spans, **keys)


def example(number, context=40, forks=None, split="train", decision=False):
    ids = np.arange(context, dtype=np.int32)
    forks = forks if forks is not None else [fork(spans=[(3, 6)])]
    return Example(f"u{number}", split, f"d{number}", ids, forks, decision)


def choice():
    """Three option lines of lengths 2, 3 and 1 between a head of 4 tokens and a tail of 2."""
    ids = np.array([1, 2, 3, 4, 10, 11, 20, 21, 22, 30, 5, 6], np.int32)
    return Fork(
        kind="choice",
        field="/c",
        ids=ids,
        options=np.array([5, 8, 9], np.int32),
        option_tokens=np.array([11, 21, 30], np.int32),
        target=np.array([0.2, 0.3, 0.5], np.float32),
        options_start=4,
    )


@pytest.fixture
def pool(tmp_path):
    examples = [example(n, context=20 + n % 50, split="val" if n % 7 == 0 else "train") for n in range(300)]
    examples.append(example(900, forks=[]))
    return save(tmp_path, [examples])


def uids(examples):
    return [e.uid for e in examples]


def test_a_draw_depends_on_seed_step_rank_and_redraw_alone(pool):
    drawer = Drawer([(pool, 1.0)], FREE, 6000, seed=3)
    drawn = [uids(drawer.draw(step)) for step in range(20)]
    again = Drawer([(pool, 1.0)], FREE, 6000, seed=3)
    assert [uids(again.draw(step)) for step in reversed(range(20))] == drawn[::-1]
    assert uids(drawer.draw(0, redraw=1)) != drawn[0]
    assert [uids(Drawer([(pool, 1.0)], FREE, 6000, seed=4).draw(step)) for step in range(20)] != drawn


def test_a_batch_stays_within_its_budget_and_is_of_train_records(pool):
    drawer = Drawer([(pool, 1.0)], FREE, 6000, seed=1)
    for step in range(100):
        batch = drawer.draw(step)
        assert 1 <= len(batch) <= FREE.max_records
        assert sum(e.tokens for e in batch) <= FREE.budget_tokens
        assert len(set(uids(batch))) == len(batch)
        assert all(e.split == "train" and e.forks for e in batch)
        widths = [len(e.context) for e in batch]
        assert widths == sorted(widths)


def test_a_batch_mixes_contexts_of_all_lengths(pool):
    drawer = Drawer([(pool, 1.0)], FREE, 6000, seed=1)
    spreads = [np.ptp([len(e.context) for e in drawer.draw(step)]) for step in range(50)]
    assert np.median(spreads) > 25


def test_a_record_over_the_budget_is_drawn_alone(tmp_path):
    pool = save(tmp_path, [[example(n, context=700) for n in range(5)]])
    assert len(Drawer([(pool, 1.0)], FREE, 6000, seed=1).draw(0)) == 1


def test_a_small_pool_is_drawn_whole(tmp_path):
    pool = save(tmp_path, [[example(n) for n in range(4)]])
    settings = FREE.model_copy(update={"budget_tokens": 10_000, "max_records": 32})
    drawer = Drawer([(pool, 1.0)], settings, 6000, seed=1)
    assert all(len(drawer.draw(step)) == 4 for step in range(10))


def test_ranks_own_their_uids(pool):
    drawer = Drawer([(pool, 1.0)], FREE, 6000, seed=1)
    for rank in range(3):
        seen = {uid for step in range(60) for uid in uids(drawer.draw(step, rank, 3))}
        assert seen and all(zlib.crc32(uid.encode()) % 3 == rank for uid in seen)


def test_sources_are_picked_by_weight(tmp_path):
    pools = []
    for number, weight in ((0, 3.0), (1, 1.0)):
        folder = tmp_path / str(number)
        folder.mkdir()
        pools.append((save(folder, [[example(number * 100 + n) for n in range(20)]]), weight))
    drawer = Drawer(pools, FREE, 6000, seed=1)
    picked = Counter(int(drawer.draw(step)[0].uid[1:]) // 100 for step in range(400))
    assert 0.7 < picked[0] / 400 < 0.8


def save_in(folder, examples):
    folder.mkdir()
    return save(folder, [examples])


def test_sources_with_too_few_records_are_drawn_only_while_none_has_enough(tmp_path):
    pools = [
        (save_in(tmp_path / str(n), [example(n * 1000 + i) for i in range(count)]), 1.0)
        for n, count in enumerate((5, 60, 80))
    ]

    def picked(least):
        drawer = Drawer(pools, FREE.model_copy(update={"source_min_train": least}), 6000, seed=1)
        return {int(drawer.draw(step)[0].uid[1:]) // 1000 for step in range(60)}

    assert [picked(least) for least in (0, 5, 6, 61, 81)] == [{0, 1, 2}, {0, 1, 2}, {1, 2}, {2}, {0, 1, 2}]


def test_a_source_counts_its_records_over_all_ranks(tmp_path):
    pools = [(save_in(tmp_path / str(n), [example(n * 1000 + i) for i in range(60 * n + 5)]), 1.0) for n in range(2)]
    drawer = Drawer(pools, FREE, 6000, seed=1)
    assert all(int(e.uid[1:]) >= 1000 for step in range(30) for e in drawer.draw(step, 1, 3))


def mixed(tmp_path, records, decisions):
    """Two pools: one of records alone, one of both kinds."""
    first = [example(n) for n in range(records)]
    second = [example(1000 + n) for n in range(records)]
    second += [example(2000 + n, forks=[fork("noul", "/answer")], decision=True) for n in range(decisions)]
    return [(save_in(tmp_path / "a", first), 1.0), (save_in(tmp_path / "b", second), 1.0)]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_decision_records_have_their_share_in_batches_of_either_source(tmp_path, share):
    drawer = Drawer(mixed(tmp_path, 90, 90), FREE.model_copy(update={"jev_frac": share}), 6000, seed=1)
    batches = [drawer.draw(step) for step in range(150)]
    drawn = [e for batch in batches for e in batch]
    decisions = sum(e.decision for e in drawn)
    deviation = 3.5 * np.sqrt(share * (1 - share) / len(drawn))
    assert abs(decisions / len(drawn) - share) <= deviation
    assert drawer.counts["decision_records"] == decisions and drawer.counts["records"] == len(drawn)
    sources = [{int(e.uid[1:]) // 1000 for e in batch if not e.decision} for batch in batches]
    assert all(len(source) <= 1 for source in sources) and (share == 1 or {0} in sources and {1} in sources)
    assert all(len(set(uids(batch))) == len(batch) for batch in batches)


def test_the_share_holds_where_one_kind_is_rare(tmp_path):
    settings = FREE.model_copy(update={"budget_tokens": 100_000, "max_records": 96})
    drawer = Drawer(mixed(tmp_path, 6, 300), settings, 6000, seed=1)
    batches = [drawer.draw(step) for step in range(200)]
    assert all(sum(not e.decision for e in batch) <= 6 for batch in batches)
    assert 0.2 < np.mean([e.decision for batch in batches for e in batch]) < 0.35


def test_one_kind_alone_is_drawn_whatever_the_share(tmp_path):
    only = save_in(tmp_path / "only", [example(n, decision=True) for n in range(9)])
    assert len(Drawer([(only, 1.0)], FREE, 6000, seed=1).draw(0)) == 8
    plain = save_in(tmp_path / "plain", [example(n) for n in range(9)])
    assert len(Drawer([(plain, 1.0)], FREE.model_copy(update={"jev_frac": 1.0}), 6000, seed=1).draw(0)) == 8


def test_nothing_to_train_on(tmp_path, pool):
    with pytest.raises(InputError, match="nothing to train on"):
        Drawer([], FREE, 6000, seed=1)
    folder = tmp_path / "val"
    folder.mkdir()
    with pytest.raises(InputError, match="no record of split train"):
        Drawer([(save(folder, [[example(1, split="val")]]), 1.0)], FREE, 6000, seed=1)
    one = tmp_path / "one"
    one.mkdir()
    drawer = Drawer([(save(one, [[example(1)]]), 1.0)], FREE, 6000, seed=1)
    empty_rank = 1 - zlib.crc32(b"u1") % 2
    with pytest.raises(InputError, match=f"rank {empty_rank} of 2 owns no record"):
        drawer.draw(0, empty_rank, 2)


def test_long_contexts_train_windows(tmp_path):
    forks = [fork(spans=[(500, 510)]), fork("noul"), fork("extract", "/null"), fork("generate"), fork("count")]
    pool = save(tmp_path, [[example(1, context=1000, forks=forks)]])
    drawer = Drawer([(pool, 1.0)], FREE, 100, seed=1)
    starts = set()
    for step in range(60):
        (drawn,) = drawer.draw(step)
        assert len(drawn.context) == 100 and [f.field for f in drawn.forks] == ["/x"]
        ((first, end),) = drawn.forks[0].spans
        assert drawn.context[first:end].tolist() == list(range(500, 510))
        starts.add(int(drawn.context[0]))
    assert min(starts) < 430 and max(starts) > 480
    assert drawer.counts["windows"] == drawer.counts["window_targets"] == 60
    assert drawer.counts["window_dropped"] == 240


def test_long_contexts_without_a_span_are_not_drawn(tmp_path):
    pool = save(tmp_path, [[example(1, context=1000, forks=[fork("noul")]), example(2)]])
    drawer = Drawer([(pool, 1.0)], FREE, 100, seed=1)
    assert all(uids(drawer.draw(step)) == ["u2"] for step in range(5))
    assert drawer.counts["not_windowed"] > 0
    folder = tmp_path / "only"
    folder.mkdir()
    only = Drawer([(save(folder, [[example(1, context=1000, forks=[fork("noul")])]]), 1.0)], FREE, 100, seed=1)
    with pytest.raises(InputError, match="raise max_context_tokens"):
        only.draw(0)


def test_a_window_keeps_only_whole_spans_and_their_weights():
    weights = np.array([0.5, 0.25, 0.25], np.float32)
    soft = fork(spans=[(50, 52), (98, 103), (60, 61)], span_weights=weights)
    rng = np.random.default_rng(1)
    for _ in range(50):
        cropped = window(example(1, context=400, forks=[soft]), 64, rng)
        start = int(cropped.context[0])
        inside = [i for i, (a, b) in enumerate(soft.spans) if start <= a and b <= start + 64]
        (kept,) = cropped.forks
        assert np.array_equal(kept.spans + start, soft.spans[inside])
        assert kept.span_weights == pytest.approx(weights[inside] / weights[inside].sum())


def test_items_are_named_by_number_only_at_the_start_of_a_document():
    forks = [
        fork(field="/items/*/x", spans=[(10, 12)]),
        fork(field="/items/*/x", spans=[(300, 302)]),
        fork(spans=[(200, 201)]),
    ]
    rng = np.random.default_rng(1)
    for _ in range(50):
        cropped = window(example(1, context=400, forks=forks), 64, rng)
        fields = [f.field for f in cropped.forks]
        assert fields == (["/items/*/x"] if int(cropped.context[0]) == 0 else ["/x"])


def test_items_named_by_their_text_train_in_any_window_that_shows_them():
    starts = list(range(20, 380, 30))
    regions = [(a, b) for a, b in zip(starts, [*starts[1:], 400], strict=True)]
    length = np.zeros(65, np.float32)
    length[len(starts)] = 1
    array = fork("count", "/items", spans=regions, target=length, by_place=True)
    leaves = [
        fork(field="/items/*/x", spans=[(a + 5, a + 9)], anchor=a, region_end=b, by_place=True) for a, b in regions
    ]
    absent = fork(field="/items/*/y", anchor=20, region_end=50, by_place=True)
    decided = fork("noul", "/items/*/z", anchor=20, region_end=50, by_place=True)
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        cropped = window(example(1, context=400, forks=[array, *leaves, absent, decided]), 64, rng)
        start = int(cropped.context[0])
        seen.add(start)
        counts = [f for f in cropped.forks if f.kind == "count"]
        begun = [a for a in starts if start <= a < start + 64]
        assert [f.spans[:, 0].tolist() for f in counts] == ([[a - start for a in begun]] if begun else [])
        assert all(not f.target.any() and term_items(f) == {"anchor": 1} for f in counts)
        shown = [f for f in cropped.forks if f.kind == "extract"]
        whole = [(a, b) for a, b in regions if start <= a and a + 9 <= start + 64]
        assert [(f.anchor, f.region_end) for f in shown] == [(a - start, min(b - start, 64)) for a, b in whole]
        assert [f.spans.tolist() for f in shown] == [[[a + 5 - start, a + 9 - start]] for a, _ in whole]
        assert len(cropped.forks) == len(counts) + len(shown) > 0
    assert min(seen) < 20 and max(seen) > 320


def test_a_span_longer_than_the_window_cannot_be_shown():
    assert window(example(1, context=400, forks=[fork(spans=[(0, 100)])]), 64, np.random.default_rng(1)) is None


def test_shuffled_options_keep_their_targets():
    original = choice()
    blocks = [[10, 11], [20, 21, 22], [30]]
    orders = set()
    rng = np.random.default_rng(1)
    for _ in range(60):
        shuffled = shuffle_options(original, rng)
        assert shuffled.ids[:4].tolist() == [1, 2, 3, 4] and shuffled.ids[-2:].tolist() == [5, 6]
        for outcome, block in enumerate(blocks):
            end = shuffled.options[outcome] + 1
            assert shuffled.ids[end - len(block) : end].tolist() == block
        assert np.array_equal(shuffled.target, original.target)
        assert np.array_equal(shuffled.option_tokens, original.option_tokens)
        assert shuffled.ids.dtype == shuffled.options.dtype == np.int32
        orders.add(tuple(np.argsort(shuffled.options).tolist()))
    assert len(orders) == 6


def test_half_of_the_choices_are_shuffled(tmp_path):
    pool = save(tmp_path, [[example(1, forks=[choice()])]])
    drawer = Drawer([(pool, 1.0)], FREE, 6000, seed=1)
    moved = sum(drawer.draw(step)[0].forks[0].ids.tolist() != choice().ids.tolist() for step in range(300))
    assert 0.33 < moved / 300 < 0.5  # half are shuffled, a sixth of them into the order they had


def test_decide_forks_are_capped_by_field():
    forks = [fork("noul", "/a/*")] * 5 + [fork("choice", "/b")] + [fork("extract", "/a/*")] * 5
    rng = np.random.default_rng(1)
    kinds = Counter((f.kind, f.field) for f in cap_decide_forks(forks, 2, rng))
    assert kinds == {("noul", "/a/*"): 2, ("choice", "/b"): 1, ("extract", "/a/*"): 5}
    assert cap_decide_forks(forks, 0, rng) == forks


def test_forks_are_capped_by_tokens():
    counts = [fork("count", length=30), fork("count", length=30)]
    others = [fork("noul", f"/{n}", length=20) for n in range(10)]
    rng = np.random.default_rng(1)
    seen = Counter()
    for _ in range(50):
        kept = cap_forks([*counts, *others], 125, rng)
        assert [f.kind for f in kept] == ["count", "count", "noul", "noul", "noul"]
        seen.update(f.field for f in kept[2:])
    assert len(seen) == 10
    assert len(cap_forks([*counts, *others], 10, rng)) == 3
    assert len(cap_forks([fork("generate", length=500)], 100, rng)) == 1
    assert len(cap_forks([*counts, *others], 0, rng)) == 12
    assert len(cap_forks([*counts, *others], 260, rng)) == 12


@pytest.mark.parametrize(("context", "room"), [(40, 560), (590, 300), (900, 300)])
def test_without_a_cap_of_its_own_a_record_takes_what_the_budget_leaves(tmp_path, context, room):
    forks = [fork("noul", f"/{n}", length=20) for n in range(100)]
    pool = save(tmp_path, [[example(1, context=context, forks=forks)]])
    (drawn,) = Drawer([(pool, 1.0)], FREE, 6000, seed=1).draw(0)
    assert sum(len(f.ids) for f in drawn.forks) == room


def test_a_record_of_too_many_parts_trains_some_of_its_forks(tmp_path):
    forks = [fork("count", length=30), *(fork("noul", f"/{n}", length=n % 30 + 1) for n in range(60))]
    pool = save(tmp_path, [[example(1, forks=forks)]])
    settings = FREE.model_copy(update={"record_fork_tokens": 100_000})

    def parts_of(shown):
        return -(-sum(len(f.ids) for f in shown.forks) // 100)

    seen = set()
    for most in (1, 2, 5):
        drawer = Drawer([(pool, 1.0)], settings.model_copy(update={"max_record_parts": most}), 6000, 1, None, parts_of)
        for step in range(20):
            (drawn,) = drawer.draw(step)
            assert parts_of(drawn) <= most and sum(len(f.ids) for f in drawn.forks) > 100 * most - 60
            assert drawn.forks[0].kind == "count"
            seen |= {f.field for f in drawn.forks}
        assert drawer.counts["subsampled_records"] == 20
    assert len(seen) == 61
    (whole,) = Drawer([(pool, 1.0)], settings, 6000, 1, None, parts_of).draw(0)
    assert len(whole.forks) == 61


def test_only_counts_can_take_more_parts_than_are_allowed():
    counts = [fork("count", length=100), fork("count", length=100)]
    kept = cap_parts(
        example(1, forks=[*counts, fork("noul")]), 1, lambda shown: len(shown.forks), np.random.default_rng(1)
    )
    assert [f.kind for f in kept[:2]] == ["count", "count"]


def test_a_record_that_did_not_fit_is_not_counted(pool):
    drawer = Drawer([(pool, 1.0)], FREE, 6000, seed=1)
    assert drawer.counts["records"] == 0
    assert sum(len(drawer.draw(step)) for step in range(20)) == drawer.counts["records"]


def test_a_draw_counts_what_it_left_out(tmp_path):
    pool = save(tmp_path, [[example(1, forks=[fork("noul", f"/{n}", length=20) for n in range(10)])]])
    drawer = Drawer([(pool, 1.0)], FREE.model_copy(update={"record_fork_tokens": 100}), 6000, seed=1)
    (drawn,) = drawer.draw(0)
    assert len(drawn.forks) == 5
    assert drawer.counts["subsampled_records"] == 1 and drawer.counts["subsampled_forks"] == 5
