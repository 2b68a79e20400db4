"""AdamW on fp32 masters against torch's own AdamW and clipping, and what a step must leave alone."""

import math

import pytest
import torch

from deg_core.contract.errors import InputError
from deg_core.training.optimizer import (
    CHUNK,
    Gradients,
    Master,
    NonFiniteGradientError,
    OptimizerOptions,
    ParameterGroup,
    chunks,
    schedule,
)

STEPS = 6
OPTIONS = OptimizerOptions(steps=STEPS, warmup_steps=2, clip_norm=0.5)
# the same formula in another order of operations: a few fp32 units in the last place over STEPS updates
SAME_ARITHMETIC = {"rtol": 2e-6, "atol": 2e-7}


def weights(dtype: torch.dtype, seed: int = 0) -> list[torch.Tensor]:
    """Three tensors; the last one is longer than a chunk and not a multiple of anything."""
    random = torch.Generator().manual_seed(seed)
    shapes = ((7, 13), (), (CHUNK + 7,))
    return [torch.randn(shape, generator=random).to(dtype).requires_grad_() for shape in shapes]


def grouped(tensors: list[torch.Tensor], first_step: int = 0) -> list[ParameterGroup]:
    return [
        ParameterGroup(("a", "b"), tuple(tensors[:2]), 1e-2, 0.1, first_step),
        ParameterGroup(("c",), tuple(tensors[2:]), 3e-3, 0.0),
    ]


def set_gradient(tensors: list[torch.Tensor], seed: int) -> None:
    random = torch.Generator().manual_seed(1000 + seed)
    for tensor in tensors:
        tensor.grad = torch.randn(tensor.shape, generator=random).to(tensor.dtype)


def advance(master: Master, steps: range) -> list[float]:
    norms = []
    for step in steps:
        set_gradient(master.gradients.tensors, step)
        norms.append(master.step(master.gradients, step))
    return norms


def copied(master: Master) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in master.state().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return set(one) == set(other) and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("step", "warmup", "start", "factor"),
    [
        (0, 0, 0, 1.0),
        (0, 4, 0, 0.25),
        (3, 4, 0, 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * 3 / 10))),
        (5, 0, 0, 0.55),
        (5, 2, 5, 0.275),
        (10, 0, 0, 0.1),
        (25, 0, 0, 0.1),
    ],
)
def test_schedule(step: int, warmup: int, start: int, factor: float):
    assert schedule(step, 10, warmup, start) == pytest.approx(factor, abs=1e-12)


@pytest.mark.parametrize("stop", [0, 1, 5, 6, 17])
def test_chunks_cover_a_range_once_and_in_order(stop: int):
    assert [i for low, high in chunks(0, stop, 5) for i in range(low, high)] == list(range(stop))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_equals_torchs_adamw_on_fp32_copies(dtype: torch.dtype):
    tensors = weights(dtype)
    master = Master(grouped(tensors), OPTIONS)
    copies = [tensor.detach().float().clone().requires_grad_() for tensor in tensors]
    reference = torch.optim.AdamW(
        [{"params": copies[:2], "weight_decay": 0.1}, {"params": copies[2:], "weight_decay": 0.0}],
        betas=(0.9, 0.98),
        eps=1e-8,
    )
    for step in range(STEPS):
        set_gradient(tensors, step)
        for copy, tensor in zip(copies, tensors, strict=True):
            copy.grad = tensor.grad.float().clone()
        norm = float(torch.nn.utils.clip_grad_norm_(copies, OPTIONS.clip_norm))
        for group, lr in zip(reference.param_groups, (1e-2, 3e-3), strict=True):
            group["lr"] = lr * schedule(step, STEPS, 2)
        reference.step()
        assert master.step(master.gradients, step) == pytest.approx(norm, rel=1e-5)
        assert all(tensor.grad is None for tensor in tensors)
    state = master.state()
    for name, tensor, copy in zip("abc", tensors, copies, strict=True):
        found = state[f"{name}:master"]
        torch.testing.assert_close(found.view(copy.shape), copy.detach(), **SAME_ARITHMETIC)
        assert torch.equal(tensor.detach().view(-1), found.to(dtype))


def test_a_small_gradient_is_not_scaled_up():
    tensor = torch.zeros(4, requires_grad=True)
    master = Master([ParameterGroup(("w",), (tensor,), 1.0, 0.0)], OptimizerOptions(steps=1, clip_norm=10.0))
    tensor.grad = torch.tensor([3.0, 0.0, 4.0, 0.0])
    assert master.step(master.gradients, 0) == 5.0
    assert master.state()["w:exp_avg"].tolist() == pytest.approx([0.3, 0.0, 0.4, 0.0])


def test_updates_below_bf16s_resolution_add_up_in_the_master():
    tensor = torch.ones(1, dtype=torch.bfloat16, requires_grad=True)
    master = Master([ParameterGroup(("w",), (tensor,), 1e-3, 0.0)], OptimizerOptions(steps=1000))
    seen = []
    for step in range(8):
        tensor.grad = torch.ones_like(tensor)
        master.step(master.gradients, step)
        seen.append(float(tensor.detach()))
    assert seen[0] == 1.0
    assert seen[-1] < 1.0


