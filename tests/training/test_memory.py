"""The planner: cuts a batch to fit, and corrects itself by what was measured."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from deg_core.contract.errors import InputError
from deg_core.model.allocator import KERNEL_CACHES, limit_kernels, release_heap
from deg_core.model.families.shape import ModelShape
from deg_core.pools.example import Example, Fork
from deg_core.training.memory import (
    FALLING,
    FALLING_STAYS,
    MemoryPlan,
    is_out_of_memory,
    measured_peak,
    read_coefficients,
    resident_bytes,
)
from deg_core.training.parts import FEATURES, Part, features
from deg_core.training.trunk import LONG_TOKENS, PIECE_TOKENS

SHAPE = ModelShape(hidden=8, layers=2, intermediate=16, vocab=100, heads=4, kv_heads=2, head_dim=2)
COSTS = dict.fromkeys(FEATURES, 0.0) | {"trunk_tokens": 1.0, "fork_tokens": 10.0}
MIB = 1 << 20


def example(uid: str, context: int, forks: list[int]) -> Example:
    rows = [Fork(kind="noul", field="/x", ids=np.zeros(n, np.int32)) for n in forks]
    return Example(uid, "train", uid, np.zeros(context, np.int32), rows)


def plan(target: float, **options) -> MemoryPlan:
    return MemoryPlan(SHAPE, 1000.0, COSTS, target, **options)


def fork_ids(parts: list[Part]) -> list[tuple[str, int]]:
    return [(e.uid, j) for part in parts for e, chosen in zip(part.examples, part.forks, strict=True) for j in chosen]


def test_estimate_is_static_plus_scaled_features():
    part = Part.whole([example("a", 50, [3, 4])])
    assert plan(1e9).estimate(part) == 1000 + 50 + 70
    assert plan(1e9, scale=2.0).estimate(part) == 1000 + 2 * (50 + 70)


@pytest.mark.parametrize("target", [1e9, 2000.0, 1700.0, 1400.0, 1000.0])
def test_a_batch_is_cut_to_the_target_and_keeps_every_fork_once(target: float):
    batch = [example(f"r{i}", 20 + 30 * i, [1 + (i * j) % 5 for j in range(1, 8)]) for i in range(6)]
    planner = plan(target)
    parts = planner.plan(batch)
    assert sorted(fork_ids(parts)) == sorted(fork_ids([Part.whole(batch)]))
    for part in parts:
        minimal = len(part.examples) == 1 and len(part.forks[0]) == 1
        assert planner.fits(part) or minimal
    assert (len(parts) == 1) == (target == 1e9)


def test_a_step_of_several_parts_leaves_room_for_their_sum():
    batch = [example("a", 100, [1]), example("b", 100, [1])]
    assert len(plan(1220.0, accumulation_bytes=1e6).plan(batch)) == 1
    assert len(plan(1219.0).plan(batch)) == 2
    alone = plan(1219.0, accumulation_bytes=109.0)
    assert all(alone.fits(part, 109.0) for part in alone.plan(batch))


def test_too_low_is_corrected_at_once_and_too_high_slowly():
    part = Part.whole([example("a", 100, [])])
    planner = plan(1e9)
    planner.observe(part, 1000 + 300)
    assert planner.scale == 3.0
    assert planner.estimate(part) == 1300
    planner.observe(part, 1000 + 100)
    assert planner.scale == pytest.approx(FALLING * 3 + (1 - FALLING) * 1)
    for _ in range(400):
        planner.observe(part, 1000 + 100)
    assert planner.scale == pytest.approx(1.0, abs=1e-3)


def test_a_small_part_says_little_about_a_large_one():
    large, small = Part.whole([example("a", 1000, [])]), Part.whole([example("b", 10, [])])
    planner = plan(1e9)
    planner.observe(large, 1000 + 1000)
    assert planner.scale == 1.0
    for _ in range(10):
        planner.observe(small, 1000 + 5)
    assert planner.scale == pytest.approx(1.0, abs=0.006)
    planner.observe(small, 1000 + 12)
    assert planner.scale == pytest.approx(1.2)


def test_memory_that_stays_says_nothing_about_smaller_parts():
    large, small = Part.whole([example("a", 1000, [])]), Part.whole([example("b", 10, [])])
    planner = plan(1e9, memory_stays=True)
    planner.observe(large, 1000 + 900)
    after_large = planner.scale
    assert after_large == pytest.approx(FALLING_STAYS + (1 - FALLING_STAYS) * 0.9)
    for _ in range(20):
        planner.observe(small, 1000 + 900)
    assert planner.scale == after_large
    planner.observe(small, 1000 + 1500)
    assert planner.scale == 1.5
    assert planner.expected_peak(small) == 1000 + 1500
    assert planner.estimate(small) == 1000 + 15
    planner.released(2000)
    assert planner.expected_peak(small) == 2000 + 15
    planner.observe(small, 2000 + 10)
    assert planner.scale == pytest.approx(FALLING_STAYS * 1.5 + (1 - FALLING_STAYS) * 1.0)


def test_a_part_without_cost_teaches_nothing():
    planner = MemoryPlan(SHAPE, 0.0, dict.fromkeys(FEATURES, 0.0), 1e9)
    planner.observe(Part.whole([example("a", 10, [1])]), 500.0)
    assert planner.scale == 1.0


def test_peak_is_that_of_the_time_since_the_last_call():
    device = torch.device("cpu")
    release_heap()
    measured_peak(device)
    before = resident_bytes(device)
    block = torch.ones(128 * MIB // 4)
    del block
    release_heap()
    seen = measured_peak(device)
    assert seen >= before + 120 * MIB
    assert measured_peak(device) <= seen - 100 * MIB


KERNELS = """
import sys
from deg_core.model.allocator import KERNEL_CACHES, keep_heap, limit_kernels, release_heap
if sys.argv[1] == "limited":
    limit_kernels(16)
