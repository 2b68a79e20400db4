from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from deg_core.artifacts import Manifest, write_manifest
from deg_core.contract.errors import InputError
from deg_core.pools.example import Example, Fork
from deg_core.pools.store import SCHEMA, Pool, to_batch


def make_example(number: int, length: int = 5) -> Example:
    forks = [
        Fork(
            kind="choice",
            field="/a",
            ids=np.arange(12, dtype=np.int32),
            options=np.array([6, 9], np.int32),
            option_tokens=np.array([3, 4], np.int32),
            target=np.array([0.25, 0.75], np.float32),
            options_start=4,
        ),
        Fork(
            kind="extract",
            field="/b",
            ids=np.arange(number % 4 + 1, dtype=np.int32),
            spans=np.array([[0, 1], [2, 4]], np.int32),
            span_weights=np.array([0.5, 0.5], np.float32),
        ),
        Fork(kind="generate", field="/c", ids=np.arange(7, dtype=np.int32), lm_start=5),
        Fork(
            kind="count", field="/d", ids=np.arange(2, dtype=np.int32), bounds=(1, 9), target=np.zeros(65, np.float32)
        ),
    ]
    context = np.arange(number, number + length, dtype=np.int32)
    split, forks = "val" if number % 5 == 0 else "train", forks[: number % 5]
    return Example(f"u{number}", split, f"d{number}", context, forks, number % 3 == 0, b"\xe9" * (number % 4))


def save(folder: Path, batches: list[list[Example]], parts: int = 1, repeat: int = 1) -> Pool:
    """A pool of these batches, dealt out to parts, each batch written `repeat` times."""
    paths = []
    for part in range(parts):
        paths.append(folder / f"part-{part:05d}.arrow")
        with pa.OSFile(str(paths[-1]), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
            for batch in map(to_batch, batches[part::parts]):
                for _ in range(repeat):
                    writer.write_batch(batch)
    write_manifest(folder, Manifest(kind="pool", id="p", key="k", code_version="c"), paths)
    return Pool.open(folder)


def assert_same(a: Example, b: Example) -> None:
    assert (a.uid, a.split, a.doc_id, a.decision, a.line) == (b.uid, b.split, b.doc_id, b.decision, b.line)
    assert np.array_equal(a.context, b.context) and len(a.forks) == len(b.forks)
    for left, right in zip(a.forks, b.forks, strict=True):
        for name, value in vars(left).items():
            other = getattr(right, name)
            if isinstance(value, np.ndarray):
                assert value.dtype == other.dtype and value.shape == other.shape and np.array_equal(value, other), name
            else:
                assert value == other and type(value) is type(other), name


def test_examples_come_back_as_they_were(tmp_path):
    examples = [make_example(number) for number in range(23)]
    pool = save(tmp_path, [examples[:8], [], examples[8:9], examples[9:]])
    assert len(pool) == 23
    for index, example in enumerate(examples):
        assert_same(pool.example(index), example)
    assert pool.uids == [example.uid for example in examples]
    assert pool.splits == [example.split for example in examples]
    assert pool.lengths.tolist() == [example.tokens for example in examples]
    assert pool.context_lengths.tolist() == [5] * 23
    assert pool.fork_counts.tolist() == [len(example.forks) for example in examples]
    assert pool.decisions.tolist() == [example.decision for example in examples]
    assert pool.doc_ids == [example.doc_id for example in examples]
    for index, example in enumerate(examples):
        assert np.array_equal(pool.context(index), example.context)
        assert pool.fields(index) == [fork.field for fork in example.forks]


def test_parts_follow_each_other(tmp_path):
    pool = save(tmp_path, [[make_example(0)], [make_example(1)]], parts=2)
    assert pool.uids == ["u0", "u1"]


def test_a_drawn_example_may_be_changed(tmp_path):
    pool = save(tmp_path, [[make_example(1)]])
    pool.example(0).context[:] = -1
    assert_same(pool.example(0), make_example(1))


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_out_of_range(tmp_path, index):
    with pytest.raises(IndexError):
        save(tmp_path, [[make_example(number) for number in range(3)]]).example(index)


def test_an_empty_pool(tmp_path):
    pool = save(tmp_path, [])
    assert len(pool) == 0 and pool.uids == [] and pool.lengths.dtype == np.int32


def test_a_folder_without_a_whole_pool(tmp_path):
    with pytest.raises(InputError, match="no finished pool"):
        Pool.open(tmp_path)
    save(tmp_path, [[make_example(1)]])
    (tmp_path / "part-00000.arrow").write_bytes(b"")
    with pytest.raises(InputError, match="no finished pool"):
        Pool.open(tmp_path)


def test_columns_of_another_version(tmp_path):
    path = tmp_path / "part-00000.arrow"
    batch = pa.record_batch({"uid": ["a"]})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    write_manifest(tmp_path, Manifest(kind="pool", id="p", key="k", code_version="c"), [path])
    with pytest.raises(InputError, match="other columns"):
        Pool.open(tmp_path)


def test_a_large_pool_opens_without_being_read(tmp_path):
    batch = [make_example(number, length=500) for number in range(1000)]
    pool = save(tmp_path, [batch], repeat=100)
    before = pa.total_allocated_bytes()
    assert len(pool) == 100_000 and int(pool.context_lengths.sum()) == 50_000_000
    assert_same(pool.example(99_999), make_example(999, length=500))
    assert pa.total_allocated_bytes() - before < 1 << 20