def test_parts_add_up_in_fp32_and_a_dropped_part_leaves_the_others():
    tensors = weights(torch.bfloat16)
    gradients = Gradients(grouped(tensors))
    parts = []
    for part in range(3):
        set_gradient(tensors, part)
        parts.append([tensor.grad.float().reshape(-1) for tensor in tensors])
        if part < 2:
            gradients.add()
            assert all(tensor.grad is None for tensor in tensors)
            set_gradient(tensors, 99)
            gradients.drop_part()
    gradients.finish()
    for index, tensor in enumerate(tensors):
        expected = parts[0][index] + parts[1][index] + parts[2][index]
        assert torch.equal(gradients.read(index, 0, tensor.numel()), expected)
    middle = gradients.read(2, 5, 11)
    assert torch.equal(middle, (parts[0][2] + parts[1][2] + parts[2][2])[5:11])
    assert gradients.host_bytes == 4 * gradients.numel
    gradients.clear()
    assert not gradients.read(0, 0, tensors[0].numel()).any()


def test_a_last_part_still_on_the_parameters_counts():
    tensors, others = weights(torch.float32), weights(torch.float32)
    master, reference = Master(grouped(tensors), OPTIONS), Master(grouped(others), OPTIONS)
    for optimizer, last_is_added in ((master, False), (reference, True)):
        set_gradient(optimizer.gradients.tensors, 1)
        optimizer.gradients.add()
        set_gradient(optimizer.gradients.tensors, 2)
        if last_is_added:
            optimizer.gradients.add()
        optimizer.step(optimizer.gradients, 0)
    assert same(master.state(), reference.state())


def test_a_cleared_step_leaves_no_trace_in_the_next():
    tensors, untouched = weights(torch.float32), weights(torch.float32)
    master, reference = Master(grouped(tensors), OPTIONS), Master(grouped(untouched), OPTIONS)
    set_gradient(tensors, 50)
    master.gradients.add()
    master.gradients.clear()
    for optimizer in (master, reference):
        for seed in (1, 2):
            set_gradient(optimizer.gradients.tensors, seed)
            optimizer.gradients.add()
        optimizer.step(optimizer.gradients, 0)
    assert same(master.state(), reference.state())


def test_a_group_before_its_first_step_stands_still_and_is_no_part_of_the_norm():
    tensors = weights(torch.float32)
    before = [tensor.detach().clone() for tensor in tensors]
    master = Master(grouped(tensors, first_step=2), OPTIONS)
    set_gradient(tensors, 0)
    alone = float(tensors[2].grad.double().norm())
    assert master.clock.rate(0, 1) == 0.0
    assert master.step(master.gradients, 0) == pytest.approx(alone, rel=1e-6)
    state = master.state()
    for index, name in enumerate("ab"):
        assert torch.equal(tensors[index].detach(), before[index])
        assert not state[f"{name}:exp_avg"].any()
        assert not state[f"{name}:exp_avg_sq"].any()
    assert not torch.equal(tensors[2].detach(), before[2])
    advance(master, range(1, 4))
    assert state["updates"].tolist() == [0, 1]
    assert master.state()["updates"].tolist() == [2, 4]
    assert master.clock.rate(0, 2) == 1e-2 * schedule(2, STEPS, 2)
    assert not torch.equal(tensors[0].detach(), before[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_loaded_state_continues_bit_for_bit(dtype: torch.dtype):
    tensors, others = weights(dtype), weights(dtype, seed=5)
    master = Master(grouped(tensors, first_step=1), OPTIONS)
    advance(master, range(3))
    saved = copied(master)
    norms = advance(master, range(3, STEPS))
    continued = Master(grouped(others, first_step=1), OPTIONS)
    continued.load(saved)
    assert advance(continued, range(3, STEPS)) == norms
    assert same(continued.state(), master.state())
    assert all(torch.equal(one, other) for one, other in zip(tensors, others, strict=True))


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_gradient_that_is_not_finite_changes_nothing(bad: float):
    tensors = weights(torch.float32)
    master = Master(grouped(tensors), OPTIONS)
    advance(master, range(1))
    before = copied(master)
    set_gradient(tensors, 1)
    tensors[2].grad[-1] = bad
    with pytest.raises(NonFiniteGradientError, match="learning rate"):
        master.step(master.gradients, 1)
    assert same(copied(master), before)


def test_another_layouts_state_is_refused_and_changes_nothing():
    tensors = weights(torch.float32)
    master = Master(grouped(tensors), OPTIONS)
    advance(master, range(1))
    before = copied(master)
    bf16 = Master(grouped(weights(torch.bfloat16)), OPTIONS)
    swapped = [ParameterGroup(("b", "a"), tuple(tensors[1::-1]), 1e-2, 0.1), grouped(tensors)[1]]
    for other in (bf16.state(), Master(swapped, OPTIONS).state(), {"updates": before["updates"]}):
        with pytest.raises(InputError, match="optimizer state"):
            master.load(other)
    assert same(copied(master), before)


def test_groups_that_cannot_be_trained_are_refused():
    tensor = torch.zeros(3, 4)
    with pytest.raises(ValueError, match="2 names for 1"):
        ParameterGroup(("a", "b"), (tensor,), 1.0, 0.0)
    with pytest.raises(ValueError, match="w is not contiguous"):
        ParameterGroup(("w",), (tensor.T,), 1.0, 0.0)
    group = ParameterGroup(("w",), (tensor,), 1.0, 0.0)
    with pytest.raises(ValueError, match="two groups: w"):
        Master([group, group], OPTIONS)