import torch
from deg_core.training.memory import resident_bytes
keep_heap()
torch.set_num_threads(1)
weight = torch.ones(1536, 576, dtype=torch.bfloat16)
def product(rows):
    torch.nn.functional.linear(torch.ones(rows, 576, dtype=torch.bfloat16), weight)
product(8)
release_heap()
before = resident_bytes(torch.device("cpu"))
for rows in range(300, 420):
    product(rows)
release_heap()
print(resident_bytes(torch.device("cpu")) - before)
"""


def test_kernels_of_sizes_that_are_past_are_not_kept():
    def grown(how: str) -> int:
        clean = {name: value for name, value in os.environ.items() if name not in KERNEL_CACHES}
        return int(float(subprocess.check_output([sys.executable, "-c", KERNELS, how], env=clean)))

    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("without bfloat16 in oneDNN these products keep no kernel")
    assert grown("limited") < grown("free") / 2


def test_what_the_environment_says_about_kernels_goes_before(monkeypatch):
    first, second = KERNEL_CACHES
    monkeypatch.setenv(first, "7")
    monkeypatch.delenv(second, raising=False)
    limit_kernels(16)
    assert (os.environ[first], os.environ[second]) == ("7", "16")
    monkeypatch.delenv(second)


def test_out_of_memory_errors_of_every_device_are_told_from_others():
    allocator = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"
    assert is_out_of_memory(RuntimeError(allocator))
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"))
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_the_cpu_allocators_own_error_is_known():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)


def test_a_folder_without_coefficients_is_named(tmp_path):
    with pytest.raises(InputError, match="deg memory"):
        read_coefficients(tmp_path)


def test_features_count_what_the_model_computes():
    text = Fork(kind="generate", field="/t", ids=np.zeros(9, np.int32), lm_start=4)
    span = Fork(kind="extract", field="/s", ids=np.zeros(3, np.int32))
    record = Example("a", "train", "a", np.zeros(256, np.int32), [text, span])
    assert features(Part.whole([record, record]), SHAPE) == {
        "parts": 1,
        "rows": 4,
        "trunk_tokens": 512,
        "long_tokens": 0,
        "fork_tokens": 24,
        "trunk_pairs": 2 * 256 * (256 + 128) / 2 * 4,
        "fork_pairs": 2 * 12 * (256 + 12) * 4,
        "largest_pairs": 12 * (256 + 12) * 4,
        "head_logits": 2 * 256,
        "lm_logits": 2 * 5 * 100,
    }


def test_a_context_in_pieces_counts_by_its_pieces():
    length = LONG_TOKENS + 1
    found = features(Part.whole([example("a", length, [2]), example("b", LONG_TOKENS, [2])]), SHAPE)
    assert (found["long_tokens"], found["trunk_tokens"]) == (length, LONG_TOKENS)
    one_layer = PIECE_TOKENS * length * SHAPE.heads / SHAPE.layers
    assert found["trunk_pairs"] == one_layer + LONG_TOKENS * (LONG_TOKENS + 128) / 2 * SHAPE.heads
